package accept

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// TestKnown checks that id and cause identify a known finding, and that it is known only if it counted in the earlier report
// or counts in neither.
func TestKnown(t *testing.T) {
	rule := &report.IgnoreRule{Rule: "r"}
	drift := report.Finding{ID: "f", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true}
	with := func(change func(*report.Finding)) report.Finding { f := drift; change(&f); return f }
	unmanaged := with(func(f *report.Finding) { f.Managed = false })
	live := func(value string) report.Finding { return with(func(f *report.Finding) { f.Live = value }) }
	masked := with(func(f *report.Finding) { f.Masked = true })
	gone := with(func(f *report.Finding) { f.Old = "a" })
	autoscaled := with(func(f *report.Finding) { f.Class = report.ClassAutoscaled })
	volatile := with(func(f *report.Finding) { f.Class, f.Cause = report.ClassVolatile, report.CauseChange })
	second := with(func(f *report.Finding) { f.ID = "g" })
	ignored := with(func(f *report.Finding) { f.IgnoredBy = rule })
	having := func(fields ...report.Finding) report.Object {
		return report.Object{ID: "o", Action: report.ActionUpdate, Fields: fields}
	}
	whole := func(action report.Action, missing bool, reason string, by *report.IgnoreRule) report.Object {
		return report.Object{ID: "o", Action: action, Missing: missing, Reason: reason, IgnoredBy: by}
	}
	for name, c := range map[string]struct {
		then, now report.Object
		known     bool
	}{
		"the same drift":                   {having(drift), having(drift), true},
		"another live value":               {having(live("a")), having(live("b")), false},
		"the same live value":              {having(live("a")), having(live("a")), true},
		"an earlier report without values": {having(drift), having(live("b")), true},
		"masked values":                    {having(masked), having(masked), true},
		"masked in the earlier report":     {having(masked), having(live("b")), true},
		"masked now":                       {having(live("a")), having(masked), true},
		"a value that is gone":             {having(live("a")), having(gone), false},
		"another live value of what is ignored": {having(with(func(f *report.Finding) { f.IgnoredBy, f.Live = rule, "a" })),
			having(with(func(f *report.Finding) { f.IgnoredBy, f.Live = rule, "b" })), true},
		"one of two clusters has the value":     {having(live("a"), live("b")), having(live("b")), true},
		"an edit of a field that was to change": {having(with(func(f *report.Finding) { f.Cause = report.CauseChange })), having(drift), false},
		"an edit under a change":                {having(with(func(f *report.Finding) { f.Cause = report.CauseBoth })), having(drift), false},
		"ignored before":                        {having(ignored), having(drift), false},
		"ignored before and now":                {having(ignored), having(ignored), true},
		"ignored now":                           {having(drift), having(ignored), true},
		"autoscaled before":                     {having(autoscaled), having(drift), false},
		"autoscaled before and now":             {having(autoscaled), having(autoscaled), true},
		"volatile before":                       {having(volatile), having(drift), false},
		"unmanaged before":                      {having(unmanaged), having(drift), false},
		"missing":                               {whole(report.ActionCreate, true, "", nil), whole(report.ActionCreate, true, "", nil), true},
		"missing, ignored before":               {whole(report.ActionCreate, true, "", rule), whole(report.ActionCreate, true, "", nil), false},
		"being deleted":                         {terminating(having()), terminating(having()), true},
		"being deleted, and edited":             {terminating(having(drift)), terminating(having(drift)), true},
		"being deleted, edited since":           {terminating(having()), terminating(having(drift)), false},
		"being deleted, with a second field to write": {terminating(having(drift)),
			terminating(having(drift, with(func(f *report.Finding) { f.ID, f.Cause, f.IgnoredBy = "g", report.CauseChange, rule }))), false},
		"present, then being deleted":            {having(drift), terminating(having(drift)), false},
		"being deleted, then missing":            {terminating(having()), whole(report.ActionCreate, true, "", nil), false},
		"to be created, then missing":            {whole(report.ActionCreate, false, "", nil), whole(report.ActionCreate, true, "", nil), false},
		"failing":                                {whole(report.ActionFail, false, "a", nil), whole(report.ActionFail, false, "a", nil), true},
		"failing for another reason":             {whole(report.ActionFail, false, "a", nil), whole(report.ActionFail, false, "b", nil), false},
		"failing, ignored before":                {whole(report.ActionFail, false, "a", rule), whole(report.ActionFail, false, "a", nil), false},
		"to be deleted":                          {whole(report.ActionDelete, false, "", nil), whole(report.ActionDelete, false, "", nil), true},
		"a second field":                         {having(drift), having(drift, second), false},
		"one of two fields":                      {having(drift, second), having(drift), true},
		"a replacement with a second field":      {replaced(having(drift)), replaced(having(drift, second)), false},
		"the same replacement":                   {replaced(having(drift)), replaced(having(drift)), true},
		"an update that was a replacement":       {replaced(having(drift)), having(drift), false},
		"a second field that the upgrade leaves": {having(drift), having(drift, with(func(f *report.Finding) { f.ID, f.Verdict = "g", report.Ignore })), false},
	} {
		earlier := &report.Report{Releases: []report.Release{{Name: "r", Objects: []report.Object{c.then}}}}
		now := report.Release{Name: "r", Drifted: true, Objects: []report.Object{c.now}}
		Known(&now, earlier, "baseline")
		o := now.Objects[0]
		if counts := counts(o); counts == c.known {
			t.Errorf("%s: counts %t: %+v", name, counts, o)
		}
		if o.IgnoredBy != nil && !o.CountsWhole() {
			t.Errorf("%s: a rule silences the whole object: %+v", name, o)
		}
		if now.Drifted != o.Drifted {
			t.Errorf("%s: the release drifted %t, its object %t", name, now.Drifted, o.Drifted)
		}
	}
}

// TestKnownInCluster checks that what is known of a release in one cluster is new in another one.
func TestKnownInCluster(t *testing.T) {
	drift := report.Finding{ID: "f", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Live: "a"}
	in := func(cluster string, fields ...report.Finding) report.Release {
		return report.Release{Name: "r", Cluster: cluster, Objects: []report.Object{{ID: "o", Action: report.ActionUpdate, Fields: fields}}}
	}
	other := report.Release{Name: "other", Cluster: "prod"}
	unread := []report.ScanError{{Cluster: "prod", Code: "unreachable"}}
	for name, c := range map[string]struct {
		earlier []report.Release
		cluster string
		known   bool
		// scan and errors are those of the earlier report.
		scan   *report.Scan
		errors []report.ScanError
	}{
		"the same cluster":                     {[]report.Release{in("dev", drift), in("prod")}, "dev", true, nil, nil},
		"it was clean there":                   {[]report.Release{in("dev", drift), in("prod")}, "prod", false, nil, nil},
		"it was not there":                     {[]report.Release{in("dev", drift), other}, "prod", false, nil, nil},
		"a third cluster":                      {[]report.Release{in("dev", drift), in("prod", drift)}, "new", false, nil, nil},
		"the only cluster has another name":    {[]report.Release{in("dev", drift)}, "renamed", true, nil, nil},
		"reports of one release name no other": {[]report.Release{in("", drift)}, "", true, nil, nil},
		"the other cluster had no release":     {[]report.Release{in("dev", drift)}, "prod", false, &report.Scan{Clusters: []string{"dev", "prod"}}, nil},
		"the other cluster could not be read":  {[]report.Release{in("dev", drift)}, "prod", false, nil, unread},
	} {
		now := in(c.cluster, drift)
		Known(&now, &report.Report{Releases: c.earlier, Scan: c.scan, Errors: c.errors}, "baseline")
		if counts(now.Objects[0]) == c.known {
			t.Errorf("%s: %+v", name, now.Objects[0])
		}
	}
}

// TestKnownComparesLiveValues checks that a known finding whose live value moved counts and has the earlier value, also when the earlier
// report was saved and read, and that a null and a list with a null keep their meaning on that way.
func TestKnownComparesLiveValues(t *testing.T) {
	for name, c := range map[string]struct{ then, now, was any }{
		"an integer":                  {int64(5), int64(0), int64(5)},
		"the same integer":            {int64(5), int64(5), nil},
		"a float that is an integer":  {int64(5), 5.0, nil},
		"an integer too large for it": {int64(9007199254740993), int64(9007199254740992), int64(9007199254740993)},
		"a number and its text":       {int64(5), "5", int64(5)},
		"the same list":               {[]any{"a", nil}, []any{"a", nil}, nil},
		"the order of a list":         {[]any{"a", "b"}, []any{"b", "a"}, []any{"a", "b"}},
		"a null":                      {object.Null{}, "x", object.Null{}},
		"the same null":               {object.Null{}, object.Null{}, nil},
	} {
		release := func(live any) report.Release {
			return report.Release{Name: "r", Objects: []report.Object{{ID: "o", Action: report.ActionUpdate, Fields: []report.Finding{
				{ID: "f", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Old: "old", Live: live},
			}}}}
		}
		text, err := json.Marshal(report.New("v", time.Unix(0, 0), []report.Release{release(c.then)}))
		if err != nil {
			t.Fatal(err)
		}
		earlier, err := reading.Report(text)
		if err != nil {
			t.Fatal(err)
		}
		now := release(c.now)
		Known(&now, earlier, "baseline")
		f := now.Objects[0].Fields[0]
		if changed := c.was != nil; f.Drifted() != changed || now.Drifted != changed || now.Objects[0].Known == changed {
			t.Errorf("%s: drifted %t, known write %t", name, f.Drifted(), now.Objects[0].Known)
		}
		if !reflect.DeepEqual(f.KnownLive, c.was) {
			t.Errorf("%s: the earlier value is %#v, want %#v", name, f.KnownLive, c.was)
		}
		text, err = json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var again report.Finding
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again.KnownLive, c.was) {
			t.Errorf("%s: read again, the earlier value is %#v: %v in %s", name, again.KnownLive, err, text)
		}
	}
}

// counts reports whether the strictest --fail-on selects an object.
func counts(o report.Object) bool {
	whole := o.Gone() || o.Action == report.ActionFail || o.Action.Writes()
	return whole && o.IgnoredBy == nil && !o.Known || slices.ContainsFunc(o.Fields, func(f report.Finding) bool { return !f.Silenced() })
}

// terminating returns the object as being deleted. That is a part of its id.
func terminating(o report.Object) report.Object {
	o.ID, o.Terminating = o.ID+" terminating", true
	return o
}

// replaced returns the object as replaced by Helm. That is a part of its id.
func replaced(o report.Object) report.Object {
	o.ID, o.Action = o.ID+" replaced", report.ActionReplace
	return o
}
