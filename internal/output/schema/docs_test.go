package schema

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/report-json.md again")

// TestReportPage checks that docs/report-json.md has every key of the schema with its description.
func TestReportPage(t *testing.T) {
	const file = "../../../docs/report-json.md"
	var document yaml.Node // unlike a map, it keeps the order
	if err := yaml.Unmarshal([]byte(Report()), &document); err != nil {
		t.Fatal(err)
	}
	root := node{document.Content[0]}
	var b strings.Builder
	fmt.Fprintf(&b, `# The report in JSON

This page is for those who write programs that read reports: it has every key, and says when it is there. Programs can validate a report
with the [JSON Schema](../internal/output/schema/report.schema.json), from which this page is written.

%s

The words of "verdict", "cause" and "action" are those of [verdicts.md](verdicts.md). [reading-reports.md](reading-reports.md) has the
formats for people, and [ci.md](ci.md) those for CI systems.
`, root.text("description"))
	root.get("$defs").each(func(name string, definition node) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", name, definition.text("description"))
		if values := definition.get("enum"); values.Node != nil {
			fmt.Fprintf(&b, "\nOne of %s.\n", values.words())
		}
		if properties := definition.get("properties"); properties.Node != nil {
			b.WriteString("\n| key | type | always | meaning |\n|---|---|---|---|\n")
			b.WriteString(rows("", definition, root.get("$defs")))
		}
	})
	if *updateDocs {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != b.String() {
		t.Errorf("%s is not what the schema says (%v): go test ./internal/output/schema -run TestReportPage -args -update-docs", file, err)
	}
}

// rows returns the rows of the keys of an object, and of the objects in it that have no name. A key of a type with a name has the
// description of the type if it has none of its own.
func rows(prefix string, object, definitions node) string {
	var b strings.Builder
	required := object.get("required")
	object.get("properties").each(func(key string, property node) {
		always := ""
		if required.Node != nil && slices.ContainsFunc(required.Content, func(n *yaml.Node) bool { return n.Value == key }) {
			always = "yes"
		}
		meaning := property.text("description")
		if meaning == "" {
			meaning = definitions.get(strings.TrimPrefix(property.text("$ref"), "#/$defs/")).text("description")
		}
		meaning = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(meaning)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", prefix+key, property.typeName(), always, meaning)
		if property.get("properties").Node != nil {
			b.WriteString(rows(prefix+key+".", property, definitions))
		}
	})
	return b.String()
}

// node is a value of the schema.
type node struct{ *yaml.Node }

// get returns the value of a key; its Node is nil if there is none.
func (n node) get(key string) (found node) {
	if n.Node != nil && n.Kind == yaml.MappingNode {
		n.each(func(name string, value node) {
			if name == key {
				found = value
			}
		})
	}
	return found
}

// each calls do for each key and value of a map.
func (n node) each(do func(string, node)) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		do(n.Content[i].Value, node{n.Content[i+1]})
	}
}

// text returns the text of a key.
func (n node) text(key string) string {
	if value := n.get(key); value.Node != nil {
		return value.Value
	}
	return ""
}

// words returns the members of a list.
func (n node) words() string {
	var out []string
	for _, word := range n.Content {
		out = append(out, "`"+word.Value+"`")
	}
	return strings.Join(out, ", ")
}

// typeName returns the type of a value for a reader.
func (n node) typeName() string {
	switch ref, items, values := n.text("$ref"), n.get("items"), n.get("enum"); {
	case ref != "":
		name := strings.TrimPrefix(ref, "#/$defs/")
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case values.Node != nil:
		return values.words()
	case n.get("const").Node != nil:
		return "`" + n.text("const") + "`"
	case items.Node != nil:
		return "list of " + items.typeName()
	case n.get("additionalProperties").Node != nil:
		return "map of " + n.get("additionalProperties").typeName()
	}
	if types := n.get("type"); types.Node != nil && len(types.Content) > 0 {
		return strings.ReplaceAll(strings.ReplaceAll(types.words(), "`", ""), ", ", " or ")
	}
	return n.text("type")
}
