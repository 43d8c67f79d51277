package helmfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/places"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is for absorb: it finds the values files of a helmfile that have the values of a release.

// Keeper changes the values files of a release. It writes no file.
type Keeper struct {
	places.Editor
	state   *State
	release *Release
	root    string
}

// Root returns the folder that file names are relative to: the working tree of Git that the helmfile is in, or else its folder.
func (k *Keeper) Root() string { return k.root }

// Keep finds the values files of the release of a step, and makes the step render all values of the release as one file, which a search can
// change. It is an error if none of the files can be changed.
func (l *Loaded) Keep(s *Step) (*Keeper, error) {
	k := &Keeper{state: l.state, release: &s.release}
	folder := l.file
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	var err error
	if k.root, _, err = worktree.Find(folder); err != nil {
		return nil, err
	}
	values, err := k.read()
	if err != nil {
		return nil, err
	}
	composed, err := values.Compose()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(composed)
	if err != nil {
		return nil, errors.New("the values are no JSON")
	}
	k.Values = values
	k.Controller, k.Otherwise, k.OwnName = "helmfile", "vals puts a value in the place of a reference", k.Layers[k.Own].Title
	k.Editor.Read = func(file string) ([]byte, error) { return readFile(filepath.Join(k.root, filepath.FromSlash(file))) }
	const name = "values of the helmfile"
	s.Target.Chart.Values = render.ValueOptions{Files: []string{name}, Set: deployer.Integers(composed), Reuse: s.Target.Chart.Values.Reuse}
	s.Target.Chart.ReadFile = func(context.Context, string) ([]byte, error) { return text, nil }
	return k, nil
}

// read finds the sources of the values, those first that win: flags, and files from the last to the first.
func (k *Keeper) read() (places.Merged, error) {
	r := k.release
	given := r.arguments.values
	out := places.Merged{Options: given, Texts: r.call.Files}
	for _, of := range []struct {
		expressions []string
		own         func(expression string) render.ValueOptions
	}{
		{given.Literal, func(e string) render.ValueOptions { return render.ValueOptions{Literal: []string{e}} }},
		{given.SetFile, func(e string) render.ValueOptions { return render.ValueOptions{SetFile: []string{e}} }},
		{given.SetString, func(e string) render.ValueOptions { return render.ValueOptions{SetString: []string{e}} }},
		{given.Set, func(e string) render.ValueOptions { return render.ValueOptions{Set: []string{e}} }},
		{given.JSON, func(e string) render.ValueOptions { return render.ValueOptions{JSON: []string{e}} }},
	} {
		for _, expression := range slices.Backward(of.expressions) {
			name, _, _ := strings.Cut(expression, "=")
			out.Own = append(out.Own, of.own(expression))
			k.Layers = append(k.Layers, places.Layer{
				Title: fmt.Sprintf("set of the release, as %.80s", name), Fault: "it wins over all values files; change it there, or remove it",
			})
		}
	}
	entries, err := r.entriesOf(given.Files)
	if err != nil {
		return out, err
	}
	k.Own = -1
	var faults []string
	for i, name := range slices.Backward(given.Files) {
		l := k.file(entries[i], r.call.Files[name])
		switch {
		case l.Fault != "":
			faults = append(faults, l.Title+": "+l.Fault)
		case k.Own < 0:
			k.Own = len(k.Layers)
		}
		l.Yields = k.Own >= 0
		k.Layers = append(k.Layers, l)
		out.Own = append(out.Own, render.ValueOptions{Files: []string{name}})
	}
	if k.Own < 0 {
		why := "it has none"
		if len(faults) > 0 {
			why = strings.Join(slices.Compact(faults), "; ")
		}
		return out, hint.New(fmt.Errorf("the release %s has no values file that can be changed: %s", r.Name, why),
			"-o helmfile prints an item for its values")
	}
	return out, nil
}

// entriesOf returns the entry of each values file that Helm gets. helmfile leaves out entries whose file is missing.
func (r *Release) entriesOf(files []string) ([]Entry, error) {
	var out []Entry
	for _, e := range r.Values {
		if e.Path != "" {
			if found, _ := filepath.Glob(e.Path); len(found) == 0 {
				continue
			} else if len(found) == 1 {
				e.Path = found[0]
			}
		}
		out = append(out, e)
	}
	if len(out) != len(files) {
		return nil, fmt.Errorf("helmfile gives Helm %d values files for %s, and helmfile build says %d", len(files), r.Name, len(out))
	}
	return out, nil
}

// file returns the layer of a values file with the text that Helm gets.
func (k *Keeper) file(e Entry, given []byte) places.Layer {
	r := k.release
	out := places.Layer{Title: "values of " + r.Name + " in " + r.File, Fault: "the helmfile itself has them; change them there"}
	if e.Text == "" {
		if e.IsSecret {
			out.Title = "secrets of " + r.Name
		}
		return out
	}
	out.Title = e.Text
	switch real, err := filepath.EvalSymlinks(e.Path); {
	case e.IsSecret:
		out.Fault = "it is encrypted; helm secrets edit changes it"
	case e.Path == "":
		out.Fault = "it is not on this machine"
	case filepath.Ext(e.Path) == ".gotmpl":
		out.Fault = "it is a template; change it by hand"
	case err != nil:
		out.Fault = "it cannot be read"
	case inside(k.root, real) == "":
		out.Fault = "it is outside of " + k.root
	default:
		out.Title = filepath.ToSlash(inside(k.root, real))
		if out.Fault = k.sharedBy(real); out.Fault != "" {
			return out
		}
		k.place(&out, given)
	}
	return out
}

// place sets the place of a layer in the file that its title names, or why it cannot be changed.
func (k *Keeper) place(l *places.Layer, given []byte) {
	place := &places.Place{File: l.Title, Document: places.WholeFile}
	text, err := readFile(filepath.Join(k.root, filepath.FromSlash(l.Title)))
	if err == nil {
		l.Raw, err = place.Values(text)
	}
	if err == nil && yaml.Unmarshal(given, &l.Built) != nil {
		err = errors.New("what helmfile makes of it is no YAML")
	}
	if err != nil {
		l.Fault = err.Error()
		return
	}
	l.Place = place
}

// sharedBy says who else reads a file, so that a change of it would do more than change the values of the release.
func (k *Keeper) sharedBy(file string) string {
	const both = " reads it too, and a change would be in both"
	here := k.release
	times := 0
	for _, d := range slices.Concat(k.state.Releases, k.state.Disabled) {
		isHere := d.Name == here.Name && d.File == here.File && slices.Equal(d.Values, here.Values)
		for _, e := range slices.Concat(d.Values, d.Reads) {
			if e.is(file) {
				if times++; !isHere {
					return "release " + d.title() + both
				}
			}
		}
		if reads, err := chartReads(d.ChartFolder, file); reads || err != nil {
			return "the chart of release " + d.title() + " may read it too"
		}
	}
	if times > 1 {
		return "the helmfile names it twice"
	}
	for _, e := range k.state.Reads {
		if e.is(file) {
			return "an environment or a nested helmfile" + both
		}
	}
	return ""
}

// title names a release in messages.
func (d Declared) title() string { return strings.TrimPrefix(d.Namespace+"/"+d.Name, "/") }

// is reports whether an entry is, or may be, a file.
func (e Entry) is(file string) bool {
	found, _ := filepath.Glob(e.Path)
	return slices.ContainsFunc(found, func(name string) bool {
		real, err := filepath.EvalSymlinks(name)
		return err != nil || real == file
	})
}

// chartReads reports whether a chart can read a file: as its own values, or by a template that reads files.
func chartReads(chart, file string) (bool, error) {
	chart, err := filepath.EvalSymlinks(chart)
	if err != nil || chart == "" || inside(chart, file) == "" {
		return false, nil // the chart is no folder, or does not have the file
	}
	reads := filepath.Base(file) == "values.yaml"
	err = fs.WalkDir(os.DirFS(chart), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains("/"+name, "/templates/") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(chart), name)
		reads = reads || bytes.Contains(text, []byte(".Files"))
		return err
	})
	return reads, err
}

// Rewrite implements absorb.Tree. A text that vals would take for a reference is refused.
func (k *Keeper) Rewrite(edits []valuesfile.Edit) ([]byte, error) {
	for _, e := range edits {
		if text, err := json.Marshal(e.Value); err != nil || bytes.Contains(text, []byte("ref+")) {
			return nil, errors.New("helmfile would take the text for a reference of vals")
		}
	}
	return k.Editor.Rewrite(edits)
}

// Prove implements absorb.Tree. The edited files are not read again: internal/valuesfile has compared each with its data.
func (k *Keeper) Prove() ([]string, error) { return k.NewProof().Reasons, nil }

// Release names the release.
func (s *Step) Release() object.Key {
	return object.Key{Kind: kind, Namespace: s.release.Namespace, Name: s.release.Name}
}

// Remarks warns that values are not found which helmfile has rendered before Helm gets the chart.
func (s *Step) Remarks() []report.Message {
	if s.release.call.Chart == "" {
		return nil
	}
	return []report.Message{{Code: CodeWarning,
		Message: "helmfile prepares the chart, for example because of jsonPatches: " +
			"a value that it renders before Helm gets the chart is not found"}}
}

// CheckEdits warns that other environments may read what an edit changes.
func (k *Keeper) CheckEdits(paths [][]any) []report.Message {
	others := k.state.Environments
	if len(paths) == 0 || len(others) < 2 {
		return nil
	}
	return []report.Message{{Code: CodeWarning,
		Message: "the values files may be those of other environments, too: the helmfile has the environments " + strings.Join(others, ", ")}}
}
