package threeway

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestBuiltInRulesHaveCases wants a reason for each built-in rule, and a case named after it where it silences something and something
// else is reported. It wants no case for a rule that does not exist.
func TestBuiltInRulesHaveCases(t *testing.T) {
	files := caseFiles(t, "ignore-*.txtar")
	for _, rule := range ignore.BuiltInRules() {
		file := "../../testdata/threeway/ignore-" + strings.TrimPrefix(rule.Name, "built-in ") + ".txtar"
		if rule.Reason == "" || !rule.BuiltIn {
			t.Errorf("%s has no reason, or is not marked", rule.Name)
		}
		if !slices.Contains(files, file) {
			t.Errorf("%s has no case", rule.Name)
			continue
		}
		files = slices.DeleteFunc(files, func(f string) bool { return f == file })
		c := Compare(caseInput(t, readCase(t, file)))
		silenced, reported := 0, 0
		for _, o := range c.Objects {
			silenced += count(o.IgnoredBy, rule.Name)
			if o.Missing && o.IgnoredBy == nil {
				reported++
			}
			for _, f := range o.Findings {
				silenced += count(f.IgnoredBy, rule.Name)
				if f.IgnoredBy == nil {
					reported++
				}
			}
		}
		if silenced == 0 || reported == 0 {
			t.Errorf("%s silences %d and leaves %d in its case", rule.Name, silenced, reported)
		}
	}
	if len(files) > 0 {
		t.Errorf("cases of no rule: %v", files)
	}
}

func count(by *report.IgnoreRule, name string) int {
	if by != nil && by.Rule == name {
		return 1
	}
	return 0
}

// TestOrderOfRules: rules silence the same findings in any order. Each case is compared with its own rules, the built-in rules, and
// some that overlap both.
func TestOrderOfRules(t *testing.T) {
	wide := wideRules(t)
	compared := 0
	for _, file := range caseFiles(t, "*.txtar") {
		in := caseInput(t, readCase(t, file))
		rules := slices.Concat(in.Rules, ignore.BuiltInRules(), wide)
		in.Rules = rules
		want := silenced(Compare(in))
		if !strings.Contains(want, "ignored") {
			continue
		}
		compared++
		for seed := range uint64(3) {
			in.Rules = slices.Clone(rules)
			rand.New(rand.NewPCG(seed, 7)).Shuffle(len(in.Rules), func(i, j int) { in.Rules[i], in.Rules[j] = in.Rules[j], in.Rules[i] })
			if got := silenced(Compare(in)); got != want {
				t.Errorf("%s, seed %d: silenced is\n%s, not\n%s", filepath.Base(file), seed, got, want)
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d cases have something that the rules silence", compared)
	}
}

// wideRules overlap each other and the built-in ones.
func wideRules(t *testing.T) []ignore.Rule {
	t.Helper()
	rules, warnings := ignore.ReadRules("wide", []report.RuleText{
		{Paths: []string{"/spec/replicas", "/spec/ports/0", "/data/*"}},
		{Paths: []string{"/metadata/annotations"}, Target: &report.TargetText{Kind: "Service|Pod"}},
		{Paths: []string{"/spec/template/spec/containers/*/env"}},
		{Paths: []string{"/spec/template/spec/containers/[name=web]"}, Managers: []string{"kubectl*"}},
		{Paths: []string{"/metadata/labels/a*", "/spec/list/0", "/webhooks/*/rules/0"}},
	}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return rules
}

// silenced lists what a comparison says, and whether rules silence it, but not which of several rules does.
func silenced(c *Comparison) string {
	var b strings.Builder
	line := func(key object.Key, place string, by *report.IgnoreRule) {
		word := "told"
		if by != nil {
			word = "ignored"
		}
		fmt.Fprintln(&b, key, place, word)
	}
	for _, o := range c.Objects {
		line(o.Key, fmt.Sprint(o.Action, o.Drifted(), o.Controllers, o.Forgotten), o.IgnoredBy)
		for _, f := range o.Findings {
			line(o.Key, fmt.Sprint(f.Path, f.Verdict), f.IgnoredBy)
		}
	}
	return b.String()
}
