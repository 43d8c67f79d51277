package engine

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// liveBeforeApply returns live as it is just before a deployer applies, and the fields that the deployer has taken over on the way; nil if
// none.
func (c Writer) liveBeforeApply(gvk schema.GroupVersionKind, live map[string]any, deployer string) (map[string]any, *fieldpath.Set) {
	if !c.Migrates || live == nil {
		return live, nil
	}
	was := live
	if live = migrated(was, deployer); haveSameManagers(was, live) {
		return was, nil
	}
	taken := rewrittenLists(gvk, live)
	if taken.Empty() {
		return live, nil
	}
	return withTaken(gvk, live, deployer, taken), taken
}

// takenOver returns the uncertainty about fields that the deployer has taken over from itself. Original is live as it was read.
func (s serverSide) takenOver(taken *fieldpath.Set, desired, original map[string]any, force bool) []Uncertainty {
	if taken == nil {
		return nil
	}
	without, err := s.result(desired, migrated(original, s.deployer), force)
	return []Uncertainty{{
		Reason:  "helm fails on its own write if the API server has sent the object to a client that watches it, such as its controller",
		Affects: Conflicting, Clears: err == nil && without.Refusal == "",
		Matches: func(path object.Path) bool { return taken.Has(owners.FieldPath(path)) },
	}}
}

// migrated returns live as Helm 4 leaves it before it first applies server-side to an object that was patched client-side: what
// the deployer wrote as an update becomes its apply (helm v4.3.1 pkg/kube/client.go upgradeClientSideFieldManager, which passes its own
// name for both).
func migrated(live map[string]any, deployer string) map[string]any {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	if err := csaupgrade.UpgradeManagedFields(u, sets.New(deployer), deployer); err != nil {
		return live
	}
	return u.Object
}

// isMigrated reports whether Helm migrates live in this way.
func isMigrated(live map[string]any, deployer string) bool {
	return live != nil && !haveSameManagers(live, migrated(live, deployer))
}

// haveSameManagers reports whether two objects have the same managedFields.
func haveSameManagers(a, b map[string]any) bool {
	return object.Equal(object.Child(a, "metadata")["managedFields"], object.Child(b, "metadata")["managedFields"])
}

// rewrittenLists returns the lists of live that the API server takes for changed by the patch that migrates it, although the patch changes
// managedFields alone. The server compares a list that is one value by reflection (structured-merge-diff v6.4.2 value/listreflect.go
// EqualsUsing). A quantity in it remembers its text once it was encoded as protobuf, as the object in the server's cache was for its
// watchers, while the patched object was decoded from JSON. Some texts are remembered then too, and others are not, such as those of
// multiples of 8Mi (apimachinery v0.37 pkg/api/resource/quantity.go ParseQuantity). Both are made here, and compared by the same library.
func rewrittenLists(gvk schema.GroupVersionKind, live map[string]any) *fieldpath.Set {
	cached, ok := decodeNative(gvk, live).(interface {
		runtime.Object
		Marshal() ([]byte, error)
	})
	if !ok {
		return &fieldpath.Set{}
	}
	if _, err := cached.Marshal(); err != nil { // it writes the texts into the quantities that it can address
		return &fieldpath.Set{}
	}
	was, err := kinds.NativeApply().Types.ObjectToTyped(cached)
	if err != nil {
		return &fieldpath.Set{}
	}
	is, err := kinds.NativeApply().Types.ObjectToTyped(decodeNative(gvk, live))
	if err != nil {
		return &fieldpath.Set{}
	}
	compared, err := was.Compare(is)
	if err != nil {
		return &fieldpath.Set{}
	}
	return compared.Modified
}

// decodeNative returns an object as its Go type; nil if that is not known, or the object does not decode into it.
func decodeNative(gvk schema.GroupVersionKind, live map[string]any) runtime.Object {
	typed, err := kinds.NativeApply().Scheme.New(gvk)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(withoutManagedFields(live), typed) != nil {
		return nil
	}
	return typed
}

// withTaken returns live after its deployer has taken fields over by an update, as the API server records it: nobody else owns them any
// more (structured-merge-diff v6.4.2 merge/update.go Update).
func withTaken(gvk schema.GroupVersionKind, live map[string]any, deployer string, taken *fieldpath.Set) map[string]any {
	out := runtime.DeepCopyJSON(live)
	meta := object.Child(out, "metadata")
	managed, _ := meta["managedFields"].([]any)
	for _, e := range slices.Backward(owners.Entries(live, nil)) {
		if e.Version != gvk.GroupVersion().String() {
			continue
		}
		left := e.Fields.Difference(taken)
		if left.Empty() {
			managed = slices.Delete(managed, e.Index, e.Index+1)
		} else if entry, _ := managed[e.Index].(map[string]any); entry != nil {
			entry["fieldsV1"] = fieldsOf(left)
		}
	}
	meta["managedFields"] = append(managed, map[string]any{
		"manager": deployer, "operation": "Update", "apiVersion": gvk.GroupVersion().String(), "fieldsType": "FieldsV1", "fieldsV1": fieldsOf(taken),
	})
	return out
}

// fieldsOf returns a set as an entry of managedFields has it, decoded.
func fieldsOf(set *fieldpath.Set) map[string]any {
	text, err := owners.FieldsV1(set)
	if err != nil {
		return nil
	}
	var out map[string]any
	_ = json.Unmarshal(text, &out)
	return out
}
