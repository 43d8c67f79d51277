package threeway

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// example is a fenced block of docs/verdict-rules.md. Objects are called "Kind name" or "apiVersion Kind name", and have only the fields
// that matter.
type example struct {
	// Options are words of a case, see caseInput.
	Options string
	// Old is what Helm deployed, Desired what it would deploy, Last what a failed revision brought.
	Old, Desired, Last map[string]json.RawMessage
	// Live are the objects that are not as Helm left them, or null for an object that is gone. By is who wrote them, perhaps
	// "at" another version.
	Live map[string]json.RawMessage
	By   string
	// Schema is the part of the definition of Things below spec.
	Schema map[string]any
	// Deployer is the field manager that installed the release. The default is helm.
	Deployer string
	// Absent and Autoscaled are files of a case, see caseInput.
	Absent, Autoscaled string
}

// input makes a case of an example: the release shop in the namespace prod.
func (e example) input(t *testing.T) Input {
	t.Helper()
	old, live := e.objects(t, e.Old), e.objects(t, e.Live)
	for i, l := range live {
		was := slices.IndexFunc(old, func(o object.Object) bool { return o.Ref == l.Ref })
		switch {
		case l.Content == nil:
		case was >= 0:
			live[i].Content = e.edited(t, l, e.installed(t, old[was]), withHelmMetadata(l.Content))
		case e.By == "helm":
			live[i].Content = e.edited(t, l, map[string]any{}, withHelmMetadata(l.Content))
		default:
			live[i].Content = e.edited(t, l, map[string]any{}, l.Content)
		}
	}
	for _, o := range old {
		if !slices.ContainsFunc(live, func(l object.Object) bool { return l.Ref == o.Ref }) {
			live = append(live, object.Object{Ref: o.Ref, Content: e.installed(t, o)})
		}
	}
	files := map[string]string{"options": "raw " + e.Options, "absent": e.Absent, "autoscaled": e.Autoscaled, "live.yaml": manifestOf(t, live)}
	for name, objects := range map[string]map[string]json.RawMessage{"old.yaml": e.Old, "desired.yaml": e.Desired, "last.yaml": e.Last} {
		if objects != nil {
			files[name] = manifestOf(t, e.objects(t, objects))
		}
	}
	if e.Schema != nil {
		files["crd.yaml"] = jsonOf(t, map[string]any{"spec": map[string]any{"group": "ex.com", "names": map[string]any{"kind": "Thing"}, "versions": []any{
			map[string]any{"name": "v1", "served": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": e.Schema}},
			}}},
		}}})
	}
	in := caseInput(t, files)
	in.Name, in.Namespace, in.StorageNamespace = "shop", "prod", "prod"
	in.ApplyTypes = map[schema.GroupVersion]*engine.ApplyTypes{{Group: "ex.com", Version: "v1"}: {Converter: managedfields.NewDeducedTypeConverter()}}
	return in
}

func exampleOf(t *testing.T, text string) example {
	t.Helper()
	var e example
	if err := yaml.UnmarshalStrict([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// objects lists named contents in Helm's install order. A null has no content.
func (e example) objects(t *testing.T, named map[string]json.RawMessage) []object.Object {
	t.Helper()
	var out []object.Object
	for name, raw := range named {
		words := strings.Fields(name)
		if len(words) == 2 {
			words = append([]string{apiVersions()[words[0]]}, words...)
		}
		content, gone := map[string]any{"apiVersion": words[0], "kind": words[1], "metadata": map[string]any{}}, string(raw) == "null"
		if !gone {
			if err := utiljson.Unmarshal(raw, &content); err != nil {
				t.Fatal(err)
			}
		}
		metadata := object.Child(content, "metadata")
		metadata["name"] = words[2]
		if !slices.Contains(clusterScoped(), words[1]) {
			metadata["namespace"] = "prod"
		}
		object := objectOf(t, content)
		if gone {
			object.Content = nil
		}
		out = append(out, object)
	}
	slices.SortFunc(out, func(a, b object.Object) int {
		return cmp.Or(cmp.Compare(installRank(a.Kind), installRank(b.Kind)), a.Key.Compare(b.Key))
	})
	return out
}

// apiVersions returns the versions of the kinds that examples name without a version.
func apiVersions() map[string]string {
	return map[string]string{
		"ConfigMap": "v1", "Secret": "v1", "Service": "v1", "ResourceQuota": "v1", "Deployment": "apps/v1", "Job": "batch/v1",
		"Ingress": "networking.k8s.io/v1", "PodDisruptionBudget": "policy/v1", "ClusterRole": "rbac.authorization.k8s.io/v1", "Thing": "ex.com/v1",
	}
}

func manifestOf(t *testing.T, objects []object.Object) string {
	t.Helper()
	var b strings.Builder
	for _, o := range objects {
		if o.Content != nil {
			b.WriteString(jsonOf(t, o.Content) + "\n---\n")
		}
	}
	return b.String()
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), "\x7f", `\u007f`) // YAML does not accept this character as it is
}

// withHelmMetadata adds the metadata of the release if the object has none of its own.
func withHelmMetadata(obj map[string]any) map[string]any {
	out := object.HelmMetadata(obj, "shop", "prod")
	for _, name := range []string{"labels", "annotations"} {
		maps.Copy(object.Child(object.Child(out, "metadata"), name), object.Child(object.Child(obj, "metadata"), name))
	}
	return out
}

func (e example) deployer() string { return cmp.Or(e.Deployer, "helm") }

// installed returns what the API server holds after Helm wrote an object, with defaults and managedFields.
func (e example) installed(t *testing.T, o object.Object) map[string]any {
	t.Helper()
	target := object.HelmMetadata(o.Content, "shop", "prod")
	clean, _ := withoutNulls(target).(map[string]any)
	stored := e.serverHolds(o, clean)
	options := strings.Fields(e.Options)
	if !slices.Contains(options, "server-side") || slices.Contains(options, "migrates") {
		return e.store(t, o, map[string]any{}, stored, e.deployer())
	}
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind, "metadata": map[string]any{}}}
	out, err := exampleServer(t, o).manager.Apply(empty, &unstructured.Unstructured{Object: target}, e.deployer(), false)
	if err != nil {
		t.Fatal(err)
	}
	applied, ok := out.(*unstructured.Unstructured)
	if !ok {
		t.Fatalf("the field manager returns %T", out)
	}
	return withManagers(stored, applied.GetManagedFields())
}

// edited returns what the API server holds after somebody wrote content over live.
func (e example) edited(t *testing.T, o object.Object, live, content map[string]any) map[string]any {
	t.Helper()
	manager, version, elsewhere := strings.Cut(cmp.Or(e.By, "kubectl-edit"), " at ")
	out := e.store(t, o, live, e.serverHolds(o, content), manager)
	if going := object.Child(content, "metadata")["deletionTimestamp"]; going != nil {
		object.Child(out, "metadata")["deletionTimestamp"] = going // the field manager accepts no such field from a client
	}
	if !elsewhere {
		return out
	}
	entries := (&unstructured.Unstructured{Object: out}).GetManagedFields()
	for i := range entries {
		if entries[i].Manager == manager {
			entries[i].APIVersion = version
		}
	}
	return withManagers(out, entries)
}

// serverHolds returns an object as a server stores it, without unknown fields and without the names of its writers.
func (e example) serverHolds(o object.Object, content map[string]any) map[string]any {
	if typed, err := kinds.NativeApply().Scheme.New(o.GVK()); err == nil && runtime.DefaultUnstructuredConverter.FromUnstructured(content, typed) == nil {
		if known, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err == nil {
			content = known
		}
	}
	server := sample{Object: o}
	if slices.Contains(strings.Fields(e.Options), "plain-status") {
		server.schemas = schemasOfKindWithoutStatus(o)
	}
	out := server.served(content)
	for _, name := range []string{"namespace", "uid"} {
		if value := object.Child(content, "metadata")[name]; value != nil {
			object.Child(out, "metadata")[name] = value
		}
	}
	return out
}

// schemasOfKindWithoutStatus returns the schemas of a definition without a schema and without a status subresource.
func schemasOfKindWithoutStatus(o object.Object) map[schema.GroupKind]*kinds.CustomSchema {
	definition, _ := kinds.NewCustomSchema(map[string]any{"spec": map[string]any{"versions": []any{map[string]any{"name": o.Version}}}})
	return map[schema.GroupKind]*kinds.CustomSchema{o.GroupKind(): definition}
}

// store lets the API server's field manager record who wrote.
func (e example) store(t *testing.T, o object.Object, live, content map[string]any, manager string) map[string]any {
	t.Helper()
	out, ok := exampleServer(t, o).write(live, content, manager)
	if !ok {
		t.Fatalf("the field manager does not take %s", o.Key)
	}
	return withManagers(out, (&unstructured.Unstructured{Object: out}).GetManagedFields())
}

func exampleServer(t *testing.T, o object.Object) fieldServer {
	t.Helper()
	if kinds.NativeApply().Scheme.Recognizes(o.GVK()) {
		return newFieldServer(t, kinds.NativeApply().Types, o.Ref)
	}
	return newFieldServer(t, managedfields.NewDeducedTypeConverter(), o.Ref)
}

// withManagers sets managedFields, without the times: the examples run within a second, or not.
func withManagers(object map[string]any, entries []metav1.ManagedFieldsEntry) map[string]any {
	u := &unstructured.Unstructured{Object: object}
	for i := range entries {
		entries[i].Time = nil
	}
	u.SetManagedFields(entries)
	return u.Object
}
