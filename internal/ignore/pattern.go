package ignore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Pattern names one or more places of an object for an ignore rule. It is a JSON pointer (RFC 6901), as Flux writes it, with these
// extensions:
//
//   - * stands for any field or list item, and a name that ends in * for all names with that prefix,
//   - [name=web] for the list items that have these fields with these values; commas separate several, and a value that ends in * is a
//     prefix,
//   - a number for the item at that index of live's list,
//   - a name for the field of that name, or for that member of a set.
//
// A pattern covers what it names and everything below. The empty pattern names the whole object.
type Pattern struct {
	text string
	// Tokens are its parts, between the slashes.
	Tokens []Token
}

// Token is one part of a pattern, between two slashes.
type Token struct {
	Form tokenForm
	// Name is the text of a name or a number, and index is the number.
	Name  string
	Index int
	// Keys are the fields that an item must have.
	Keys []TokenKey
	// isLiteral is set if the token is from a JSON pointer: * and members of a set have no meaning.
	isLiteral bool
}

type tokenForm int

// These are the forms of a token: a name, *, a number, and [key=value].
const (
	TokenName tokenForm = iota
	TokenAny
	TokenIndex
	TokenKeys
)

// TokenKey is a field that an item must have, with its value.
type TokenKey struct {
	Name, Value string
	// exact is set if a * at the end of the value stands for itself.
	exact bool
}

// ParsePattern parses a pattern.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	if text == "" {
		return p, nil
	}
	if !strings.HasPrefix(text, "/") {
		return p, noPointerError(text)
	}
	for _, part := range splitPattern(text[1:]) {
		t, err := parseToken(part)
		if err != nil {
			return p, fmt.Errorf("path %q: %w", text, err)
		}
		p.Tokens = append(p.Tokens, t)
	}
	return p, nil
}

// ParsePointer parses a JSON pointer (RFC 6901) as a pattern without extensions. Argo CD and Flux remove what it names with a JSON patch,
// to which * and brackets are letters like others (evanphx/json-patch v4.13.0 patch.go findObject).
func ParsePointer(text string) (Pattern, error) {
	p := Pattern{text: text}
	parts := strings.Split(text, "/")
	if parts[0] != "" {
		return p, noPointerError(text)
	}
	for _, part := range parts[1:] {
		t := nameToken(part)
		t.isLiteral = true
		p.Tokens = append(p.Tokens, t)
	}
	return p, nil
}

func noPointerError(text string) error {
	return fmt.Errorf("path %q does not begin with /: paths are JSON pointers, such as /spec/replicas", text)
}

// splitPattern splits a pattern at slashes outside of brackets: [mountPath=/data] is one token.
func splitPattern(text string) []string {
	var out []string
	start, inside := 0, false
	for i, r := range text {
		switch {
		case r == '[' && i == start:
			inside = true
		case r == ']' && (i+1 == len(text) || text[i+1] == '/'):
			inside = false
		case r == '/' && !inside:
			out, start = append(out, text[start:i]), i+1
		}
	}
	return append(out, text[start:])
}

// parseToken parses the text between two slashes. A number has its own kind of token, because it may be an index or the name of a field.
func parseToken(text string) (Token, error) {
	if text == "*" {
		return Token{Form: TokenAny}, nil
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return Token{}, fmt.Errorf("%s has no closing bracket", text)
		}
		return parseKeys(inner)
	}
	if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(text), "~") {
		return Token{}, fmt.Errorf("%s: ~ must be followed by 0 (for ~) or 1 (for /)", text)
	}
	return nameToken(text), nil
}

// nameToken returns the token of a name or a number.
func nameToken(text string) Token {
	t := Token{Name: strings.NewReplacer("~1", "/", "~0", "~").Replace(text)}
	if index, err := strconv.Atoi(text); err == nil && strconv.Itoa(index) == text && index >= 0 {
		t.Form, t.Index = TokenIndex, index
	}
	return t
}

// parseKeys parses key=value pairs. A value in double quotes may have any character; without quotes, a comma ends it.
func parseKeys(text string) (Token, error) {
	t := Token{Form: TokenKeys}
	for rest := text; ; {
		name, value, ok := strings.Cut(rest, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return Token{}, fmt.Errorf("[%s] is not of the form [key=value]", text)
		}
		key := TokenKey{Name: name}
		if quoted, err := strconv.QuotedPrefix(value); err == nil && strings.HasPrefix(value, `"`) {
			key.exact = true
			key.Value, _ = strconv.Unquote(quoted)
			value = value[len(quoted):]
		} else {
			end := strings.IndexByte(value+",", ',')
			key.Value, value = strings.TrimSpace(value[:end]), value[end:]
		}
		t.Keys = append(t.Keys, key)
		if value == "" {
			return t, nil
		}
		if rest, ok = strings.CutPrefix(value, ","); !ok {
			return Token{}, fmt.Errorf("[%s] is not of the form [key=value]", text)
		}
	}
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// PatternOf returns the text of the pattern for a path. The pattern names list items by their keys if they have any.
func PatternOf(path object.Path) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		switch s.Form {
		case object.FieldStep:
			b.WriteString(object.EscapeToken(s.Name))
		case object.SetStep:
			b.WriteString(object.EscapeToken(fmt.Sprint(s.Value)))
		case object.IndexStep:
			b.WriteString(strconv.Itoa(s.Index))
		case object.KeyStep:
			keys := make([]string, len(s.Keys))
			for i, k := range s.Keys {
				keys[i] = k.Name + "=" + plainOrQuoted(fmt.Sprint(k.Value))
			}
			b.WriteString("[" + strings.Join(keys, ",") + "]")
		}
	}
	return b.String()
}

// plainOrQuoted quotes a value that would be parsed as something else without quotes.
func plainOrQuoted(text string) string {
	if text == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text, "\",]*") {
		return strconv.Quote(text)
	}
	return text
}
