package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"regexp"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// sniffLength is the number of bytes that cli-runtime reads to tell JSON from YAML (StreamVisitor.Visit).
const sniffLength = 4096

// sourcePrefix begins the comment that Helm writes above each document (helm v3.22.0 pkg/action/action.go renderResources).
const sourcePrefix = "# Source: "

var (
	errSeparator  = errors.New("has text on the line of a --- separator, which helm cannot read")
	errJSONSeries = errors.New("follows a series of JSON values but is not JSON")
)

// Document is one document of a manifest, or the reason why it cannot be read.
type Document struct {
	// Source is the template that the document's comment names, or "" if there is none.
	Source string
	// JSON is the document, unless it is Decoded. Text returns it in both cases.
	JSON []byte
	// Fault says why the document cannot be read. It is "" if it can.
	Fault string
	// Decoded is set for a plain document that DecodeDocuments has read.
	Decoded *Decoded
}

// Text returns the document as JSON, or nil if it cannot be read.
func (d Document) Text() []byte {
	if d.Decoded == nil {
		return d.JSON
	}
	text, _ := yaml.YAMLToJSON(d.Decoded.text) // it was read before
	return text
}

// splitDocuments splits a manifest as YAMLOrJSONDecoder does. The decoder itself is of no use here: it hides the text
// of the documents, so that their comments are lost, and it stops after an error. ReadYAML reads one document.
func splitDocuments(manifest string, readYAML func(chunk []byte) Document) []Document {
	if _, _, isJSON := utilyaml.GuessJSONStream(strings.NewReader(manifest), sniffLength); !isJSON {
		return splitYAML(manifest, readYAML)
	}
	documents, rest := splitJSON(manifest)
	return append(documents, splitYAML(rest, readYAML)...)
}

// splitYAML splits a text at its separator lines.
func splitYAML(text string, readYAML func(chunk []byte) Document) []Document {
	var documents []Document
	for chunk, err := range yamlChunks(strings.NewReader(text)) {
		if err != nil {
			documents = append(documents, Document{Fault: err.Error()})
		} else {
			documents = append(documents, readYAML(chunk))
		}
	}
	return documents
}

// yamlChunks yields the texts between the separator lines of a text. Lines and documents may have any length. For a
// separator with text after it, it yields errSeparator, because the reader's own error quotes the line. The document
// before such a separator is lost.
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

// Chunks returns the texts of the documents of a manifest, or none if one of them cannot be split off. ReadChunk reads one.
func Chunks(manifest string) []string {
	if _, _, isJSON := utilyaml.GuessJSONStream(strings.NewReader(manifest), sniffLength); isJSON {
		return nil
	}
	var out []string
	for chunk, err := range yamlChunks(strings.NewReader(manifest)) {
		if err != nil {
			return nil
		}
		out = append(out, string(bytes.TrimPrefix(chunk, []byte("---\n"))))
	}
	return out
}

// ReadChunk reads the document that one of the texts of Chunks is.
func ReadChunk(chunk string) Document { return yamlDocument([]byte(chunk)) }

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
	if expandedSize(chunk) > maxExpanded {
		doc.Fault = errAliases.Error()
	} else if converted, err := yaml.YAMLToJSON(chunk); err != nil {
		doc.Fault = yamlError(err).Error()
	} else {
		doc.JSON = converted
	}
	return doc
}

// sourceComment returns the template that Helm's comment names, from the comments at the head of a document. It
// looks only there, because further down such a line may be part of a value.
func sourceComment(chunk []byte) string {
	for line := range bytes.Lines(chunk) {
		text := strings.TrimPrefix(strings.TrimSpace(string(line)), "\ufeff")
		if source, ok := strings.CutPrefix(text, sourcePrefix); ok {
			return strings.TrimSpace(source)
		}
		// If a manifest begins with a separator, the reader leaves it in the first document.
		if text != "" && text[0] != '#' && !strings.HasPrefix(text, "---") {
			return ""
		}
	}
	return ""
}

// isEmpty reports whether Helm skips the document, because it has no content, only comments, or null.
func (d Document) isEmpty() bool {
	if d.Decoded != nil {
		return false
	}
	text := bytes.TrimSpace(d.JSON)
	return len(text) == 0 || bytes.Equal(text, []byte("null"))
}

// Decoded is a YAML document that is a map of texts, whole numbers, true, false, null, and lists and maps of these, as most documents of
// charts are. It is decoded at once, which takes three quarters of the time of the way through JSON, and gives the same object.
type Decoded struct {
	text []byte
	// object is what was decoded, for the first who takes it, because who takes it may change it.
	object atomic.Pointer[map[string]any]
}

// GobEncode implements gob.GobEncoder. It fails, because a document that goes to another process is to be read by ReadDocuments.
func (*Decoded) GobEncode() ([]byte, error) {
	return nil, errors.New("a decoded document cannot go to another process")
}

// GobDecode implements gob.GobDecoder, without which gob refuses every Document from another process. It fails as GobEncode does.
func (*Decoded) GobDecode([]byte) error {
	_, err := (*Decoded)(nil).GobEncode()
	return err
}

// plainYAML reads a YAML document, which need not be plain.
func plainYAML(chunk []byte) Document {
	object := decodePlain(chunk)
	if object == nil {
		return yamlDocument(chunk)
	}
	p := &Decoded{text: chunk}
	p.object.Store(&object)
	return Document{Source: sourceComment(chunk), Decoded: p}
}

// take returns the object. The caller may change it.
func (p *Decoded) take() map[string]any {
	if object := p.object.Swap(nil); object != nil {
		return *object
	}
	return decodePlain(p.text)
}

// decodePlain returns the object of a plain document, or nil if it is not plain. A document with items, which may be a list,
// counts as none, and so does one that may have aliases.
func decodePlain(chunk []byte) map[string]any {
	var tree any
	if mayHaveAliases(chunk) || yaml2.Unmarshal(chunk, &tree) != nil { // the library that yaml.YAMLToJSON calls
		return nil
	}
	value, isPlain := plainValue(tree)
	object, _ := value.(map[string]any)
	if _, hasItems := object["items"]; !isPlain || hasItems {
		return nil
	}
	return object
}

// plainValue returns a decoded value of YAML as it would be after it was encoded as JSON and decoded again, and false if it is not plain.
// Fractions are not, because JSON may have them as whole numbers.
func plainValue(v any) (out any, isPlain bool) {
	switch v := v.(type) {
	case map[any]any:
		fields := make(map[string]any, len(v))
		for key, below := range v {
			name, isText := key.(string)
			if fields[name], isPlain = plainValue(below); !isPlain || !isText || !utf8.ValidString(name) {
				return nil, false
			}
		}
		return fields, true
	case []any:
		for i := range v {
			if v[i], isPlain = plainValue(v[i]); !isPlain {
				return nil, false
			}
		}
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case int:
		return int64(v), true
	case bool, nil:
		return v, true
	}
	return nil, false
}

// A YAML alias stands for a whole value, so a short text can expand to a very long document: a value of 300 KB with a thousand
// aliases expands to 300 MB, and compresses to 600 bytes of a release record. The YAML library counts nodes, not bytes, and
// allows 400,000 of them (go.yaml.in/yaml/v2 v2.4.4 decode.go allowedAliasRatio). Therefore the expanded size is computed
// before the aliases are followed.

// maxExpanded is a size that every API server refuses (k8s.io/apiserver v0.36.3 pkg/server/config.go
// MaxRequestBodyBytes). Only documents with aliases are checked: others are not longer than their text.
const maxExpanded = 3 << 20

// These are the lengths of a text without aliases that can be read and compared within 200 MB, whatever it says: the bytes, and the
// indicators. Each value of YAML needs an indicator of its own, and takes 2 KB at most to read and to compare, as the worst text found
// does, a list of maps with one key. Each byte takes 8. Definitions of a megabyte are mostly descriptions, so they have few indicators.
const (
	maxUnbounded  = 2 << 20
	maxIndicators = 64 << 10
	indicators    = ":-?,[{"
)

// anchor and alias match every anchor and alias of YAML (yaml/v2 scannerc.go yaml_parser_scan_anchor: an indicator and a
// letter, digit, dash or underscore), and some other texts.
var (
	anchor = regexp.MustCompile(`&[0-9A-Za-z_-]`)
	alias  = regexp.MustCompile(`\*[0-9A-Za-z_-]`)
)

// NeedsNoBounds reports whether a manifest can be read without bounds on time and memory, because it is short, has few values and no
// aliases.
func NeedsNoBounds(manifest string) bool {
	if len(manifest) > maxUnbounded || mayHaveAliases([]byte(manifest)) {
		return false
	}
	found := 0
	for _, indicator := range indicators {
		found += strings.Count(manifest, string(indicator))
	}
	return found <= maxIndicators
}

func mayHaveAliases(text []byte) bool { return anchor.Match(text) && alias.Match(text) }

// expandedSize returns a lower bound of the document's size after its aliases are followed, or 0 if it has none.
// If this parser cannot read the text, the other one reports the error.
func expandedSize(text []byte) int {
	var root yaml3.Node
	if !mayHaveAliases(text) || yaml3.Unmarshal(text, &root) != nil {
		return 0
	}
	return anchorSizes{}.sizeOf(&root)
}

// anchorSizes maps the nodes that have an anchor to their sizes.
type anchorSizes map[*yaml3.Node]int

// sizeOf returns the size of a node. It never overflows.
func (s anchorSizes) sizeOf(n *yaml3.Node) int {
	if size, done := s[n]; done {
		return size
	}
	if n.Kind == yaml3.AliasNode {
		return s.sizeOf(n.Alias)
	}
	if n.Anchor != "" {
		s[n] = 0 // an alias within its own value is an error, which the other parser reports
	}
	size := len(n.Value) + 2
	for _, below := range n.Content {
		size = min(size+s.sizeOf(below), math.MaxInt/2)
	}
	if n.Anchor != "" {
		s[n] = size
	}
	return size
}
