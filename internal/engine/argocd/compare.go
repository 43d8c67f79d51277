package argocd

import (
	"bytes"
	"encoding/json"
	"strings"

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

// keepsAllFields reports whether Argo CD compares all fields that an object of the sources has: it is of a kind that Argo CD does not know by its
// type, or has a field that the type lacks (gitops-engine v3.6.1 pkg/diff/diff.go remarshal, applyPatch). Of a Rollout, Argo CD knows the template.
func keepsAllFields(ref object.Ref, desired map[string]any) bool {
	if isCustom(ref) {
		return ref.Group != "argoproj.io"
	}
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
