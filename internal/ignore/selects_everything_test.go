package ignore

import (
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestSelectsEverything checks that a rule that would silence every finding is refused, however it is written, and that no other
// rule is.
func TestSelectsEverything(t *testing.T) {
	target := func(t report.TargetText) *report.TargetText { return &t }
	for name, text := range map[string]report.RuleText{
		"nothing at all":           {},
		"an empty target":          {Target: &report.TargetText{}},
		"releases alone":           {Releases: []string{"web"}},
		"the whole of each object": {Paths: []string{""}},
		"any field":                {Paths: []string{"/*"}},
		"any field of any field":   {Paths: []string{"/spec/replicas", "/*/*"}},
		"any manager":              {Managers: []string{"kubectl", "*"}},
		"any kind":                 {Target: target(report.TargetText{Kind: ".*"})},
		"any kind, at length": {Target: target(report.TargetText{
			Kind: "^[A-Z][A-Za-z]*$", Name: ".+", Namespace: `\S+`, Version: "v.+", Group: "(?:.*)",
		})},
		"a kind or any":               {Target: target(report.TargetText{Kind: "Pod|.*"})},
		"any path of any kind":        {Paths: []string{"/*"}, Target: target(report.TargetText{Kind: ".*"}), Managers: []string{"*"}},
		"what Helm labels":            {Target: target(report.TargetText{LabelSelector: "app.kubernetes.io/managed-by=Helm"})},
		"what lacks a label":          {Target: target(report.TargetText{LabelSelector: "!no-such-label"})},
		"what has Helm's annotations": {Target: target(report.TargetText{AnnotationSelector: "meta.helm.sh/release-name"})},
		"not one environment":         {Target: target(report.TargetText{LabelSelector: "environment notin (prod)"})},
	} {
		rules, warnings := ReadRules("file", []report.RuleText{text}, time.Now())
		isRefused := len(rules) == 0 && len(warnings) == 1 && strings.Contains(warnings[0].Message, "it would ignore everything")
		if !isRefused || !TextSelectsEverything(text) {
			t.Errorf("%s: %+v, %v", name, rules, warnings)
		}
	}
	for name, text := range map[string]report.RuleText{
		"a path":                     {Paths: []string{"/spec/replicas"}},
		"a path of any kind":         {Paths: []string{"/metadata/labels/*"}, Target: target(report.TargetText{Kind: ".*"})},
		"a path by any manager":      {Paths: []string{"/spec"}, Managers: []string{"*"}},
		"items of one name anywhere": {Paths: []string{"/*/*/[name=web]"}},
		"whole objects of a kind":    {Paths: []string{""}, Target: target(report.TargetText{Kind: "ConfigMap|Secret"})},
		"a kind":                     {Target: target(report.TargetText{Kind: "ConfigMap"})},
		"a core kind by its group":   {Target: target(report.TargetText{Group: "apps"})},
		"a name":                     {Target: target(report.TargetText{Name: "web-.*"})},
		"a namespace":                {Target: target(report.TargetText{Namespace: "prod"})},
		"a label":                    {Target: target(report.TargetText{LabelSelector: "team=a"})},
		"a manager":                  {Managers: []string{"kubectl*"}},
		"a broken path":              {Paths: []string{"spec"}},
	} {
		if TextSelectsEverything(text) {
			t.Errorf("%s selects everything", name)
		}
	}
}
