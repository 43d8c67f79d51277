// Package vary renders one chart many times with other values, for a search. It loads the chart once, and reads as YAML only the documents
// that differ from the first rendering.
//
//	render.ChartOptions ─► New ─► Chart ─┬─► the first rendering: values, documents, templates, hooks
//	                          a Variant ─┴─► Render ─► Rendering: which documents are the same, and the others
package vary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// Chart is a chart that can be rendered with other contents of its last values file. It is safe for concurrent use.
type Chart struct {
	options render.ChartOptions
	chart   *render.Loaded
	// edited is the first content of the last values file, and values is what the templates see with it.
	edited, values map[string]any
	sources        []render.Template
	base           []render.Document
	// hooks are the hooks of the first rendering, and hooksAgain are the hooks of a second one with the
	// same values.
	hooks, hooksAgain []Hook
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

// Rendering is what a Variant renders to.
type Rendering struct {
	// Same are the numbers of the first rendering's documents that are unchanged. Changed are the other documents of
	// this rendering.
	Same    []int
	Changed []render.Document
	// Hooks are all hooks. There are none if only some templates were rendered.
	Hooks []Hook
	// Fault says why the chart cannot be rendered; it is empty if it can. GivenUp is set if rendering took too much time or memory.
	Fault   string
	GivenUp bool
}

// Hook is the document of a hook, with the events that run it.
type Hook struct {
	render.Document
	Events []string
}

// editedFile stands for the values file whose content varies. No file has this name.
const editedFile = "\x00edited"

// New loads the chart and renders it once. Its variants differ in the content of the last of Values.Files. Without files, they
// differ in the values of the previous revision if Helm would use these; otherwise in values that override all others but those of --set.
func New(ctx context.Context, o render.ChartOptions) (*Chart, error) {
	if o.Capabilities == nil {
		return nil, errors.New("rendering a chart needs the capabilities of a cluster")
	}
	v := &Chart{options: o, files: map[string][]byte{}}
	first, err := v.chooseEdited()
	if err != nil {
		return nil, err
	}
	if v.chart, err = render.Load(v.options); err != nil {
		return nil, err
	}
	p, err := v.prepare(ctx, Variant{Values: first, Strict: !o.SkipSchemaValidation})
	if err != nil {
		return nil, err
	}
	v.values, v.sources = p.Values(), p.Templates()
	manifest, hooks, err := p.Render(ctx)
	if err != nil {
		return nil, err
	}
	again, err := p.HooksAgain(ctx, hooks)
	if err != nil {
		return nil, err
	}
	v.hooks, v.hooksAgain = hookDocuments(hooks), hookDocuments(again)
	v.base, v.chunks = render.ReadDocuments(manifest), map[string]int{}
	for i, chunk := range render.Chunks(manifest) {
		v.chunks[chunk] = i
	}
	if len(v.chunks) != len(v.base) {
		v.chunks = nil // a post-renderer wrote JSON, or a document twice
	}
	return v, nil
}

// chooseEdited replaces the last values file by the one that varies, and returns its first content.
func (v *Chart) chooseEdited() ([]byte, error) {
	values := &v.options.Values
	read := values.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	if n := len(values.Files); n > 0 {
		last, err := v.options.ReadValues(values.Files[n-1])
		if err != nil {
			return nil, err
		}
		v.edited = last
		values.Files = append(append([]string(nil), values.Files[:n-1]...), editedFile)
	} else {
		v.edited = map[string]any{}
		if values.Reuse == render.ReuseDefault && isEmpty(*values) {
			v.edited, _ = object.Copy(v.options.Previous.Config).(map[string]any)
			values.Reuse = render.ReuseReset
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
func isEmpty(o render.ValueOptions) bool {
	return len(o.Files)+len(o.JSON)+len(o.Set)+len(o.SetString)+len(o.SetFile)+len(o.Literal) == 0
}

// Edited returns the first content of the values file that varies.
func (v *Chart) Edited() map[string]any { return v.edited }

// Values returns what the templates see as .Values in the first rendering.
func (v *Chart) Values() map[string]any { return v.values }

// Documents returns the documents of the first rendering.
func (v *Chart) Documents() []render.Document { return v.base }

// Hooks returns the hooks of the first rendering, and those of a second one with the same values and a later
// clock.
func (v *Chart) Hooks() (first, again []Hook) { return v.hooks, v.hooksAgain }

// Templates returns the templates of the chart and of those subcharts that the first rendering had.
func (v *Chart) Templates() []render.Template { return v.sources }

// Render renders one variant. If the chart cannot be rendered, the result has a Fault.
func (v *Chart) Render(ctx context.Context, one Variant) (out Rendering) {
	defer func() {
		if cause := recover(); cause != nil {
			out = Rendering{Fault: fmt.Sprintf("internal error: %v", cause)}
		}
	}()
	p, err := v.prepare(ctx, one)
	if err != nil {
		return Rendering{Fault: err.Error()}
	}
	manifest, hooks, err := p.Render(ctx)
	if err != nil {
		return Rendering{Fault: err.Error()}
	}
	out = v.compare(manifest)
	if one.Only == nil {
		out.Hooks = hookDocuments(hooks)
	}
	return out
}

// hookDocuments reads the documents of hooks.
func hookDocuments(hooks []render.Hook) []Hook {
	var out []Hook
	for _, h := range hooks {
		out = append(out, Hook{h.Document(), h.Events})
	}
	return out
}

// prepare prepares a copy of the chart with the values of a variant. It forgets the secrets that renderings learn, since a search tries
// most values and never uses them.
func (v *Chart) prepare(ctx context.Context, one Variant) (*render.Prepared, error) {
	o := v.options
	o.Known = &secret.Known{}
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
	p, err := v.chart.Prepare(ctx, o)
	if err == nil && one.Only != nil {
		p.Retain(keeper(one.Only))
	}
	return p, err
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
func (v *Chart) compare(manifest string) (out Rendering) {
	if v.chunks == nil {
		out.Changed = render.ReadDocuments(manifest)
		return out
	}
	for _, chunk := range render.Chunks(manifest) {
		if i, same := v.chunks[chunk]; same {
			out.Same = append(out.Same, i)
		} else {
			out.Changed = append(out.Changed, render.ReadChunk(chunk))
		}
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
