package api

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// MatchesGlob reports whether a pattern as Argo CD has it matches a text: * and ? stand for everything but separators, and ** for
// everything. A pattern with an error matches nothing.
func MatchesGlob(pattern, text string, separators ...rune) bool {
	if !strings.ContainsAny(pattern, `*?[]{}\`) {
		return pattern == text // most have none, and compiling takes time
	}
	compiled, err := expression(pattern, string(separators))
	return err == nil && compiled.MatchString(text)
}

// expression translates a pattern into a regular expression, which means what github.com/gobwas/glob v1.0.0 does, the library of Argo CD.
// The older version that Helm has, and so this program, finds other texts: it takes abc for a match of ab*bc, and {} for no empty text.
func expression(pattern, separators string) (*regexp.Regexp, error) {
	any := "."
	if separators != "" {
		any = "[^" + regexp.QuoteMeta(separators) + "]"
	}
	out, depth, left := strings.Builder{}, 0, []rune(pattern)
	for len(left) > 0 {
		letter := left[0]
		left = left[1:]
		switch {
		case letter == '*' && len(left) > 0 && left[0] == '*':
			out.WriteString(".*")
			left = left[1:]
		case letter == '*':
			out.WriteString(any + "*")
		case letter == '?':
			out.WriteString(any)
		case letter == '[':
			class, after, err := classOf(left)
			if err != nil {
				return nil, err
			}
			out.WriteString(class)
			left = after
		case letter == '{':
			out.WriteString("(?:")
			depth++
		case letter == '}' && depth > 0:
			out.WriteString(")")
			depth--
		case letter == ',' && depth > 0:
			out.WriteString("|")
		case letter == '\\' && len(left) == 0:
			return nil, errors.New("a backslash at the end")
		case letter == '\\':
			letter, left = left[0], left[1:]
			fallthrough
		default:
			out.WriteString(regexp.QuoteMeta(string(letter)))
		}
	}
	if depth > 0 {
		return nil, errors.New("a brace that is not closed")
	}
	return regexp.Compile(`(?s)\A(?:` + out.String() + `)\z`)
}

// classOf translates a class of letters, such as [abc], [!abc] or [a-c], whose first bracket is not in the text. It returns what is behind
// it.
func classOf(text []rune) (class string, after []rune, err error) {
	errOpen := errors.New("a bracket that is not closed")
	class = "["
	if len(text) > 0 && text[0] == '!' {
		class, text = "[^", text[1:]
	}
	if len(text) > 1 && text[1] == '-' {
		if len(text) < 4 || text[3] != ']' {
			return "", nil, errOpen
		}
		return class + fmt.Sprintf(`\x{%x}-\x{%x}]`, text[0], text[2]), text[4:], nil
	}
	for i, isFirst := 0, true; i < len(text); i++ {
		switch {
		case text[i] == ']' && isFirst:
			return "", nil, errors.New("a class without letters")
		case text[i] == ']':
			return class + "]", text[i+1:], nil
		case text[i] == '\\':
			if i++; i == len(text) {
				return "", nil, errOpen
			}
		}
		class, isFirst = class+fmt.Sprintf(`\x{%x}`, text[i]), false
	}
	return "", nil, errOpen
}

// MatchesPart reports whether a name matches a pattern without slashes.
func MatchesPart(pattern, name string) bool {
	matched, err := filepath.Match(pattern, name)
	return err == nil && matched
}
