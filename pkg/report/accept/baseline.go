// Package accept silences what somebody has accepted in a report, in two ways: by rules for the ignore file (rules.go), or by an earlier
// report that has the same findings (baseline.go). It needs nothing but reports.
package accept

import (
	"bytes"
	"encoding/json"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Known silences what an earlier report of the same release already has, so that only what is new since then counts. Earlier must
// not be nil and does not change; name is its name in the report. Known finds the release by its name and by the namespace of its records,
// and by the name of its cluster, unless the earlier report is about a single cluster with another name. The counts of a [report.Report]
// that has the release already do not change: [report.Report.Recount] counts again.
//
// A finding is known if the earlier report has it with the same cause and live value and counted it, or if neither report counts it. So
// an edit is new even if the upgrade was going to change the field anyway, or if a rule or an autoscaler excused the field. If only the
// live value is another one, KnownLive has the earlier one. A masked value cannot be compared, so its finding stays known.
func Known(r *report.Release, earlier *report.Report, name string) {
	known, since := baselineOf(earlier, r), earlier.Time.UTC()
	rule := &report.IgnoreRule{Rule: name, Reason: "known since " + since.Format("2006-01-02 15:04"), KnownSince: &since}
	for i := range r.Objects {
		acceptObject(&r.Objects[i], known, rule)
	}
	r.Drifted = r.HasDrifted()
}

// acceptObject silences what is known about one object. If the object counts as a whole, it gets the rule. A write that consists of fields
// is known only if each of the fields is.
func acceptObject(o *report.Object, known baseline, rule *report.IgnoreRule) {
	isKnown, writesKnown := known.hasObject(*o), true
	for i := range o.Fields {
		f := &o.Fields[i]
		has, was := known.hasField(*f)
		f.KnownLive = was
		switch {
		case !has && f.Verdict.Writes():
			writesKnown = false
		case has && !f.Silenced():
			f.IgnoredBy = rule
		}
	}
	switch {
	case !isKnown || o.IgnoredBy != nil || !writesKnown && writesFields(o):
	case o.CountsWhole():
		o.IgnoredBy = rule
	default:
		o.Known = o.Action.Writes()
	}
	o.Drifted = o.HasDrifted()
}

// writesFields reports whether Helm writes fields of the object, so that each is a finding.
func writesFields(o *report.Object) bool {
	return o.Action == report.ActionUpdate || o.Action == report.ActionReplace || o.Action == report.ActionAdopt
}

// baseline is what an earlier report says about a release: its findings, and whether an object counted there.
type baseline struct {
	fields  map[knownField][]report.Finding
	objects map[knownObject]bool
}

// knownField identifies a finding in two reports. The id stands for the path and for what Helm does, and cause for who changed the field.
// An unmanaged finding becomes another one once a manifest names the field, because then it is drift.
type knownField struct {
	id      string
	cause   report.Cause
	managed bool
}

// knownObject identifies an object as a whole. A failure for another reason is another failure.
type knownObject struct {
	id      string
	gone    bool
	failure string
}

// baselineOf collects what an earlier report says about a release.
func baselineOf(earlier *report.Report, r *report.Release) baseline {
	out := baseline{fields: map[knownField][]report.Finding{}, objects: map[knownObject]bool{}}
	clusters := map[string]bool{}
	for _, release := range earlier.Releases {
		clusters[release.Cluster] = true
	}
	// Other clusters had no release, or could not be read.
	for _, failed := range earlier.Errors {
		clusters[failed.Cluster] = true
	}
	if earlier.Scan != nil {
		for _, name := range earlier.Scan.Clusters {
			clusters[name] = true
		}
	}
	for _, release := range earlier.Releases {
		isOther := (clusters[r.Cluster] || len(clusters) > 1) && release.Cluster != r.Cluster
		if isOther || release.Name != r.Name || release.StorageNamespace != r.StorageNamespace {
			continue
		}
		for _, o := range release.Objects {
			out.objects[objectOf(o)] = out.objects[objectOf(o)] || o.IgnoredBy == nil
			for _, f := range o.Fields {
				out.fields[fieldOf(f)] = append(out.fields[fieldOf(f)], f)
			}
		}
	}
	return out
}

func fieldOf(f report.Finding) knownField { return knownField{f.ID, f.Cause, f.Managed} }

func objectOf(o report.Object) knownObject {
	known := knownObject{id: o.ID, gone: o.Gone()}
	if o.Action == report.ActionFail {
		known.failure = o.Reason
	}
	return known
}

// hasField reports whether the earlier report has the finding, and either counted it with its live value or neither report counts it. If
// only the value was another one, hasField returns that.
func (b baseline) hasField(f report.Finding) (has bool, was any) {
	for _, earlier := range b.fields[fieldOf(f)] {
		switch {
		case f.Silenced(), !earlier.Silenced() && !hasMoved(earlier, f):
			return true, nil
		case !earlier.Silenced():
			was = earlier.Live
		}
	}
	return false, was
}

// hasMoved reports whether the live value of the same finding in a later report is another one. The texts are compared, because the one
// report was read from a text. A report of a masked value, or one without values, does not say it.
func hasMoved(f, later report.Finding) bool {
	if f.Masked || later.Masked || f.Old == nil && f.Desired == nil && f.Live == nil && f.After == nil {
		return false
	}
	was, errWas := json.Marshal(f.Live)
	is, errIs := json.Marshal(later.Live)
	return errWas == nil && errIs == nil && !bytes.Equal(was, is)
}

// hasObject reports whether the earlier report has the object as a whole, and either counted it or neither report counts it.
func (b baseline) hasObject(o report.Object) bool {
	counted, listed := b.objects[objectOf(o)]
	return listed && (counted || o.IgnoredBy != nil)
}
