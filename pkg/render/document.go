package render

import (
	"bytes"
	"errors"
	"sync/atomic"
	"unicode/utf8"

	yaml2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
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

// isEmpty reports whether Helm skips the document, because it has no content, only comments, or null.
func (d Document) isEmpty() bool {
	if d.Decoded != nil {
		return false
	}
	text := bytes.TrimSpace(d.JSON)
	return len(text) == 0 || bytes.Equal(text, []byte("null"))
}

// Decoded is a YAML document that is a map of texts, whole numbers, true, false, null, and lists and maps of these. Most documents of charts
// are. It is decoded at once, which takes three quarters of the time of the way through JSON, and gives the same object.
type Decoded struct {
	text []byte
	// object is what was decoded, for the first who takes it, because who takes it may change it.
	object atomic.Pointer[map[string]any]
}

// GobEncode implements gob.GobEncoder. It fails, because a document that goes to another process is to be read by ReadDocuments.
func (*Decoded) GobEncode() ([]byte, error) {
	return nil, errors.New("a decoded document cannot go to another process")
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

// decodePlain returns the object of a plain document, or nil if it is not plain. A document with items, which may be a list, counts as none.
func decodePlain(chunk []byte) map[string]any {
	var tree any
	if yaml2.Unmarshal(chunk, &tree) != nil { // the library that yaml.YAMLToJSON calls
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
