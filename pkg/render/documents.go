package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// sniffLength is how far cli-runtime looks to tell JSON from YAML (StreamVisitor.Visit).
const sniffLength = 4096

// sourcePrefix opens the comment that Helm writes above each document (pkg/action/action.go renderResources).
const sourcePrefix = "# Source: "

// Document is one document of a manifest as JSON, or the reason why it is none.
type Document struct {
	// Source is the template named by the document's own comment; empty without one.
	Source string
	JSON   []byte
	// Fault says why the document cannot be read; empty where it can.
	Fault string
}

var (
	errSeparator  = errors.New("ends at a line that begins with --- and goes on: helm takes no such line")
	errJSONSeries = errors.New("follows a series of JSON values, but is no JSON")
)

// splitDocuments cuts a manifest the way YAMLOrJSONDecoder does. The decoder itself cannot be used: it hides the text of
// the documents, and with it their comments, and after an error it does not go on.
func splitDocuments(manifest string) []Document {
	if _, _, isJSON := utilyaml.GuessJSONStream(strings.NewReader(manifest), sniffLength); !isJSON {
		return splitYAML(manifest)
	}
	documents, rest := splitJSON(manifest)
	return append(documents, splitYAML(rest)...)
}

// splitYAML cuts at separator lines. There is no limit on the size of a line or of a document.
func splitYAML(text string) []Document {
	var documents []Document
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		chunk, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			// The reader's error holds the line. The document above it is lost with it.
			documents = append(documents, Document{Fault: errSeparator.Error()})
		default:
			documents = append(documents, fromYAML(chunk))
		}
	}
}

// splitJSON reads JSON values off the head of text and returns what follows them, for the YAML reader: a stream may
// begin with "{" and be YAML all the same. After a second value Helm's decoder is sure of JSON and fails on anything else.
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

// skipLine drops the blanks that end a line, so that what follows a JSON value starts a line of its own.
func skipLine(text string) string {
	i := strings.IndexFunc(text, func(r rune) bool { return r == '\n' || !unicode.IsSpace(r) })
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(text[i:], "\n")
}

func fromYAML(chunk []byte) Document {
	doc := Document{Source: sourceOf(chunk)}
	if size := expandedSize(chunk); size > maxExpanded {
		doc.Fault = errAliases.Error()
		return doc
	}
	converted, err := yaml.YAMLToJSON(chunk)
	if err != nil {
		doc.Fault = yamlFault(err).Error()
		return doc
	}
	doc.JSON = converted
	return doc
}

// sourceOf finds Helm's comment among the comments at the head of a document. Further down a line that looks like it
// may be part of a value.
func sourceOf(chunk []byte) string {
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

// isEmpty tells whether Helm passes over the document: it holds nothing, only comments, or null.
func (d Document) isEmpty() bool {
	text := bytes.TrimSpace(d.JSON)
	return len(text) == 0 || bytes.Equal(text, []byte("null"))
}
