package document

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// parseYAML parses a YAML text. Several documents become a list; documents without content do not count. Some charts put several manifests
// into one entry.
func parseYAML(text string) (parsed, bool) {
	if len(text) > maxParsed {
		return parsed{}, false
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	r := yamlReader{budget: budget{maxExpanded}}
	var documents []any
	for {
		var node yaml.Node
		err := d.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || len(node.Content) != 1 {
			return parsed{}, false
		}
		v, ok := r.value(node.Content[0], 0)
		if !ok {
			return parsed{}, false
		}
		if v != nil {
			// A separator at the end or a comment alone makes a document without content.
			documents = append(documents, v)
		}
	}
	// The order of keys has no meaning, so it must not make two documents differ.
	slices.Sort(r.oddKeys)
	switch len(documents) {
	case 0:
		return parsed{}, false
	case 1:
		return parsed{root: documents[0], oddKeys: r.oddKeys}, true
	}
	return parsed{documents, true, r.oddKeys}, !slices.ContainsFunc(documents, isScalar)
}

// parseUnnamedYAML parses a text whose name does not say that it is YAML. Prose may look like YAML (Note: see below), and so may a list of
// sentences. So the text must have several lines, keys that are words, and a map or list within the outermost one, or at least two keys.
func parseUnnamedYAML(text string) (parsed, bool) {
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return parsed{}, false
	}
	doc, ok := parseYAML(text)
	if !ok {
		return doc, false
	}
	if list, ok := doc.root.([]any); ok {
		return doc, !slices.ContainsFunc(list, func(item any) bool { return !hasWords(item) })
	}
	root, _ := doc.root.(map[string]any)
	hasBelow := false
	for _, v := range root {
		hasBelow = hasBelow || !isScalar(v)
	}
	return doc, hasWords(root) && (hasBelow || len(root) > 1)
}

// hasWords reports whether a value is a map whose keys are words. A sentence with a colon has a key with blanks.
func hasWords(v any) bool {
	m, ok := v.(map[string]any)
	for key := range m {
		ok = ok && isWord(key)
	}
	return ok
}

// isWord reports whether a key is a word as in configuration: it has no blanks and begins with a letter. Dots, dashes and slashes occur in
// keys of properties and of labels.
func isWord(key string) bool {
	if key == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", rune(key[0])) {
		return false
	}
	return strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == ""
}

// yamlReader turns nodes into values. It follows aliases within its budget.
//
// A decoder of the library would do most of this, but it drops what a comparison needs: that yes was not quoted, that 1.0 is not 1.00,
// that a key was a number. It would also follow aliases without a limit.
type yamlReader struct {
	budget
	oddKeys []string
}

// value returns the value of a node.
func (r *yamlReader) value(node *yaml.Node, depth int) (any, bool) {
	if !r.spend(depth, node.Value) {
		return nil, false
	}
	switch node.Kind {
	case yaml.AliasNode:
		return r.value(node.Alias, depth+1)
	case yaml.MappingNode:
		return r.mapping(node, depth)
	case yaml.SequenceNode:
		return r.sequence(node, depth)
	case yaml.ScalarNode:
		return scalar(node), true
	case yaml.DocumentNode:
	}
	return nil, false
}

func (r *yamlReader) sequence(node *yaml.Node, depth int) (any, bool) {
	if node.ShortTag() != "!!seq" {
		return nil, false
	}
	out := []any{}
	for _, item := range node.Content {
		v, ok := r.value(item, depth+1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// mapping returns the value of a map. Its own keys override those that it merges. Most programs that read a ConfigMap follow this
// rule of YAML 1.1 merge keys, whatever Helm does with a values file.
func (r *yamlReader) mapping(node *yaml.Node, depth int) (any, bool) {
	if node.ShortTag() != "!!map" {
		return nil, false
	}
	out, merged := map[string]any{}, map[string]any{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		// A path for people cannot contain a list or a map as a key.
		if key.Kind != yaml.ScalarNode {
			return nil, false
		}
		v, ok := r.value(node.Content[i+1], depth+1)
		if !ok || !r.spend(depth, key.Value) {
			return nil, false
		}
		if key.ShortTag() == "!!merge" {
			if len(merged) > 0 || !merge(merged, v) {
				return nil, false
			}
			continue
		}
		if _, twice := out[key.Value]; twice {
			return nil, false
		}
		if _, isString := scalar(key).(string); !isString {
			r.oddKeys = append(r.oddKeys, key.Value)
		}
		out[key.Value] = v
	}
	maps.Copy(merged, out)
	return merged, true
}

// merge adds what the value of a merge key names: a map, or several. The first of several overrides the others.
func merge(into map[string]any, from any) bool {
	switch from := from.(type) {
	case map[string]any:
		for name, v := range from {
			if _, has := into[name]; !has {
				into[name] = v
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(from, func(item any) bool { return isScalar(item) || !merge(into, item) })
	}
	return false
}

// ambiguous matches unquoted words that YAML 1.1 reads as a switch or as a number to the base of 60, and YAML 1.2 as strings.
var ambiguous = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:y|n|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[-+]?0[0-9_]+|[-+]?[0-9_]*\.[0-9_]+)$`)
})

// scalar returns the value of a scalar: a string, a json.Number, a bool, nil for null, or a word.
func scalar(node *yaml.Node) any {
	unquoted := node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch tag := node.ShortTag(); tag {
	case "!!str":
		if unquoted && node.Style&yaml.TaggedStyle == 0 && ambiguous().MatchString(node.Value) {
			return word(node.Value)
		}
		return node.Value
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(node.Value)) {
			return json.Number(node.Value)
		}
		return word(node.Value)
	case "!!timestamp":
		return word(node.Value)
	default:
		return word(tag + " " + node.Value)
	}
}
