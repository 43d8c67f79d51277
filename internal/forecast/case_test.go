package forecast

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var update = flag.Bool("update", false, "rewrite the want files of internal/forecast/testdata")

// TestCases runs testdata/*.txtar. A case may have these files:
//
//	before.yaml  the live objects of the release. A workload has the pods that it wants, all ready, unless it has a status
//	after.yaml   those that the operation creates, or leaves in another way
//	deleted      those that it deletes, as Kind/name
//	seen.yaml    what else is in the cluster
//	denied       the kinds that may not be listed
//	options      autoscalers-unseen: autoscalers could not be read
//	now          the time; 2026-01-01T00:00:00Z without it
//	want         the lists that are read, the effects, their sum, and what the forecast lacks
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
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
	in := Input{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seen: Seen{}}
	if text := strings.TrimSpace(files["now"]); text != "" {
		if in.Now, err = time.Parse(time.RFC3339, text); err != nil {
			t.Fatal(err)
		}
	}
	in.AutoscalersUnseen = strings.TrimSpace(files["options"]) == "autoscalers-unseen"
	cluster := caseObjects(t, &in, files)
	got := ""
	for _, want := range Wants(in) {
		in.Seen[want] = read(want, cluster, strings.Fields(files["denied"]))
		got += strings.TrimRight(fmt.Sprintf("read %s %s%s", want.Kind.Kind, want.Namespace, want.Name), " ") + "\n"
	}
	got += described(in)
	if got == files["want"] {
		return
	}
	if !*update {
		t.Fatalf("got\n%swant\n%s", got, files["want"])
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// caseObjects adds the objects of a case to an input, and returns what is in the cluster.
func caseObjects(t *testing.T, in *Input, files map[string]string) []map[string]any {
	cluster := documentsOf(t, files["seen.yaml"])
	for _, m := range documentsOf(t, files["before.yaml"]) {
		o := Object{Ref: refOf(t, m), Live: m, Action: report.ActionNone}
		pods := podsOf(o.Key, m)
		cluster = append(append(cluster, m), pods...)
		o.Before = normalForm(o.Ref, m)
		if o.After = o.Before; slices.Contains(strings.Fields(files["deleted"]), o.Kind+"/"+o.Name) {
			o.After, o.Action = nil, report.ActionDelete
		}
		in.Objects = append(in.Objects, o)
	}
	for _, m := range documentsOf(t, files["after.yaml"]) {
		ref := refOf(t, m)
		i := slices.IndexFunc(in.Objects, func(o Object) bool { return o.Key == ref.Key })
		if i < 0 {
			in.Objects = append(in.Objects, Object{Ref: ref, Action: report.ActionCreate, After: normalForm(ref, m)})
			continue
		}
		in.Objects[i].Action, in.Objects[i].After = report.ActionUpdate, normalForm(ref, m)
	}
	return cluster
}

// read returns a list as the cluster answers it.
func read(want Want, cluster []map[string]any, denied []string) List {
	if slices.Contains(denied, want.Kind.Kind) {
		return List{Err: fmt.Errorf("listing: %w", apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no")))}
	}
	var out List
	for _, m := range cluster {
		meta := object.Child(m, "metadata")
		if m["kind"] == want.Kind.Kind && (want.Namespace == "" || meta["namespace"] == want.Namespace) &&
			(want.Name == "" || meta["name"] == want.Name) {
			out.Items = append(out.Items, m)
		}
	}
	return out
}

// described returns the effects in the form of the want file.
func described(in Input) string {
	effects, out := Predict(in), ""
	keys := slices.SortedFunc(maps.Keys(effects.Objects), object.Key.Compare)
	for _, key := range keys {
		e := effects.Objects[key]
		out += named(key) + ": " + strings.ReplaceAll(says(e), "; ", "\n  ") + "\n"
		for _, lost := range e.Lost {
			out += "  lost: " + lost + "\n"
		}
	}
	if effects.Release != nil {
		out += "release: " + effects.Release.Text + "\n"
	}
	for _, what := range effects.Unread {
		out += "unread: " + what + "\n"
	}
	return out
}

// documentsOf decodes the documents of a file. Objects without a namespace are in n, unless their kind has none.
func documentsOf(t *testing.T, text string) []map[string]any {
	var out []map[string]any
	for _, part := range strings.Split("\n"+text, "\n---\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		m := decode(t, part)
		clusterWide := []string{"Namespace", "PersistentVolume", "StorageClass", "CustomResourceDefinition", "PriorityClass"}
		if meta := object.Child(m, "metadata"); meta["namespace"] == nil && !slices.Contains(clusterWide, fmt.Sprint(m["kind"])) {
			meta["namespace"] = "n"
		}
		out = append(out, m)
	}
	return out
}

// refOf returns the reference of an object.
func refOf(t *testing.T, m map[string]any) object.Ref {
	gv, err := schema.ParseGroupVersion(m["apiVersion"].(string))
	if err != nil {
		t.Fatal(err)
	}
	meta := object.Child(m, "metadata")
	namespace, _ := meta["namespace"].(string)
	key := object.Key{Group: gv.Group, Kind: m["kind"].(string), Namespace: namespace, Name: meta["name"].(string)}
	return object.Ref{Key: key, Version: gv.Version}
}

// normalForm returns an object with the API's defaults and without its status.
func normalForm(ref object.Ref, m map[string]any) map[string]any {
	out := maps.Clone(m)
	delete(out, "status")
	return kinds.NewNormalizer(ref.Key, kinds.Native().Shape(ref.GVK()), nil).Stored(out).Object()
}

// podsOf returns the pods of a workload, and gives it the status that its controller would.
func podsOf(key object.Key, m map[string]any) []map[string]any {
	if !isWorkload(key.GroupKind()) || m["status"] != nil {
		return nil
	}
	n := replicas(m)
	status := map[string]any{"observedGeneration": int64(0)}
	for _, name := range []string{"replicas", "readyReplicas", "updatedReplicas", "desiredNumberScheduled", "currentNumberScheduled",
		"updatedNumberScheduled", "numberReady"} {
		status[name] = int64(n)
	}
	m["status"] = status
	owner := map[string]any{"apiVersion": m["apiVersion"], "kind": key.Kind, "name": key.Name, "controller": true}
	labels := maps.Clone(object.Child(object.Child(template(m), "metadata"), "labels"))
	if key.Kind == "Deployment" {
		owner["kind"], owner["name"] = "ReplicaSet", key.Name+"-5b"
		labels["pod-template-hash"] = "5b"
	}
	var out []map[string]any
	for i := range n {
		out = append(out, map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": template(m)["spec"],
			"metadata": map[string]any{"namespace": key.Namespace, "name": fmt.Sprintf("%s-%d", key.Name, i), "labels": labels,
				"ownerReferences": []any{owner}},
			"status": map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		})
	}
	return out
}
