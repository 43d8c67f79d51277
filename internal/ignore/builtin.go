package ignore

import (
	_ "embed"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
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
	utilruntime.Must(yaml.UnmarshalStrict(ignoresText, &texts))
	out := make([]Rule, len(texts))
	for i, text := range texts {
		rule, err := ruleOf(text.RuleText, "built-in "+text.Name)
		utilruntime.Must(err)
		rule.BuiltIn, rule.unmanaged = true, text.Unmanaged
		if text.Gone != "" {
			gone, err := ParsePattern(text.Gone)
			utilruntime.Must(err)
			rule.gone = &gone
		}
		out[i] = rule
	}
	return out
})
