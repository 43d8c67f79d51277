package report

import (
	"slices"
	"testing"
)

// TestBaselineKnowsWhatCounted: a finding is known by id and cause, and only if it counted in the earlier report, or counts in neither.
func TestBaselineKnowsWhatCounted(t *testing.T) {
	rule := &IgnoreRule{Rule: "r"}
	drift := Finding{ID: "f", Verdict: Overwrite, Cause: CauseDrift, Managed: true}
	with := func(change func(*Finding)) Finding { f := drift; change(&f); return f }
	unmanaged := with(func(f *Finding) { f.Managed = false })
	autoscaled := with(func(f *Finding) { f.Class = ClassAutoscaled })
	ignored := with(func(f *Finding) { f.IgnoredBy = rule })
	of := func(fields ...Finding) Object {
		return Object{ID: "o", Action: ActionUpdate, Fields: fields}
	}
	whole := func(action Action, missing bool, reason string, by *IgnoreRule) Object {
		return Object{ID: "o", Action: action, Missing: missing, Reason: reason, IgnoredBy: by}
	}
	for name, c := range map[string]struct {
		then, now Object
		known     bool
	}{
		"the same drift":                {of(drift), of(drift), true},
		"a value that moved on":         {of(with(func(f *Finding) { f.Live = "a" })), of(with(func(f *Finding) { f.Live = "b" })), true},
		"an edit of what was to change": {of(with(func(f *Finding) { f.Cause = CauseChange })), of(drift), false},
		"an edit under a change":        {of(with(func(f *Finding) { f.Cause = CauseBoth })), of(drift), false},
		"no more under a rule":          {of(ignored), of(drift), false},
		"under a rule as before":        {of(ignored), of(ignored), true},
		"under a rule now":              {of(drift), of(ignored), true},
		"no more autoscaled":            {of(autoscaled), of(drift), false},
		"autoscaled as before":          {of(autoscaled), of(autoscaled), true},
		"volatile before":               {of(with(func(f *Finding) { f.Class, f.Cause = ClassVolatile, CauseChange })), of(drift), false},
		"unmanaged before":              {of(unmanaged), of(drift), false},
		"missing":                       {whole(ActionCreate, true, "", nil), whole(ActionCreate, true, "", nil), true},
		"missing, under a rule before":  {whole(ActionCreate, true, "", rule), whole(ActionCreate, true, "", nil), false},
		"being deleted":                 {going(of()), going(of()), true},
		"being deleted, and edited":     {going(of(drift)), going(of(drift)), true},
		"being deleted, edited since":   {going(of()), going(of(drift)), false},
		"being deleted, with a second field to write": {going(of(drift)),
			going(of(drift, with(func(f *Finding) { f.ID, f.Cause, f.IgnoredBy = "g", CauseChange, rule }))), false},
		"present, then being deleted":               {of(drift), going(of(drift)), false},
		"being deleted, then missing":               {going(of()), whole(ActionCreate, true, "", nil), false},
		"to be created, then missing":               {whole(ActionCreate, false, "", nil), whole(ActionCreate, true, "", nil), false},
		"failing":                                   {whole(ActionFail, false, "a", nil), whole(ActionFail, false, "a", nil), true},
		"failing for another reason":                {whole(ActionFail, false, "a", nil), whole(ActionFail, false, "b", nil), false},
		"failing, under a rule before":              {whole(ActionFail, false, "a", rule), whole(ActionFail, false, "a", nil), false},
		"to be deleted":                             {whole(ActionDelete, false, "", nil), whole(ActionDelete, false, "", nil), true},
		"a second field":                            {of(drift), of(drift, with(func(f *Finding) { f.ID = "g" })), false},
		"one of two fields":                         {of(drift, with(func(f *Finding) { f.ID = "g" })), of(drift), true},
		"a replacement with a second field":         {byReplacing(of(drift)), byReplacing(of(drift, with(func(f *Finding) { f.ID = "g" }))), false},
		"the same replacement":                      {byReplacing(of(drift)), byReplacing(of(drift)), true},
		"an update that used to be a replacement":   {byReplacing(of(drift)), of(drift), false},
		"a second field that the upgrade would let": {of(drift), of(drift, with(func(f *Finding) { f.ID, f.Verdict = "g", Ignore })), false},
	} {
		earlier := &Report{Releases: []Release{{Name: "r", Objects: []Object{c.then}}}}
		now := Release{Name: "r", Drifted: true, Objects: []Object{c.now}}
		now.Accept(earlier, "baseline")
		o := now.Objects[0]
		if counts := counts(o); counts == c.known {
			t.Errorf("%s: counts %t: %+v", name, counts, o)
		}
		if o.IgnoredBy != nil && !o.countsWhole() {
			t.Errorf("%s: the rule is about the object as a whole: %+v", name, o)
		}
		if now.Drifted != o.Drifted {
			t.Errorf("%s: the release drifted %t, its object %t", name, now.Drifted, o.Drifted)
		}
	}
}

// counts reports whether the strictest gate selects an object.
func counts(o Object) bool {
	whole := o.Gone() || o.Action == ActionFail || o.Action.Writes()
	return whole && o.IgnoredBy == nil && !o.Known || slices.ContainsFunc(o.Fields, func(f Finding) bool { return !f.Silenced() })
}

// going is an object that is being deleted; its id is another one, as goneWord makes it.
func going(o Object) Object {
	o.ID, o.Terminating = o.ID+" terminating", true
	return o
}

func byReplacing(o Object) Object {
	o.ID, o.Action = o.ID+" replaced", ActionReplace
	return o
}
