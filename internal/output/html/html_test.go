package html

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// TestObjects checks where an object is on the page. The data of the script has each object, also one without findings. The table
// without scripts has each object with a finding that no rule silences.
func TestObjects(t *testing.T) {
	drift := report.Finding{ID: "f", Path: "data.a", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Certain: true,
		Old: "one", Desired: "one", Live: "two",
		Owners: []report.Owner{{Manager: "k9s"}}}
	silenced := drift
	silenced.IgnoredBy = &report.IgnoreRule{Rule: "ours"}
	objects := []struct {
		object report.Object
		// found are the fields in the data, and plain is what the page says of the object without scripts; "-" if it says nothing.
		found []string
		plain string
	}{
		{report.Object{Name: "clean"}, nil, "-"},
		{report.Object{Name: "drifted", Fields: []report.Finding{drift}}, []string{"overwrite data.a: one, two"},
			"overwrite data.a by k9s; old one; live two"},
		{report.Object{Name: "silenced", Fields: []report.Finding{silenced}}, []string{"overwrite data.a: one, two"}, "-"},
		{report.Object{Name: "gone", Missing: true, Action: report.ActionCreate}, nil, "missing; the next upgrade creates it"},
		{report.Object{Name: "unread", Error: &report.ObjectError{Message: "timeout"}}, nil, "could not be compared: timeout"},
	}
	release := report.Release{Name: "web", Namespace: "prod"}
	for _, o := range objects {
		o.object.ID, o.object.Kind = o.object.Name, "ConfigMap"
		release.Objects = append(release.Objects, o.object)
	}
	doc := documentOf(t, release)
	data := dataOf(t, doc)
	if len(data.Objects) != len(objects) {
		t.Fatalf("the data has %d objects, want %d", len(data.Objects), len(objects))
	}
	for i, o := range objects {
		got := data.Objects[i]
		var found []string
		for _, f := range got.Fields {
			found = append(found, f.Verdict+" "+f.Path+": "+f.Old.(string)+", "+f.Live.(string))
		}
		if got.ID != o.object.Name || got.Name != o.object.Name || !slices.Equal(found, o.found) {
			t.Errorf("%s: the data has %s %s with %q, want %q", o.object.Name, got.ID, got.Name, found, o.found)
		}
		if plain := plainOf(doc, "ConfigMap "+o.object.Name); plain != o.plain {
			t.Errorf("%s: without scripts the page says %q, want %q", o.object.Name, plain, o.plain)
		}
	}
}

// TestMasked checks that the page has no side of a masked finding, even if the report has one, and what it has of others.
func TestMasked(t *testing.T) {
	for _, tt := range []struct {
		name    string
		finding report.Finding
		want    string
	}{
		{"shown", report.Finding{Old: "canary1", Live: "canary2"}, `{"old":"canary1","live":"canary2"}`},
		{"masked", report.Finding{Masked: true, Old: "canary1", Desired: "canary1", Live: "canary2"}, `{"masked":true}`},
		{"desired is as old", report.Finding{Old: "a", Desired: "a", Live: "b"}, `{"old":"a","desired":true,"live":"b"}`},
		{"several lines", report.Finding{Live: "a\nb\n"}, `{"live":{"lines":"a\nb\n"}}`},
		{"a map", report.Finding{Live: map[string]any{"a": int64(1)}}, `{"live":{"tree":"{\n  \"a\": 1\n}"}}`},
		{"text that could be a number", report.Finding{Live: "5"}, `{"live":"\"5\""}`},
		{"a number", report.Finding{Live: int64(5)}, `{"live":"5"}`},
	} {
		doc := documentOf(t, report.Release{Objects: []report.Object{{Kind: "Secret", Name: "s", Fields: []report.Finding{tt.finding}}}})
		f := dataOf(t, doc).Objects[0].Fields[0]
		got, err := json.Marshal(struct {
			Masked  bool `json:"masked,omitempty"`
			Old     any  `json:"old,omitempty"`
			Desired any  `json:"desired,omitempty"`
			Live    any  `json:"live,omitempty"`
		}{f.Masked, f.Old, f.Desired, f.Live})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: the data has %s, want %s: %v", tt.name, got, tt.want, err)
		}
		if shown := strings.Contains(doc, "canary"); shown != strings.Contains(tt.want, "canary") {
			t.Errorf("%s: the page has the value: %t", tt.name, shown)
		}
	}
}

// TestWhole checks what is found of an object as a whole: what could not be seen comes before what fails, and that before what drifted.
func TestWhole(t *testing.T) {
	disagrees := &report.DryRun{Result: report.DryRunDisagrees}
	for _, tt := range []struct {
		object      report.Object
		want, cause string
	}{
		{report.Object{Error: &report.ObjectError{}, DryRun: disagrees, Missing: true}, "error", ""},
		{report.Object{DryRun: disagrees, Action: report.ActionFail, Missing: true}, "disputed", ""},
		{report.Object{Action: report.ActionFail, Missing: true}, "fail", ""},
		{report.Object{Missing: true, Action: report.ActionCreate}, "missing", "drift"},
		{report.Object{Terminating: true, Action: report.ActionUpdate}, "terminating", "drift"},
		{report.Object{Action: report.ActionCreate}, "create", "change"},
		{report.Object{Action: report.ActionDelete}, "delete", "change"},
		{report.Object{Action: report.ActionUpdate}, "", ""},
	} {
		if got, cause := whole(tt.object); got != tt.want || cause != tt.cause {
			t.Errorf("%+v is %q with cause %q, want %q with %q", tt.object, got, cause, tt.want, tt.cause)
		}
	}
}

// TestLinks checks that no two releases, and no two objects of a release, share a link. Objects of two releases may share the second part.
func TestLinks(t *testing.T) {
	two := []report.Object{{ID: "same"}, {ID: "same"}, {}}
	data := dataOf(t, documentOf(t,
		report.Release{Name: "web", Namespace: "prod", Objects: two},
		report.Release{Name: "web", Namespace: "test", Objects: two[:1]},
		report.Release{Name: "web", Namespace: "prod", Cluster: "eu"},
		report.Release{Name: "web", Namespace: "prod"},
	))
	var got []string
	for i, r := range data.Releases {
		got = append(got, "#"+r.Slug)
		for _, o := range data.Objects {
			if o.Release == i {
				got = append(got, "#"+r.Slug+"/"+o.ID)
			}
		}
	}
	want := []string{
		"#prod~web", "#prod~web/same", "#prod~web/same-2", "#prod~web/object", "#test~web", "#test~web/same", "#eu~prod~web", "#prod~web-2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("want -, got +\n" + diff)
	}
}

// TestFilters checks that each filter that a link may carry has a control on the page. The table has those with another name.
func TestFilters(t *testing.T) {
	controls := map[string]string{"verdict": "verdicts", "ignored": "silenced"}
	doc := documentOf(t, report.Release{Name: "web"})
	_, names, found := strings.Cut(doc, "const filterNames = ")
	names, _, ended := strings.Cut(names, ";")
	var filters []string
	if err := json.Unmarshal([]byte(names), &filters); err != nil || !found || !ended || len(filters) == 0 {
		t.Fatalf("the script has no names of filters: %v", err)
	}
	_, form, _ := strings.Cut(doc, `<form class="filters"`)
	form, _, _ = strings.Cut(form, "</form>")
	for _, name := range filters {
		id := name
		if other, ok := controls[name]; ok {
			id = other
		}
		if !strings.Contains(form, ` id="`+id+`"`) {
			t.Errorf("the filter %s has no control with the id %s", name, id)
		}
	}
}

// TestDeployers checks that the page says what deploys each of two releases, with and without scripts.
func TestDeployers(t *testing.T) {
	release := func(controller, reason string) report.Release {
		return report.Release{Name: "web", Namespace: "prod", Deployer: &report.Deployer{Controller: controller, Action: report.DeployerUpgrade, Reason: reason}}
	}
	doc := documentOf(t, release(report.ControllerFlux, "values changed"), release("helmfile", "the chart changed"))
	said := [][2]string{}
	for _, r := range dataOf(t, doc).Releases {
		said = append(said, [2]string{r.By, r.Deployer})
		if !strings.Contains(doc, "<p>"+r.Deployer+"</p>") {
			t.Errorf("without scripts the page does not say %q", r.Deployer)
		}
	}
	want := [][2]string{{"Flux", "Flux upgrades it: values changed"}, {"helmfile", "helmfile upgrades it: the chart changed"}}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if one := dataOf(t, documentOf(t, release("helmfile", "x"))).Releases[0]; one.By != "" {
		t.Errorf("a page of one release says %q beside its name", one.By)
	}
}

// documentOf returns the page of a report of releases.
func documentOf(t *testing.T, releases ...report.Release) string {
	t.Helper()
	doc, err := Document(&report.Report{Releases: releases}, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// dataOf returns the data that the script of a page reads.
func dataOf(t *testing.T, doc string) (out data) {
	t.Helper()
	_, text, _ := strings.Cut(doc, `<script type="application/json" id="data">`)
	text, _, _ = strings.Cut(text, "</script>")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// plainOf returns the last sentences about an object without scripts: of its last finding, or its fate. It is "-" if the page says nothing
// of the object.
func plainOf(doc, object string) string {
	_, said, found := strings.Cut(doc, "<h3>"+object+"</h3>")
	if !found {
		return "-"
	}
	said, _, _ = strings.Cut(said, "</section>")
	if at := strings.LastIndex(said, `<div class="plainField">`); at >= 0 {
		said = said[at:]
	}
	said = strings.ReplaceAll(said, "<dt>", "; ")
	said = strings.ReplaceAll(said, "<dd>", " ")
	said = strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(said, "")), " ")
	return strings.ReplaceAll(said, " ;", ";")
}

// TestFixAsTyped checks that the command of the page is the one that the user has to type, as a text, and only if there is something to
// put back in its only release.
func TestFixAsTyped(t *testing.T) {
	drifted := report.Release{Name: "web", Namespace: "prod", Operation: report.OperationDrift, Objects: []report.Object{{
		Missing: true, Action: report.ActionCreate,
	}}}
	clean := drifted
	clean.Objects = nil
	typed := "helmdrift fix web -n prod --kube-context 'a</script><b>\x1b'"
	for _, tt := range []struct {
		releases []report.Release
		want     string
	}{
		{[]report.Release{drifted}, "helmdrift fix web -n prod --kube-context 'a</script><b>\\x1b'"},
		{[]report.Release{clean}, ""},
		{[]report.Release{drifted, drifted}, "helmdrift fix web -n prod"},
	} {
		doc, err := Document(&report.Report{Releases: tt.releases}, typed)
		if err != nil {
			t.Fatal(err)
		}
		if got := dataOf(t, string(doc)).Releases[0].Fix; got != tt.want || strings.Contains(string(doc), "a</script>") {
			t.Errorf("the page of %d releases has %q, want %q, and as a text", len(tt.releases), got, tt.want)
		}
	}
}

// TestFix checks that the page has the command that puts back what drifted, and has none for a preview.
func TestFix(t *testing.T) {
	drifted := []report.Object{{Kind: "ConfigMap", Name: "c", Fields: []report.Finding{
		{Path: "data.a", Verdict: report.Overwrite, Cause: report.CauseDrift, Managed: true, Old: "1", Live: "2"}}}}
	for operation, want := range map[report.Operation]string{report.OperationDrift: "helmdrift fix web -n prod", report.OperationUpgrade: ""} {
		doc := documentOf(t, report.Release{Name: "web", StorageNamespace: "prod", Operation: operation, Objects: drifted})
		if got := dataOf(t, doc).Releases[0].Fix; got != want || strings.Count(doc, "<code>helmdrift fix web") != min(1, len(want)) {
			t.Errorf("%s: the command is %q, want %q", operation, got, want)
		}
	}
}

// TestMoved checks what a history says came and was fixed since the day before.
func TestMoved(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	there := func(hours int) past.Finding {
		return past.Finding{State: past.There, Drifted: true, FirstSeen: ago(hours)}
	}
	ended := func(state past.State, first, end int) past.Finding {
		at := ago(end)
		return past.Finding{State: state, Drifted: true, FirstSeen: ago(first), Ended: &at}
	}
	unmanaged, back := there(1), there(500)
	unmanaged.Drifted = false
	back.Steps = []past.Step{{Time: ago(500), State: past.There}, {Time: ago(40), State: past.Gone},
		{Time: ago(2), State: past.There}}
	findings := []past.Finding{
		there(1), there(300), back, unmanaged, ended(past.Gone, 300, 3), ended(past.Gone, 300, 200),
		ended(past.Gone, 5, 3), ended(past.Ignored, 300, 3),
	}
	for _, tt := range []struct {
		name   string
		points []int // hours ago
		want   moved
	}{
		{"hourly", []int{400, 26, 25, 24, 23, 1, 0}, moved{Came: 2, Fixed: 1, Since: "since yesterday"}},
		{"weekly", []int{336, 168, 0}, moved{Came: 2, Fixed: 1, Since: "since 2026-11-13 09:00"}},
		{"since this morning", []int{6, 4, 0}, moved{Came: 2, Fixed: 1, Since: "since 2026-11-20 03:00"}},
		{"once", []int{0}, moved{}},
		{"never", nil, moved{}},
	} {
		h := &past.History{Time: now, Releases: []past.Release{{Findings: findings}}}
		for _, hours := range tt.points {
			h.Points = append(h.Points, past.Point{Time: ago(hours)})
		}
		got := movedSince(h)
		got.at = time.Time{}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestHistoryAnswer checks that a history never calls clean what could not be read.
func TestHistoryAnswer(t *testing.T) {
	for _, tt := range []struct {
		there, drifted, unknown int
		want                    string
	}{
		{0, 0, 0, "no drift"},
		{0, 0, 1, "no drift seen, 1 release could not be read in full"},
		{1, 1, 0, "1 drifted field or object in 1 of 2 releases"},
		{3, 2, 2, "3 drifted fields and objects in 2 of 2 releases, 2 releases could not be read in full"},
	} {
		h := &past.History{Releases: make([]past.Release, 2), Points: []past.Point{{Unknown: 9}, {Unknown: tt.unknown}}}
		if got := historyAnswer(h, tt.there, tt.drifted); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
