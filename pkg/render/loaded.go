package render

import (
	"context"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Loaded is a chart that is loaded once and can be rendered many times, for a search. It is safe for concurrent use.
type Loaded struct{ chart helmChart }

// Load loads the chart at the path of the options, for the version of Helm that they name.
func Load(o ChartOptions) (*Loaded, error) {
	ch, err := renderer{ChartOptions: o}.load()
	return &Loaded{ch}, err
}

// Prepared is a chart with everything that its templates see in one rendering.
type Prepared struct {
	renderer renderer
	prepared prepared
}

// Prepare prepares a copy of the chart as [Chart] does. Path and Helm4 are those that it was loaded with.
func (l *Loaded) Prepare(ctx context.Context, o ChartOptions) (*Prepared, error) {
	r, err := newRenderer(o)
	var p prepared
	if err == nil {
		p, err = r.prepareLoaded(l.chart.clone())
	}
	if err != nil {
		return nil, r.asError(ctx, err)
	}
	r.ChartOptions = p.options
	return &Prepared{r, p}, nil
}

// Values returns a copy of what the templates see as .Values. Rendering may change what they see.
func (p *Prepared) Values() map[string]any {
	out, _ := copyValue(p.prepared.values).(map[string]any)
	return out
}

// Templates returns the templates of the chart and of the subcharts that the values enable.
func (p *Prepared) Templates() (out []Template) {
	templates, _ := p.prepared.chart.tree().sources()
	for _, t := range templates {
		out = append(out, Template{Path: t.path, Values: t.values, Text: string(*t.data)})
	}
	return out
}

// Retain drops every template unless keep returns true for its path.
func (p *Prepared) Retain(keep func(path string) bool) { p.prepared.chart.retain(keep) }

// Render renders the chart once. It returns the manifest and the hooks.
func (p *Prepared) Render(ctx context.Context) (manifest string, hooks []Hook, err error) {
	if manifest, hooks, err = p.renderer.render(ctx, p.prepared); err != nil {
		return "", nil, p.renderer.asError(ctx, err)
	}
	return manifest, hooks, nil
}

// HooksAgain returns the hooks of a second rendering if the chart calls volatile functions, and otherwise those of the first one.
func (p *Prepared) HooksAgain(ctx context.Context, hooks []Hook) ([]Hook, error) {
	if len(hooks) == 0 {
		return nil, nil
	}
	r := p.renderer
	calls := findCalls(p.prepared, r.EnableDNS)
	if !calls.volatile[random] && !calls.volatile[unordered] && !calls.volatile[clock] {
		return hooks, nil
	}
	_, again, err := r.renderShifted(ctx, &shift{later: calls.volatile[clock], descending: true})
	if err != nil && ctx.Err() == nil {
		_, again, err = r.renderShifted(ctx, nil)
	}
	if err != nil {
		return nil, r.asError(ctx, err)
	}
	return again, nil
}

// ReadValues reads one values file as a rendering with these options does.
func (o ChartOptions) ReadValues(name string) (map[string]any, error) {
	o.Values.helm4 = o.Helm4
	return o.Values.readValues(name)
}

// Document returns the document of a hook, with the comment that Helm writes above it.
func (h Hook) Document() Document {
	return yamlDocument([]byte(sourcePrefix + h.Path + "\n" + h.Text))
}

// Object returns the object of a hook. It is the zero Object if the document of the hook is not one object, or cannot be read without bounds.
func (h Hook) Object(opts ParseOptions) (o object.Object) {
	if NeedsNoBounds(h.Text) {
		if m := Objects([]Document{h.Document()}, opts); len(m.Objects) == 1 {
			o = m.Objects[0]
		}
	}
	return o
}
