package secret

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/yaml"
)

// The bounds of what is parsed as YAML. The parser takes quadratic time for many brackets within each other.
const (
	longestNested = 64 << 10
	deepestNested = 16
)

// nestedValue returns a whole map or list after the sign, if it contains a secret.
func (a assignment) nestedValue(at int) []span {
	to, depth := a.brackets(at)
	part := a.text[at:to]
	found := false
	if v, ok := a.parsed(part, depth); ok {
		Place{form: announced}.each(v, walk{visit: func(Place, string) { found = true }, within: a.scan})
	} else {
		found = true
	}
	if !found {
		return nil
	}
	return []span{{at, to}}
}

// parsed returns the value of a part of the text in JSON or YAML. It returns false if the part is too long, too deep, or neither.
func (s *scan) parsed(part string, depth int) (v any, ok bool) {
	s.spend(jsonWork * len(part))
	if json.Unmarshal([]byte(part), &v) == nil {
		return v, true
	}
	// Anchors and aliases ("&", "*") could expand a short text without bound.
	if len(part) > longestNested || depth > deepestNested || strings.ContainsAny(part, "&*") {
		return nil, false
	}
	s.spend(yamlWork * (len(part) + 4))
	return v, yaml.Unmarshal([]byte(part), &v) == nil
}

// brackets returns where the brackets end that begin at an offset, and how deep they are.
func (a assignment) brackets(from int) (to, deepest int) {
	depth := 0
	for to = from; to < len(a.text); to++ {
		switch a.text[to] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		if depth == 0 {
			to++
			break
		}
	}
	a.spend(to - from)
	return to, deepest
}

// blockValue finds the secrets in the lines below the sign that are indented deeper than its name: a text of several
// lines, a map, or a list.
func (a assignment) blockValue(at int) (out []span) {
	isText := a.text[at] == '|' || a.text[at] == '>'
	// Below an announced name, another one announces nothing that is not found already.
	if !isText && a.block.from <= at && at < a.block.to {
		return nil
	}
	from := at
	first := a.line(a.from)
	depth := a.indent(first)
	for line := first; a.nextLine(&line); at = line.to {
		content := strings.TrimSpace(a.text[line.from:line.to])
		deep := a.indent(line)
		isItem := strings.HasPrefix(content, "- ") && deep == depth
		if content != "" && deep <= depth && !isItem {
			break
		}
		a.spend(nameWork * len(content))
		begin := line.from + deep
		out = append(out, a.blockLine(span{begin, begin + len(content)}, isText)...)
	}
	if !isText {
		a.block = span{from, at}
	}
	return out
}

// nextLine moves a line to the next one. It returns false if there is none.
func (s *scan) nextLine(line *span) bool {
	from := s.end(inLine, line.to) + 1
	if from > len(s.text) {
		return false
	}
	*line = span{from, s.end(inLine, from)}
	return true
}

// blockLine finds the secret in one line of a block.
func (s *scan) blockLine(line span, isText bool) []span {
	content := s.text[line.from:line.to]
	if !isText {
		content = strings.TrimPrefix(content, "- ")
		if name, value, isPair := strings.Cut(content, ":"); isPair && !strings.HasPrefix(value, "//") {
			name = strings.Trim(name, `"' `)
			if (Place{form: announced}).Field(name).plain {
				return nil
			}
			content = strings.TrimLeft(value, " \t")
		}
	}
	return s.secret(span{line.to - len(content), line.to})
}

// indent returns the number of blanks at the beginning of a line.
func (s *scan) indent(line span) int { return min(s.end(blank, line.from), line.to) - line.from }
