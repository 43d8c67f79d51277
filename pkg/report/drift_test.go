package report

import "testing"

// TestDrifted checks which findings drifted and which are silenced.
func TestDrifted(t *testing.T) {
	rule := &IgnoreRule{Rule: "r"}
	for name, c := range map[string]struct {
		in                Classification
		drifted, silenced bool
	}{
		"live left old":                        {Classification{Verdict: Overwrite, Cause: CauseDrift, Managed: true}, true, false},
		"live and the chart left old":          {Classification{Verdict: Overwrite, Cause: CauseBoth, Managed: true}, true, false},
		"the chart left old":                   {Classification{Verdict: Overwrite, Cause: CauseChange, Managed: true}, false, false},
		"no manifest names the field":          {Classification{Verdict: Ignore, Cause: CauseDrift}, false, false},
		"a rule ignores it":                    {Classification{Verdict: Overwrite, Cause: CauseDrift, Managed: true, IgnoredBy: rule}, false, true},
		"an autoscaler sets it":                {Classification{Verdict: Overwrite, Cause: CauseDrift, Managed: true, Class: ClassAutoscaled}, false, true},
		"each rendering generates it":          {Classification{Verdict: Overwrite, Cause: CauseChange, Managed: true, Class: ClassVolatile}, false, true},
		"each rendering generates it, edited":  {Classification{Verdict: Overwrite, Cause: CauseBoth, Managed: true, Class: ClassVolatile}, true, false},
		"the items have another order":         {Classification{Verdict: Overwrite, Cause: CauseDrift, Managed: true, Class: ClassOrder}, true, false},
		"live means the same":                  {Classification{Verdict: Overwrite, Cause: CauseDrift, Managed: true, Equivalent: true}, false, false},
		"live means the same, and Helm fails":  {Classification{Verdict: Conflict, Cause: CauseDrift, Managed: true, Equivalent: true}, true, false},
		"a rule ignores what Helm fails on":    {Classification{Verdict: Conflict, Cause: CauseDrift, Managed: true, IgnoredBy: rule}, false, true},
		"Helm fails on what the chart changes": {Classification{Verdict: Conflict, Cause: CauseChange, Managed: true}, false, false},
	} {
		if c.in.Drifted() != c.drifted || c.in.Silenced() != c.silenced {
			t.Errorf("%s: drifted %t, silenced %t", name, c.in.Drifted(), c.in.Silenced())
		}
		f := Finding{Verdict: c.in.Verdict, Cause: c.in.Cause, Managed: c.in.Managed, Class: c.in.Class, Equivalent: c.in.Equivalent, IgnoredBy: c.in.IgnoredBy}
		if f.Drifted() != c.drifted || f.Silenced() != c.silenced {
			t.Errorf("%s: in a report, drifted %t, silenced %t", name, f.Drifted(), f.Silenced())
		}
	}
}

// TestToPutBack checks that an object is put back as a whole or field by field, and not at all if a rule ignores it.
func TestToPutBack(t *testing.T) {
	drift := Finding{ID: "f", Verdict: Overwrite, Cause: CauseDrift, Managed: true}
	added := Finding{ID: "g", Verdict: Ignore, Cause: CauseDrift}
	for name, c := range map[string]struct {
		in      Object
		fields  int
		gone    bool
		drifted bool
	}{
		"fields":                {Object{Fields: []Finding{drift, added}}, 1, false, true},
		"missing":               {Object{Missing: true}, 0, true, true},
		"missing and ignored":   {Object{Missing: true, IgnoredBy: &IgnoreRule{}}, 0, false, false},
		"being deleted":         {Object{Terminating: true, Fields: []Finding{drift}}, 0, true, true},
		"only unmanaged fields": {Object{Fields: []Finding{added}}, 0, false, false},
	} {
		fields, gone := c.in.ToPutBack()
		if len(fields) != c.fields || gone != c.gone || c.in.hasDrifted() != c.drifted {
			t.Errorf("%s: %d fields, gone %t, drifted %t", name, len(fields), gone, c.in.hasDrifted())
		}
		c.in.Drifted = c.in.hasDrifted()
		if r := (Release{Objects: []Object{c.in}}); r.HasDrifted() != c.drifted {
			t.Errorf("%s: the release drifted %t", name, r.HasDrifted())
		}
	}
}
