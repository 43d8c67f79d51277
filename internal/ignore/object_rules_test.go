package ignore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var today = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func readAll(t *testing.T, texts ...report.RuleText) []Rule {
	t.Helper()
	rules, warnings := ReadRules("file", texts, today)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return rules
}

var deployment = object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}, Version: "v1"}

// TestForObject checks what a rule silences: which findings of what objects.
func TestForObject(t *testing.T) {
	replicas, image := object.Path{}.Field("spec").Field("replicas"), object.Path{}.Field("spec").Field("image")
	kubectl := []report.Owner{{Manager: "kubectl-edit", Group: report.ManagerPerson}}
	meta := map[string]any{"labels": map[string]any{"team": "a"}}
	for name, c := range map[string]struct {
		rule    report.RuleText
		path    object.Path
		writers []report.Owner
		want    bool
	}{
		"a path":              {report.RuleText{Paths: []string{"/spec/replicas"}}, replicas, nil, true},
		"another path":        {report.RuleText{Paths: []string{"/spec/replicas"}}, image, nil, false},
		"the kind":            {report.RuleText{Target: &report.TargetText{Kind: "Deployment|Pod"}}, image, nil, true},
		"another kind":        {report.RuleText{Target: &report.TargetText{Kind: "Deploy"}}, image, nil, false},
		"a label":             {report.RuleText{Target: &report.TargetText{LabelSelector: "team=a"}}, image, nil, true},
		"another label":       {report.RuleText{Target: &report.TargetText{LabelSelector: "team=b"}}, image, nil, false},
		"the release":         {report.RuleText{Paths: []string{"/spec"}, Releases: []string{"web*"}}, image, nil, true},
		"another release":     {report.RuleText{Paths: []string{"/spec"}, Releases: []string{"db"}}, image, nil, false},
		"the manager":         {report.RuleText{Managers: []string{"kubectl*"}}, image, kubectl, true},
		"one of two managers": {report.RuleText{Managers: []string{"kubectl*"}}, image, append(kubectl, report.Owner{Manager: "x"}), false},
		"no known writer":     {report.RuleText{Managers: []string{"kubectl*"}}, image, nil, false},
	} {
		rules, remarks := ForObject(readAll(t, c.rule), "web-1", deployment, nil, map[string]any{"metadata": meta})
		got := rules.Field(c.path, c.writers, true)
		if (got != nil) != c.want || len(remarks) > 0 || got != nil && got.Rule != "file ignore[0]" {
			t.Errorf("%s: %v, %v", name, got, remarks)
		}
	}
	if got := (ObjectRules{}).Field(image, nil, true); got != nil {
		t.Errorf("without rules: %v", got)
	}
}

// TestAnnotations checks the rules from annotations and labels of the object.
func TestAnnotations(t *testing.T) {
	image := object.Path{}.Field("spec").Field("image")
	for name, c := range map[string]struct {
		meta                 map[string]any
		field, whole, remark bool
	}{
		"a path":             {map[string]any{"annotations": map[string]any{ignoreAnnotation: "/spec/image\n/data"}}, true, false, false},
		"another path":       {map[string]any{"annotations": map[string]any{ignoreAnnotation: "/data"}}, false, false, false},
		"the object":         {map[string]any{"annotations": map[string]any{ignoreAnnotation: "true"}}, true, true, false},
		"switched off":       {map[string]any{"annotations": map[string]any{ignoreAnnotation: "false"}}, false, false, false},
		"an invalid path":    {map[string]any{"annotations": map[string]any{ignoreAnnotation: "spec"}}, false, false, true},
		"Flux's annotation":  {map[string]any{"annotations": map[string]any{fluxDriftDetection: "disabled"}}, true, true, false},
		"Flux's label":       {map[string]any{"labels": map[string]any{fluxDriftDetection: "disabled"}}, true, true, false},
		"another Flux value": {map[string]any{"labels": map[string]any{fluxDriftDetection: "enabled"}}, false, false, false},
	} {
		side := map[string]any{"metadata": c.meta}
		rules, remarks := ForObject(nil, "web", deployment, side, side)
		field, whole := rules.Field(image, nil, true) != nil, rules.Object(true, nil) != nil
		if field != c.field || whole != c.whole || (len(remarks) == 1) != c.remark {
			t.Errorf("%s: field %t, object %t, remarks %v", name, field, whole, remarks)
		}
	}
}

// TestBuiltInRules checks what only built-in rules can do: spare persons, and silence an object that is gone.
func TestBuiltInRules(t *testing.T) {
	image := object.Path{}.Field("spec").Field("image")
	job := Rule{Name: "job", BuiltIn: true}
	gone, err := ParsePattern("/spec/ttl")
	if err != nil {
		t.Fatal(err)
	}
	job.gone = &gone
	rules, _ := ForObject([]Rule{job}, "web", deployment)
	with, without := map[string]any{"spec": map[string]any{"ttl": int64(1)}}, map[string]any{}
	if rules.Object(true, with) == nil || rules.Object(false, with) != nil || rules.Object(true, without) != nil ||
		rules.Field(image, nil, false) != nil {
		t.Error("the rule silences a missing object whose manifest has the place, and nothing else")
	}
	added := readAll(t, report.RuleText{Paths: []string{"/spec/image"}})[0]
	added.BuiltIn, added.unmanaged = true, true
	rules, _ = ForObject([]Rule{added}, "web", deployment)
	person := []report.Owner{{Manager: "kubectl", Group: report.ManagerPerson}}
	if rules.Field(image, nil, false) == nil || rules.Field(image, nil, true) != nil || rules.Field(image, person, false) != nil {
		t.Error("the rule silences unmanaged fields that no person wrote")
	}
}

// TestFieldByParts checks that rules silence a value if they name everything that differs in it.
func TestFieldByParts(t *testing.T) {
	list := object.Path{}.Field("spec").Field("list")
	old := []any{map[string]any{"name": "a", "v": "1"}, map[string]any{"name": "b", "v": "1", "w": "1"}}
	live := []any{map[string]any{"name": "a", "v": "1"}, map[string]any{"name": "b", "v": "2", "w": "2"}}
	state := func(v any) any { return map[string]any{"spec": map[string]any{"list": v}} }
	v, w := report.RuleText{Paths: []string{"/spec/list/[name=b]/v"}}, report.RuleText{Paths: []string{"/spec/list/1/w"}}
	for name, c := range map[string]struct {
		rules []report.RuleText
		want  bool
	}{
		"both fields": {[]report.RuleText{v, w}, true}, "one of two": {[]report.RuleText{v}, false}, "nothing": {nil, false},
		"the item":     {[]report.RuleText{{Paths: []string{"/spec/list/1"}}}, true},
		"another list": {[]report.RuleText{{Paths: []string{"/spec/other/1"}}}, false},
	} {
		rules, _ := ForObject(readAll(t, c.rules...), "web", deployment)
		rules = rules.WithStates(state(live), state(old))
		got := rules.FieldByParts(list, true, func(strip func(any) any) bool { return object.Equal(strip(old), strip(live)) })
		if (got != nil) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	rules, _ := ForObject(readAll(t, v), "web", deployment)
	if got := rules.WithStates(state(live)).DifferingPart(list, old, live); got == nil {
		t.Error("the values differ in a part that a rule names")
	}
	if got := rules.WithStates(state(live)).DifferingPart(list, live, live); got != nil {
		t.Errorf("the values are the same, and %v", got)
	}
}

// TestConflicts checks which rule silences a failure on conflicts.
func TestConflicts(t *testing.T) {
	texts := []report.RuleText{{Paths: []string{"/a"}}, {Paths: []string{"/b"}, Conflicts: true}}
	rules, _ := ForObject(readAll(t, texts...), "web", deployment)
	if got := rules.Conflicts(); got == nil || got.Rule != "file ignore[1]" {
		t.Errorf("got %v", got)
	}
}

// TestReadRules checks the warnings on rules that have no effect.
func TestReadRules(t *testing.T) {
	rules, warnings := ReadRules("file", []report.RuleText{
		{Paths: []string{"/a"}, Expires: "2026-11-22"},
		{Paths: []string{"/b"}, Expires: "2026-11-21"},
		{Paths: []string{"/c"}, Expires: "tomorrow"},
		{Target: &report.TargetText{Name: "a(", LabelSelector: "==="}},
	}, today)
	var got []string
	for _, w := range warnings {
		got = append(got, w.Message)
	}
	want := []string{
		"file ignore[1] expired on 2026-11-21: what it ignored is shown again; renew the date or remove the rule",
		`file ignore[2] has no effect: expires: "tomorrow" is not a date such as 2027-01-31`,
		"file ignore[3] has no effect: target: \"a(\" is not a regular expression: error parsing regexp: missing closing ): `a(`\n" +
			`target: "===" is not a selector: found '==', expected: !, identifier, or 'end of string'`,
	}
	if diff := cmp.Diff(want, got); diff != "" || len(rules) != 1 || rules[0].Name != "file ignore[0]" {
		t.Errorf("%v (-want +got):\n%s", rules, diff)
	}
}

// TestIdleWarnings checks which rules match nothing in a release.
func TestIdleWarnings(t *testing.T) {
	live := map[string]any{"spec": map[string]any{"replicas": int64(1)}, "metadata": map[string]any{"managedFields": []any{
		map[string]any{"manager": "kubectl-edit", "operation": "Update", "fieldsV1": map[string]any{"f:spec": map[string]any{}}},
	}}}
	subject := Subject{
		Ref: deployment, Shape: kinds.Native().Shape(deployment.GVK()), Live: live, Texts: []map[string]any{live}, States: []any{live},
		Findings: []object.Path{object.Path{}.Field("spec").Field("paused")},
	}
	rules := readAll(t,
		report.RuleText{Paths: []string{"/spec/replicas", "/spec/paused"}},
		report.RuleText{Paths: []string{"/spec/replica"}},
		report.RuleText{Paths: []string{"/spec/minReadySeconds"}},
		report.RuleText{Target: &report.TargetText{Kind: "Pod"}},
		report.RuleText{Target: &report.TargetText{Kind: "Pod"}, Releases: []string{"db"}},
		report.RuleText{Managers: []string{"kubectl*"}},
		report.RuleText{Managers: []string{"helm"}},
	)
	var got []string
	for _, w := range IdleWarnings(rules, "web", []Subject{subject}) {
		got = append(got, w.Message)
	}
	want := []string{
		"file ignore[1] names a path that Deployment cannot have: /spec/replica",
		"file ignore[2] matches nothing: no Deployment has /spec/minReadySeconds",
		"file ignore[3] matches no object of web; if it is for other releases, name them under releases",
		"file ignore[6] matches nothing: helm wrote nothing there",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
