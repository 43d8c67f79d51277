package threeway

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Values are scrubbed from these lengths on: shorter ones would hit words.
const (
	leastScrubbed     = 4
	leastScrubbedLine = 8
)

// Scrub removes every value that a Report masks from a text that is shown, such as an error of the API server, which may quote
// the object it refused.
func (c *Comparison) Scrub(text string) string { return c.scrubber()(text) }

// scrubber is Scrub for many texts; the values are only gathered for a text that is not empty.
func (c *Comparison) scrubber() func(string) string {
	var replacer *strings.Replacer
	return func(text string) string {
		if text == "" {
			return ""
		}
		if replacer == nil {
			replacer = c.replacer()
		}
		return replacer.Replace(text)
	}
}

func (c *Comparison) replacer() *strings.Replacer {
	s := secrets{}
	for _, list := range [][]Object{c.Input.OldObjects, c.Input.DesiredObjects, c.Input.LastObjects} {
		for _, o := range list {
			s.addObject(o.Content, o.Kind == "Secret")
			s.addObject(o.Again, o.Kind == "Secret")
			s.addObject(o.AtOnce, o.Kind == "Secret")
		}
	}
	for ref, l := range c.Input.Live {
		s.addObject(l.Object, ref.Kind == "Secret")
	}
	return s.replacer()
}

// secrets is a set of values to be masked.
type secrets map[string]bool

// addObject adds all values of a Secret, and of other objects what their names or texts announce.
func (s secrets) addObject(obj map[string]any, isSecret bool) {
	if isSecret || obj["kind"] == "Secret" {
		for _, field := range []string{"data", "stringData"} {
			s.addAll(obj[field])
		}
	}
	s.addAnnounced(obj)
}

// addAll adds every scalar of a value.
func (s secrets) addAll(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			s.addAll(below)
		}
	case []any:
		for _, below := range v {
			s.addAll(below)
		}
	case nil, bool:
	default:
		s.add(fmt.Sprint(v))
	}
}

// add adds a value as it is written, encoded, and decoded where it is base64.
func (s secrets) add(text string) {
	s.addText(text)
	s.addForm(base64.StdEncoding.EncodeToString([]byte(text)), leastScrubbed)
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
		s.addText(string(raw))
		s.addForm(base64.StdEncoding.EncodeToString(raw), leastScrubbed)
	}
}

// addText adds a text as it is, as JSON quotes it, and line by line.
func (s secrets) addText(text string) {
	s.addForm(text, leastScrubbed)
	if quoted, err := json.Marshal(text); err == nil {
		s.addForm(string(quoted[1:len(quoted)-1]), leastScrubbed)
	}
	for line := range strings.Lines(text) {
		s.addForm(line, leastScrubbedLine)
	}
}

func (s secrets) addForm(form string, least int) {
	if form = strings.TrimSpace(form); len(form) >= least {
		s[form] = true
	}
}

// addAnnounced adds the values that names and texts announce as secret, wherever they stand.
func (s secrets) addAnnounced(v any) {
	switch v := v.(type) {
	case map[string]any:
		if name, _ := v["name"].(string); looksSecret(name) {
			s.addAll(v["value"])
		}
		for name, below := range v {
			if looksSecret(name) || embedsObject(name) {
				s.addAll(below)
			}
			s.addAnnounced(below)
		}
	case []any:
		for _, below := range v {
			s.addAnnounced(below)
		}
	case string:
		if secretValue(v) {
			s.add(v)
		}
	}
}

// replacer replaces the longest values first, so that none is left in part.
func (s secrets) replacer() *strings.Replacer {
	texts := sortedKeys(s)
	slices.SortStableFunc(texts, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(texts))
	for _, text := range texts {
		pairs = append(pairs, text, "***")
	}
	return strings.NewReplacer(pairs...)
}
