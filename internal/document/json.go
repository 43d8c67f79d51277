package document

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

func parseJSON(text string) (parsed, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	// Numbers beyond 53 bits would lose digits as floats, and two different ones would be equal.
	d.UseNumber()
	r := jsonReader{Decoder: d, budget: budget{maxExpanded}}
	// A second value after the first one is not JSON, although a decoder would read it.
	root, ok := r.value(0)
	if !ok {
		return parsed{}, false
	}
	_, err := d.Token()
	return parsed{root: root}, errors.Is(err, io.EOF)
}

// jsonReader reads values token by token, because a decoder accepts keys that occur twice.
type jsonReader struct {
	*json.Decoder
	budget
}

// value reads the next value.
func (r *jsonReader) value(depth int) (any, bool) {
	token, err := r.Token()
	if err != nil {
		return nil, false
	}
	switch v := token.(type) {
	case json.Delim:
		if !r.spend(depth, "") {
			return nil, false
		}
		if v == '{' {
			return r.object(depth)
		}
		return r.list(depth)
	case string:
		return v, r.spend(depth, v) && isExact(v)
	case json.Number:
		return v, r.spend(depth, string(v))
	}
	return token, r.spend(depth, "")
}

// isExact reports whether a decoded string has no replacement character. That stands for any invalid character, so two texts with
// different invalid characters would be equal after decoding.
func isExact(text string) bool { return !strings.ContainsRune(text, utf8.RuneError) }

func (r *jsonReader) object(depth int) (any, bool) {
	out := map[string]any{}
	for r.More() {
		key, err := r.Token()
		name, isString := key.(string)
		if _, twice := out[name]; err != nil || !isString || twice || !isExact(name) || !r.spend(depth, name) {
			return nil, false
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		out[name] = v
	}
	_, err := r.Token()
	return out, err == nil
}

func (r *jsonReader) list(depth int) (any, bool) {
	out := []any{}
	for r.More() {
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	_, err := r.Token()
	return out, err == nil
}
