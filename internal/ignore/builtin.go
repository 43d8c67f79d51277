package ignore

import (
	_ "embed"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// builtInRule is an entry of ignores.yaml.
type builtInRule struct {
	Name string `json:"name"`
	report.RuleText
	Unmanaged bool   `json:"unmanaged,omitempty"`
	Gone      string `json:"gone,omitempty"`
}

//go:embed ignores.yaml
var ignoresText []byte

// BuiltInRules returns this program's own rules. They are in ignores.yaml, each with its reason.
var BuiltInRules = sync.OnceValue(func() []Rule {
	var texts []builtInRule
	must(yaml.UnmarshalStrict(ignoresText, &texts))
	out := make([]Rule, len(texts))
	for i, text := range texts {
		rule, err := ruleOf(text.RuleText, "built-in "+text.Name)
		must(err)
		rule.BuiltIn, rule.unmanaged = true, text.Unmanaged
		if text.Gone != "" {
			gone, err := ParsePattern(text.Gone)
			must(err)
			rule.gone = &gone
		}
		out[i] = rule
	}
	return out
})

// must panics on an error in the built-in rules. They are part of the program, so there is none.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
