package snapshot

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// bounds limit a snapshot.
type bounds struct {
	// packed and size are the largest sizes of a file in bytes, before and after it is unpacked.
	packed, size int
	// values is the largest number of values: each takes some 100 bytes of memory, however short its text.
	values int
	// depth is how deep values may be nested. The schemas of custom kinds are the deepest.
	depth int
}

// defaultBounds returns the bounds of Read. A release is a few hundred objects of some 10 KB; the documents of custom kinds are larger.
func defaultBounds() bounds {
	return bounds{packed: 32 << 20, size: 128 << 20, values: 4 << 20, depth: 200}
}

// Write writes the snapshot as a file: gzip of JSON. Equal snapshots make equal files. It does not close w.
func (s *Snapshot) Write(w io.Writer) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(zw)
	encoder.SetEscapeHTML(false)
	return errors.Join(encoder.Encode(s), zw.Close())
}

// Read reads a snapshot, which somebody else may have made. The file may have 32 MiB, unpacked 128 MiB. The error says what is wrong, and
// quotes no value of the file.
func Read(r io.Reader) (*Snapshot, error) { return defaultBounds().read(r) }

// read is Read with other bounds.
func (b bounds) read(r io.Reader) (*Snapshot, error) {
	text, err := b.unpack(r)
	if err != nil {
		return nil, err
	}
	if err := b.check(text); err != nil {
		return nil, err
	}
	if err := checkHead(text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var s Snapshot
	if err := decoder.Decode(&s); err != nil {
		return nil, formError(err)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

// unpack returns the text of a snapshot.
func (b bounds) unpack(r io.Reader) ([]byte, error) {
	packed, err := io.ReadAll(io.LimitReader(r, int64(b.packed)+1))
	switch {
	case err != nil:
		return nil, err
	case len(packed) > b.packed:
		return nil, fmt.Errorf("it is larger than %d bytes", b.packed)
	case !bytes.HasPrefix(packed, []byte("\x1f\x8b\x08")):
		return nil, errors.New("it is not compressed with gzip")
	}
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("its compression is damaged: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(zr, int64(b.size)+1))
	switch {
	case len(text) > b.size:
		return nil, fmt.Errorf("it is larger than %d bytes unpacked", b.size)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it is cut short")
	case err != nil:
		return nil, fmt.Errorf("its compression is damaged: %w", err)
	}
	return text, nil
}

// check reads the text without building values, and counts them.
func (b bounds) check(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	depth, values := 0, 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is not JSON: at byte %d", decoder.InputOffset())
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		values++
		switch {
		case depth > b.depth:
			return fmt.Errorf("its values are nested deeper than %d", b.depth)
		case values > b.values:
			return fmt.Errorf("it has more than %d values", b.values)
		case depth == 0 && len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0:
			return fmt.Errorf("it has text after its end, at byte %d", decoder.InputOffset())
		}
	}
	if values == 0 || depth != 0 {
		return errors.New("it is empty or cut short")
	}
	return nil
}

// checkHead refuses a file of another kind or of another version.
func checkHead(text []byte) error {
	var head struct{ APIVersion, Kind string }
	switch err := json.Unmarshal(text, &head); {
	case err != nil || head.APIVersion == "":
		return errors.New("it has no apiVersion")
	case head.APIVersion != APIVersion && strings.HasPrefix(head.APIVersion, "helmdrift.io/"):
		return fmt.Errorf("its apiVersion is %.40q, and this helmdrift reads %s; a newer helmdrift may have written it",
			head.APIVersion, APIVersion)
	case head.APIVersion != APIVersion || head.Kind != Kind:
		return fmt.Errorf("it is a %.40q %.40q, not a %s %s", head.APIVersion, head.Kind, APIVersion, Kind)
	}
	return nil
}

// formError describes an error of the decoder without the values that it may quote.
func formError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		found, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("its %s holds a %s", wrong.Field, found)
	}
	if unknown, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
		return fmt.Errorf("it has the key %.60s, which this helmdrift does not know; a newer helmdrift may have written it", unknown)
	}
	return errors.New("it does not have the form of a snapshot")
}

// IsSnapshot reports whether a file begins as Write begins it. It reads from r, so open the file again, or seek, before [Read].
func IsSnapshot(r io.Reader) bool {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return false
	}
	want := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, APIVersion, Kind)
	head := make([]byte, len(want))
	_, err = io.ReadFull(zr, head)
	return err == nil && string(head) == want
}
