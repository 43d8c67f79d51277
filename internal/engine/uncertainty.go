package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Uncertainty is a reason why some verdicts on an object are not certain.
type Uncertainty struct {
	Reason string
	// Affects accepts the verdicts that are not certain, and Matches the paths of their findings. Nil accepts all of them.
	Affects func(report.Verdict) bool
	Matches func(object.Path) bool
	// Spreads is set if the whole write may fail because of these findings. Clears is set if the write may succeed although it is
	// predicted to fail on conflicts.
	Spreads, Clears bool
	// Vanishing are fields of live that the write may remove although the prediction keeps them.
	Vanishing []object.Path
}

func isConflict(v report.Verdict) bool { return v == report.Conflict }

// uncertainties returns the uncertainties of an apply that come from managers at other API versions, if those versions are only guessed
// to have the request's fields. An entry that does not change the outcome causes none, and neither does an entry of a subresource such as
// status, which no apply writes.
func (s serverSide) uncertainties(desired, live map[string]any, force bool, got Written) []Uncertainty {
	out := hiddenField(live, force)
	for _, entry := range guessedEntries(live, s.types.guessed) {
		reason := entry.Manager + " wrote at " + entry.Version + ", which only the server can convert"
		own := entry.Manager == s.deployer
		if moved := entry.unmappedParts(live); len(moved) > 0 {
			d := Uncertainty{
				Reason: reason, Affects: report.Verdict.Acts, Spreads: !own && !force,
				Matches: func(path object.Path) bool { return slices.ContainsFunc(moved, path.HasPrefix) },
			}
			if own {
				d.Affects, d.Vanishing = nil, entry.annotationsAtVersion1()
			}
			out = append(out, d)
		}
		if own && entry.Version == "autoscaling/v1" {
			// The conversion to version 1 and back changes the order of the metrics (orderMetrics).
			metrics := object.Path{}.Field("spec").Field("metrics")
			out = append(out, Uncertainty{
				Reason: reason, Affects: report.Verdict.Writes, Matches: func(path object.Path) bool { return path.HasPrefix(metrics) },
			})
		}
		switch {
		case force:
		case own && s.hasOthers(live):
			// The server removes what Helm no longer names at the version of the last apply. The conversion to that version and back
			// may change fields that others own.
			out = append(out, Uncertainty{Reason: reason, Affects: report.Verdict.Acts, Spreads: true})
		case !own:
			out = append(out, Uncertainty{Reason: reason, Affects: report.Verdict.Writes, Matches: entry.holdsWhole, Spreads: true})
		}
		without, err := s.result(desired, entry.removedFrom(live), force)
		switch {
		case err != nil || without.Refusal != got.Refusal:
			out = append(out, Uncertainty{Reason: reason, Affects: report.Verdict.Acts, Clears: err == nil && without.Refusal == ""})
		case !object.Equal(WithoutManagedFields(without.Result), WithoutManagedFields(got.Result)):
			out = append(out, Uncertainty{Reason: reason, Matches: entry.touches})
		}
	}
	return out
}

// otherDeployers returns the uncertainties of an object if an apply has another outcome under another possible name of the deployer.
func (c Writer) otherDeployers(s serverSide, desired, live map[string]any, got Written) (out []Uncertainty) {
	d := c.Deployer()
	for _, other := range d.Others {
		s.deployer = other
		before, _ := c.liveBeforeApply(s.types.gvk, live, other)
		theirs, err := s.result(desired, before, c.ForceConflicts)
		fails := err != nil || theirs.Refusal != ""
		switch {
		case err != nil || !object.Equal(WithoutManagedFields(theirs.Result), WithoutManagedFields(got.Result)):
			out = append(out, Uncertainty{Reason: d.Uncertainty(), Spreads: fails, Clears: !fails})
		case theirs.Refusal != got.Refusal:
			out = append(out, Uncertainty{Reason: d.Uncertainty(), Affects: report.Verdict.Acts, Spreads: fails, Clears: !fails})
		}
	}
	return out
}

// hiddenField returns the uncertainty about a field that the API server stores but does not show in a Service without an address
// (kubernetes v1.36.3 pkg/registry/core/service/storage/storage.go defaultOnReadInternalTrafficPolicy): it has an owner, but its value is
// not known.
func hiddenField(live map[string]any, force bool) []Uncertainty {
	if live["apiVersion"] != "v1" || live["kind"] != "Service" || apiserver.ServiceOf(live).HasAddress() {
		return nil
	}
	path := object.Path{}.Field("spec").Field("internalTrafficPolicy")
	reason := "the API server does not show which value it keeps here"
	return []Uncertainty{{Reason: reason, Affects: isConflict, Matches: path.Equal, Spreads: !force}}
}

// hasOthers reports whether a manager other than Helm's owns a part of live that an apply may write.
func (s serverSide) hasOthers(live map[string]any) bool {
	return slices.ContainsFunc(owners.Entries(live, nil), func(e owners.Entry) bool {
		return e.Manager != s.deployer && e.Subresource == ""
	})
}

// guessedEntry is an entry of managedFields at a version that is only guessed to have the request's fields.
type guessedEntry struct{ owners.Entry }

func guessedEntries(live map[string]any, guessed []schema.GroupVersion) []guessedEntry {
	var out []guessedEntry
	for _, entry := range owners.Entries(live, nil) {
		if gv, err := schema.ParseGroupVersion(entry.Version); err == nil && slices.Contains(guessed, gv) {
			out = append(out, guessedEntry{entry})
		}
	}
	return out
}

// removedFrom returns live without the entry.
func (e guessedEntry) removedFrom(live map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(live)
	meta := object.Child(out, "metadata")
	managed, _ := meta["managedFields"].([]any)
	meta["managedFields"] = slices.Delete(managed, e.Index, e.Index+1)
	return out
}

// touches reports whether the entry owns the path, something below it, or an atomic parent of it.
func (e guessedEntry) touches(path object.Path) bool {
	return owners.OwnsWithin(e.Fields, path) || e.holdsWhole(path)
}

// holdsWhole reports whether a parent of the path is atomic at the entry's version. If it is not atomic at the request's version, the
// server finds a conflict that the prediction misses.
func (e guessedEntry) holdsWhole(path object.Path) bool { return owners.OwnsAround(e.Fields, path) }

// unmappedParts lists the top-level parts of the object where the entry owns a field that live lacks at the version that was read. The
// conversion moves such a field to an unknown place. A metadata field, such as an annotation, may stand for any part.
func (e guessedEntry) unmappedParts(live map[string]any) []object.Path {
	var out []object.Path
	e.Fields.Leaves().Iterate(func(leaf fieldpath.Path) {
		if len(leaf) == 0 || leaf[0].FieldName == nil || *leaf[0].FieldName == "status" || holdsPath(live, leaf) {
			return
		}
		var part object.Path
		if *leaf[0].FieldName != "metadata" {
			part = part.Field(*leaf[0].FieldName)
		}
		out = append(out, part)
	})
	return out
}

// annotationsAtVersion1 lists the annotations of version 1 of an autoscaler that stand for fields that Helm applied at version 2. The
// server removes these fields if the manifest no longer has them.
func (e guessedEntry) annotationsAtVersion1() []object.Path {
	if e.Version != "autoscaling/v2" {
		return nil
	}
	var out []object.Path
	for _, move := range owners.AutoscalerMoves() {
		if move.V1[0].Name == "metadata" && owners.OwnsWithin(e.Fields, move.V2) {
			out = append(out, move.V1)
		}
	}
	return out
}

// holdsPath reports whether an object has what a path of managedFields leads to. Items of lists are assumed to exist.
func holdsPath(v any, path fieldpath.Path) bool {
	for _, element := range path {
		m, ok := v.(map[string]any)
		if element.FieldName == nil {
			return true
		}
		if !ok || !object.Has(m, *element.FieldName) {
			return false
		}
		v = m[*element.FieldName]
	}
	return true
}
