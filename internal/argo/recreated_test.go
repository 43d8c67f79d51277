package argo

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestNoteRecreated has an object that each sync creates again, what else the sync does, and where the report says so. An object without a
// change is not in the report, and a warning names it.
func TestNoteRecreated(t *testing.T) {
	web := report.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "web", Action: report.ActionUpdate}
	other := report.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "other", Action: report.ActionUpdate}
	for name, c := range map[string]struct {
		objects        []report.Object
		noted, warning bool
	}{
		"it changes":          {objects: []report.Object{web}, noted: true},
		"another one changes": {objects: []report.Object{other}, warning: true},
		"nothing changes":     {warning: true},
	} {
		p := &Plan{}
		p.outcomes.Store(object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, argocd.Outcome{Recreation: argocd.Recreation{Why: "it is created again"}})
		r := &report.Release{Objects: c.objects}
		p.noteRecreated(r)
		noted := len(r.Objects) > 0 && strings.Contains(strings.Join(r.Objects[0].Notes, "; "), "created again")
		if noted != c.noted || (len(p.warnings) > 0) != c.warning {
			t.Errorf("%s: noted %t, warnings %v", name, noted, p.warnings)
		}
	}
}
