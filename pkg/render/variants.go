package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// This file renders one chart many times with other values, for a search. It loads the chart once, and reads as YAML only the
// documents that differ from the first rendering.

// Variants is a chart that can be rendered with other contents of its last values file. It is safe for concurrent
// use.
type Variants struct {
	options ChartOptions
	chart   helmChart
	// edited is the first content of the last values file, and values is what the templates see with it.
	edited, values map[string]any
	sources        []Template
	base           []Document
	// hooks are the hooks of the first rendering, and hooksAgain are the hooks of a second one with the
	// same values.
	hooks, hooksAgain []HookDocument
	// chunks has the texts of the documents of the first rendering.
	chunks map[string]int
	mu     sync.Mutex
	files  map[string][]byte
}

// Variant is one rendering.
type Variant struct {
	// Values is the content of the last values file, as JSON or YAML.
	Values []byte
	// Only are the templates to render; nil means all. The partials stay.
	Only []string
	// Strict validates the values against the schema of the chart.
	Strict bool
	// PostRender changes the manifest, after the post-renderer of the chart if it has one; nil changes nothing.
	PostRender func(manifest []byte) ([]byte, error)
}

// VariantRendering is what a Variant renders to.
type VariantRendering struct {
	// Same are the numbers of the first rendering's documents that are unchanged. Changed are the other documents of
	// this rendering.
	Same    []int
	Changed []Document
	// Hooks are all hooks. There are none if only some templates were rendered.
	Hooks []HookDocument
	// Fault says why the chart cannot be rendered; it is empty if it can. GivenUp is set if rendering took too much time or memory.
	Fault   string
	GivenUp bool
}

// HookDocument is the document of a hook, with the events that run it.
type HookDocument struct {
	Document
	Events []string
}

// editedFile stands for the values file whose content varies. No file has this name.
const editedFile = "\x00edited"

// NewVariants loads the chart and renders it once. Its variants differ in the content of the last of Values.Files. Without files, they
// differ in the values of the previous revision if Helm would use these; otherwise in values that override all others but those of --set.
func NewVariants(ctx context.Context, o ChartOptions) (*Variants, error) {
	if o.Capabilities == nil {
		return nil, errors.New("rendering a chart needs the capabilities of a cluster")
	}
	v := &Variants{options: o, files: map[string][]byte{}}
	v.options.Values.allDocuments = o.Helm4
	first, err := v.chooseEdited()
	if err != nil {
		return nil, err
	}
	if v.chart, err = (renderer{ChartOptions: v.options}).load(); err != nil {
		return nil, err
	}
	p, r, err := v.prepare(Variant{Values: first, Strict: !o.SkipSchemaValidation})
	if err != nil {
		return nil, r.asError(ctx, err)
	}
	// Templates may change what they see, so copy the values before the chart is rendered.
	v.values, _ = copyValue(p.values).(map[string]any)
	v.sources = p.chart.templates()
	manifest, hooks, err := r.render(ctx, p)
	if err != nil {
		return nil, r.asError(ctx, err)
	}
	again, err := r.hooksAgain(ctx, p, hooks)
	if err != nil {
		return nil, r.asError(ctx, err)
	}
	v.hooks, v.hooksAgain = hookDocuments(hooks), hookDocuments(again)
	v.base, v.chunks = splitDocuments(manifest), map[string]int{}
	for i, chunk := range chunksOf(manifest) {
		v.chunks[chunk] = i
	}
	if len(v.chunks) != len(v.base) {
		v.chunks = nil // a post-renderer wrote JSON, or a document twice
	}
	return v, nil
}

// chooseEdited replaces the last values file by the one that varies, and returns its first content.
func (v *Variants) chooseEdited() ([]byte, error) {
	values := &v.options.Values
	read := values.read
	if n := len(values.Files); n > 0 {
		last, err := values.readValues(values.Files[n-1])
		if err != nil {
			return nil, err
		}
		v.edited = last
		values.Files = append(append([]string(nil), values.Files[:n-1]...), editedFile)
	} else {
		v.edited = map[string]any{}
		if values.Reuse == ReuseDefault && values.isEmpty() {
			v.edited, _ = copyValue(v.options.Previous.Config).(map[string]any)
			values.Reuse = ReuseReset
		}
		values.Files = []string{editedFile}
	}
	values.ReadFile = func(name string) ([]byte, error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if text, found := v.files[name]; found {
			return text, nil
		}
		text, err := read(name)
		if err == nil {
			v.files[name] = text
		}
		return text, err
	}
	if v.edited == nil {
		v.edited = map[string]any{}
	}
	return json.Marshal(v.edited)
}

// isEmpty reports whether no values are given.
func (o ValueOptions) isEmpty() bool {
	return len(o.Files)+len(o.JSON)+len(o.Set)+len(o.SetString)+len(o.SetFile)+len(o.Literal) == 0
}

// Edited returns the first content of the values file that varies.
func (v *Variants) Edited() map[string]any { return v.edited }

// Values returns what the templates see as .Values in the first rendering.
func (v *Variants) Values() map[string]any { return v.values }

// Documents returns the documents of the first rendering.
func (v *Variants) Documents() []Document { return v.base }

// Hooks returns the hooks of the first rendering, and those of a second one with the same values and a later
// clock.
func (v *Variants) Hooks() (first, again []HookDocument) { return v.hooks, v.hooksAgain }

// Templates returns the templates of the chart and of those subcharts that the first rendering had.
func (v *Variants) Templates() []Template { return v.sources }

// Render renders one variant. If the chart cannot be rendered, the result has a Fault.
func (v *Variants) Render(ctx context.Context, one Variant) (out VariantRendering) {
	defer func() {
		if cause := recover(); cause != nil {
			out = VariantRendering{Fault: fmt.Sprintf("internal error: %v", cause)}
		}
	}()
	p, r, err := v.prepare(one)
	if err != nil {
		return VariantRendering{Fault: r.asError(ctx, err).Error()}
	}
	manifest, hooks, err := r.render(ctx, p)
	if err != nil {
		return VariantRendering{Fault: r.asError(ctx, err).Error()}
	}
	out = v.compare(manifest)
	if one.Only == nil {
		out.Hooks = hookDocuments(hooks)
	}
	return out
}

// hookDocuments reads the documents of hooks.
func hookDocuments(hooks []Hook) []HookDocument {
	var out []HookDocument
	for _, h := range hooks {
		out = append(out, HookDocument{yamlDocument([]byte(sourcePrefix + h.Path + "\n" + h.Text)), h.Events})
	}
	return out
}

// prepare prepares a copy of the chart with the values of a variant. It forgets the secrets that renderings learn, since a search tries
// most values and never uses them.
func (v *Variants) prepare(one Variant) (prepared, renderer, error) {
	o := v.options
	o.Known = &secret.Known{}
	o.Values.known = o.Known
	o.SkipSchemaValidation = !one.Strict
	o.PostRender = one.postRender(v.options.PostRender)
	read := o.Values.ReadFile
	o.Values.ReadFile = func(name string) ([]byte, error) {
		if name == editedFile {
			return one.Values, nil
		}
		if read == nil {
			return os.ReadFile(name)
		}
		return read(name)
	}
	r := renderer{ChartOptions: o}
	values, defaults, err := o.Values.chooseValues(o.Previous)
	if err != nil {
		return prepared{}, r, err
	}
	r.values, r.defaults = values, defaults
	p, err := r.prepareLoaded(v.chart.clone())
	if err == nil && one.Only != nil {
		p.chart.retain(keeper(one.Only))
	}
	return p, r, err
}

// postRender returns the post-renderer of the chart followed by that of the variant.
func (one Variant) postRender(first func(context.Context, []byte) ([]byte, error)) func(context.Context, []byte) ([]byte, error) {
	if one.PostRender == nil {
		return first
	}
	return func(ctx context.Context, manifest []byte) ([]byte, error) {
		if first != nil {
			changed, err := first(ctx, manifest)
			if err != nil {
				return nil, err
			}
			manifest = changed
		}
		return one.PostRender(manifest)
	}
}

// compare splits a manifest into the documents that the first rendering has too and the others.
func (v *Variants) compare(manifest string) (out VariantRendering) {
	if v.chunks == nil {
		out.Changed = splitDocuments(manifest)
		return out
	}
	for _, chunk := range chunksOf(manifest) {
		if i, same := v.chunks[chunk]; same {
			out.Same = append(out.Same, i)
		} else {
			out.Changed = append(out.Changed, yamlDocument([]byte(chunk)))
		}
	}
	return out
}

// chunksOf returns the texts of the documents of a manifest, or none if one of them cannot be split
// off.
func chunksOf(manifest string) []string {
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

// keeper returns a function that reports which templates stay if only some are rendered: these, and all that are not
// rendered by themselves.
func keeper(only []string) func(path string) bool {
	set := map[string]bool{}
	for _, path := range only {
		set[path] = true
	}
	return func(name string) bool {
		base := name[strings.LastIndex(name, "/")+1:]
		return set[name] || strings.HasPrefix(base, "_")
	}
}
