package report

import (
	"slices"
	"testing"
)

// TestAccept checks that a finding is known by id and cause, and only if it counted in the earlier report or counts in neither.
func TestAccept(t *testing.T) {
	rule := &IgnoreRule{Rule: "r"}
	drift := Finding{ID: "f", Verdict: Overwrite, Cause: CauseDrift, Managed: true}
	with := func(change func(*Finding)) Finding { f := drift; change(&f); return f }
	unmanaged := with(func(f *Finding) { f.Managed = false })
	live := func(value string) Finding { return with(func(f *Finding) { f.Live = value }) }
	autoscaled := with(func(f *Finding) { f.Class = ClassAutoscaled })
	volatile := with(func(f *Finding) { f.Class, f.Cause = ClassVolatile, CauseChange })
	second := with(func(f *Finding) { f.ID = "g" })
	ignored := with(func(f *Finding) { f.IgnoredBy = rule })
	having := func(fields ...Finding) Object {
		return Object{ID: "o", Action: ActionUpdate, Fields: fields}
	}
	whole := func(action Action, missing bool, reason string, by *IgnoreRule) Object {
		return Object{ID: "o", Action: action, Missing: missing, Reason: reason, IgnoredBy: by}
	}
	for name, c := range map[string]struct {
		then, now Object
		known     bool
	}{
		"the same drift":                        {having(drift), having(drift), true},
		"another live value":                    {having(live("a")), having(live("b")), true},
		"an edit of a field that was to change": {having(with(func(f *Finding) { f.Cause = CauseChange })), having(drift), false},
		"an edit under a change":                {having(with(func(f *Finding) { f.Cause = CauseBoth })), having(drift), false},
		"ignored before":                        {having(ignored), having(drift), false},
		"ignored before and now":                {having(ignored), having(ignored), true},
		"ignored now":                           {having(drift), having(ignored), true},
		"autoscaled before":                     {having(autoscaled), having(drift), false},
		"autoscaled before and now":             {having(autoscaled), having(autoscaled), true},
		"volatile before":                       {having(volatile), having(drift), false},
		"unmanaged before":                      {having(unmanaged), having(drift), false},
		"missing":                               {whole(ActionCreate, true, "", nil), whole(ActionCreate, true, "", nil), true},
		"missing, ignored before":               {whole(ActionCreate, true, "", rule), whole(ActionCreate, true, "", nil), false},
		"being deleted":                         {terminating(having()), terminating(having()), true},
		"being deleted, and edited":             {terminating(having(drift)), terminating(having(drift)), true},
		"being deleted, edited since":           {terminating(having()), terminating(having(drift)), false},
		"being deleted, with a second field to write": {terminating(having(drift)),
			terminating(having(drift, with(func(f *Finding) { f.ID, f.Cause, f.IgnoredBy = "g", CauseChange, rule }))), false},
		"present, then being deleted":            {having(drift), terminating(having(drift)), false},
		"being deleted, then missing":            {terminating(having()), whole(ActionCreate, true, "", nil), false},
		"to be created, then missing":            {whole(ActionCreate, false, "", nil), whole(ActionCreate, true, "", nil), false},
		"failing":                                {whole(ActionFail, false, "a", nil), whole(ActionFail, false, "a", nil), true},
		"failing for another reason":             {whole(ActionFail, false, "a", nil), whole(ActionFail, false, "b", nil), false},
		"failing, ignored before":                {whole(ActionFail, false, "a", rule), whole(ActionFail, false, "a", nil), false},
		"to be deleted":                          {whole(ActionDelete, false, "", nil), whole(ActionDelete, false, "", nil), true},
		"a second field":                         {having(drift), having(drift, second), false},
		"one of two fields":                      {having(drift, second), having(drift), true},
		"a replacement with a second field":      {replaced(having(drift)), replaced(having(drift, second)), false},
		"the same replacement":                   {replaced(having(drift)), replaced(having(drift)), true},
		"an update that was a replacement":       {replaced(having(drift)), having(drift), false},
		"a second field that the upgrade leaves": {having(drift), having(drift, with(func(f *Finding) { f.ID, f.Verdict = "g", Ignore })), false},
	} {
		earlier := &Report{Releases: []Release{{Name: "r", Objects: []Object{c.then}}}}
		now := Release{Name: "r", Drifted: true, Objects: []Object{c.now}}
		now.Accept(earlier, "baseline")
		o := now.Objects[0]
		if counts := counts(o); counts == c.known {
			t.Errorf("%s: counts %t: %+v", name, counts, o)
		}
		if o.IgnoredBy != nil && !o.state().countsWhole() {
			t.Errorf("%s: a rule silences the whole object: %+v", name, o)
		}
		if now.Drifted != o.Drifted {
			t.Errorf("%s: the release drifted %t, its object %t", name, now.Drifted, o.Drifted)
		}
	}
}

// counts reports whether the strictest --fail-on selects an object.
func counts(o Object) bool {
	whole := o.Gone() || o.Action == ActionFail || o.Action.Writes()
	return whole && o.IgnoredBy == nil && !o.Known || slices.ContainsFunc(o.Fields, func(f Finding) bool { return !f.Silenced() })
}

// terminating returns the object while it is being deleted, which is a part of its id.
func terminating(o Object) Object {
	o.ID, o.Terminating = o.ID+" terminating", true
	return o
}

// replaced returns the object if Helm replaces it, which is a part of its id.
func replaced(o Object) Object {
	o.ID, o.Action = o.ID+" replaced", ActionReplace
	return o
}
