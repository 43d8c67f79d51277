package deployer

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Integers returns --set expressions for the integers of values. A number of a values file becomes a float64, which templates print in
// another way than an integer. So a tool that sets integers in the values needs them once more, since the text of a values file cannot tell
// the two apart.
func Integers(values map[string]any) []string { return integersBelow(nil, values) }

func integersBelow(at []string, value any) (out []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, integersBelow(append(slices.Clone(at), escaped(key)), v[key])...)
		}
	case []any:
		for i, below := range v {
			item := slices.Clone(at)
			item[len(item)-1] += "[" + strconv.Itoa(i) + "]"
			out = append(out, integersBelow(item, below)...)
		}
	case int64:
		out = append(out, strings.Join(at, ".")+"="+strconv.FormatInt(v, 10))
	}
	return out
}

// escaped returns a key as a --set expression names it.
func escaped(key string) string {
	return strings.NewReplacer(`\`, `\\`, `.`, `\.`, `,`, `\,`, `=`, `\=`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(key)
}
