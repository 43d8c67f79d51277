package argocd

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
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

// compare returns whether an object differs for Argo CD, which need not compare as it writes (gitops-engine v3.6.1 pkg/diff/diff.go Diff). A comparison
// three ways does not see a field that the sources have dropped if no client-side apply has written it, and what a replacement drops from live makes no
// difference. But it sees a field that the API server does not keep, such as one that the schema of a custom kind lacks, with each comparison again.
func (o Options) compare(w engine.Writer, ref object.Ref, left Left) Comparison {
	result, isThreeWay := left.Result, false
	if result == nil {
		var done engine.Written
		var err error
		if o.ComparesServerSide {
			done, err = dryRun(w, ref, left.Desired, left.Live)
		} else if isCustom(ref) && !o.knows(ref) {
			return left.compareJSON()
		} else {
			isThreeWay = true
			done, err = w.Merge(ref, Applied(left.Live), withLastApplied(withoutNoTime(left.Desired), left.Live), left.Live)
		}
		if err != nil {
			return LikeTheWrite
		}
		result = withLastApplied(done.Result, left.Live)
	}
	managed := []object.Pointer{{"metadata", "managedFields"}}
	live, will := without(left.Live, managed), without(result, managed)
	if object.Equal(live, will) {
		return InSync
	}
	// The API server fills in defaults that an apply has removed, so normal forms are compared.
	normal := kinds.NewNormalizer(ref.Key, w.ShapeOf(ref), left.Live)
	switch isSame := object.Equal(normal.Stored(live).Object(), normal.Stored(will).Object()); {
	case isThreeWay && (!isSame || keepsAllFields(ref, left.Desired)):
		return OutOfSync
	case isSame:
		return InSync
	}
	return LikeTheWrite
}

// compareJSON returns whether an object of a kind whose type Argo CD does not know differs for it. Argo CD compares three ways, and of live only what
// the object had that was applied last. So what the API server has added makes no difference, and what it has dropped does (gitops-engine v3.6.1
// pkg/diff/diff.go ThreeWayDiff, threeWayMergePatch).
func (l Left) compareJSON() Comparison {
	live, desired, applied := engine.WithoutManagedFields(l.Live), unplaced(withoutNoTime(l.Desired)), unplaced(Applied(l.Live))
	if applied == nil {
		applied = desired
	}
	var texts [][]byte
	for _, o := range []any{applied, desired, shared(applied, live), live} {
		text, err := json.Marshal(o)
		if err != nil {
			return LikeTheWrite
		}
		texts = append(texts, text)
	}
	result, err := engine.Guarded(func() ([]byte, error) {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(texts[0], texts[1], texts[2])
		if err != nil {
			return nil, err
		}
		return engine.ClientSide{Engine: report.EngineMerge}.Apply(texts[3], patch)
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

// keepsAllFields reports whether Argo CD compares all fields that an object of the sources has, since it has a field that the type of its kind lacks
// (gitops-engine v3.6.1 pkg/diff/diff.go remarshal, applyPatch).
func keepsAllFields(ref object.Ref, desired map[string]any) bool {
	typed, err := kinds.Native().HelmScheme.New(ref.GVK())
	text, fault := json.Marshal(desired)
	if err != nil || fault != nil {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(typed)
	return err != nil && strings.Contains(err.Error(), "unknown field")
}

// isCustom reports whether Argo CD does not know the type of a kind.
func isCustom(ref object.Ref) bool {
	_, err := kinds.Native().HelmScheme.New(ref.GVK())
	return err != nil || ref.Group == "apiextensions.k8s.io"
}

// withoutNoTime returns an object of the sources without a creationTimestamp, which Argo CD removes before it compares.
func withoutNoTime(desired map[string]any) map[string]any {
	return without(desired, []object.Pointer{{"metadata", "creationTimestamp"}})
}

// dryRun returns live after the dry run that Argo CD compares it with. It hands over no fields, so a field that the sources have dropped stays if Argo CD
// has only updated it (gitops-engine v3.6.1 pkg/diff/diff.go serverSideDiff).
func dryRun(w engine.Writer, ref object.Ref, desired, live map[string]any) (engine.Written, error) {
	w.ServerSide, w.Helm4, w.ForceConflicts, w.Migrates = true, true, true, false
	return w.Apply(ref, desired, live)
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
