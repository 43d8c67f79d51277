package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// DefaultLimit is the unpacked size up to which records are read. The largest real ones have some 7 MB; what fits into
// a Secret can unpack to a thousand times its size.
const DefaultLimit int64 = 64 << 20

// maxHooks bounds the one list that is built from a record, whose items can be larger in memory than in the text.
const maxHooks = 10_000

// gzipMagic begins gzip data with the deflate method. Helm tells compressed records from old plain ones by these bytes.
const gzipMagic = "\x1f\x8b\x08"

// Decode reads a record from the text that Helm stores: base64 of gzip of JSON, or of plain JSON as Helm wrote it long
// ago. Unknown fields are ignored. StoredAs stays empty, for the text does not know where it came from.
//
// The text may be hostile: whatever it holds, Decode returns, without a panic, and with memory in proportion to the
// limit.
func Decode(text []byte, opts Options) (*Record, error) {
	limit := opts.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	packed, err := unbase64(text)
	if err != nil {
		return nil, err
	}
	data, err := unpack(packed, limit)
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, newer(errors.New("the record is neither gzip nor a JSON object"))
	}
	return parse(data, opts)
}

// unbase64 removes the base64 layer. Line breaks inside the text are no error, as tools that restore Secrets add them.
func unbase64(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, broken(errors.New("the record is empty"))
	}
	packed := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(packed, text)
	if err != nil {
		return nil, broken(fmt.Errorf("the record is not base64, or cut short: %w", err))
	}
	return packed[:n], nil
}

// unpack decompresses up to limit bytes; more is an error.
func unpack(packed []byte, limit int64) ([]byte, error) {
	if !bytes.HasPrefix(packed, []byte(gzipMagic)) {
		if int64(len(packed)) > limit {
			return nil, tooLarge(limit)
		}
		return packed, nil
	}
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, damaged(err)
	}
	// Two spare reads' worth, so that a true size hint fills the buffer without growing it.
	buf := bytes.NewBuffer(make([]byte, 0, sizeHint(packed, limit)+2*bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(zr, limit+1))
	switch {
	case n > limit:
		return nil, tooLarge(limit)
	case err != nil:
		return nil, damaged(err)
	}
	return buf.Bytes(), nil
}

// sizeHint reads the unpacked size that ends a gzip stream. It is only a claim, so it is bounded by the limit and by
// what deflate can do at best: 1032 bytes from one.
func sizeHint(packed []byte, limit int64) int64 {
	if len(packed) < 4 {
		return 0
	}
	claim := int64(binary.LittleEndian.Uint32(packed[len(packed)-4:]))
	return min(claim, limit, 1032*int64(len(packed)))
}

// wire is the part of a record that every comparison needs. What it does not name, the chart's templates above all, is
// stepped over without being built. Keys are matched as Helm matches them, regardless of case.
type wire struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Version   int    `json:"version"`
	Info      struct {
		Status  string          `json:"status"`
		Deleted json.RawMessage `json:"deleted"`
	} `json:"info"`
	Chart struct {
		Metadata struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
		SchemaModTime json.RawMessage `json:"schemamodtime"`
	} `json:"chart"`
	Manifest    string `json:"manifest"`
	Hooks       hooks  `json:"hooks"`
	ApplyMethod string `json:"apply_method"`
}

// parse makes a Record of the unpacked JSON.
func parse(data []byte, opts Options) (*Record, error) {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, misshapen(err, "")
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	r := &Record{
		Name:         w.Name,
		Namespace:    w.Namespace,
		Revision:     w.Version,
		Status:       w.Info.Status,
		ChartName:    w.Chart.Metadata.Name,
		ChartVersion: w.Chart.Metadata.Version,
		Manifest:     w.Manifest,
		Hooks:        w.Hooks,
		ApplyMethod:  w.ApplyMethod,
		Writer:       w.writer(),
	}
	if !opts.Values {
		return r, nil
	}
	// A second pass over the text costs less than carrying values through the first for everyone.
	var values struct {
		Config Texts `json:"config"`
		Chart  struct {
			Metadata Texts `json:"metadata"`
			Values   Texts `json:"values"`
		} `json:"chart"`
	}
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, misshapen(err, "")
	}
	r.Values = &Values{Config: values.Config, Metadata: values.Chart.Metadata, Defaults: values.Chart.Values}
	return r, nil
}

// check refuses JSON that is no record, and what a Helm to come may put into one.
func (w *wire) check() error {
	if w.Name == "" || w.Version < 1 {
		return broken(errors.New("the JSON inside is no release record: it lacks a name or a version"))
	}
	switch w.ApplyMethod {
	case "", ApplyClientSide, ApplyServerSide:
		return nil
	default:
		return newer(fmt.Errorf("its apply_method is %.40q, which is not known here", w.ApplyMethod))
	}
}

// writer tells who wrote the record; see Record.Writer.
func (w *wire) writer() string {
	switch {
	case w.ApplyMethod != "" || w.Chart.SchemaModTime != nil:
		return WriterHelm4
	case string(w.Info.Deleted) == `""`:
		return WriterHelm3
	default:
		return ""
	}
}

// hooks is a list of hooks that does not grow without bound.
type hooks []Hook

// UnmarshalJSON reads the list item by item.
func (h *hooks) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	start, err := dec.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return errors.New("hooks is not a list")
	}
	*h = nil
	for dec.More() {
		if len(*h) == maxHooks {
			return fmt.Errorf("there are more than %d hooks", maxHooks)
		}
		var hook Hook
		if err := dec.Decode(&hook); err != nil {
			return err
		}
		*h = append(*h, hook)
	}
	return nil
}

// misshapen explains an error that the JSON decoder met at a key, in the record's words and without quoting its values.
func misshapen(err error, key string) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return broken(fmt.Errorf("the record is not the JSON of a release: %w", err))
	}
	// The decoder appends the literal to "number"; nothing of a record belongs into a message.
	found, _, _ := strings.Cut(wrong.Value, " ")
	return broken(fmt.Errorf("the record is not the JSON of a release: %s holds a JSON %s where %s is expected",
		strings.Trim(key+"."+wrong.Field, "."), found, wrong.Type))
}

// damaged explains an error of the gzip reader.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return broken(fmt.Errorf("the record is cut short: %w", io.ErrUnexpectedEOF))
	}
	return broken(fmt.Errorf("the compressed record is damaged: %w", err))
}

// broken adds the advice for a record that nobody can read.
func broken(cause error) error {
	return withHint(cause, "Helm cannot read it either: it passes over such a record without a word and works from an older "+
		"revision. Restore it from a backup; if there is none, delete it, so that Helm and helmdrift start from the "+
		"revision before it")
}

// tooLarge refuses a record for its size.
func tooLarge(limit int64) error {
	return withHint(fmt.Errorf("the record is larger than %s unpacked", size(limit)),
		"real records are a small part of that; see who wrote this one with kubectl get --show-managed-fields -o yaml")
}

// size gives a number of bytes as people write it.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
