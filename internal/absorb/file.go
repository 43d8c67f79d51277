package absorb

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// File is the values file to change. Its zero value stands for the values that the release stores.
type File struct {
	// name is where it is read and written, and title is its name in errors and reports.
	name, title string
	text        []byte
	// hasDefaults is set if it is the values.yaml of the chart.
	hasDefaults bool
}

// ReadFile reads the last values file of a chart, and makes the chart read each file only once: standard input ends, a plugin may ask for
// a passphrase, and the content must not change during a search. Reports have its title in place of its name, which may have a login. An
// empty name returns the zero File. It is an error if the file has the defaults of a subchart: an edit would change these too.
func ReadFile(ctx context.Context, name, title string, chart *drift.Chart) (*File, error) {
	if name == "" {
		return &File{}, nil
	}
	read := chart.ReadFile
	if read == nil {
		read = func(_ context.Context, name string) ([]byte, error) { return os.ReadFile(name) }
	}
	var texts once.Map[string, []byte]
	chart.ReadFile = func(ctx context.Context, name string) ([]byte, error) {
		return texts.Get(name, func() ([]byte, error) { return read(ctx, name) })
	}
	text, err := chart.ReadFile(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	own, below := defaultsIn(chart.Ref, name)
	if below {
		return nil, fmt.Errorf("absorb cannot change %s: it has the defaults of a subchart of %s; give a file of values after it with -f",
			title, chart.Ref)
	}
	return &File{name, title, text, own}, nil
}

// defaultsIn reports whether a file has the defaults of a chart in a folder, or of one of its subcharts.
func defaultsIn(chart, file string) (own, below bool) {
	info, err := os.Stat(file)
	if err != nil {
		return false, false // it is a URL, or standard input
	}
	is := func(name string) bool {
		other, err := os.Stat(name)
		return err == nil && os.SameFile(info, other)
	}
	const values = "values.yaml"
	_ = filepath.WalkDir(filepath.Join(chart, "charts"), func(name string, d fs.DirEntry, err error) error {
		isValues := err == nil && d.Name() == values && filepath.Base(filepath.Dir(filepath.Dir(name))) == "charts"
		below = below || isValues && is(name)
		return nil
	})
	return is(filepath.Join(chart, values)), below
}

// Rewrite implements Options.Rewrite. Without a file it changes the stored values as a text of YAML.
func (v *File) Rewrite(edits []Edit, edited map[string]any) ([]byte, error) {
	if v.name == "" && len(edited) > 0 {
		text, err := yaml.Marshal(edited)
		if err != nil {
			return nil, err
		}
		v.text = text
	}
	out, err := RewriteValues(cmp.Or(v.title, storedValues), v.text, edits)
	if err != nil || !v.hasDefaults {
		return out, err
	}
	// The renderings still have the old defaults, and over these a null removes a value. Over a default that is null itself, it does not
	// (helm v3.22.0 pkg/chartutil/coalesce.go coalesceTablesFullKey), and nor does it help to leave the value out.
	var after map[string]any
	if err := yaml.Unmarshal(out, &after); err != nil {
		return nil, err
	}
	if search.Removes(edited, search.Overlay(edited, after)) {
		return nil, &Refusal{Reason: "it has the defaults of the chart, and absorb cannot prove that one goes; " +
			"give a file after it with -f, or remove the default by hand"}
	}
	return out, nil
}

// Describe adds the file and its patch to a result. It masks secrets in the patch. It has no error; that of a tree may have one.
func (v *File) Describe(r *absorption.Result, a *Absorption) error {
	r.ValuesFile = v.title
	for i := range r.Fields {
		if r.Fields[i].File == v.name { // or else a file of the chart
			r.Fields[i].File = v.title
		}
	}
	if len(a.Edits) == 0 {
		return nil
	}
	// With --reuse-values, Helm also takes the stored values for defaults of the chart, so that a null does not remove one of them (helm
	// v3.22.0 pkg/action/upgrade.go reuseValues; v4.3.1 does the same).
	if v.name == "" && r.ValuesOf == nil && search.Removes(a.Edited, search.Overlay(a.Edited, a.found.Edited)) {
		r.Reset, r.Values = true, a.found.Edited
		if a.hides(secret.Place{}, r.Values) {
			r.Masked, r.Values = true, nil
		}
	}
	name := cmp.Or(v.title, storedValues)
	patch := unified.Diff(name, name, string(v.text), string(a.Content))
	conceals := a.Conceals()
	r.Patch = a.Scrub(unified.Diff(name, name, concealed(v.text, conceals), concealed(a.Content, conceals)))
	r.Masked = r.Masked || r.Patch != patch
	return nil
}

// concealed returns a values file with its secrets masked.
func concealed(text []byte, hides func(string) bool) string {
	file, err := valuesfile.Parse("", text)
	if err != nil {
		return string(text) // absorb has parsed it already
	}
	return file.Conceal(secret.Mask, func(_ []any, value string) bool { return hides(value) })
}

// storedValues is the name of the file if none is given.
const storedValues = "values.yaml"

// Write replaces the file with its changed content at once, and keeps its mode. It fails if the file changed since it was read.
func (v *File) Write(a *Absorption) error {
	now, err := os.ReadFile(v.name)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, v.text) {
		return fmt.Errorf("%s changed while absorb was searching; nothing was written", v.name)
	}
	name, err := filepath.EvalSymlinks(v.name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return files.Replace(name, a.Content, info.Mode().Perm())
}
