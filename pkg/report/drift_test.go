package report

import "testing"

// TestDrifted checks which findings drifted and which are silenced.
func TestDrifted(t *testing.T) {
	rule := &IgnoreRule{Rule: "r"}
	drift := func(change func(*Classification)) Classification {
		out := Classification{Verdict: Overwrite, Cause: CauseDrift, Managed: true}
		if change != nil {
			change(&out)
		}
		return out
	}
	for name, c := range map[string]struct {
		in                Classification
		drifted, silenced bool
	}{
		"live left old":                        {drift(nil), true, false},
		"live and the chart left old":          {drift(func(c *Classification) { c.Cause = CauseBoth }), true, false},
		"the chart left old":                   {drift(func(c *Classification) { c.Cause = CauseChange }), false, false},
		"no manifest names the field":          {drift(func(c *Classification) { c.Managed = false }), false, false},
		"a rule ignores it":                    {drift(func(c *Classification) { c.IgnoredBy = rule }), false, true},
		"an autoscaler sets it":                {drift(func(c *Classification) { c.Class = ClassAutoscaled }), false, true},
		"each rendering generates it":          {drift(func(c *Classification) { c.Class, c.Cause = ClassVolatile, CauseChange }), false, true},
		"each rendering generates it, edited":  {drift(func(c *Classification) { c.Class, c.Cause = ClassVolatile, CauseBoth }), true, false},
		"the items have another order":         {drift(func(c *Classification) { c.Class = ClassOrder }), true, false},
		"live means the same":                  {drift(func(c *Classification) { c.Equivalent = true }), false, false},
		"live means the same, and Helm fails":  {drift(func(c *Classification) { c.Equivalent, c.Verdict = true, Conflict }), true, false},
		"a rule ignores what Helm fails on":    {drift(func(c *Classification) { c.Verdict, c.IgnoredBy = Conflict, rule }), false, true},
		"Helm fails on what the chart changes": {drift(func(c *Classification) { c.Verdict, c.Cause = Conflict, CauseChange }), false, false},
	} {
		if c.in.Drifted() != c.drifted || c.in.Silenced() != c.silenced {
			t.Errorf("%s: drifted %t, silenced %t", name, c.in.Drifted(), c.in.Silenced())
		}
		f := Finding{
			Verdict: c.in.Verdict, Cause: c.in.Cause, Managed: c.in.Managed,
			Class: c.in.Class, Equivalent: c.in.Equivalent, IgnoredBy: c.in.IgnoredBy,
		}
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
		if len(fields) != c.fields || gone != c.gone || c.in.HasDrifted() != c.drifted {
			t.Errorf("%s: %d fields, gone %t, drifted %t", name, len(fields), gone, c.in.HasDrifted())
		}
		c.in.Drifted = c.in.HasDrifted()
		if r := (Release{Objects: []Object{c.in}}); r.HasDrifted() != c.drifted {
			t.Errorf("%s: the release drifted %t", name, r.HasDrifted())
		}
	}
}
