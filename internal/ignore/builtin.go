package ignore

import (
	_ "embed"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// builtInRule is a line of ignores.yaml.
type builtInRule struct {
	Name string `json:"name"`
	report.RuleText
	Unmanaged bool   `json:"unmanaged,omitempty"`
	Gone      string `json:"gone,omitempty"`
}

//go:embed ignores.yaml
var ignoresText []byte

// BuiltInRules are this program's own rules; ignores.yaml has them, each with its reason.
var BuiltInRules = sync.OnceValue(func() []Rule {
	var texts []builtInRule
	panicOn(yaml.UnmarshalStrict(ignoresText, &texts))
	out := make([]Rule, len(texts))
	for i, text := range texts {
		rule, err := ruleOf(text.RuleText, "built-in "+text.Name)
		panicOn(err)
		rule.BuiltIn, rule.unmanaged = true, text.Unmanaged
		if text.Gone != "" {
			gone, err := ParsePattern(text.Gone)
			panicOn(err)
			rule.gone = &gone
		}
		out[i] = rule
	}
	return out
})

// panicOn guards what cannot fail: the rules are part of the program.
func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}
