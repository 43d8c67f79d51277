package manifestdiff

import (
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// sourceComment is how Helm names the template of a document.
const sourceComment = "# Source: "

// Masked returns the text of a manifest without its secrets, for a file that is carried away: values that the masker replaces are tokens,
// and so are comments, which may hold anything, except for those with which Helm names a template. It has as many lines as the manifest,
// and Diff makes the same diff of it, because the lines with tokens are those that Diff does not show.
func Masked(manifest string, m *secret.Masker) string {
	token := m.Token("hidden")
	var b strings.Builder
	for _, d := range split(manifest) {
		b.WriteString(maskedSeparator(d.separator, token))
		if text, ok := d.masked(m, token); ok {
			b.WriteString(text)
		} else {
			b.WriteString(hiddenLines(d.body, token))
		}
	}
	return b.String()
}

// maskedSeparator returns the line before a document. It may hold a comment, or even a value.
func maskedSeparator(line, token string) string {
	if text := strings.TrimRight(line, " \r\n"); text != "" && text != "---" {
		return "--- # " + token + "\n"
	}
	return line
}

// masked returns the body of a document without its secrets and comments; false if that is not possible, or not certain.
func (d *document) masked(m *secret.Masker, token string) (string, bool) {
	content, known := read(d.body)
	if !known {
		return "", false
	}
	file, err := valuesfile.Parse("manifest", []byte(d.body))
	if err != nil {
		return "", false
	}
	masked := m.Object(d.ref.Group, d.ref.Kind, content)
	text := file.Conceal(token, func(path []any, _ string) bool {
		was, _ := object.ValueAt(content, path)
		now, _ := object.ValueAt(masked, path)
		return !object.Identical(was, now)
	})
	if file, err = valuesfile.Parse("manifest", []byte(text)); err != nil {
		return "", false
	}
	text = file.ConcealComments(token, func(comment string) bool {
		return !strings.HasPrefix(comment, sourceComment) || m.Text(comment) != comment
	})
	now, known := read(text)
	var root yaml3.Node
	if !known || !hides(now, content, masked) || strings.Count(text, "\n") != strings.Count(d.body, "\n") ||
		yaml3.Unmarshal([]byte(text), &root) != nil || !isBare(&root, "# "+token) {
		return "", false
	}
	return text, true
}

// isBare reports whether a node has no anchors, no tags, and no comments but a hidden one and those with which Helm names a template.
func isBare(n *yaml3.Node, hidden string) bool {
	for line := range strings.Lines(n.HeadComment + "\n" + n.LineComment + "\n" + n.FootComment) {
		if line = strings.TrimSpace(line); line != "" && line != hidden && !strings.HasPrefix(line, sourceComment) {
			return false
		}
	}
	return n.Anchor == "" && n.Style&yaml3.TaggedStyle == 0 &&
		!slices.ContainsFunc(n.Content, func(below *yaml3.Node) bool { return !isBare(below, hidden) })
}

// hides reports whether a value has the form of another one, and a token wherever a masked one differs from that.
func hides(now, was, masked any) bool {
	switch now := now.(type) {
	case map[string]any:
		was, isMap := was.(map[string]any)
		masked, isMasked := masked.(map[string]any)
		for name, below := range was {
			_, isShown := masked[name] // a name that is a secret is not
			isMasked = isMasked && isShown && hides(now[name], below, masked[name])
		}
		return isMap && isMasked && len(now) == len(was) && len(was) == len(masked)
	case []any:
		was, isList := was.([]any)
		masked, isMasked := masked.([]any)
		if !isList || !isMasked || len(now) != len(was) || len(was) != len(masked) {
			return false
		}
		for i := range now {
			isMasked = isMasked && hides(now[i], was[i], masked[i])
		}
		return isMasked
	}
	return secret.HoldsToken(now) || object.Identical(now, was) && object.Identical(was, masked)
}

// hiddenLines returns a text with a comment in place of each line.
func hiddenLines(text, token string) string {
	var b strings.Builder
	for range strings.Lines(text) {
		b.WriteString("# " + token + "\n")
	}
	if !strings.HasSuffix(text, "\n") {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}
