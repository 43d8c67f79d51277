package repair

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

var update = flag.Bool("update", false, "rewrite the want files of testdata/repair")

// TestCases runs testdata/repair/*.txtar. A case may have these files:
//
//	old.yaml    the manifest, which Helm has installed
//	last.yaml   the manifest of revision 2, which failed
//	live.yaml   what somebody made of it with kubectl, without defaults; what is not here is missing
//	by/NAME     what the field manager NAME made of that then, object by object
//	crd.yaml    CustomResourceDefinitions
//	ignore.yaml rules, as a configuration has them under ignore
//	autoscaled  "Kind.group d/name", one a line: objects with an autoscaler
//	options     words: server-side, raw (live is as written, without Helm's metadata), prune, no-restart, built-in (the built-in
//	            rules hold), stripped (live names no writers), asks (somebody is asked), failed (revision 1 failed), revision (the user
//	            named the revision)
//	allow       namespaces where missing objects are created, one a line
//	releases    other releases, one a line: "NAMESPACE/NAME exists", or why it is not known
//	deployer    the field manager as which the manifest was installed; helm where there is none
//	field-manager  the one that the user names
//	only, skip  selectors, one a line: KIND/NAME or KIND/NAME:PATH
//	want        the plan, what is left, and the patches
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/repair/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	w := newSite(t, files["old.yaml"], files["crd.yaml"], strings.Contains(files["options"], "server-side"))
	if name := strings.TrimSpace(files["deployer"]); name != "" {
		w.deployer = name
	}
	for _, o := range w.old {
		if !w.install(o) && w.described(o) {
			t.Errorf("%s: the field manager cannot follow", o.Key)
		}
	}
	w.drift(documents(t, files["live.yaml"]), !strings.Contains(files["options"], "raw"))
	for _, f := range archive.Files {
		if manager, ok := strings.CutPrefix(f.Name, "by/"); ok {
			w.written(documents(t, string(f.Data)), manager)
		}
	}
	w.caseRules(files)
	for _, content := range documents(t, files["last.yaml"]) {
		w.last = append(w.last, objectOf(content))
	}
	w.caseReleases(files)
	compared := w.compare()
	options := Options{
		Only: selectors(t, compared, files["only"]), Skip: selectors(t, compared, files["skip"]), Prune: strings.Contains(files["options"], "prune"),
		NoRestart: strings.Contains(files["options"], "no-restart"), Forecast: templateForecast, Manager: strings.TrimSpace(files["field-manager"]),
		Allow: strings.Fields(files["allow"]), Asks: strings.Contains(files["options"], "asks"),
		Revision: strings.Contains(files["options"], "revision"),
	}
	got := ""
	p, err := New(compared, options)
	if err != nil {
		got = err.Error() + "\n"
	} else {
		got = describe(t, p)
		w.check(p)
	}
	if *update {
		for i := range archive.Files {
			if archive.Files[i].Name == "want" {
				archive.Files[i].Data = []byte(got)
			}
		}
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != files["want"] {
		t.Errorf("got\n%swant\n%s", got, files["want"])
	}
}

// templateForecast is a forecast for tests: a changed pod template restarts the pods, unless the pods wait until somebody deletes them.
// The effect of a custom kind is unknown.
func templateForecast(_ context.Context, _ effect.Reader, o effect.Operation) effect.Effects {
	out := effect.Effects{Objects: map[object.Key]*report.Effect{}, Unknown: map[object.Key]bool{}}
	for _, w := range o.Objects {
		template := func(o map[string]any) any {
			if w.Kind == "Pod" {
				return o["spec"]
			}
			return object.Child(o, "spec")["template"]
		}
		waits := object.Child(object.Child(w.After, "spec"), "updateStrategy")["type"] == "OnDelete"
		if waits || object.Equal(template(w.Before), template(w.After)) {
			continue
		}
		pods := 1
		if n, ok := object.Child(w.After, "spec")["replicas"].(int64); ok {
			pods = int(n)
		}
		out.Objects[w.Key] = &report.Effect{Restarts: pods}
		out.Unknown[w.Key] = strings.Contains(w.Group, ".io")
	}
	return out
}

// caseReleases adds the status of the release, and the other releases.
func (w *site) caseReleases(files map[string]string) {
	if strings.Contains(files["options"], "failed") {
		w.status = "failed"
	}
	for line := range strings.Lines(files["releases"]) {
		named, about, _ := strings.Cut(strings.TrimSpace(line), " ")
		namespace, name, _ := strings.Cut(named, "/")
		other := threeway.OtherRelease{Exists: about == "exists"}
		if !other.Exists {
			other.Problem = about
		}
		w.others[object.ReleaseName{Namespace: namespace, Name: name}] = other
	}
}

// drift replaces what was installed with other objects, and deletes the rest.
func (w *site) drift(objects []map[string]any, withMetadata bool) {
	w.t.Helper()
	there := map[object.Ref]bool{}
	for _, content := range objects {
		o := objectOf(content)
		there[o.Ref] = true
		if withMetadata {
			content = object.HelmMetadata(content, "r", "d")
		}
		metadata, _ := content["metadata"].(map[string]any)
		if metadata["uid"] == nil {
			metadata["uid"] = "uid-" + o.Name
		}
		if !w.update(o, content, "kubectl-edit") && w.described(o) {
			w.t.Errorf("%s: the field manager cannot follow", o.Key)
		}
	}
	for ref := range w.live {
		if !there[ref] {
			delete(w.live, ref)
		}
	}
}

// written replaces objects, as a field manager.
func (w *site) written(objects []map[string]any, manager string) {
	w.t.Helper()
	for _, content := range objects {
		o := objectOf(content)
		content = object.HelmMetadata(content, "r", "d")
		metadata, _ := content["metadata"].(map[string]any)
		if metadata["uid"] = "uid-" + o.Name; !w.update(o, content, manager) {
			w.t.Errorf("%s: the field manager cannot follow", o.Key)
		}
	}
}

// caseRules reads what a case ignores, and what it says about live besides the objects.
func (w *site) caseRules(files map[string]string) {
	w.t.Helper()
	w.ignore(files["ignore.yaml"])
	if strings.Contains(files["options"], "built-in") {
		w.rules = append(w.rules, ignore.BuiltInRules()...)
	}
	w.autoscaled = map[object.Key]object.Autoscaler{}
	for _, o := range w.old {
		if strings.Contains(files["autoscaled"], o.Key.String()+"\n") {
			w.autoscaled[o.Key] = object.Autoscaler{Name: "HorizontalPodAutoscaler " + o.Name}
		}
	}
	for _, object := range w.live {
		if metadata, _ := object["metadata"].(map[string]any); strings.Contains(files["options"], "stripped") {
			delete(metadata, "managedFields")
		}
	}
}

// ignore adds the rules of a text.
func (w *site) ignore(text string) {
	w.t.Helper()
	var rules []report.RuleText
	if err := yaml.UnmarshalStrict([]byte(text), &rules); err != nil {
		w.t.Fatal(err)
	}
	read, warnings := ignore.ReadRules("ignore.yaml", rules, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	if len(warnings) > 0 {
		w.t.Fatal(warnings)
	}
	w.rules = append(w.rules, read...)
}

// described reports whether the kind of an object is known; the field manager cannot follow others.
func (w *site) described(o object.Object) bool {
	gvk := schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
	return clientscheme.Scheme.Recognizes(gvk) || w.converters[gvk.GroupVersion()] != nil
}

// check sends a plan and checks the live objects afterwards.
func (w *site) check(p *Plan) {
	w.t.Helper()
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Create == nil {
			w.checkPatch(o)
		}
	}
}

// selectors reads selectors of objects in any namespace, each in a line: KIND/NAME or KIND/NAME:PATH. What the comparison does not have is
// selected all the same.
func selectors(t *testing.T, of *threeway.Comparison, text string) []Selector {
	t.Helper()
	var out []Selector
	for line := range strings.Lines(text) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), ":")
		kind, name, ok := strings.Cut(name, "/")
		if !ok {
			t.Fatalf("%q is no selector", line)
		}
		found := object.Filter(of.Objects, func(o threeway.ObjectComparison) bool { return o.Kind == kind && o.Name == name })
		if len(found) == 0 {
			out = append(out, Selector{Key: object.Key{Kind: kind, Name: name}, Path: path})
		}
		for _, o := range found {
			out = append(out, Selector{Key: o.Key, Path: path})
		}
	}
	return out
}

// describe writes a plan as text.
func describe(t *testing.T, p *Plan) string {
	t.Helper()
	var b strings.Builder
	for i := range p.Objects {
		o := &p.Objects[i]
		manager := o.Manager
		if o.Create != nil && o.ServerSide {
			manager = o.Deployer
		}
		fmt.Fprintf(&b, "%s as %s\n", o.Ref.Key, manager)
		if o.Create != nil {
			fmt.Fprintf(&b, "  create %s\n", text(o.Create))
			continue
		}
		for _, c := range o.Changes {
			fmt.Fprintf(&b, "  %s%s: %s → %s\n", map[bool]string{true: "prune "}[c.kind == prune], c.Path, text(c.From), text(c.To))
		}
		ops, err := o.operations(o.source.Live)
		if err != nil {
			t.Error(err)
		}
		for _, op := range ops {
			if op.Op == "remove" {
				fmt.Fprintf(&b, "    %s %s\n", op.Op, op.Path)
			} else {
				fmt.Fprintf(&b, "    %s %s %s\n", op.Op, op.Path, text(op.Value))
			}
		}
	}
	for _, left := range p.Declined {
		field := ""
		for _, f := range p.comparison.Objects {
			for _, finding := range f.Findings {
				if left.ID != "" && p.comparison.Field(&f, finding, threeway.Mask{}).ID == left.ID {
					field = " " + finding.Path.String()
				}
			}
		}
		fmt.Fprintf(&b, "left %s%s: %s\n", left.Ref.Key, field, left.Reason)
	}
	return b.String()
}

func text(v any) string {
	if v == nil {
		return "-"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
