package argocd

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file has how Argo CD compares, which need not be how it writes.

// Comparison says whether an object differs for Argo CD. The zero value says that it does so if a sync changes it.
type Comparison int

// These are the values of a Comparison.
const (
	LikeTheWrite Comparison = iota
	InSync
	OutOfSync
	// Refused says that the API server refuses the dry run that Argo CD compares by.
	Refused
	// Unmergeable says that a sync with RespectIgnoreDifferences=true fails because of the object.
	Unmergeable
)

// compare returns whether an object differs for Argo CD, which need not compare as it writes (gitops-engine v3.6.1 pkg/diff/diff.go Diff).
// A comparison three ways does not see a field that the sources have dropped if no client-side apply has written it, and what a replacement
// drops from live makes no difference. But it sees a field that the API server does not keep, such as one that the schema of a custom kind
// lacks, with each comparison again.
func (o Options) compare(w engine.Writer, ref object.Ref, left Left) Comparison {
	isThreeWay, result := left.Result == nil && !o.ComparesServerSide, left.Result
	var done engine.Written
	var err error
	switch {
	case isThreeWay && !isCustom(ref):
		return left.compareTyped(ref, w.ShapeOf(ref))
	case isThreeWay && !o.knows(ref):
		return left.compareJSON()
	case isThreeWay:
		done, err = merge(w, ref, Applied(left.Live), withLastApplied(withoutTime(left.Desired), left.Live), left.Live)
	case result == nil:
		done, err = dryRun(w, ref, left.Desired, left.Live)
	}
	if err != nil {
		return LikeTheWrite
	}
	if result == nil {
		result = withLastApplied(done.Result, left.Live)
	}
	managed := []object.Pointer{{"metadata", "managedFields"}}
	live, will := without(left.Live, managed), without(result, managed)
	// The API server fills in defaults that an apply has removed, so normal forms are compared.
	normal := kinds.NewNormalizer(ref.Key, w.ShapeOf(ref), left.Live)
	switch isSame := object.Equal(live, will) || object.Equal(normal.Stored(live).Object(), normal.Stored(will).Object()); {
	case isSame, left.Result == nil && o.ComparesServerSide && isOthers(ref, w.ShapeOf(ref), left.Live, result):
		return InSync
	case isThreeWay:
		return OutOfSync
	}
	return LikeTheWrite
}

// isOthers reports whether Argo CD owns nothing of what a dry run changes in an object of a built-in kind. It then takes the changes for
// those of webhooks, and does not see them; but they may be defaults of a field that the apply adds (diff.go removeWebhookMutation).
func isOthers(ref object.Ref, shape *kinds.Shape, live, result map[string]any) bool {
	native := kinds.NativeApply()
	if !native.Scheme.Recognizes(ref.GVK()) {
		return false
	}
	filled, _ := object.Copy(engine.WithoutManagedFields(result)).(map[string]any)
	kinds.FillDefaults(filled, shape)
	is, errIs := native.Types.ObjectToTyped(&unstructured.Unstructured{Object: engine.WithoutManagedFields(live)}, typed.AllowDuplicates)
	will, errWill := native.Types.ObjectToTyped(&unstructured.Unstructured{Object: filled}, typed.AllowDuplicates)
	if errors.Join(errIs, errWill) != nil {
		return false
	}
	changes, err := is.Compare(will)
	if err != nil {
		return false
	}
	written := changes.Added.Union(changes.Modified).Leaves() // a struct that is added has fields
	return written.Intersection(ownedBy(result)).Empty() && changes.Removed.Intersection(ownedBy(live)).Empty()
}

// ownedBy returns the fields of an object that Argo CD owns.
func ownedBy(content map[string]any) *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, entry := range owners.Entries(content, nil) {
		if entry.Manager == Manager {
			out = out.Union(entry.Fields)
		}
	}
	return out
}

// compareTyped returns whether an object of a built-in kind differs for Argo CD, three ways and with the defaults of the kind. A comparison
// that fails is made again without what was applied last (gitops-engine v3.6.1 pkg/diff/diff.go Diff, ThreeWayDiff, threeWayMergePatch,
// applyPatch).
func (l Left) compareTyped(ref object.Ref, shape *kinds.Shape) Comparison {
	live := normalized(ref, remarshaled(ref, engine.WithoutManagedFields(l.Live)))
	desired := unplaced(normalized(ref, remarshaled(ref, l.Desired)))
	for _, applied := range []map[string]any{unplaced(normalized(ref, Applied(l.Live))), desired} {
		if applied == nil {
			continue
		}
		is := live // as far as the patch is made of it
		if ref.Group == "apps" && ref.Kind == "StatefulSet" {
			is = withKnownTemplates(applied, live)
		}
		will, err := engine.Guarded(func() (map[string]any, error) { return patched(ref, applied, desired, is, live) })
		if err != nil {
			continue
		}
		if object.Equal(live, will) || object.Equal(withDefaults(ref, live, shape), withDefaults(ref, will, shape)) {
			return InSync
		}
		return OutOfSync
	}
	return LikeTheWrite
}

// withDefaults returns an object with the defaults of its kind, unless it does not decode as that. As in Argo CD, a strategic patch adds
// them, so fields that the type lacks stay, except in a list that the patch replaces. A template of a claim gets neither apiVersion nor
// kind, which the API server sets by other means (diff.go generateSchemeDefaultPatch).
func withDefaults(ref object.Ref, content map[string]any, shape *kinds.Shape) map[string]any {
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	if err != nil || engine.HoldsHugeQuantity(content, shape) || runtime.DefaultUnstructuredConverter.FromUnstructured(content, typed) != nil {
		return content
	}
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return content
	}
	filled, _ := object.Copy(plain).(map[string]any)
	if role := object.Child(filled, "roleRef"); role["apiGroup"] == "" {
		delete(role, "apiGroup")
	}
	kinds.FillDefaults(filled, shape)
	filled["status"] = plain["status"]
	was, _ := object.Child(plain, "spec")["volumeClaimTemplates"].([]any)
	is, _ := object.Child(filled, "spec")["volumeClaimTemplates"].([]any)
	for i := range is {
		before, _ := was[i].(map[string]any)
		after, _ := is[i].(map[string]any)
		for _, name := range []string{"apiVersion", "kind"} {
			if before[name] == nil {
				delete(after, name)
			}
		}
	}
	out, err := engine.Guarded(func() (map[string]any, error) { return patched(ref, plain, filled, plain, content) })
	if err != nil {
		return content
	}
	return out
}

// patched returns live after a strategic patch, three ways from what was applied, desired and is.
func patched(ref object.Ref, applied, desired, is, live map[string]any) (will map[string]any, err error) {
	texts, err := engine.Encoded(applied, desired, is, live)
	if err != nil {
		return nil, err
	}
	result, err := strategic(ref, texts[0], texts[1], texts[2], texts[3])
	if err == nil {
		err = utiljson.Unmarshal(result, &will)
	}
	return will, err
}

// strategic is patched for texts.
func strategic(ref object.Ref, applied, desired, is, live []byte) ([]byte, error) {
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	if err != nil {
		return nil, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(applied, desired, is, meta, true)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
}

// withKnownTemplates returns a StatefulSet whose templates of claims have only what was applied, since the API server adds to them
// (diff.go statefulSetWorkaround).
func withKnownTemplates(applied, live map[string]any) map[string]any {
	own, isList := object.Child(applied, "spec")["volumeClaimTemplates"].([]any)
	is, alsoList := object.Child(live, "spec")["volumeClaimTemplates"].([]any)
	if !isList || !alsoList {
		return live
	}
	out, spec := maps.Clone(live), maps.Clone(object.Child(live, "spec"))
	out["spec"], spec["volumeClaimTemplates"] = spec, shared(own, is)
	return out
}

// remarshaled returns an object as its Go type has it, without fields that it did not have before: a null is gone, or is an empty text in a
// map of texts. An object with a field that the type lacks stays as it is, and so does one of a kind that Argo CD does not know (diff.go
// remarshal).
func remarshaled(ref object.Ref, content map[string]any) map[string]any {
	if isCustom(ref) {
		return content
	}
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	if err != nil || engine.HoldsHugeQuantity(content, kinds.ShapeOf(ref, nil, false)) {
		return content
	}
	text, err := json.Marshal(content)
	if err != nil {
		return content
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(typed) != nil {
		return content
	}
	back, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return content
	}
	out, _ := shared(content, back).(map[string]any)
	return out
}

// normalized returns an object without what never makes a difference for Argo CD (diff.go Normalize, NormalizeSecret, normalizeRole).
// Settings that remove the rules of roles that others make count before.
func normalized(ref object.Ref, content map[string]any) map[string]any {
	out := withoutTime(content)
	switch rules, isList := out["rules"].([]any); {
	case ref.Group == "" && ref.Kind == "Secret":
		out = kinds.FoldSecret(out) // what was applied last need not name its version
		for name, value := range object.Child(out, "data") {
			if value == nil {
				object.Child(out, "data")[name] = ""
			}
		}
	case ref.Group == "rbac.authorization.k8s.io" && (ref.Kind == "Role" || ref.Kind == "ClusterRole") && isList && len(rules) == 0:
		out["rules"] = nil
	}
	return out
}

// compareJSON returns whether an object of a kind whose type Argo CD does not know differs for it. Argo CD compares three ways, and of live
// only what the object had that was applied last. So what the API server has added makes no difference, and what it has dropped does
// (gitops-engine v3.6.1 pkg/diff/diff.go ThreeWayDiff, threeWayMergePatch).
func (l Left) compareJSON() Comparison {
	live, desired := withoutTime(engine.WithoutManagedFields(l.Live)), unplaced(withoutTime(l.Desired))
	applied := unplaced(withoutTime(Applied(l.Live)))
	if applied == nil {
		applied = desired
	}
	is := shared(applied, live)
	if object.Equal(applied, desired) && object.Equal(is, desired) {
		return InSync // the patch is empty, and a large definition need not be encoded for that
	}
	texts, err := engine.Encoded(applied, desired, is, live)
	if err != nil {
		return LikeTheWrite
	}
	result, err := engine.Guarded(func() ([]byte, error) {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(texts[0], texts[1], texts[2])
		if err != nil {
			return nil, err
		}
		return jsonpatch.MergePatch(texts[3], patch)
	})
	var will map[string]any
	switch {
	case err != nil || utiljson.Unmarshal(result, &will) != nil:
		return LikeTheWrite
	case object.Equal(live, will):
		return InSync
	}
	return OutOfSync
}

// unplaced returns an object without its namespace and without annotations that are empty (diff.go removeNamespaceAnnotation).
func unplaced(content map[string]any) map[string]any {
	if content == nil {
		return nil
	}
	places := []object.Pointer{{"metadata", "namespace"}}
	if meta := object.Child(content, "metadata"); len(object.Child(meta, "annotations")) == 0 {
		places = append(places, object.Pointer{"metadata", "annotations"})
	}
	return without(content, places)
}

// shared returns what live has of the fields of an object. The items of lists belong together by their place (gitops-engine v3.6.1
// pkg/utils/json/json.go RemoveMapFields, RemoveListFields).
func shared(applied, live any) any {
	switch live := live.(type) {
	case map[string]any:
		fields, isMap := applied.(map[string]any)
		if !isMap {
			return live
		}
		out := map[string]any{}
		for name, value := range fields {
			if is, found := live[name]; found {
				out[name] = shared(value, is)
			}
		}
		return out
	case []any:
		items, isList := applied.([]any)
		if !isList {
			return live
		}
		out := slices.Clone(live)
		for i := range min(len(items), len(live)) {
			out[i] = shared(items[i], live[i])
		}
		return out
	}
	return live
}

// knows reports whether Argo CD knows the types of some fields of a custom kind: of a Rollout, and of what its settings say (argo-cd v3.6.1
// util/argo/normalizers/knowntypes_normalizer.go).
func (o Options) knows(ref object.Ref) bool {
	return ref.Group == "argoproj.io" && ref.Kind == "Rollout" || o.Known[ref.GroupKind()]
}

// isCustom reports whether Argo CD does not know the type of a kind.
func isCustom(ref object.Ref) bool {
	_, err := kinds.Native().HelmScheme.New(ref.GVK())
	return err != nil || ref.Group == "apiextensions.k8s.io"
}

// withoutTime returns an object without a creationTimestamp, which Argo CD removes before it compares.
func withoutTime(content map[string]any) map[string]any {
	if content == nil {
		return nil
	}
	return without(content, []object.Pointer{{"metadata", "creationTimestamp"}})
}

// dryRun returns live after the dry run that Argo CD compares it with. It hands over no fields, so a field that the sources have dropped
// stays if Argo CD has only updated it (gitops-engine v3.6.1 pkg/diff/diff.go serverSideDiff).
func dryRun(w engine.Writer, ref object.Ref, desired, live map[string]any) (engine.Written, error) {
	w.ServerSide, w.Helm4, w.ForceConflicts, w.Migrates = true, true, true, false
	return w.Apply(ref, normalized(ref, remarshaled(ref, desired)), live)
}

// ServerSideResult returns live after a server-side apply of desired, whatever Argo CD ignores and however it writes, or nil if that is not
// known. It is not known for custom kinds, because their types are not read for it.
func ServerSideResult(ref object.Ref, desired, live map[string]any) map[string]any {
	w := engine.Writer{Deployer: func() owners.Deployer { return owners.Deployer{Manager: Manager, Known: true} }}
	done, err := dryRun(w, ref, desired, live)
	if err != nil {
		return nil
	}
	return withLastApplied(done.Result, live)
}
