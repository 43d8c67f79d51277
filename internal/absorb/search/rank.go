package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// nodes returns all values that may change, the most likely first, except those named as secrets and the copies of globals below subcharts.
func (f *field) nodes() []leaf {
	var out []leaf
	reads := f.Reads(f.Source)
	seen := map[string]bool{}
	add := func(path []any, v any) {
		seen[nameOf(path)] = true
		l := leaf{path: path, value: v, read: reads == nil || isRead(reads, path)}
		l.score = f.score(l, reads != nil)
		out = append(out, l)
	}
	// Null values count too: charts use them to show what can be set.
	EachValue(f.values, add)
	// Templates may read values that values.yaml does not have.
	for _, read := range reads {
		// The field cannot show a value that is only tested. If it is a switch, it is among the values.
		if read.OnlyTested {
			continue
		}
		if path, ok := plainPath(read.Path); ok && !seen[nameOf(path)] && len(path) > 0 && !Place(f.values, path).Announced() {
			if _, found := valuesfile.ValueAt(f.values, path); !found {
				add(path, nil)
			}
		}
	}
	order.Sort(out, func(a, b leaf) int { return b.score - a.score })
	return out
}

// score says how likely a value controls the field. Experiments with public charts gave the numbers; they decide the time, not the result.
func (f *field) score(l leaf, analysed bool) int {
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
		// If the field is exactly the value, that says more than any name.
		case has == is:
			score += 8
		// Nearly everything contains a given letter or digit.
		case len(is) > 1 && strings.Contains(has, is):
			score += 4
		}
	}
	// Near values come first: the chart's own before globals, and short paths before long ones.
	if l.path[0] == "global" {
		score -= 4
	}
	return score - len(l.path)/4
}

// likeness counts the words that a path of values and a field have in common. The last names count more: a name such as image, tag or port
// says what a value is, and the names above it say which component it belongs to.
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

// ignoredWords occur in nearly every path and mean nothing.
var ignoredWords = []string{"spec", "metadata", "template", "extra", "data"}

// words splits a name into its words, in lower case and in the singular. Kubernetes has names in camel case, and charts in any case.
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

// synonym returns one word for all words with the same meaning, from common charts. An unknown one costs renderings, but changes no result.
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
