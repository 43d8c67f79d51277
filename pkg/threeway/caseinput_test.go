package threeway

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// caseFiles returns the cases of testdata/threeway whose names match a pattern. There is at least one.
func caseFiles(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/threeway/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return files
}

// readCase returns the files of a case by their names.
func readCase(t testing.TB, file string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return filesOf(archive)
}

func filesOf(archive *txtar.Archive) map[string]string {
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// caseInput reads a case. Objects are YAML documents apart by "---"; a case has these files, all as needed:
//
//	old.yaml, desired.yaml, last.yaml   manifests; desired is old where there is none, last is a failed revision 2
//	again.yaml                          what a second rendering makes of objects of desired
//	at-once.yaml                        what one at the same time makes of them, where the clock of again.yaml was put forward
//	live.yaml                           live objects; what is not here is missing
//	crd.yaml                            CustomResourceDefinitions that were read
//	definitions.yaml                    objects of the chart's crds folder, which an install writes first
//	absent                              "v1 ConfigMap d/c: namespace", or kind, where an object is absent for such a reason
//	errors                              "v1 ConfigMap d/c: forbidden: text", where it could not be read
//	autoscaled                          "apps/v1 Deployment d/web: HorizontalPodAutoscaler web"; "to zero" follows where it may,
//	                                    and "paused" where it is
//	terminating                         namespaces that are being deleted, one a line; d is the release's own
//	brings                              "Thing.ex.com": kinds that an install brings in its crds folder
//	ignore.yaml                         rules, as a configuration has them under ignore; today is 2026-11-21
//	managers.yaml                       names of field managers by group
//	options                             words: raw (live is as written, without Helm's metadata), server-side, migrates, force, replace, take-ownership,
//	                                    unread (schemas and autoscalers were not asked for), autoscalers-unread (they could not be read), install, rollback, helm4,
//	                                    built-in (the built-in rules hold), controllers (what they wrote is reported),
//	                                    sql (the records are in a database), plain-status (discovery has no status subresources)
//	want                                the findings
//	inside                              what differs inside the documents that values are
//	requests                            what Helm would send
//	report.json                         the masked report
//	canaries                            texts that the comparison holds and the report must not
func caseInput(t *testing.T, files map[string]string) Input {
	t.Helper()
	in := Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, Live: map[object.Ref]cluster.Live{},
		Autoscaled: map[object.Key]object.Autoscaler{}, Terminating: map[string]bool{}, Records: "secrets", ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1, Status: "deployed"}, Last: &report.Revision{Revision: 1, Status: "deployed"},
	}
	options := strings.Fields(files["options"])
	if slices.Contains(options, "sql") {
		in.Records = ""
	}
	if slices.Contains(options, "server-side") {
		in.ApplyMethod = "server-side"
	}
	in.Migrates, in.ForceConflicts = slices.Contains(options, "migrates"), slices.Contains(options, "force")
	in.ForceReplace, in.TakeOwnership = slices.Contains(options, "replace"), slices.Contains(options, "take-ownership")
	in.OldObjects = objectsOf(t, files["old.yaml"])
	in.DesiredObjects = in.OldObjects
	if text, ok := files["desired.yaml"]; ok {
		in.DesiredObjects, in.Operation = objectsOf(t, text), report.OperationUpgrade
	}
	for _, o := range objectsOf(t, files["again.yaml"]) {
		i := slices.IndexFunc(in.DesiredObjects, func(d object.Object) bool { return d.Ref == o.Ref })
		in.DesiredObjects[i].Again = o.Content
	}
	for _, o := range objectsOf(t, files["at-once.yaml"]) {
		i := slices.IndexFunc(in.DesiredObjects, func(d object.Object) bool { return d.Ref == o.Ref })
		in.DesiredObjects[i].AtOnce = o.Content
	}
	caseOperation(options, &in)
	caseRules(t, files, options, &in)
	if text, ok := files["last.yaml"]; ok {
		in.LastObjects, in.Last = objectsOf(t, text), &report.Revision{Revision: 2, Status: "failed"}
	}
	in.Definitions = objectsOf(t, files["definitions.yaml"])
	for _, o := range slices.Concat(in.OldObjects, in.DesiredObjects, in.Definitions) {
		if o.Name != "" {
			in.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
		}
	}
	for _, o := range objectsOf(t, files["live.yaml"]) {
		if !slices.Contains(options, "raw") {
			o.Content = object.HelmMetadata(o.Content, in.Name, in.Namespace)
		}
		in.Live[o.Ref] = cluster.Live{Object: o.Content, PlainStatus: slices.Contains(options, "plain-status")}
	}
	caseReads(t, files, &in)
	in.Schemas = schemasOf(t, files["crd.yaml"])
	in.ApplyTypes = applyTypesOf(t, files["crd.yaml"])
	in.AutoscalersUnseen = slices.Contains(options, "autoscalers-unread")
	if slices.Contains(options, "unread") {
		in.Schemas, in.Autoscaled, in.ApplyTypes = nil, nil, nil
	}
	return in
}

// caseRules reads what a case ignores.
func caseRules(t *testing.T, files map[string]string, options []string, in *Input) {
	t.Helper()
	var texts []report.RuleText
	if err := yaml.UnmarshalStrict([]byte(files["ignore.yaml"]), &texts); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(files["managers.yaml"]), &in.Managers); err != nil {
		t.Fatal(err)
	}
	in.Rules, in.Warnings = ignore.ReadRules("ignore.yaml", texts, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	if slices.Contains(options, "built-in") {
		in.Rules = append(in.Rules, ignore.BuiltInRules()...)
	}
	in.ShowControllers = slices.Contains(options, "controllers")
}

// caseOperation sets the operation that the options name, and the version of Helm that runs it.
func caseOperation(options []string, in *Input) {
	for _, operation := range []report.Operation{report.OperationInstall, report.OperationRollback} {
		if slices.Contains(options, string(operation)) {
			in.Operation = operation
		}
	}
	if slices.Contains(options, "helm4") {
		in.Desired = &report.Desired{Source: "chart", Helm: "4"}
	}
}

// schemasOf reads CustomResourceDefinitions.
func schemasOf(t testing.TB, text string) map[schema.GroupKind]*kinds.CustomSchema {
	t.Helper()
	out := map[schema.GroupKind]*kinds.CustomSchema{}
	for _, o := range objectsOf(t, text) {
		s, err := kinds.NewCustomSchema(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		spec := object.Child(o.Content, "spec")
		group, _ := spec["group"].(string)
		kind, _ := object.Child(spec, "names")["kind"].(string)
		out[schema.GroupKind{Group: group, Kind: kind}] = s
	}
	return out
}

// caseReads adds the absences, errors and autoscalers of a case. An absent kind may be served at another version;
// then live.yaml has the object at that version.
func caseReads(t *testing.T, files map[string]string, in *Input) {
	t.Helper()
	for line := range strings.Lines(files["absent"]) {
		ref, why := refOf(t, line)
		absent := cluster.Live{Absence: cluster.Absence(why)}
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
		in.Live[ref] = cluster.Live{Err: &report.ObjectError{Code: code, Message: message}}
	}
	for _, namespace := range strings.Fields(files["terminating"]) {
		in.Terminating[namespace] = true
	}
	for line := range strings.Lines(files["brings"]) {
		in.Brings = append(in.Brings, schema.ParseGroupKind(strings.TrimSpace(line)))
	}
	for line := range strings.Lines(files["autoscaled"]) {
		ref, by := refOf(t, line)
		by, paused := strings.CutSuffix(by, " paused")
		name, toZero := strings.CutSuffix(by, " to zero")
		fromZero := strings.HasPrefix(name, "ScaledObject ")
		in.Autoscaled[ref.Key] = object.Autoscaler{Name: name, ToZero: toZero, FromZero: fromZero, Paused: paused}
	}
}

// refOf reads "apps/v1 Deployment d/web: text".
func refOf(t *testing.T, line string) (object.Ref, string) {
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
	ref := object.Ref{Key: object.Key{Group: gv.Group, Kind: words[1], Name: words[2]}, Version: gv.Version}
	if namespace, name, ok := strings.Cut(words[2], "/"); ok {
		ref.Namespace, ref.Name = namespace, name
	}
	return ref, text
}

func objectsOf(t testing.TB, text string) []object.Object {
	t.Helper()
	var out []object.Object
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

func objectOf(t testing.TB, content map[string]any) object.Object {
	t.Helper()
	apiVersion, _ := content["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := content["kind"].(string)
	meta := object.Child(content, "metadata")
	if meta != nil && meta["namespace"] == nil && !slices.Contains(clusterScoped(), kind) {
		meta["namespace"] = "d"
	}
	o := object.Object{Content: content}
	o.Group, o.Version = gv.Group, gv.Version
	o.Kind, _ = content["kind"].(string)
	o.Name, _ = meta["name"].(string)
	o.Namespace, _ = meta["namespace"].(string)
	o.GenerateName, _ = meta["generateName"].(string)
	return o
}

// clusterScoped returns the kinds of the cases that have no namespace. All other objects are in d
// unless they name a namespace.
func clusterScoped() []string {
	return []string{"ClusterRole", "ClusterRoleBinding", "Namespace", "CustomResourceDefinition", "APIService", "PriorityClass", "StorageClass",
		"PersistentVolume", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ClusterThing"}
}
