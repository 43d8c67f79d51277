package kinds

import (
	_ "embed"
	"maps"
	"reflect"
	"sync"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/helmdrift/helmdrift/pkg/object"
)

//go:embed defaults.json
var defaultsJSON []byte

// defaultsTable returns the defaults that have one value wherever their Go type occurs, by type and JSON field name. The table is generated
// from Kubernetes' own defaulting functions (test/controlplane/cmd/gendefaults).
//
// Defaults that depend on a sibling or on the kind are rules (defaults_rules.go). Shapes of native kinds have both (addDefaults).
var defaultsTable = sync.OnceValue(func() map[string]map[string]any {
	var table map[string]map[string]any
	utilruntime.Must(utiljson.Unmarshal(defaultsJSON, &table))
	return table
})

// FillDefaults sets the API's defaults in the normal form of a whole object, in place. It removes a status that is a subresource, which
// holds what the server itself sets.
func FillDefaults(root map[string]any, s *Shape) {
	if root == nil {
		return
	}
	fillValue(root, s)
	if s == nil || !s.PlainStatus {
		delete(root, "status")
	}
}

// fillValue sets the API's defaults in a normal form, in place, as the server does when it decodes an object.
func fillValue(v any, s *Shape) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Form == FormStruct {
			fillStruct(v, s)
			return
		}
		if s.rule != nil {
			s.rule(v)
		}
		for _, child := range v {
			fillValue(child, s.Elem)
		}
	case []any:
		for _, child := range v {
			fillValue(child, s.Item())
		}
	}
}

// fillStruct sets the defaults of one struct: first by the rule that looks at siblings, then from the table, then everything below. A
// struct that is a Go value exists even if the manifest leaves it out, so its defaults apply too.
func fillStruct(v map[string]any, s *Shape) {
	if s.rule != nil {
		s.rule(v)
	}
	for name, value := range s.defaults {
		SetDefault(v, name, value)
	}
	for name, child := range v {
		if f := s.Fields[name]; f != nil {
			fillValue(child, f.Shape)
		}
	}
	for _, name := range s.embedded {
		if object.Has(v, name) {
			continue
		}
		child := map[string]any{}
		fillStruct(child, s.Fields[name].Shape)
		if len(child) > 0 {
			v[name] = child
		}
	}
}

// SetDefault sets a field that is absent. It does nothing if v is nil, which is what a rule finds if a manifest has something else in the
// place of a struct.
func SetDefault(v map[string]any, name string, value any) {
	if v == nil {
		return
	}
	if _, ok := v[name]; !ok {
		v[name] = object.Copy(value)
	}
}

// addDefaults adds to a native shape what the table and the rules have for a Go type: its own, or an embedded one.
func (s *Shape) addDefaults(t reflect.Type) {
	versioned, unversioned := typeNames(t)
	// The map of the table belongs to all shapes, so the first entry is a copy of it.
	if table := defaultsTable()[versioned]; len(table) > 0 && s.defaults == nil {
		s.defaults = maps.Clone(table)
	} else {
		maps.Copy(s.defaults, table)
	}
	rules := siblingRules()
	rule, ok := rules[versioned]
	if !ok {
		rule, ok = rules[unversioned]
	}
	if ok {
		s.rule = rule
	}
}
