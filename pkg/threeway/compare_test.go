package threeway

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	c := Compare(caseInput(t, files))
	wants := map[string]string{"want": describe(c)}
	report := reportJSON(t, c, Mask{})
	if _, ok := files["report.json"]; ok {
		wants["report.json"] = report
	}
	checkCanaries(t, files["canaries"], c, report)
	if *update {
		writeWants(t, file, archive, wants)
		return
	}
	for _, name := range sortedKeys(wants) {
		if diff := cmp.Diff(files[name], wants[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// reportJSON is the masked report of one comparison, as programs get it.
func reportJSON(t *testing.T, c *Comparison, mask Mask) string {
	t.Helper()
	raw, err := json.MarshalIndent(c.Report(mask), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

// checkCanaries wants every line of the file in the comparison, in clear, and none in the report.
func checkCanaries(t *testing.T, canaries string, c *Comparison, report string) {
	t.Helper()
	shown := describe(c) + fmt.Sprintf("%#v", c.Objects)
	for line := range strings.Lines(canaries) {
		canary := strings.TrimSpace(line)
		if !strings.Contains(shown, canary) {
			t.Errorf("the comparison has lost %q", canary)
		}
		if strings.Contains(report, canary) {
			t.Errorf("the report shows %q:\n%s", canary, report)
		}
	}
}

func writeWants(t *testing.T, file string, archive *txtar.Archive, wants map[string]string) {
	files := archive.Files[:0]
	for _, f := range archive.Files {
		if _, ok := wants[f.Name]; !ok {
			files = append(files, f)
		}
	}
	for _, name := range sortedKeys(wants) {
		files = append(files, txtar.File{Name: name, Data: []byte(wants[name])})
	}
	archive.Files = files
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// caseInput reads a case. Objects are YAML documents apart by "---"; a case has these files, all but old.yaml as needed:
//
//	old.yaml, desired.yaml, last.yaml   manifests; desired is old where there is none, last is a failed revision 2
//	live.yaml                           live objects; what is not here is missing
//	crd.yaml                            CustomResourceDefinitions that were read
//	absent                              "v1 ConfigMap d/c: namespace", or kind, where an object is absent for such a reason
//	errors                              "v1 ConfigMap d/c: forbidden: text", where it could not be read
//	autoscaled                          "apps/v1 Deployment d/web: HorizontalPodAutoscaler web"
//	options                             words: raw (live is as written, without Helm's metadata), server-side, unread (schemas
//	                                    and autoscalers were not asked for)
//	want                                the findings
//	report.json                         the masked report
//	canaries                            texts that the comparison holds and the report must not
func caseInput(t *testing.T, files map[string]string) Input {
	t.Helper()
	in := Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: OperationDrift, Live: map[Ref]Live{},
		Autoscaled: map[Key]string{}, ApplyMethod: "client-side",
		Old: &Revision{Revision: 1, Status: "deployed"}, Last: &Revision{Revision: 1, Status: "deployed"},
	}
	options := strings.Fields(files["options"])
	if slices.Contains(options, "server-side") {
		in.ApplyMethod = "server-side"
	}
	in.OldObjects = objectsOf(t, files["old.yaml"])
	in.DesiredObjects = in.OldObjects
	if text, ok := files["desired.yaml"]; ok {
		in.DesiredObjects, in.Operation = objectsOf(t, text), OperationUpgrade
	}
	if text, ok := files["last.yaml"]; ok {
		in.LastObjects, in.Last = objectsOf(t, text), &Revision{Revision: 2, Status: "failed"}
	}
	for _, o := range slices.Concat(in.OldObjects, in.DesiredObjects) {
		if o.Name != "" {
			in.Live[o.Ref] = Live{Absence: AbsentObject}
		}
	}
	for _, o := range objectsOf(t, files["live.yaml"]) {
		if !slices.Contains(options, "raw") {
			o.Content = HelmMetadata(o.Content, in.Name, in.Namespace)
		}
		in.Live[o.Ref] = Live{Object: o.Content}
	}
	caseReads(t, files, &in)
	in.Schemas = schemasOf(t, files["crd.yaml"])
	if slices.Contains(options, "unread") {
		in.Schemas, in.Autoscaled = nil, nil
	}
	return in
}

// schemasOf reads CustomResourceDefinitions.
func schemasOf(t testing.TB, text string) map[schema.GroupKind]*CustomSchema {
	t.Helper()
	out := map[schema.GroupKind]*CustomSchema{}
	for _, o := range objectsOf(t, text) {
		s, err := NewCustomSchema(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		spec := child(o.Content, "spec")
		group, _ := spec["group"].(string)
		kind, _ := child(spec, "names")["kind"].(string)
		out[schema.GroupKind{Group: group, Kind: kind}] = s
	}
	return out
}

// caseReads adds what a case says of reading: absences, errors and autoscalers. An absent kind may be served at another
// version; then live.yaml has the object at that one.
func caseReads(t *testing.T, files map[string]string, in *Input) {
	t.Helper()
	for line := range strings.Lines(files["absent"]) {
		ref, why := refOf(t, line)
		absent := Live{Absence: Absence(why)}
		for other, l := range in.Live {
			if other.Key == ref.Key && other != ref {
				absent.Object = l.Object
			}
		}
		in.Live[ref] = absent
	}
	for line := range strings.Lines(files["errors"]) {
		ref, text := refOf(t, line)
		code, message, _ := strings.Cut(text, ": ")
		in.Live[ref] = Live{Err: &ObjectError{Code: code, Message: message}}
	}
	for line := range strings.Lines(files["autoscaled"]) {
		ref, by := refOf(t, line)
		in.Autoscaled[ref.Key] = by
	}
}

// refOf reads "apps/v1 Deployment d/web: text".
func refOf(t *testing.T, line string) (Ref, string) {
	t.Helper()
	head, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
	words := strings.Fields(head)
	if len(words) != 3 {
		t.Fatalf("%q is no object", head)
	}
	gv, err := schema.ParseGroupVersion(words[0])
	if err != nil {
		t.Fatal(err)
	}
	ref := Ref{Key: Key{Group: gv.Group, Kind: words[1], Name: words[2]}, Version: gv.Version}
	if namespace, name, ok := strings.Cut(words[2], "/"); ok {
		ref.Namespace, ref.Name = namespace, name
	}
	return ref, text
}

func objectsOf(t testing.TB, text string) []Object {
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

func objectOf(t testing.TB, content map[string]any) Object {
	t.Helper()
	apiVersion, _ := content["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := content["kind"].(string)
	meta := child(content, "metadata")
	if meta != nil && meta["namespace"] == nil && !slices.Contains(clusterScoped(), kind) {
		meta["namespace"] = "d"
	}
	o := Object{Content: content}
	o.Group, o.Version = gv.Group, gv.Version
	o.Kind, _ = content["kind"].(string)
	o.Name, _ = meta["name"].(string)
	o.Namespace, _ = meta["namespace"].(string)
	o.GenerateName, _ = meta["generateName"].(string)
	return o
}

// clusterScoped are kinds of the cases that have no namespace; all others are in d unless they say.
func clusterScoped() []string {
	return []string{"ClusterRole", "ClusterRoleBinding", "Namespace", "CustomResourceDefinition", "APIService", "PriorityClass", "StorageClass",
		"PersistentVolume", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ClusterThing"}
}

// describe writes a comparison for a case: an object a line, its findings below it.
func describe(c *Comparison) string {
	var b strings.Builder
	for _, o := range c.Objects {
		fmt.Fprintf(&b, "%s: %s", o.key, o.Action)
		say(&b, o.Missing, " missing")
		say(&b, o.Drifted(), " drifted")
		say(&b, o.Reason != "", ": "+o.Reason)
		say(&b, len(o.BlockedBy) > 0, " by "+strings.Join(o.BlockedBy, ", "))
		if o.Err != nil {
			fmt.Fprintf(&b, " error %s: %s", o.Err.Code, o.Err.Message)
		}
		say(&b, o.Note != "", "\n    note: "+o.Note)
		b.WriteString("\n")
		for _, f := range o.Findings {
			describeField(&b, f)
		}
	}
	return b.String()
}

func say(b *strings.Builder, whether bool, text string) {
	if whether {
		b.WriteString(text)
	}
}

func describeField(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "  %s/%s %s", f.Verdict, f.Cause, f.Path)
	for _, side := range []struct {
		name  string
		value any
	}{{"old", f.Old}, {"desired", f.Desired}, {"live", f.Live}, {"after", f.After}} {
		if side.value != nil {
			raw, _ := json.Marshal(side.value)
			fmt.Fprintf(b, " %s=%s", side.name, raw)
		}
	}
	say(b, !f.Managed, " unmanaged")
	say(b, f.Class != "", " "+string(f.Class))
	say(b, f.Blocked, " blocked")
	say(b, !f.Certain, " uncertain")
	for _, o := range f.Owners {
		fmt.Fprintf(b, " by %s", o.Manager)
		say(b, o.Subresource != "", "("+o.Subresource+")")
	}
	say(b, f.Note != "", "\n    note: "+f.Note)
	b.WriteString("\n")
}
