package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	kube3 "helm.sh/helm/v3/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// oracleEdit is an edit of one live object.
type oracleEdit struct {
	object *oracleObject
	way    string
	// manager is the field manager, and apiVersion is the version that it writes at.
	manager, apiVersion string
	// knobs are turned on a copy of live, with seed, so that the edit is always the same.
	knobs []knob
	seed  uint64
	// applied says that the edit succeeded.
	applied bool
}

// These are the ways to make an edit. All except the last five turn knobs.
const (
	byPatch         = "patch"
	byJSONPatch     = "json patch"
	byUpdate        = "update"
	byApply         = "apply"
	byServerApply   = "serverapply"
	byScale         = "scale"
	byUnlabel       = "unlabel"
	byErasingOwners = "erase owners"
	byManyManagers  = "many managers"
	byDelete        = "delete"
	byCreate        = "create"
)

// oracleManagers are names that no table of helmdrift has, or names of tools that persons use: what a known controller or deployer writes
// beside the manifest is not a finding, by design.
var oracleManagers = [...]string{"kubectl-edit", "kubectl-patch", "my-agent", "k9s", "paas-agent"}

func newOracleEdit(objects []*oracleObject, r *rand.Rand) *oracleEdit {
	if len(objects) == 0 {
		return nil
	}
	o := objects[r.IntN(len(objects))]
	e := &oracleEdit{object: o, manager: oracleManagers[r.IntN(len(oracleManagers))], seed: r.Uint64()}
	e.apiVersion = o.kind.versions[r.IntN(len(o.kind.versions))]
	ways := []string{byPatch, byPatch, byPatch, byJSONPatch, byJSONPatch, byUpdate, byUpdate, byApply, byServerApply, byServerApply, byUnlabel}
	if o.kind.scales {
		ways = append(ways, byScale, byScale)
	}
	if !o.kind.onlyHelmDeletes {
		ways = append(ways, byDelete)
	}
	if r.IntN(4) == 0 {
		ways = append(ways, byErasingOwners, byManyManagers)
	}
	e.way = ways[r.IntN(len(ways))]
	knobs := o.kind.knobsAt(e.apiVersion)
	for range 1 + r.IntN(2) {
		e.knobs = append(e.knobs, knobs[r.IntN(len(knobs))])
	}
	if len(o.kind.editKnobs) > 0 && r.IntN(6) == 0 {
		e.knobs = []knob{o.kind.editKnobs[r.IntN(len(o.kind.editKnobs))]}
	}
	return e
}

// newCreation is an edit that creates an object before Helm does.
func newCreation(o *oracleObject, r *rand.Rand) *oracleEdit {
	return &oracleEdit{object: o, way: byCreate, manager: "kubectl-create", apiVersion: versionOf(orElseMap(o.new, o.old)), seed: r.Uint64()}
}

// performedEdit is the result of an edit: a line of a script and the file that it names.
type performedEdit struct {
	line, file, text string
}

// perform edits live. The result is empty if the edit would change nothing or the API refuses it.
func (e *oracleEdit) perform(c *Case, number int, chart map[string]any) (performedEdit, error) {
	switch e.way {
	case byDelete:
		return e.delete(c)
	case byScale:
		n := strconv.FormatUint(e.seed%4, 10)
		return performedEdit{line: "scale " + e.ref() + " " + n}, c.scale(c.withNamespace(e.ref()), n)
	case byErasingOwners:
		return e.patch(c, []any{map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": []any{map[string]any{}}}})
	case byManyManagers:
		return e.writeAsManyManagers(c)
	case byUnlabel:
		return e.patch(c, []any{map[string]any{"op": "remove", "path": "/metadata/labels/app.kubernetes.io~1managed-by"}})
	case byCreate:
		return e.create(c, number)
	case byApply:
		return e.apply(c, number, chart)
	case byServerApply:
		return e.serverApply(c, number)
	}
	live, err := c.cluster.get(context.Background(), e.target(c))
	if err != nil {
		return performedEdit{}, err
	}
	edited := runtime.DeepCopyJSON(live.Object)
	if !e.turnKnobs(edited) {
		return performedEdit{}, nil
	}
	if e.way == byPatch {
		body, err := e.mergePatch(live.Object, edited)
		if err != nil {
			return performedEdit{}, err
		}
		return e.patch(c, body)
	}
	return e.patch(c, jsonPatch(nil, live.Object, edited, ""))
}

// ref names the object as stories do, at the version of the edit.
func (e *oracleEdit) ref() string { return e.object.ref(e.apiVersion) }

// withNamespace fills the story's namespace into a text, and the host of its bucket.
func (c *Case) withNamespace(text string) string {
	if strings.Contains(text, "$BUCKETS") {
		text = strings.ReplaceAll(text, "$BUCKETS", storyBuckets().host)
	}
	return strings.ReplaceAll(text, "$NS", c.ns)
}

func (e *oracleEdit) target(c *Case) ref {
	out, _ := c.ref(c.withNamespace(e.ref()))
	return out
}

// delete waits until the object is gone. An object with the holding finalizer stays.
func (e *oracleEdit) delete(c *Case) (performedEdit, error) {
	line := performedEdit{line: "delete " + e.ref()}
	if err := c.cluster.delete(context.Background(), e.target(c)); err != nil {
		return line, err
	}
	_ = poll(context.Background(), "the deletion of an object", func() (bool, error) {
		obj, err := c.cluster.get(context.Background(), e.target(c))
		return err != nil || slices.Contains(obj.GetFinalizers(), holdingFinalizer), nil
	})
	return line, nil
}

// turnKnobs turns the edit's knobs, and tries again if the first positions change nothing.
func (e *oracleEdit) turnKnobs(obj map[string]any) bool {
	r := rand.New(rand.NewPCG(e.seed, 1))
	changed := false
	for range 4 {
		for _, k := range e.knobs {
			changed = k.turn(obj, r) || changed
		}
		if changed {
			break
		}
	}
	copied := e.object.withName(obj)
	clear(obj)
	maps.Copy(obj, copied)
	return changed
}

// patch sends a body as stories do and returns the line for it.
func (e *oracleEdit) patch(c *Case, body any) (performedEdit, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return performedEdit{}, err
	}
	line := fmt.Sprintf("patch %s %s %s", e.manager, e.ref(), quoted(string(text)))
	return performedEdit{line: line}, c.patch(e.manager, c.withNamespace(e.ref()), string(text))
}

// writeAsManyManagers writes to the object as more managers than the API server records, so that it keeps only the latest.
func (e *oracleEdit) writeAsManyManagers(c *Case) (performedEdit, error) {
	var lines []string
	one := *e
	for i := range 12 {
		one.manager = fmt.Sprintf("%s-%d", e.manager, i)
		written, err := one.patch(c, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/" + one.manager: "x"}}})
		if err != nil {
			return performedEdit{}, err
		}
		lines = append(lines, written.line)
	}
	return performedEdit{line: strings.Join(lines, "\n")}, nil
}

// quoted returns a text as a word of a script.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// mergePatch returns the patch from one object to another: strategic for native kinds.
func (e *oracleEdit) mergePatch(was, is map[string]any) (map[string]any, error) {
	u := &unstructured.Unstructured{Object: was}
	typed := kube3.AsVersioned(&resource.Info{Object: u})
	if strings.Contains(u.GetAPIVersion(), "ex.com") {
		return mergePatch(was, is), nil
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(was, is, meta)
}

// mergePatch computes a merge patch of RFC 7386.
func mergePatch(was, is map[string]any) map[string]any {
	out := map[string]any{}
	for name := range was {
		if _, kept := is[name]; !kept {
			out[name] = nil
		}
	}
	for name, value := range is {
		before, beforeMap := was[name].(map[string]any)
		after, afterMap := value.(map[string]any)
		switch {
		case beforeMap && afterMap:
			if below := mergePatch(before, after); len(below) > 0 {
				out[name] = below
			}
		case !equalJSON(was[name], value):
			out[name] = value
		}
	}
	return out
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// jsonPatch computes a patch of RFC 6902: lists of equal length item by item, others as a whole.
func jsonPatch(ops []any, was, is any, pointer string) []any {
	a, aMap := was.(map[string]any)
	b, bMap := is.(map[string]any)
	x, xList := was.([]any)
	y, yList := is.([]any)
	switch {
	case equalJSON(was, is):
	case aMap && bMap:
		for _, name := range sortedKeys(a) {
			if _, kept := b[name]; !kept {
				ops = append(ops, operation("remove", below(pointer, name), nil))
			}
		}
		for _, name := range sortedKeys(b) {
			if _, had := a[name]; !had {
				ops = append(ops, operation("add", below(pointer, name), b[name]))
				continue
			}
			ops = jsonPatch(ops, a[name], b[name], below(pointer, name))
		}
	case xList && yList && len(x) == len(y):
		for i := range x {
			ops = jsonPatch(ops, x[i], y[i], below(pointer, strconv.Itoa(i)))
		}
	default:
		ops = append(ops, operation("replace", pointer, is))
	}
	return ops
}

func operation(op, pointer string, value any) any {
	out := map[string]any{"op": op, "path": pointer}
	if op != "remove" {
		out["value"] = value
	}
	return out
}

func below(pointer, name string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// apply runs kubectl apply with the edited object of the chart.
func (e *oracleEdit) apply(c *Case, number int, chart map[string]any) (performedEdit, error) {
	obj := runtime.DeepCopyJSON(chart)
	e.object.setVersion(obj, e.apiVersion)
	e.turnKnobs(obj)
	out, err := e.toFile("apply", number, obj)
	if err != nil {
		return performedEdit{}, err
	}
	return out, c.cluster.kubectlApply(context.Background(), c.withNamespace(out.text), c.ns, "kubectl-client-side-apply")
}

// toFile returns the file with an object that an edit sends, and the line that sends it.
func (e *oracleEdit) toFile(line string, number int, obj map[string]any) (performedEdit, error) {
	if suffix := e.object.namespace.suffix; suffix != "" {
		fieldPath{{field: "metadata"}, {field: "namespace"}}.put(obj, "$NS"+suffix)
	}
	text, err := yaml.Marshal(obj)
	file := fmt.Sprintf("edit%d.yaml", number)
	return performedEdit{line: line + " " + file, file: file, text: string(text)}, err
}

// create creates an object that Helm is about to deploy, with the metadata of the release or without.
func (e *oracleEdit) create(c *Case, number int) (performedEdit, error) {
	obj := runtime.DeepCopyJSON(orElseMap(e.object.new, e.object.old))
	knobs := e.object.kind.knobsAt(e.apiVersion)
	e.knobs = knobs[e.seed%uint64(len(knobs)):][:1]
	e.turnKnobs(obj)
	if e.seed%5 > 0 {
		metadata := fieldPath{{field: "metadata"}}
		append(metadata, pathStep{field: "labels"}, pathStep{field: "app.kubernetes.io/managed-by"}).put(obj, "Helm")
		append(metadata, pathStep{field: "annotations"}, pathStep{field: "meta.helm.sh/release-name"}).put(obj, "r")
		append(metadata, pathStep{field: "annotations"}, pathStep{field: "meta.helm.sh/release-namespace"}).put(obj, "$NS")
	}
	out, err := e.toFile("create "+e.manager, number, obj)
	if err != nil {
		return performedEdit{}, err
	}
	text := strings.ReplaceAll(c.withNamespace(out.text), "meta.helm.sh/release-name: r\n", "meta.helm.sh/release-name: "+c.release+"\n")
	return out, c.cluster.create(context.Background(), text, c.ns, e.manager)
}

func orElseMap(m, other map[string]any) map[string]any {
	if m == nil {
		return other
	}
	return m
}

// serverApply is a forced server-side apply of only what the knobs set.
func (e *oracleEdit) serverApply(c *Case, number int) (performedEdit, error) {
	obj := map[string]any{"metadata": map[string]any{"name": e.object.name}}
	if !e.turnKnobs(obj) {
		return performedEdit{}, nil
	}
	obj["apiVersion"], obj["kind"] = e.apiVersion, e.object.kind.object["kind"]
	out, err := e.toFile("server-apply "+e.manager, number, obj)
	if err != nil {
		return performedEdit{}, err
	}
	return out, c.cluster.serverApply(context.Background(), c.withNamespace(out.text), c.ns, e.manager)
}

// serverApply applies the objects of a YAML stream server-side, with force.
func (c *cluster) serverApply(ctx context.Context, text, namespace, manager string) error {
	return c.eachObject(text, namespace, func(client dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
		_, err := client.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: true})
		return err
	})
}
