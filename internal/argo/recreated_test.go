package argo

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestNotePodsStop checks that the warning about an object that is created again says by its code that the effects lack its pods, and that
// nothing else does.
func TestNotePodsStop(t *testing.T) {
	for kind, want := range map[string]string{
		"Deployment": report.CodeEffects, "CronJob": report.CodeEffects, "Pod": report.CodeEffects,
		"ConfigMap": CodeWarning, "PersistentVolumeClaim": CodeWarning,
	} {
		web := report.Object{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: "web"}
		for _, action := range []report.Action{report.ActionNone, report.ActionUpdate} {
			p, r := &Plan{}, &report.Release{Objects: []report.Object{web}}
			r.Objects[0].Action = action
			p.outcomes.Store(web.Key(), argocd.Outcome{Recreation: argocd.Recreation{Why: "it is created again"}})
			p.noteRecreated(r)
			switch {
			case action == report.ActionUpdate: // the report has its effect
				if len(p.warnings) > 0 {
					t.Errorf("%s that changes: %v", kind, p.warnings)
				}
			case len(p.warnings) != 1 || p.warnings[0].Code != want:
				t.Errorf("%s: %v, want one with the code %s", kind, p.warnings, want)
			}
		}
	}
}

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
