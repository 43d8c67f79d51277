package drift

import (
	"context"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/helmdrift/helmdrift/internal/helmrelease"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Two releases can have the same object in their manifests: with --take-ownership, or after somebody wrote the annotations by hand, Helm
// lets the second release take it over without a notice to the first. The annotations of live then name the second release. This file
// looks up, only for such objects, whether that release exists.

// addOthers adds to the input whether the other releases that live objects name exist, and warns of those that do.
func (r run) addOthers(ctx context.Context, in *threeway.Input) {
	in.Others = map[object.ReleaseName]threeway.OtherRelease{}
	for _, o := range liveObjects(*in) {
		named := object.ReleaseOf(o.Content)
		if named == in.Release() || !isPossible(named) {
			continue
		}
		other, known := in.Others[named]
		if !known {
			other = r.findOther(ctx, named, o)
			in.Others[named] = other
		}
		if other.Exists || other.Problem != "" {
			in.Warnings = append(in.Warnings, overlap(o, named, other))
		}
	}
}

// isPossible reports whether there can be a release with such a name. Annotations may hold any text.
func isPossible(named object.ReleaseName) bool {
	return chartutil.ValidateReleaseName(named.Name) == nil && len(validation.ValidateNamespaceName(named.Namespace, false)) == 0
}

// overlap returns the warning that an object belongs to another release.
func overlap(o object.Object, named object.ReleaseName, other threeway.OtherRelease) report.Message {
	about := "which exists: an upgrade of either writes its own manifest"
	if !other.Exists {
		about = "and it is not known whether that exists: " + other.Problem
	}
	return report.Message{Code: report.WarnOtherRelease, Object: o.Key.String(), Message: fmt.Sprintf(
		"its annotations name release %s in namespace %s, %s; helmdrift fix leaves it unless --only names it",
		named.Name, named.Namespace, about)}
}

// findOther looks for the records of a release in its namespace and, if Flux deployed the object, where Flux stores them.
func (r run) findOther(ctx context.Context, named object.ReleaseName, o object.Object) (out threeway.OtherRelease) {
	if r.connection.HasRelease == nil {
		return threeway.OtherRelease{Problem: "its records cannot be looked up here"}
	}
	places := []string{named.Namespace}
	if name, namespace := helmrelease.Owner([]object.Object{o}); name != "" {
		storage, _, err := helmrelease.Namespaces(ctx, r.connection.Cluster, name, namespace)
		if err != nil {
			out.Problem = err.Error()
		}
		places = append(places, namespace, storage)
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		if len(validation.ValidateNamespaceName(place, false)) > 0 {
			continue
		}
		switch exists, err := r.connection.HasRelease(ctx, place, named.Name); {
		case err != nil:
			out.Problem = err.Error()
		case exists:
			return threeway.OtherRelease{Exists: true}
		}
	}
	return out
}
