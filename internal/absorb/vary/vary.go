// Package vary renders one chart many times, each time with other values, for a search. It loads the chart once. Of each rendering it
// decodes only the documents whose text differs from those of the first rendering.
//
//	render.ChartOptions ─► New ─► Chart ─┬─► the first rendering: values, documents, templates, hooks
//	                          a Variant ─┴─► Render ─► Rendering: which documents are the same, and the others
//
// TestCases of internal/absorb renders the chart of each case with this package. The test beside this file is about post-renderers.
package vary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// Chart is a chart that can be rendered with other contents of its last values file. It is safe for concurrent use.
type Chart struct {
	// Edited is the content of the last values file at the beginning, as JSON. Values is what the templates then see as .Values.
	Edited []byte
	Values map[string]any
	// Documents are the documents of the first rendering. Templates are those of the chart and of the subcharts that it had.
	Documents []render.Document
	Templates []render.Template
	// Hooks are the hooks of the first rendering, and HooksAgain are those of a second one with the same values and a later clock.
	Hooks, HooksAgain []Hook

	options render.ChartOptions
	chart   *render.Loaded
	// chunks has the texts of the documents of the first rendering.
	chunks map[string]int
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
	// Same has the indexes in Chart.Documents of the documents that this rendering has too. Changed are its other documents.
	Same    []int
	Changed []render.Document
	// Hooks are all hooks. It is empty if only some templates were rendered.
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

// New loads the chart and renders it once. What a Variant replaces is the content of the last of Values.Files. If there are no files, it is
// the values of the previous revision, if Helm would use these; otherwise it is a values file of its own, which only --set overrides.
func New(ctx context.Context, o render.ChartOptions) (*Chart, error) {
	if o.Capabilities == nil {
		return nil, errors.New("rendering a chart needs the capabilities of a cluster")
	}
	v := &Chart{options: o}
	err := v.chooseEdited()
	if err != nil {
		return nil, err
	}
	if v.chart, err = render.Load(v.options); err != nil {
		return nil, err
	}
	p, err := v.prepare(ctx, Variant{Values: v.Edited, Strict: !o.SkipSchemaValidation})
	if err != nil {
		return nil, err
	}
	v.Values, v.Templates = p.Values(), p.Templates()
	manifest, hooks, err := p.Render(ctx)
	if err != nil {
		return nil, err
	}
	again, err := p.HooksAgain(ctx, hooks)
	if err != nil {
		return nil, err
	}
	v.Hooks, v.HooksAgain = hookDocuments(hooks), hookDocuments(again)
	v.Documents, v.chunks = render.ReadDocuments(manifest), map[string]int{}
	for i, chunk := range render.Chunks(manifest) {
		v.chunks[chunk] = i
	}
	if len(v.chunks) != len(v.Documents) {
		v.chunks = nil // a post-renderer wrote JSON, or a document twice
	}
	return v, nil
}

// chooseEdited puts editedFile into the place of the last values file, and keeps the content of that file in v.Edited.
func (v *Chart) chooseEdited() (err error) {
	values := &v.options.Values
	read := values.ReadFile
	if read == nil {
		read = os.ReadFile
	}
	var edited map[string]any
	if n := len(values.Files); n > 0 {
		if edited, err = v.options.ReadValues(values.Files[n-1]); err != nil {
			return err
		}
		values.Files = append(slices.Clone(values.Files[:n-1]), editedFile)
	} else {
		if values.Reuse == render.ReuseDefault && isEmpty(*values) {
			edited = v.options.Previous.Config
			values.Reuse = render.ReuseReset
		}
		values.Files = []string{editedFile}
	}
	var files once.Map[string, []byte]
	values.ReadFile = func(name string) ([]byte, error) {
		return files.Get(name, func() ([]byte, error) { return read(name) })
	}
	if edited == nil {
		edited = map[string]any{}
	}
	v.Edited, err = json.Marshal(edited)
	return err
}

// isEmpty reports whether no values are given.
func isEmpty(o render.ValueOptions) bool {
	return len(o.Files)+len(o.JSON)+len(o.Set)+len(o.SetString)+len(o.SetFile)+len(o.Literal) == 0
}

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

// prepare prepares a copy of the chart with the values of a variant. The secrets of a variant do not become known secrets, because a search
// tries most of its values and never uses them.
func (v *Chart) prepare(ctx context.Context, one Variant) (*render.Prepared, error) {
	o := v.options
	o.Known = &secret.Known{}
	o.SkipSchemaValidation = !one.Strict
	if one.PostRender != nil {
		o.PostRender = func(ctx context.Context, manifest []byte) ([]byte, error) {
			if first := v.options.PostRender; first != nil {
				var err error
				if manifest, err = first(ctx, manifest); err != nil {
					return nil, err
				}
			}
			return one.PostRender(manifest)
		}
	}
	read := o.Values.ReadFile
	o.Values.ReadFile = func(name string) ([]byte, error) {
		if name == editedFile {
			return one.Values, nil
		}
		return read(name)
	}
	p, err := v.chart.Prepare(ctx, o)
	if err == nil && one.Only != nil {
		// The partials define what the other templates include.
		p.Retain(func(name string) bool {
			return slices.Contains(one.Only, name) || strings.HasPrefix(path.Base(name), "_")
		})
	}
	return p, err
}

// compare splits a manifest into the documents that the first rendering has too, and the others.
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
