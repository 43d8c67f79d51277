package report

// Accept silences what an earlier report of the same release says already, so that only what is new since then counts. Name is what the
// report calls the earlier one.
//
// A finding is known where the earlier report has it with the same cause and counted it, or where neither counts it. An edit of a field
// that an upgrade was to change anyway is new, and so is one of a field that a rule or an autoscaler excused.
func (r *Release) Accept(earlier *Report, name string) {
	known := baselineOf(earlier, r)
	rule := &IgnoreRule{Rule: name, Reason: "known since " + earlier.Time.UTC().Format("2006-01-02 15:04"), Baseline: true}
	r.Drifted = r.Terminating
	for i := range r.Objects {
		o := &r.Objects[i]
		o.accept(known, rule)
		r.Drifted = r.Drifted || o.Drifted
	}
}

// accept silences what is known of one object. What counts of an object as a whole gets the rule. A write that is made of fields is known
// only if each of the fields is.
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
	case o.countsWhole():
		o.IgnoredBy = rule
	default:
		o.Known = o.Action.Writes()
	}
	o.Drifted = o.hasDrifted()
}

// writesFields reports whether what Helm writes to the object is made of fields, each of which is a finding.
func (o *Object) writesFields() bool {
	return o.Action == ActionUpdate || o.Action == ActionReplace || o.Action == ActionAdopt
}

// countsWhole reports whether the object counts by itself and not by its fields.
func (o *Object) countsWhole() bool {
	return o.Gone() || o.Action == ActionFail || o.Action == ActionCreate || o.Action == ActionDelete
}

// hasDrifted reports whether the object as a whole or a managed field of it has left what Helm deployed, and no rule excuses that.
func (o *Object) hasDrifted() bool {
	for _, f := range o.Fields {
		if f.Drifted() {
			return true
		}
	}
	return o.Gone() && o.IgnoredBy == nil
}

// baseline is what an earlier report says of a release; the values say whether it counted there.
type baseline struct {
	fields  map[knownField]bool
	objects map[knownObject]bool
}

// knownField is what two reports must agree on for a finding to be the same. The id says where it is and what Helm does, Cause who moved
// it. A finding that a manifest did not name is not the same once a manifest names it, because then it is drift.
type knownField struct {
	id      string
	cause   Cause
	managed bool
}

// knownObject is the same for what is said of an object as a whole. A failure for another reason is another failure.
type knownObject struct {
	id      string
	gone    bool
	failure string
}

// baselineOf reads what a report says of a release.
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

func (b baseline) hasField(f Finding) bool {
	counted, listed := b.fields[f.known()]
	return listed && (counted || f.Silenced())
}

func (b baseline) hasObject(o Object) bool {
	counted, listed := b.objects[o.known()]
	return listed && (counted || o.IgnoredBy != nil)
}
