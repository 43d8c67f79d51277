package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// liveBeforeApply returns live as it is just before a deployer applies, and the fields that the deployer takes over by the migration, or
// nil.
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

// takenOver returns the uncertainty about the fields that liveBeforeApply returned. Original is live as it was read.
func (s serverSide) takenOver(taken *fieldpath.Set, desired, original map[string]any, force bool) []Uncertainty {
	if taken == nil {
		return nil
	}
	without, err := s.result(desired, migrated(original, s.deployer), force)
	return []Uncertainty{{
		Reason:  "helm fails on its own write if the API server has sent the object to a client that watches it, such as its controller",
		Affects: isConflict, Clears: err == nil && without.Refusal == "",
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

// haveSameManagers reports whether two objects have the same managedFields.
func haveSameManagers(a, b map[string]any) bool {
	return object.Equal(object.Child(a, "metadata")["managedFields"], object.Child(b, "metadata")["managedFields"])
}

// rewrittenLists returns the lists of live that the API server takes for changed by the migrating patch, although that patch changes only
// managedFields. The server compares an atomic list by reflection (structured-merge-diff v6.4.2 value/listreflect.go EqualsUsing). A
// quantity caches its text when it is encoded as protobuf. The object in the server's cache was encoded for its watchers, but the patched
// object was decoded from JSON, which caches some texts and not others, such as those of multiples of 8Mi (apimachinery v0.37
// pkg/api/resource/quantity.go ParseQuantity). This function makes both objects, and compares them with the same library.
func rewrittenLists(gvk schema.GroupVersionKind, live map[string]any) *fieldpath.Set {
	cached, ok := decodeNative(gvk, live).(interface {
		runtime.Object
		Marshal() ([]byte, error)
	})
	if !ok {
		return &fieldpath.Set{}
	}
	_, errCached := cached.Marshal() // this caches the texts in the quantities that it can address
	was, errWas := kinds.NativeApply().Types.ObjectToTyped(cached)
	is, errIs := kinds.NativeApply().Types.ObjectToTyped(decodeNative(gvk, live))
	if errors.Join(errCached, errWas, errIs) != nil {
		return &fieldpath.Set{}
	}
	compared, err := was.Compare(is)
	if err != nil {
		return &fieldpath.Set{}
	}
	return compared.Modified
}

// decodeNative returns an object as its Go type, or nil if the type is not known or the object does not decode into it.
func decodeNative(gvk schema.GroupVersionKind, live map[string]any) runtime.Object {
	typed, err := kinds.NativeApply().Scheme.New(gvk)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(WithoutManagedFields(live), typed) != nil {
		return nil
	}
	return typed
}

// withTaken returns live after its deployer has taken over fields by an update, as the API server records it: nobody else owns them any
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
		"manager": deployer, "operation": "Update", "apiVersion": gvk.GroupVersion().String(),
		"fieldsType": "FieldsV1", "fieldsV1": fieldsOf(taken),
	})
	return out
}

// fieldsOf returns a set as an entry of managedFields has it, decoded.
func fieldsOf(set *fieldpath.Set) map[string]any {
	var out map[string]any
	if text, err := owners.FieldsV1(set); err == nil {
		_ = json.Unmarshal(text, &out)
	}
	return out
}

// Autoscalers have their metrics at different places in version 1 and version 2 of their API. During an apply the API server converts the
// object to each version that somebody wrote, and back. That changes the metrics (kubernetes v1.36.3
// pkg/apis/autoscaling/v1/conversion.go; structured-merge-diff v6.4.2 merge/update.go).

// orderMetrics reorders the metrics of an autoscaler that the deployer last applied at version 1. To find what Helm no longer names, the
// server converts the object to version 1 and back, and the CPU target then comes last
// (Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler and back).
func (w *Written) orderMetrics(ref object.Ref, deployer string, live map[string]any) {
	isDeployers := func(e owners.Entry) bool {
		return e.Manager == deployer && e.Operation == "Apply" && e.Version == "autoscaling/v1"
	}
	if ref.Group != "autoscaling" || ref.Kind != "HorizontalPodAutoscaler" || !slices.ContainsFunc(owners.Entries(live, nil), isDeployers) {
		return
	}
	metrics, _ := object.Child(w.Result, "spec")["metrics"].([]any)
	order.Sort(metrics, func(a, b any) int { return cmp.Compare(version1Order(a), version1Order(b)) })
}

// version1Order returns 1 for the metric that has its own field in version 1, and 0 for the others.
func version1Order(metric any) int {
	m, _ := metric.(map[string]any)
	resource := object.Child(m, "resource")
	if m["type"] == "Resource" && resource["name"] == "cpu" && object.Child(resource, "target")["averageUtilization"] != nil {
		return 1
	}
	return 0
}

// keepMetrics restores the metrics of an autoscaler that an apply drops. The conversion from version 1 sets the default metric if there is
// none, so the server takes the metrics for present, and leaves them as they are (addBackOwnedItems, addBackDanglingItems).
func (w *Written) keepMetrics(ref object.Ref, live map[string]any) {
	path := metricsPath(ref)
	was, had := path.Lookup(live)
	if _, has := path.Lookup(w.Result); path == nil || !had || has {
		return
	}
	switch {
	case isWrittenAtBoth(live):
		w.Kept = path
		object.Child(w.Result, "spec")[path[1].Name] = object.Copy(was)
	case ref.Version == "v1":
		w.Uncertainties = append(w.Uncertainties, Uncertainty{
			Reason:  "it stays once the controller of autoscalers has written its status, at autoscaling/v2",
			Affects: report.Verdict.Writes, Matches: path.Equal,
		})
	}
}

// metricsPath returns the path of the metrics that Helm may drop in this version of an autoscaler, or nil for other kinds.
func metricsPath(ref object.Ref) object.Path {
	spec := object.Path{}.Field("spec")
	switch ref.GVK().String() {
	case "autoscaling/v1, Kind=HorizontalPodAutoscaler":
		return spec.Field("targetCPUUtilizationPercentage")
	case "autoscaling/v2, Kind=HorizontalPodAutoscaler":
		return spec.Field("metrics")
	}
	return nil
}

// isWrittenAtBoth reports whether managers wrote an autoscaler at both versions of its API. The controller of autoscalers writes the
// status at version 2.
func isWrittenAtBoth(live map[string]any) bool {
	return slices.ContainsFunc(owners.Entries(live, nil), func(e owners.Entry) bool {
		return e.Version != live["apiVersion"] && (e.Version == "autoscaling/v1" || e.Version == "autoscaling/v2")
	})
}
