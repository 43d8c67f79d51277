package values

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// HCL returns the values as an item for the argument values of a helm_release of Terraform. The last item wins, and the entries of set,
// set_list and set_sensitive win over all items (terraform-provider-helm v3.1.2 helm/resource_helm_release.go getValues).
func HCL(r *absorption.Result) string {
	var out strings.Builder
	out.WriteString("# Add the item to the end of the list values of the helm_release: the last item wins.\n" +
		"# set, set_list and set_sensitive win over it. A value that one of those sets must be changed there instead.\n" +
		"values = [\n  yamlencode(")
	writeHCL(&out, nonNil(r.Overlay), "  ")
	out.WriteString("),\n]\n")
	return out.String()
}

// writeHCL writes a value as an expression. Its lines after the first begin with the indent.
func writeHCL(out *strings.Builder, value any, indent string) {
	const step = "  "
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			out.WriteString("{}")
			return
		}
		out.WriteString("{\n")
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out.WriteString(indent + step + quoteHCL(key) + " = ")
			writeHCL(out, v[key], indent+step)
			out.WriteString("\n")
		}
		out.WriteString(indent + "}")
	case []any:
		if len(v) == 0 {
			out.WriteString("[]")
			return
		}
		out.WriteString("[\n")
		for _, item := range v {
			out.WriteString(indent + step)
			writeHCL(out, item, indent+step)
			out.WriteString(",\n")
		}
		out.WriteString(indent + "]")
	case string:
		out.WriteString(quoteHCL(v))
	default: // a number, a bool or null
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null")
		}
		out.Write(text)
	}
}

// quoteHCL returns a quoted template of HCL that has a text and no interpolation.
func quoteHCL(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	var out strings.Builder
	out.WriteByte('"')
	var last rune
	for i, r := range text {
		opens := (r == '$' || r == '%') && strings.HasPrefix(text[i+1:], "{") // what Terraform evaluates
		switch {
		case r == '"', r == '\\':
			out.WriteString(`\` + string(r))
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case opens && r == last: // three of them would be read in two ways
			fmt.Fprintf(&out, `\u%04x`, r)
		case opens:
			out.WriteString(string(r) + string(r))
		default:
			out.WriteRune(r)
		}
		last = r
	}
	out.WriteByte('"')
	return escape.YAML(out.String()) // the escapes of characters are those of YAML
}
