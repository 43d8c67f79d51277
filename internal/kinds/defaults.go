package kinds

import (
	_ "embed"
	"maps"
	"sync"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/object"
)

//go:embed defaults.json
var defaultsJSON []byte

// defaultsTable holds the defaults that have one value wherever their Go type occurs, by type and JSON field name. It is
// generated from Kubernetes' own defaulting functions by test/controlplane's gendefaults.
//
// Defaults that depend on a sibling or on the kind are rules (defaults_rules.go). Shapes of native kinds carry both (addDefaults).
var defaultsTable = sync.OnceValue(func() map[string]map[string]any {
	var table map[string]map[string]any
	must(utiljson.Unmarshal(defaultsJSON, &table))
	return table
})

// FillObject fills a whole object's normal form, in place. Status is the server's own and stays out.
func FillObject(root map[string]any, s *Shape) {
	if root == nil {
		return
	}
	fillDefaults(root, s)
	delete(root, "status")
}

// fillDefaults writes the API's defaults into a normal form, in place, as the server does when it decodes an object.
func fillDefaults(v any, s *Shape) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Form == FormStruct {
			fillStruct(v, s)
			return
		}
		if s.Rule != nil {
			s.Rule(v)
		}
		for _, child := range v {
			fillDefaults(child, s.Elem)
		}
	case []any:
		for _, child := range v {
			fillDefaults(child, s.Item())
		}
	}
}

// fillStruct fills one struct: the rule that looks at siblings, then the table, then everything below. Structs that are
// values exist in Go even where the manifest leaves them out, so their defaults apply too.
func fillStruct(v map[string]any, s *Shape) {
	if s.Rule != nil {
		s.Rule(v)
	}
	for name, value := range s.defaults {
		SetDefault(v, name, value)
	}
	for name, f := range s.Fields {
		if child, ok := v[name]; ok {
			fillDefaults(child, f.Shape)
			continue
		}
		if f.wire != omitZero || f.Shape == nil || f.Form != FormStruct {
			continue
		}
		child := map[string]any{}
		fillStruct(child, f.Shape)
		if len(child) > 0 {
			v[name] = child
		}
	}
}

// SetDefault sets a field that is absent. A rule may look for the struct in vain, because a manifest has something else in
// its place: then there is nothing to set.
func SetDefault(v map[string]any, name string, value any) {
	if v == nil {
		return
	}
	if _, ok := v[name]; !ok {
		v[name] = object.Copy(value)
	}
}

// addDefaults gives a native shape what the table and the rules have for a Go type: its own, or one that it inlines.
func (s *Shape) addDefaults(typeName string) {
	if table := defaultsTable()[typeName]; len(table) > 0 && s.defaults == nil {
		s.defaults = maps.Clone(table)
	} else {
		maps.Copy(s.defaults, table)
	}
	rules := siblingRules()
	rule, ok := rules[typeName]
	if !ok {
		rule, ok = rules[unversioned(typeName)]
	}
	if ok {
		s.Rule = rule
	}
}
