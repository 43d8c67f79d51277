package manifestdiff

import (
	"bytes"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tokens"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// document is one document of a manifest. Its text before the change is separator + body, and after it separator + edited.
type document struct {
	separator, body string
	// edited is the new body. A removed document has no new text at all, and an added one has no old text.
	edited         string
	removed, added bool
	// title names the object in the head of a hunk.
	title string
	ref   object.Ref
	// content is the object. It is nil if the document has none, or several, or cannot be read.
	content map[string]any
}

// split returns the documents of a manifest. Together they are the whole text.
func split(manifest string) []*document {
	var all []*document
	now := &document{}
	for line := range strings.Lines(manifest) {
		if strings.HasPrefix(line, "---") {
			all = append(all, now)
			now = &document{separator: line}
			continue
		}
		now.body += line
	}
	all = append(all, now)
	for _, d := range all {
		d.edited = d.body
		d.content, _ = read(d.body)
		d.ref = object.RefOf(d.content) // the document may leave out the namespace
	}
	return all
}

// read returns the object of a document. Known is false if the document is too large to be read here, or does not have a single object.
func read(text string) (content map[string]any, known bool) {
	if !render.NeedsNoBounds(text) {
		return nil, false
	}
	encoded, err := yaml.YAMLToJSON([]byte(text))
	switch {
	case err != nil:
		return nil, false
	case bytes.Equal(encoded, []byte("null")):
		return nil, true
	}
	err = utiljson.Unmarshal(encoded, &content)
	if _, isList := content["items"].([]any); err != nil || isList {
		return nil, false
	}
	return content, true
}

// before and after return the text of the document on both sides.
func (d *document) before() string {
	if d.added {
		return ""
	}
	return d.separator + d.body
}

func (d *document) after() string {
	if d.removed {
		return ""
	}
	return d.separator + d.edited
}

// secretLines returns, for each line of a text of the document, whether it is secret in the comparison.
func secretLines(text string, c *threeway.Comparison) []bool {
	lines := make([]bool, strings.Count(text, "\n"))
	body := text
	if strings.HasPrefix(text, "---") { // the separator becomes an empty line, so that lines keep their numbers
		body = text[strings.IndexByte(text, '\n'):]
	}
	content, known := read(body)
	ref := object.RefOf(content)
	var root yaml3.Node
	if known && len(content) > 0 {
		known = yaml3.Unmarshal([]byte(body), &root) == nil && len(root.Content) == 1 && isUnique(root.Content[0]) &&
			!strings.Contains(body, "\n...")
	}
	if !known || secret.Kind(ref.Group, ref.Kind) {
		mark(lines, 1, len(lines)+1)
		return lines
	}
	place, secrets := c.SecretsOf(ref, content)
	for _, path := range secretPaths(place, secrets, content, nil) {
		from, to := 1, len(lines)+1
		if len(root.Content) == 1 {
			from, to = linesOf(root.Content[0], path, from, to)
		}
		mark(lines, from, to)
	}
	return lines
}

// isUnique reports whether no map in a node has a key twice. Only the last one would be searched for secrets.
func isUnique(n *yaml3.Node) bool {
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml3.MappingNode && i%2 == 0 {
			if seen[child.Value] {
				return false
			}
			seen[child.Value] = true
		}
		if !isUnique(child) {
			return false
		}
	}
	return true
}

// mark sets the lines from one, counted from 1, up to another.
func mark(lines []bool, from, to int) {
	for i := max(from, 1); i < to && i <= len(lines); i++ {
		lines[i-1] = true
	}
}

// linesOf returns the lines of the value at a path in a node that has the lines from and up to. Comments below a value belong to it. If
// the place is ambiguous, linesOf returns the lines of the value around it.
func linesOf(n *yaml3.Node, path []any, from, to int) (int, int) {
	if len(path) == 0 || n.Style&yaml3.FlowStyle != 0 {
		return from, to
	}
	starts, values := []int{}, []*yaml3.Node{}
	at := -1
	switch {
	case n.Kind == yaml3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == path[0] {
				at = len(starts)
			}
			starts, values = append(starts, n.Content[i].Line), append(values, n.Content[i+1])
		}
	case n.Kind == yaml3.SequenceNode:
		for _, item := range n.Content {
			starts, values = append(starts, item.Line), append(values, item)
		}
		at, _ = path[0].(int)
	}
	if at < 0 || at >= len(starts) || !slices.IsSorted(starts) {
		return from, to
	}
	begin, end := starts[at], to
	if n.Kind == yaml3.SequenceNode && at > 0 && starts[at] > starts[at-1]+1 {
		begin-- // the "-" may stand on the line before the item
	}
	if at+1 < len(starts) {
		end = max(starts[at+1], begin+1)
	}
	return linesOf(values[at], path[1:], begin, end)
}

// sourceComment begins the comment that names the template of a document.
const sourceComment = "# Source: "

// Masked returns the text of a manifest without its secrets, for a file that people pass on. Tokens replace the values that the masker
// hides, and comments, which may hold anything, except for the comments of Helm that name a template. The text has as many lines as the
// manifest, and Diff makes the same diff of it, because Diff does not show the lines with tokens.
func Masked(manifest string, m *tokens.Masker) string {
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

// masked returns the body of a document without its secrets and comments, or false if that is not possible, or not certain.
func (d *document) masked(m *tokens.Masker, token string) (string, bool) {
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
		was, _ := valuesfile.ValueAt(content, path)
		now, _ := valuesfile.ValueAt(masked, path)
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

// isBare reports whether a node has no anchors, no tags, and no comments except hidden ones and those of Helm that name a template.
func isBare(n *yaml3.Node, hidden string) bool {
	for line := range strings.Lines(n.HeadComment + "\n" + n.LineComment + "\n" + n.FootComment) {
		if line = strings.TrimSpace(line); line != "" && line != hidden && !strings.HasPrefix(line, sourceComment) {
			return false
		}
	}
	return n.Anchor == "" && n.Style&yaml3.TaggedStyle == 0 &&
		!slices.ContainsFunc(n.Content, func(below *yaml3.Node) bool { return !isBare(below, hidden) })
}

// hides reports whether now has the form of was, with a token wherever masked differs from was.
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
