package repair

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/helmdrift/helmdrift/pkg/threeway"
)

var update = flag.Bool("update", false, "rewrite the want files of testdata/repair")

// TestCases runs testdata/repair/*.txtar. A case has these files, all as needed:
//
//	old.yaml    the manifest, which Helm has installed
//	live.yaml   what somebody made of it, without defaults; what is not here is missing
//	crd.yaml    CustomResourceDefinitions
//	options     words: server-side, raw (live is as written, without Helm's metadata)
//	only, skip  selectors, one a line
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
	for _, o := range w.old {
		if !w.install(o) && w.described(o) {
			t.Errorf("%s: the field manager cannot follow", o.Key)
		}
	}
	w.drift(documents(t, files["live.yaml"]), !strings.Contains(files["options"], "raw"))
	options := Options{Only: selectors(t, files["only"]), Skip: selectors(t, files["skip"])}
	got := ""
	p, err := New(w.compare(), options)
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

// drift puts objects in the place of what was installed; the rest is deleted.
func (w *site) drift(objects []map[string]any, withMetadata bool) {
	w.t.Helper()
	there := map[threeway.Ref]bool{}
	for _, content := range objects {
		o := objectOf(content)
		there[o.Ref] = true
		if withMetadata {
			content = threeway.HelmMetadata(content, "r", "d")
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

// described tells whether the kind of an object is known; of others the field manager knows nothing.
func (w *site) described(o threeway.Object) bool {
	gvk := schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
	return clientscheme.Scheme.Recognizes(gvk) || w.converters[gvk.GroupVersion()] != nil
}

// check sends a plan and holds what is live then to what a repair must leave.
func (w *site) check(p *Plan) {
	w.t.Helper()
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Create == nil {
			w.checkPatch(o)
		}
	}
}

func selectors(t *testing.T, text string) []Selector {
	t.Helper()
	var out []Selector
	for line := range strings.Lines(text) {
		s, err := ParseSelector(line)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// describe writes a plan down.
func describe(t *testing.T, p *Plan) string {
	t.Helper()
	var b strings.Builder
	for i := range p.Objects {
		o := &p.Objects[i]
		fmt.Fprintf(&b, "%s as %s\n", o.Ref.Key, o.Manager)
		if o.Create != nil {
			fmt.Fprintf(&b, "  create %s\n", text(o.Create))
			continue
		}
		for _, c := range o.Changes {
			fmt.Fprintf(&b, "  %s: %s → %s\n", c.Path, text(c.From), text(c.To))
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
	for _, left := range p.Left {
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
