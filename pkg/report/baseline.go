package report

// Accept silences what an earlier report of the same release has already, so that only what is new since then counts. Earlier is not
// nil and does not change; name is what the report calls it. The release is found by its name and by the namespace of its records,
// whatever its cluster is called. If the release is in a [Report] already, call [Report.Recount] afterwards.
//
// A finding is known if the earlier report has it with the same cause and counted it, or if neither report counts it. So an edit of a
// field that the upgrade was to change anyway is new, and so is an edit of a field that a rule or an autoscaler excused.
func (r *Release) Accept(earlier *Report, name string) {
	known := baselineOf(earlier, r)
	rule := &IgnoreRule{Rule: name, Reason: "known since " + earlier.Time.UTC().Format("2006-01-02 15:04"), Baseline: true}
	for i := range r.Objects {
		r.Objects[i].accept(known, rule)
	}
	r.Drifted = r.HasDrifted()
}

// accept silences what is known of one object. If the object counts as a whole, it gets the rule. A write that consists of fields is
// known only if each of the fields is.
func (o *Object) accept(known baseline, rule *IgnoreRule) {
	isKnown, writesKnown := known.hasObject(*o), true
	for i := range o.Fields {
		f := &o.Fields[i]
		switch has := known.hasField(*f); {
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

// writesFields reports whether what Helm writes to the object consists of fields, each of which is a finding.
func (o *Object) writesFields() bool {
	return o.Action == ActionUpdate || o.Action == ActionReplace || o.Action == ActionAdopt
}

// baseline is what an earlier report says of a release. The values report whether it counted there.
type baseline struct {
	fields  map[knownField]bool
	objects map[knownObject]bool
}

// knownField is what two reports must agree on for a finding to be the same. The id stands for the path and for what Helm does, cause for
// who changed the field. A finding that no manifest named is another one once a manifest names it, because then it is drift.
type knownField struct {
	id      string
	cause   Cause
	managed bool
}

// knownObject is the same for an object as a whole. A failure for another reason is another failure.
type knownObject struct {
	id      string
	gone    bool
	failure string
}

// baselineOf collects what an earlier report says of a release.
func baselineOf(earlier *Report, r *Release) baseline {
	out := baseline{fields: map[knownField]bool{}, objects: map[knownObject]bool{}}
	for _, release := range earlier.Releases {
		if release.Name != r.Name || release.StorageNamespace != r.StorageNamespace {
			continue
		}
		for _, o := range release.Objects {
			out.objects[o.known()] = out.objects[o.known()] || o.IgnoredBy == nil
			for _, f := range o.Fields {
				out.fields[f.known()] = out.fields[f.known()] || !f.Silenced()
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

// hasField reports whether the earlier report has the finding, and counted it or neither report counts it.
func (b baseline) hasField(f Finding) bool {
	counted, listed := b.fields[f.known()]
	return listed && (counted || f.Silenced())
}

// hasObject is hasField for an object as a whole.
func (b baseline) hasObject(o Object) bool {
	counted, listed := b.objects[o.known()]
	return listed && (counted || o.IgnoredBy != nil)
}
