package threeway

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the want files of testdata/threeway")

// TestCases runs testdata/threeway/*.txtar: the manifest of old, of desired where it differs, the live object, and the
// findings that are right. The first lines of a case say what it is about.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/threeway/*.txtar")
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
	got := describe(Compare(caseInput(t, files)))
	if *update {
		writeWant(t, file, archive, got)
		return
	}
	if diff := cmp.Diff(files["want"], got); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
}

func writeWant(t *testing.T, file string, archive *txtar.Archive, got string) {
	files := archive.Files[:0]
	for _, f := range archive.Files {
		if f.Name != "want" {
			files = append(files, f)
		}
	}
	archive.Files = append(files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// caseInput reads a case. Objects are YAML documents apart by "---"; "live.yaml" may lack an object to say that it is missing.
func caseInput(t *testing.T, files map[string]string) Input {
	t.Helper()
	in := Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: OperationDrift, Live: map[Ref]Live{},
		Schemas: map[schema.GroupKind]*CustomSchema{}, Autoscaled: map[Key]string{}, ApplyMethod: "client-side",
		Old: &Revision{Revision: 1, Status: "deployed"}, Last: &Revision{Revision: 1, Status: "deployed"},
	}
	in.OldObjects = objectsOf(t, files["old.yaml"])
	in.DesiredObjects = in.OldObjects
	if text, ok := files["desired.yaml"]; ok {
		in.DesiredObjects, in.Operation = objectsOf(t, text), OperationUpgrade
	}
	if text, ok := files["last.yaml"]; ok {
		in.LastObjects, in.Last = objectsOf(t, text), &Revision{Revision: 2, Status: "failed"}
	}
	for _, list := range [][]Object{in.OldObjects, in.DesiredObjects} {
		for _, o := range list {
			in.Live[o.Ref] = Live{Absence: AbsentObject}
		}
	}
	for _, o := range objectsOf(t, files["live.yaml"]) {
		if _, bare := files["raw"]; !bare {
			o.Content = HelmMetadata(o.Content, in.Name, in.Namespace)
		}
		in.Live[o.Ref] = Live{Object: o.Content}
	}
	for _, o := range objectsOf(t, files["crd.yaml"]) {
		s, err := NewCustomSchema(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		spec := child(o.Content, "spec")
		in.Schemas[schema.GroupKind{Group: spec["group"].(string), Kind: child(spec, "names")["kind"].(string)}] = s
	}
	for line := range strings.Lines(files["autoscaled"]) {
		in.Autoscaled[in.OldObjects[0].Key] = strings.TrimSpace(line)
	}
	return in
}

func objectsOf(t *testing.T, text string) []Object {
	t.Helper()
	var out []Object
	for doc := range strings.SplitSeq(text, "---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		var content map[string]any
		if err := utiljson.Unmarshal(raw, &content); err != nil {
			t.Fatal(err)
		}
		out = append(out, objectOf(t, content))
	}
	return out
}

func objectOf(t *testing.T, content map[string]any) Object {
	t.Helper()
	apiVersion, _ := content["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	meta := child(content, "metadata")
	o := Object{Content: content}
	o.Group, o.Version = gv.Group, gv.Version
	o.Kind, _ = content["kind"].(string)
	o.Name, _ = meta["name"].(string)
	o.Namespace, _ = meta["namespace"].(string)
	o.GenerateName, _ = meta["generateName"].(string)
	return o
}

// describe writes a comparison for a case: an object a line, its findings below it.
func describe(c *Comparison) string {
	var b strings.Builder
	for _, o := range c.Objects {
		fmt.Fprintf(&b, "%s: %s", o.Key, o.Action)
		for _, word := range []struct {
			say  bool
			word string
		}{{o.Missing, " missing"}, {o.Drifted(), " drifted"}, {o.Reason != "", ": " + o.Reason}, {len(o.BlockedBy) > 0, " by " + strings.Join(o.BlockedBy, ", ")}, {o.Err != nil, " error"}} {
			if word.say {
				b.WriteString(word.word)
			}
		}
		b.WriteString("\n")
		for _, f := range o.Findings {
			describeField(&b, f)
		}
	}
	return b.String()
}

func describeField(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "  %s/%s %s", f.Verdict, f.Cause, f.Path)
	for _, side := range []struct {
		name  string
		value any
	}{{"old", f.Old}, {"desired", f.Desired}, {"live", f.Live}, {"after", f.After}} {
		if side.value != nil {
			raw, _ := utiljson.Marshal(side.value)
			fmt.Fprintf(b, " %s=%s", side.name, raw)
		}
	}
	if !f.Managed {
		b.WriteString(" unmanaged")
	}
	if f.Class != "" {
		fmt.Fprintf(b, " %s", f.Class)
	}
	if f.Blocked {
		b.WriteString(" blocked")
	}
	for _, o := range f.Owners {
		fmt.Fprintf(b, " by %s", o.Manager)
		if o.Subresource != "" {
			fmt.Fprintf(b, "(%s)", o.Subresource)
		}
	}
	if f.Note != "" {
		fmt.Fprintf(b, "\n    note: %s", f.Note)
	}
	b.WriteString("\n")
}
