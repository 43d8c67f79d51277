package release

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/helmdrift/helmdrift/internal/gunzip"
)

// DefaultLimit is the largest unpacked size of a record in bytes. The largest real records have about 7 MB, but the
// content of a Secret can unpack to a thousand times its size.
const DefaultLimit int64 = 64 << 20

// maxHooks bounds the only list that is built from a record, because its items can take more memory than their text.
const maxHooks = 10_000

// gzipMagic begins gzip data with the deflate method. Helm uses these bytes to tell compressed records from old
// plain ones.
const gzipMagic = "\x1f\x8b\x08"

// Decode reads a record from the text that Helm stores: base64 of gzip of JSON, or of plain JSON as old versions of
// Helm wrote it. Unknown fields are ignored. StoredAs stays empty, because the text does not contain it.
//
// The text may be hostile. Decode always returns, does not panic, and needs memory in proportion to the limit.
func Decode(text []byte, opts Options) (*Record, error) {
	limit := opts.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	packed, err := unbase64(text)
	if err != nil {
		return nil, err
	}
	u := newUnpacker()
	defer u.put()
	data, err := u.unpack(packed, limit)
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, NewerFormat(errors.New("the record is neither gzip nor a JSON object"))
	}
	kept, manifest := u.skim(data, opts.Values)
	r, err := parse(kept, manifest, opts)
	if err == nil && opts.Chart {
		stored := struct{ Chart json.RawMessage }{}
		err = json.Unmarshal(data, &stored) // which parse has read without some texts
		r.StoredChart = stored.Chart
	}
	return r, err
}

// unbase64 decodes the base64 layer. It accepts line breaks in the text, because tools that restore Secrets add them.
func unbase64(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, unreadableRecord(errors.New("the record is empty"))
	}
	packed := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(packed, text)
	if err != nil {
		return nil, unreadableRecord(fmt.Errorf("the record is not base64, or cut short: %w", err))
	}
	return packed[:n], nil
}

// unpackers keep the memory for unpacked records, because a record is usually as large as the next one, and nothing refers to its
// text once it is decoded. A sync.Pool would lose it with each collection of garbage, which such texts cause.
var unpackers = make(chan *unpacker, 4)

// newUnpacker returns an unpacker for one text, which ends with put.
func newUnpacker() *unpacker {
	select {
	case u := <-unpackers:
		return u
	default:
		return &unpacker{}
	}
}

// maxKept is the largest text in bytes whose memory is kept. Few records are larger.
const maxKept = 4 << 20

// unpacker decompresses one text after the other.
type unpacker struct {
	reader gunzip.Reader
	text   bytes.Buffer
	// kept is what skim keeps of the text.
	kept []byte
}

// put makes u available for the next text.
func (u *unpacker) put() {
	if u.text.Cap() > maxKept || cap(u.kept) > maxKept {
		return
	}
	select {
	case unpackers <- u:
	default:
	}
}

// unpack decompresses up to limit bytes and returns an error for more. The text is valid until put.
func (u *unpacker) unpack(packed []byte, limit int64) ([]byte, error) {
	if !bytes.HasPrefix(packed, []byte(gzipMagic)) {
		if int64(len(packed)) > limit {
			return nil, tooLarge(limit)
		}
		return packed, nil
	}
	u.text.Reset()
	switch err := u.reader.Unpack(&u.text, packed, limit); {
	case errors.Is(err, gunzip.ErrTooLarge):
		return nil, tooLarge(limit)
	case err != nil:
		return nil, gzipError(err)
	}
	return u.text.Bytes(), nil
}

// recordJSON is the part of a record that every comparison needs. The decoder skips all other fields, above all the
// chart's templates. Keys are matched regardless of case, as Helm matches them.
type recordJSON struct {
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

// parse decodes the unpacked JSON into a Record. Manifest is a JSON string that data lacks, or nil.
func parse(data, manifest []byte, opts Options) (*Record, error) {
	var w recordJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, jsonError(err, "")
	}
	if manifest != nil {
		var err error
		if w.Manifest, err = unquote(manifest); err != nil {
			return nil, jsonError(err, "manifest")
		}
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	method, _ := ParseApplyMethod(w.ApplyMethod)
	r := &Record{
		Name:         w.Name,
		Namespace:    w.Namespace,
		Revision:     w.Version,
		Status:       w.Info.Status,
		ChartName:    w.Chart.Metadata.Name,
		ChartVersion: w.Chart.Metadata.Version,
		Manifest:     w.Manifest,
		Hooks:        w.Hooks,
		ApplyMethod:  method,
		Writer:       w.writer(),
	}
	if !opts.Values {
		return r, nil
	}
	// A second pass over the text costs less than reading the values in the first pass for every caller.
	var values struct {
		Config Texts `json:"config"`
		Chart  struct {
			Metadata Texts `json:"metadata"`
			Values   Texts `json:"values"`
		} `json:"chart"`
	}
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, jsonError(err, "")
	}
	r.Values = &Values{Config: values.Config, Metadata: values.Chart.Metadata, Defaults: values.Chart.Values}
	return r, nil
}

// check refuses JSON that is not a record, and an apply method of a future version of Helm.
func (w *recordJSON) check() error {
	if w.Name == "" || w.Version < 1 {
		return unreadableRecord(errors.New("its JSON is not a release record: it lacks a name or a version"))
	}
	if _, known := ParseApplyMethod(w.ApplyMethod); !known {
		return NewerFormat(fmt.Errorf("its apply_method is %.40q, which this version does not know", w.ApplyMethod))
	}
	return nil
}

// writer returns which Helm wrote the record; see Record.Writer.
func (w *recordJSON) writer() string {
	switch {
	case w.ApplyMethod != "" || w.Chart.SchemaModTime != nil:
		return WriterHelm4
	case string(w.Info.Deleted) == `""`:
		return WriterHelm3
	default:
		return ""
	}
}

// hooks is a list of at most maxHooks hooks.
type hooks []Hook

// UnmarshalJSON decodes the list item by item.
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

// jsonError describes an error of the JSON decoder without quoting the record's values. Key is the key that was
// decoded, or "" for the whole record.
func jsonError(err error, key string) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return unreadableRecord(fmt.Errorf("the record is not the JSON of a release: %w", err))
	}
	// The decoder appends the literal to "number", and no message may quote a record.
	found, _, _ := strings.Cut(wrong.Value, " ")
	return unreadableRecord(fmt.Errorf("the record is not the JSON of a release: %s holds a JSON %s where %s is expected",
		strings.Trim(key+"."+wrong.Field, "."), found, wrong.Type))
}

// gzipError describes an error of the gzip reader.
func gzipError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return unreadableRecord(fmt.Errorf("the record is cut short: %w", io.ErrUnexpectedEOF))
	}
	return unreadableRecord(fmt.Errorf("the compressed record is damaged: %w", err))
}

// unreadableRecord adds the advice for a record that nobody can read.
func unreadableRecord(cause error) error {
	return withHint(cause, "Helm cannot read it either: it skips such a record silently and starts from an older "+
		"revision. Restore it from a backup; if there is none, delete it, so that Helm and helmdrift start from the "+
		"revision before it")
}

// tooLarge is the error of a record that exceeds the limit.
func tooLarge(limit int64) error {
	return withHint(fmt.Errorf("the record is larger than %s unpacked", formatSize(limit)),
		"real records are much smaller; kubectl get --show-managed-fields -o yaml shows who wrote this one")
}

// formatSize formats a number of bytes for people.
func formatSize(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
