package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"unicode"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// sniffLength is the number of bytes by which cli-runtime distinguishes JSON from YAML (StreamVisitor.Visit).
const sniffLength = 4096

// sourcePrefix begins the comment that Helm writes above each document (helm v3.22.0 pkg/action/action.go renderResources).
const sourcePrefix = "# Source: "

// Document is one document of a manifest as JSON, or the reason why it cannot be read.
type Document struct {
	// Source is the template that the document's comment names, or "" if there is none.
	Source string
	JSON   []byte
	// Fault says why the document cannot be read. It is "" if it can.
	Fault string
}

var (
	errSeparator  = errors.New("has text on the line of a --- separator, which helm cannot read")
	errJSONSeries = errors.New("follows a series of JSON values but is not JSON")
)

// splitDocuments splits a manifest as YAMLOrJSONDecoder does. The decoder itself cannot be used: it hides the text of
// the documents, and with it their comments, and it stops after an error.
func splitDocuments(manifest string) []Document {
	if _, _, isJSON := utilyaml.GuessJSONStream(strings.NewReader(manifest), sniffLength); !isJSON {
		return splitYAML(manifest)
	}
	documents, rest := splitJSON(manifest)
	return append(documents, splitYAML(rest)...)
}

// splitYAML splits a text at its separator lines.
func splitYAML(text string) []Document {
	var documents []Document
	for chunk, err := range yamlChunks(strings.NewReader(text)) {
		if err != nil {
			documents = append(documents, Document{Fault: err.Error()})
		} else {
			documents = append(documents, yamlDocument(chunk))
		}
	}
	return documents
}

// yamlChunks yields the texts between the separator lines of a text. Lines and documents may have any length. A separator
// with text after it yields errSeparator, because the reader's own error quotes the line; the document before it is lost.
func yamlChunks(text io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		reader := utilyaml.NewYAMLReader(bufio.NewReader(text))
		for {
			chunk, err := reader.Read()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				chunk, err = nil, errSeparator
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// splitJSON reads JSON values from the head of a text and returns what follows them for the YAML reader, because a
// stream may begin with "{" and still be YAML. After a second value, Helm's decoder expects JSON and fails on
// anything else.
func splitJSON(text string) (documents []Document, rest string) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var value json.RawMessage
		end := decoder.InputOffset()
		err := decoder.Decode(&value)
		switch {
		case errors.Is(err, io.EOF):
			return documents, ""
		case err != nil:
			if len(documents) > 1 {
				documents = append(documents, Document{Fault: errJSONSeries.Error()})
			}
			return documents, skipLine(text[end:])
		}
		documents = append(documents, Document{JSON: value})
	}
}

// skipLine removes the blanks up to the end of a line, so that the text after a JSON value begins on its own line.
func skipLine(text string) string {
	i := strings.IndexFunc(text, func(r rune) bool { return r == '\n' || !unicode.IsSpace(r) })
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(text[i:], "\n")
}

func yamlDocument(chunk []byte) Document {
	doc := Document{Source: sourceComment(chunk)}
	if size := expandedSize(chunk); size > maxExpanded {
		doc.Fault = errAliases.Error()
		return doc
	}
	converted, err := yaml.YAMLToJSON(chunk)
	if err != nil {
		doc.Fault = yamlError(err).Error()
		return doc
	}
	doc.JSON = converted
	return doc
}

// sourceComment returns the template that Helm's comment names, from the comments at the head of a document. Further
// down, a line that looks like the comment may be part of a value.
func sourceComment(chunk []byte) string {
	for line := range bytes.Lines(chunk) {
		text := strings.TrimPrefix(strings.TrimSpace(string(line)), "\ufeff")
		if source, ok := strings.CutPrefix(text, sourcePrefix); ok {
			return strings.TrimSpace(source)
		}
		// The reader leaves the separator that opens a manifest in its first document.
		if text != "" && text[0] != '#' && !strings.HasPrefix(text, "---") {
			return ""
		}
	}
	return ""
}

// isEmpty reports whether Helm skips the document, because it has no content, only comments, or null.
func (d Document) isEmpty() bool {
	text := bytes.TrimSpace(d.JSON)
	return len(text) == 0 || bytes.Equal(text, []byte("null"))
}
