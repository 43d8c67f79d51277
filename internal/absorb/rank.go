package absorb

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// leaf is a value that may change: a scalar, a null, or a whole map or list.
type leaf struct {
	path  []any
	value any
	// score says how likely it controls the field, and read whether the template of the object may read it.
	score int
	read  bool
}

// nodes returns all values that may change, the most likely first. Values whose names announce a secret are left out, and so are the copies
// of the globals below subcharts.
func (f *fieldSearch) nodes() []leaf {
	var out []leaf
	reads := f.Reads(f.Source)
	seen := map[string]bool{}
	add := func(path []any, v any) {
		seen[nameOf(path)] = true
		l := leaf{path: path, value: v, read: reads == nil || isRead(reads, path)}
		l.score = f.score(l, reads != nil)
		out = append(out, l)
	}
	// Null values count too: they are how charts announce what can be set.
	walkValues(f.values, add)
	// Templates may read values that values.yaml does not have.
	for _, read := range reads {
		// A value that is only tested cannot be what the field shows; as a switch it is found among the values.
		if last := len(read) - 1; last >= 0 && read[last] == OnlyTested {
			continue
		}
		if path, ok := plainPath(read); ok && !seen[nameOf(path)] && len(path) > 0 && !Place(f.values, path).Announced() {
			if _, found := object.ValueAt(f.values, path); !found {
				add(path, nil)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b leaf) int { return b.score - a.score })
	return out
}

// walkValues visits the values below v: scalars, maps and lists.
func walkValues(v any, visit func([]any, any)) { walkBelow(v, nil, secret.Place{}, visit) }

// walkBelow visits the value at a path and those below it, unless names announce that they are secret.
func walkBelow(v any, path []any, place secret.Place, visit func([]any, any)) {
	if place.Announced() {
		return
	}
	if len(path) > 0 {
		visit(path, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range object.SortedKeys(v) {
			// Helm copies the globals into each subchart. A change of the copy has no effect, since the globals are copied over it.
			if key == "global" && len(path) > 0 {
				continue
			}
			walkBelow(v[key], append(path[:len(path):len(path)], key), place.Field(key), visit)
		}
	case []any:
		for i, item := range v {
			walkBelow(item, append(path[:len(path):len(path)], i), place.Item(secret.ItemName(item)), visit)
		}
	}
}

// Place returns the place of a path of values, as far as it decides whether the value is secret.
func Place(values map[string]any, path []any) secret.Place {
	place := secret.Place{}
	for i, step := range path {
		if name, ok := step.(string); ok {
			place = place.Field(name)
		} else {
			item, _ := object.ValueAt(values, path[:i+1])
			place = place.Item(secret.ItemName(item))
		}
	}
	return place
}

// plainPath returns a path that a template reads as a path of values; false if any key of it is not known.
func plainPath(read []string) ([]any, bool) {
	out := make([]any, len(read))
	for i, key := range read {
		if key == "*" {
			return nil, false
		}
		out[i] = key
	}
	return out, true
}

// OnlyTested ends a path of Problem.Reads that a condition tests, so that what is below it is not read.
const OnlyTested = "\x00tested"

// isRead reports whether a path is, or is below, one that is read, or holds one. A template that reads a map reads what is in it, and one
// that reads a leaf is moved by the map around it.
func isRead(reads [][]string, path []any) bool {
	return slices.ContainsFunc(reads, func(read []string) bool {
		for i := range min(len(read), len(path)) {
			if key, ok := path[i].(string); ok && read[i] != "*" && read[i] != key {
				return false
			}
		}
		return true
	})
}

// nameOf returns a path as people write it.
func nameOf(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// score says how likely a value controls the field. The numbers were chosen by trying public charts; they decide how long a search takes,
// and not what it finds.
func (f *fieldSearch) score(l leaf, analysed bool) int {
	score := 0
	switch {
	case analysed && l.read:
		score += 6
	case analysed:
		score -= 6
	}
	score += 2 * likeness(l.path, f.Wanted)
	if now, present := f.desired(f.current); present && object.IsScalar(now) && object.IsScalar(l.value) {
		has, is := textOf(now), textOf(l.value)
		switch {
		// That the value stands in the field as it is tells more than any name does.
		case has == is:
			score += 8
		// A single letter or digit is contained in nearly everything.
		case len(is) > 1 && strings.Contains(has, is):
			score += 4
		}
	}
	// What is near comes first: own values before globals, and short paths before long ones.
	if l.path[0] == "global" {
		score -= 4
	}
	return score - len(l.path)/4
}

// likeness counts the words that a path of values and a field have in common. The last name of each counts more. Labels such as image, tag
// or port say what a value is; the names above them, which component has it.
func likeness(path []any, w Wanted) int {
	mine := map[string]int{}
	weight := 1
	for i := len(path) - 1; i >= 0; i-- {
		name, ok := path[i].(string)
		if !ok {
			continue
		}
		for _, word := range words(name) {
			mine[word] = max(mine[word], weight+boolInt(i >= len(path)-2))
		}
	}
	out := 0
	counted := map[string]bool{}
	for i := len(w.Path) - 1; i >= 0; i-- {
		for _, word := range stepWords(w.Path[i]) {
			if !counted[word] && mine[word] > 0 {
				out += mine[word] + 2*boolInt(i >= len(w.Path)-2)
			}
			counted[word] = true
		}
	}
	for _, word := range append(words(w.Key.Kind), words(w.Key.Name)...) {
		if !counted[word] && mine[word] > 0 {
			out++
		}
		counted[word] = true
	}
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stepWords returns the words of one step of a field's path.
func stepWords(step object.Step) []string {
	out := words(step.Name)
	for _, key := range step.Keys {
		out = append(out, words(textOf(key.Value))...)
	}
	return out
}

// ignoredWords occur in nearly every path and tell nothing.
var ignoredWords = []string{"spec", "metadata", "template", "extra", "data"}

// words splits a name into its words in lower case, without a plural. Names of Kubernetes are in camel case, those of charts in any.
func words(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		text := strings.TrimSuffix(strings.ToLower(string(word)), "s")
		if text != "" && !slices.Contains(ignoredWords, text) {
			out = append(out, synonym(text))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}

// synonym returns the word that stands for words of one meaning. The pairs are those that common charts use for one thing. An unknown one
// costs renderings and no result.
func synonym(word string) string {
	switch word {
	case "var", "environment":
		return "env"
	case "arg", "argument", "command", "flag":
		return "arg"
	case "repository", "tag", "registry", "digest":
		return "image"
	case "svc":
		return "service"
	case "deploy":
		return "deployment"
	case "sts":
		return "statefulset"
	}
	return word
}

// textOf returns a scalar as templates print it.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		if v == float64(int64(v)) {
			return fmt.Sprint(int64(v))
		}
	}
	return fmt.Sprint(v)
}
