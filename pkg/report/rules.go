package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"time"
)

// Rules returns the rules that silence everything that counts in the report and nothing else; whoever adds them to .helmdrift.yaml
// accepts the release as it is. Each rule names one object and the paths of its findings. It names the object as a whole if the object
// is missing or being deleted, or if the operation fails on it for another reason than conflicts. No rule can name a list item that
// live lacks and whose key is a secret. The reason of each rule is the date of the report. Call it only if [Report.HasPatterns].
func (r *Report) Rules() []RuleText {
	out := []RuleText{}
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			if rule := o.rule(); len(rule.Paths) > 0 {
				rule.Releases, rule.Reason = []string{release.Name}, "accepted on "+r.Time.Format(time.DateOnly)
				out = append(out, rule)
			}
		}
	}
	return out
}

// HasPatterns reports whether the findings of a report have the patterns that rules need. Reports that were saved by older versions have none.
func (r *Report) HasPatterns() bool {
	isEmpty := true
	for _, release := range r.Releases {
		for _, o := range release.Objects {
			if slices.ContainsFunc(o.Fields, func(f Finding) bool { return f.Pattern != "" }) {
				return true
			}
			isEmpty = isEmpty && len(o.Fields) == 0
		}
	}
	return isEmpty
}

// rule returns the rule that silences what counts in the object. It has no paths if nothing counts.
func (o *Object) rule() RuleText {
	rule := RuleText{Target: o.target()}
	isConflict := o.OnlyConflicts && o.IgnoredBy == nil
	for _, f := range o.Fields {
		if (!f.Silenced() || isConflict && f.Verdict == Conflict) && f.Pattern != "" {
			rule.Paths = append(rule.Paths, f.Pattern)
		}
	}
	switch {
	case o.IgnoredBy != nil:
	case o.Gone() || o.Action == ActionFail && !o.OnlyConflicts:
		rule.Paths = []string{""}
	default:
		rule.Conflicts = isConflict
	}
	return rule
}

// target selects this object alone, at every version of its group. An empty group would select every group, so an object of the core
// group is selected by its version.
func (o *Object) target() *TargetText {
	group, version := o.groupVersion()
	if group != "" {
		version = ""
	}
	quote := regexp.QuoteMeta
	return &TargetText{Group: quote(group), Version: quote(version), Kind: quote(o.Kind), Name: quote(o.Name), Namespace: quote(o.Namespace)}
}

// RuleText is one ignore rule in a file. It has the same keys as Flux's spec.driftDetection.ignore for everything that Flux
// has; docs/ignore.md describes them.
type RuleText struct {
	// Name is the name of the rule in reports; empty means where it was read. A file does not have it.
	Name string `json:"-"`
	// Paths are JSON pointers with patterns, such as /spec/replicas; "" is the object as a whole.
	Paths []string `json:"paths,omitempty"`
	// Target selects the objects; nil selects all.
	Target *TargetText `json:"target,omitempty"`
	// Managers restricts the rule to what these field managers wrote. The names may begin or end in *.
	Managers []string `json:"managers,omitempty"`
	// Releases restricts the rule to releases with these names.
	Releases []string `json:"releases,omitempty"`
	// Conflicts also silences the failure of the operation on the object, as long as rules silence each conflict that causes it.
	Conflicts bool   `json:"conflicts,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// Expires is the last day of the rule, such as 2027-01-31.
	Expires string `json:"expires,omitempty"`
}

// TargetText selects objects. The first five are regular expressions; the selectors have kubectl's syntax. An empty field selects
// everything.
type TargetText struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

// Accept silences what an earlier report of the same release already has, so that only what is new since then counts. Earlier must
// not be nil and does not change; name is its name in the report. Accept finds the release by its name and by the namespace of its
// records, whatever the name of its cluster. If the release is already in a [Report], call [Report.Recount] afterwards.
//
// A finding is known if the earlier report has it with the same cause and live value and counted it, or if neither report counts it. So
// an edit is new even if the upgrade was going to change the field anyway, or if a rule or an autoscaler excused the field. If only the
// live value is another one, KnownLive has the earlier one. A masked value cannot be compared, so its finding stays known.
func (r *Release) Accept(earlier *Report, name string) {
	known, since := baselineOf(earlier, r), earlier.Time.UTC()
	rule := &IgnoreRule{Rule: name, Reason: "known since " + since.Format("2006-01-02 15:04"), KnownSince: &since}
	for i := range r.Objects {
		r.Objects[i].accept(known, rule)
	}
	r.Drifted = r.HasDrifted()
}

// accept silences what is known about one object. If the object counts as a whole, it gets the rule. A write that consists of fields
// is known only if each of the fields is.
func (o *Object) accept(known baseline, rule *IgnoreRule) {
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
	case !isKnown || o.IgnoredBy != nil || !writesKnown && o.writesFields():
	case o.state().countsWhole():
		o.IgnoredBy = rule
	default:
		o.Known = o.Action.Writes()
	}
	o.Drifted = o.hasDrifted()
}

// writesFields reports whether Helm writes fields of the object, so that each is a finding.
func (o *Object) writesFields() bool {
	return o.Action == ActionUpdate || o.Action == ActionReplace || o.Action == ActionAdopt
}

// baseline is what an earlier report says about a release: its findings, and whether an object counted there.
type baseline struct {
	fields  map[knownField][]Finding
	objects map[knownObject]bool
}

// knownField identifies a finding in two reports. The id stands for the path and for what Helm does, and cause for who changed the field.
// An unmanaged finding becomes another one once a manifest names the field, because then it is drift.
type knownField struct {
	id      string
	cause   Cause
	managed bool
}

// knownObject identifies an object as a whole. A failure for another reason is another failure.
type knownObject struct {
	id      string
	gone    bool
	failure string
}

// baselineOf collects what an earlier report says about a release.
func baselineOf(earlier *Report, r *Release) baseline {
	out := baseline{fields: map[knownField][]Finding{}, objects: map[knownObject]bool{}}
	for _, release := range earlier.Releases {
		if release.Name != r.Name || release.StorageNamespace != r.StorageNamespace {
			continue
		}
		for _, o := range release.Objects {
			out.objects[o.known()] = out.objects[o.known()] || o.IgnoredBy == nil
			for _, f := range o.Fields {
				out.fields[f.known()] = append(out.fields[f.known()], f)
			}
		}
	}
	return out
}

func (f Finding) known() knownField { return knownField{f.ID, f.Cause, f.Managed} }

func (o Object) known() knownObject {
	known := knownObject{id: o.ID, gone: o.Gone()}
	if o.Action == ActionFail {
		known.failure = o.Reason
	}
	return known
}

// hasField reports whether the earlier report has the finding, and either counted it with its live value or neither report counts it. If
// only the value was another one, hasField returns that.
func (b baseline) hasField(f Finding) (has bool, was any) {
	for _, earlier := range b.fields[f.known()] {
		switch {
		case f.Silenced(), !earlier.Silenced() && !earlier.hasMoved(f):
			return true, nil
		case !earlier.Silenced():
			was = earlier.Live
		}
	}
	return false, was
}

// hasMoved reports whether the live value of the same finding in a later report is another one. The texts are compared, because the one
// report was read from a text. A report of a masked value, or one without values, does not say it.
func (f Finding) hasMoved(later Finding) bool {
	if f.Masked || later.Masked || f.Old == nil && f.Desired == nil && f.Live == nil && f.After == nil {
		return false
	}
	was, errWas := json.Marshal(f.Live)
	is, errIs := json.Marshal(later.Live)
	return errWas == nil && errIs == nil && !bytes.Equal(was, is)
}

// hasObject reports whether the earlier report has the object as a whole, and either counted it or neither report counts it.
func (b baseline) hasObject(o Object) bool {
	counted, listed := b.objects[o.known()]
	return listed && (counted || o.IgnoredBy != nil)
}
