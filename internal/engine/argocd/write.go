package argocd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Manager is the field manager of Argo CD (argo-cd v3.6.1 common/common.go ArgoCDSSAManager). Its client-side writes have the same name.
const Manager = "argocd-controller"

// LastApplied is the annotation with what kubectl apply wrote last.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// optionsAnnotation has options for one object, separated by commas.
const optionsAnnotation = "argocd.argoproj.io/sync-options"

// clientSideManager is the manager whose fields are handed over if the Application names no other one.
const clientSideManager = "kubectl-client-side-apply"

// Options are the options of a sync.
type Options struct {
	// List has the options of spec.syncPolicy.syncOptions, such as ServerSideApply=true.
	List []string
	// Prune is set if the sync deletes what desired no longer has. Removes is set if Argo CD deletes the Application itself; Prune then says
	// whether its objects go with it.
	Prune, Removes bool
	// Migrated is the field manager whose client-side fields are handed over before a server-side apply. The default is that of kubectl apply.
	Migrated string
	// Left has what is left of objects without what Argo CD ignores, if it ignores something of them. With RespectIgnoreDifferences=true
	// a sync leaves what it ignores.
	Left map[object.Key]Left
	// Raw has objects as the sources have them, if those that are written lack their nulls.
	Raw map[object.Key]map[string]any
	// ComparesServerSide is set if Argo CD compares objects with a dry run of a server-side apply, however it writes them.
	ComparesServerSide bool
	// Known are custom kinds. Argo CD knows the types of some of their fields.
	Known map[schema.GroupKind]bool
	// Learn is called with the outcome of each write of a live object. Several goroutines call it. It may be nil.
	Learn func(object.Key, Outcome)
}

// Outcome says whether a live object differs for Argo CD, and whether the sync deletes it and creates it again.
type Outcome struct {
	Comparison
	Recreation
}

// Left is what is left of an object without what Argo CD ignores. Result is live after a server-side apply, if Argo CD compares that with
// live, and else nil.
type Left struct{ Desired, Live, Result map[string]any }

// Deployment returns how Argo CD deploys with these options.
func (o Options) Deployment() *engine.Deployment {
	return &engine.Deployment{Manager: Manager, Sync: &engine.Sync{
		Method: o.method, Write: o.write, Refused: o.refused, Recreates: o.mayRecreate, Leaves: o.Leaves,
	}}
}

// Has reports whether an option is set for all objects.
func (o Options) Has(option string) bool { return slices.Contains(o.List, option) }

// Annotation returns an annotation of an object, or "" if that is no text.
func Annotation(o map[string]any, name string) string {
	text, _ := object.Child(object.Child(o, "metadata"), "annotations")[name].(string)
	return text
}

// optionsOf returns the options that an object has by its annotation.
func optionsOf(content map[string]any) []string {
	var out []string
	for option := range strings.SplitSeq(Annotation(content, optionsAnnotation), ",") {
		out = append(out, strings.TrimSpace(option))
	}
	return out
}

// isSet reports whether an option is set for all objects or for one of the texts of an object.
func (o Options) isSet(option string, texts ...map[string]any) bool {
	return o.Has(option) || slices.ContainsFunc(texts, func(text map[string]any) bool { return slices.Contains(optionsOf(text), option) })
}

// method implements engine.Sync (sync_context.go shouldUseServerSideApply).
func (o Options) method(desired map[string]any) (method report.ApplyMethod, replaces bool) {
	method = report.ApplyClientSide
	if !slices.Contains(optionsOf(desired), "ServerSideApply=false") && o.isSet("ServerSideApply=true", desired) {
		method = report.ApplyServerSide
	}
	return method, o.isSet("Replace=true", desired)
}

// rebinds reports whether a sync deletes the binding of a role and creates it again, because its role is another one: kubectl auth
// reconcile does so before a client-side apply (gitops-engine v3.6.1 pkg/utils/kube/resource_ops.go rbacReconcile, k8s.io/component-helpers
// v0.37 auth/rbac/reconciliation/reconcile_rolebindings.go).
func (o Options) rebinds(desired, live map[string]any) bool {
	kind, _ := desired["kind"].(string)
	method, _ := o.method(desired)
	return desired["apiVersion"] == "rbac.authorization.k8s.io/v1" && (kind == "RoleBinding" || kind == "ClusterRoleBinding") && live != nil &&
		method == report.ApplyClientSide && !o.isSet("Replace=true", desired, live) && !object.Equal(desired["roleRef"], live["roleRef"]) &&
		Annotation(live, "rbac.authorization.kubernetes.io/autoupdate") != "false"
}

// Created returns an object as the cluster has it once a sync has created it: kubectl apply leaves out the nulls in maps, which a
// server-side apply and a replacement of the object make empty texts in a map of texts.
func (o Options) Created(content map[string]any) map[string]any {
	if method, replaces := o.method(content); replaces || method == report.ApplyServerSide {
		return content
	}
	out, _ := withoutNulls(content).(map[string]any)
	return out
}

// withoutNulls returns a value without the nulls in its maps.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if value != nil {
				out[name] = withoutNulls(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return v
}

// mostAnnotations is how many bytes the names and values of all annotations may have (k8s.io/apimachinery v0.37
// pkg/api/validation/objectmeta.go TotalAnnotationSizeLimitB).
const mostAnnotations = 256 << 10

// refused implements engine.Sync: the annotation of a client-side apply, which holds the object, may be too long, as with large
// definitions.
func (o Options) refused(desired map[string]any) string {
	if method, replaces := o.method(desired); replaces || method == report.ApplyServerSide {
		return ""
	}
	text, err := json.Marshal(desired)
	size := len(LastApplied) + len(text) + len("\n")
	for name, value := range object.Child(object.Child(desired, "metadata"), "annotations") {
		own, _ := value.(string)
		size += len(name) + len(own)
	}
	if err != nil || size <= mostAnnotations {
		return ""
	}
	return fmt.Sprintf("metadata.annotations: Too long: may not be more than %d bytes", mostAnnotations)
}

// Leaves implements engine.Sync (sync_context.go pruneObject, isPruningDisabled). A resource policy of Helm does not keep an object that a
// sync prunes. It keeps one from going with the Application, and so do other reasons (argo-cd v3.6.1 controller/appcontroller.go
// shouldBeDeleted).
func (o Options) Leaves(live map[string]any) string {
	prune, deletion := o.valueOf("Prune=", live), o.valueOf("Delete=", live)
	policy := Annotation(live, "helm.sh/resource-policy")
	version, _ := live["apiVersion"].(string)
	switch {
	case o.Removes && !o.Prune:
		return "the Application lacks the finalizer that deletes its objects"
	case HasOwner(live):
		return "it belongs to another object, so Argo CD does not delete it"
	case o.Removes && live["kind"] == "CustomResourceDefinition" && strings.HasPrefix(version, "apiextensions.k8s.io/"):
		return "definitions stay when an Application goes"
	case o.Removes && deletion == "false":
		return "Delete=false"
	case o.Removes && deletion == "confirm":
		return "Delete=confirm: somebody has to confirm the deletion"
	case o.Removes && policy == "keep":
		return "helm.sh/resource-policy: keep"
	case !o.Removes && !o.Prune:
		return "the sync does not prune"
	case !o.Removes && prune == "false":
		return "Prune=false"
	case prune == "confirm":
		return "Prune=confirm: somebody has to confirm the deletion"
	case !o.Removes && Annotation(live, "argocd.argoproj.io/hook") == "Skip":
		return "argocd.argoproj.io/hook: Skip"
	}
	return ""
}

// HasOwner reports whether a live object belongs to another one. Unless the sources have it, it does not belong to the Application then,
// whatever its marks say (gitops-engine v3.6.1 pkg/cache/cluster.go GetManagedLiveObjs).
func HasOwner(live map[string]any) bool {
	owners, _ := object.Child(live, "metadata")["ownerReferences"].([]any)
	return len(owners) > 0
}

// Confirms reports whether Argo CD deletes a live object only after somebody has confirmed it. A sync waits for that before it writes
// (sync_context.go runTasks), and the Application before its objects go (argo-cd v3.6.1 controller/appcontroller.go
// finalizeApplicationDeletion).
func (o Options) Confirms(live map[string]any) bool {
	return o.valueOf("Prune=", live) == "confirm" || o.Removes && o.valueOf("Delete=", live) == "confirm"
}

// valueOf returns the value of an option. The annotation of the object wins, and of several the first.
func (o Options) valueOf(prefix string, live map[string]any) string {
	for _, option := range slices.Concat(optionsOf(live), o.List) {
		if value, found := strings.CutPrefix(option, prefix); found {
			return value
		}
	}
	return ""
}

// write implements engine.Sync.
func (o Options) write(w engine.Writer, ref object.Ref, desired, live map[string]any) (engine.Written, error) {
	if raw := o.Raw[ref.Key]; raw != nil {
		desired = raw
	}
	sent := desired
	left, ignores := o.Left[ref.Key]
	if !ignores {
		left = Left{Desired: desired, Live: live}
	} else if o.Has("RespectIgnoreDifferences=true") {
		var err error
		if sent, err = left.respecting(ref, desired, live); err != nil {
			return engine.Written{}, err
		}
	}
	done, err := o.writeAll(w, ref, sent, live)
	var out Outcome
	if err == nil && (o.Has("ApplyOutOfSyncOnly=true") || o.Learn != nil) {
		out.Comparison = o.compare(w, ref, left)
		if o.ComparesServerSide && o.mayRecreate(desired, live) { // of the others, the comparison itself finds it out
			if tried, err := dryRun(w, ref, desired, live); err == nil {
				if reason, _ := refusal(w, ref, live, tried); reason != "" {
					out.Comparison = Refused
				}
			}
		}
	}
	if o.Has("RespectIgnoreDifferences=true") && err == nil && isCustom(ref) && !object.Equal(left.Live, live) {
		if w.Schemas[ref.GroupKind()] == nil {
			done.WantsSchema = true
		} else if isUnmergeable(left.Live, live, w.ShapeOf(ref)) {
			out.Comparison = Unmergeable
		}
	}
	switch {
	case err != nil:
	case o.Has("ApplyOutOfSyncOnly=true") && out.Comparison == InSync:
		done.Result = live
	default:
		done, out.Recreation = o.recreate(w, ref, sent, live, done)
	}
	if o.Learn != nil {
		o.Learn(ref.Key, out)
	}
	return done, err
}

// writeAll writes an object without regard to what Argo CD ignores.
func (o Options) writeAll(w engine.Writer, ref object.Ref, desired, live map[string]any) (engine.Written, error) {
	switch {
	case w.ForceReplace || o.isSet("Replace=true", live):
		return w.Replace(desired), nil
	case w.ServerSide:
		done, err := o.apply(w, ref, desired, live)
		done.Result = withLastApplied(done.Result, live)
		return done, err
	}
	if desired = withLastApplied(desired, live); o.rebinds(desired, live) {
		return w.Replace(desired), nil
	}
	done, err := merge(w, ref, Applied(live), desired, live)
	if text := Annotation(live, LastApplied); text != "" && json.Unmarshal([]byte(text), &map[string]any{}) != nil {
		done.Invalid = "the annotation " + LastApplied + " is no JSON, so kubectl cannot make a patch; remove the annotation"
	}
	return done, err
}

// merge predicts a client-side patch of live that is computed three ways for every kind, as kubectl apply does it (kubectl v0.37
// pkg/cmd/apply/patcher.go patchSimple). Original is what was applied last, and nil if that is not known.
func merge(w engine.Writer, ref object.Ref, original, desired, live map[string]any) (engine.Written, error) {
	if original == nil {
		original = map[string]any{}
	}
	w.By, w.ServerSide, w.ForceReplace, w.ThreeWayMerge = nil, false, false, true
	return w.Write(ref, original, desired, live)
}

// withLastApplied returns an object with the annotation of live. A client-side apply writes a new one each time, and a server-side apply
// removes it. That says nothing that the other fields do not say, so the prediction leaves the annotation as it is.
func withLastApplied(content, live map[string]any) map[string]any {
	text, found := object.Child(object.Child(live, "metadata"), "annotations")[LastApplied]
	if is := object.Child(object.Child(content, "metadata"), "annotations")[LastApplied]; !found || content == nil || is == text {
		return content
	}
	out, _ := object.Copy(content).(map[string]any)
	metadata := object.Child(out, "metadata")
	if metadata == nil {
		return content
	}
	if object.Child(metadata, "annotations") == nil {
		metadata["annotations"] = map[string]any{}
	}
	object.Child(metadata, "annotations")[LastApplied] = text
	return out
}

// Applied returns the object in the annotation of kubectl apply, whoever wrote it last, or nil if there is none that can be read.
func Applied(live map[string]any) map[string]any {
	text := Annotation(live, LastApplied)
	var out map[string]any
	if text == "" || utiljson.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}

// apply predicts a server-side apply. It hands over the fields of an earlier client-side manager first (sync_context.go
// needsClientSideApplyMigration). Afterwards kubectl hands over those of whoever owns the annotation of its client-side apply, and applies
// again (kubectl v0.37 pkg/cmd/apply/apply.go migrateToSSAIfNecessary).
func (o Options) apply(w engine.Writer, ref object.Ref, desired, live map[string]any) (engine.Written, error) {
	w.ForceConflicts, w.Migrates = true, false
	if !o.Has("ClientSideApplyMigration=false") {
		earlier := cmp.Or(o.Migrated, clientSideManager)
		live = handover(live, func(manager string) bool { return manager == earlier })
	}
	done, err := w.Apply(ref, desired, live)
	if err != nil {
		return done, err
	}
	annotation := object.Path{}.Field("metadata").Field("annotations").Field(LastApplied)
	var updaters []string
	for _, entry := range owners.Entries(done.Result, nil) {
		if entry.Operation == "Update" && owners.OwnsWithin(entry.Fields, annotation) {
			updaters = append(updaters, entry.Manager)
		}
	}
	if len(updaters) == 0 {
		return done, nil
	}
	again := handover(done.Result, func(manager string) bool { return slices.Contains(updaters, manager) })
	return w.Apply(ref, desired, again)
}

// without returns a copy of an object that lacks some places.
func without(content map[string]any, places []object.Pointer) map[string]any {
	out := object.Copy(content)
	for _, place := range places {
		if _, found := place.Lookup(out); found {
			out = place.Remove(out)
		}
	}
	left, _ := out.(map[string]any)
	return left
}

// handover returns live after what some managers own by updates has become what Argo CD owns by an apply. The managers are those that owns
// accepts.
func handover(live map[string]any, owns func(manager string) bool) map[string]any {
	from := sets.New[string]()
	for _, entry := range owners.RawEntries(live) {
		if name, _ := entry["manager"].(string); entry["operation"] == "Update" && entry["subresource"] == nil && owns(name) {
			from.Insert(name)
		}
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	if from.Len() == 0 || csaupgrade.UpgradeManagedFields(u, from, Manager) != nil {
		return live
	}
	return u.Object
}
