package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/links"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// helmChart is a chart in the types of one major version of Helm. This interface has only what the versions do
// differently or with types of their own (helm3.go, helm4.go). Everything else is written once.
type helmChart interface {
	// info returns the chart's metadata.
	info() chartInfo
	// setDefaults replaces the values of values.yaml.
	setDefaults(map[string]any)
	// processDependencies leaves the subcharts that the values enable, and imports their values.
	processDependencies(given map[string]any) error
	// inputs returns what the templates see once the dependencies are processed. The result values is the part of
	// inputs below .Values, in the same maps. It does not check the values.
	inputs(given map[string]any, o ChartOptions) (inputs, values map[string]any, err error)
	// tree returns the files of the chart and its subcharts.
	tree() chartTree
	// render returns the text of each template file.
	render(ctx context.Context, inputs map[string]any, o ChartOptions) (map[string]string, error)
	// sort splits the texts into documents, separates the hooks, and sorts the rest in the order of installing.
	sort(files map[string]string) ([]sortedDocument, []Hook, error)
	// clone returns a copy that can be prepared and rendered without changing the chart.
	clone() helmChart
	// retain drops every template unless keep returns true for its path.
	retain(keep func(path string) bool)
	// definitions returns the documents of the crds/ folders of the chart and its subcharts.
	definitions() []Document
}

// chartInfo is the metadata of a chart.
type chartInfo struct {
	name, version, appVersion, kubeVersion, kind string
	deprecated                                   bool
	// required has the names of the dependencies in Chart.yaml.
	required []string
}

// sortedDocument is one rendered document and the path of its template.
type sortedDocument struct{ path, content string }

// load reads the chart from its files.
func (r renderer) load() (helmChart, error) {
	load := loadHelm3
	if r.Helm4 {
		load = loadHelm4
	}
	ch, err := load(r.Path)
	if err != nil {
		return nil, loadError(r.Path, err)
	}
	return ch, nil
}

// check does what Helm's command line checks before it renders. It looks for missing dependencies as
// action.CheckDependencies does (helm v3.22.0 pkg/action/install.go): an umbrella chart would render without them,
// and their objects would seem to be deleted. The check is repeated here because pkg/action links every client of
// Helm. An install also checks the type of the chart (cmd/helm/install.go checkIfInstallable).
func (i chartInfo) check(present []chartTree, install bool) error {
	missing := slices.DeleteFunc(slices.Clone(i.required), func(name string) bool {
		return slices.ContainsFunc(present, func(t chartTree) bool { return t.name == name })
	})
	if len(missing) > 0 {
		return &Error{File: i.name + "/Chart.yaml", Advice: hintDependencies,
			Message: "found in Chart.yaml, but missing in charts/ directory: " + strings.Join(missing, ", ")}
	}
	if install && i.kind != "" && i.kind != "application" {
		return &Error{File: i.name + "/Chart.yaml", Message: fmt.Sprintf("%s charts are not installable", i.kind)}
	}
	return nil
}

// stringsOf returns the events or the policies of a hook as strings.
func stringsOf[E ~string](values []E) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = string(value)
	}
	return out
}

// Helm's loader follows every symbolic link of a chart directory, even out of the chart, and takes the targets as part of the chart (helm
// v3.22.0 internal/sympath Walk; only its log says so). Whoever can propose a change to a chart could read in this way what the user can
// read. Chart follows a link within the Git working tree that the chart is in, but into no hidden folder of it, and warns about links that
// leave the chart. With ChartOptions.AllowOutsideLinks it follows other links too, but none to /proc, /sys and /dev. A link to a directory
// that contains it keeps Helm's loader busy until a path grows too long for the system, and two such links keep it busy for ever. Chart
// returns an error for such a circle, and for an unreasonable number of files behind links. In archives, links are empty files.

// maxLinked bounds the number of files and directories that are reached through links.
const maxLinked = 5000

// linkWalker walks a chart directory as Helm's loader does.
type linkWalker struct {
	// top is the chart directory.
	top   string
	rules *ignore.Rules
	// tree is where links may lead, unless allowed is set. Its folder is the chart directory without links.
	tree     links.Tree
	allowed  bool
	linked   int
	warnings []report.Message
}

// inspectLinks returns warnings about links that lead out of a chart directory, and an error for a link to the chart or in it that must not
// be followed, or if following links would never end.
func inspectLinks(path string, allowed bool) ([]report.Message, error) {
	if err := links.CheckAllowed(path, allowed); err != nil {
		return nil, loadError(path, err)
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil, nil
	}
	top, err := filepath.Abs(path)
	if err != nil {
		return nil, loadError(path, err)
	}
	tree, err := links.TreeOf(top)
	if err != nil {
		return nil, loadError(path, err)
	}
	w := linkWalker{top: top, tree: tree, allowed: allowed}
	if w.rules, err = w.chartIgnore(); err != nil {
		return nil, loadError(path, err)
	}
	if err := w.walkDirectory("", []string{tree.Folder}, false); err != nil {
		return nil, loadError(path, err)
	}
	return w.warnings, nil
}

// chartIgnore reads .helmignore. If it cannot read the file, it ignores nothing, and Helm's loader will report the
// error.
func (w *linkWalker) chartIgnore() (*ignore.Rules, error) {
	path := filepath.Join(w.top, ignore.HelmIgnore)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if err := w.check(ignore.HelmIgnore, real); err != nil {
			return nil, err
		}
	}
	rules, err := ignore.ParseFile(path)
	if err != nil {
		rules = ignore.Empty()
	}
	rules.AddDefaults()
	return rules, nil
}

// check returns an error if a file or directory behind a link must not be read.
func (w *linkWalker) check(name, real string) error {
	reason := w.tree.Refuses(real)
	if reason == "" || w.allowed && !links.IsSystem(real) {
		return nil
	}
	e := &Error{Message: fmt.Sprintf("the symbolic link %s %s", filepath.ToSlash(name), reason)}
	if !links.IsSystem(real) {
		e.Advice = hintOutsideLinks
	}
	return e
}

// walkDirectory inspects the entries of a directory. Name is its path from the top, and parents are the real paths of
// the directory and of all directories that contain it.
func (w *linkWalker) walkDirectory(name string, parents []string, linked bool) error {
	entries, err := os.ReadDir(filepath.Join(w.top, name))
	if err != nil {
		return nil // the loader will report it
	}
	for _, entry := range entries {
		if err := w.walkEntry(filepath.Join(name, entry.Name()), parents, linked); err != nil {
			return err
		}
	}
	return nil
}

// walkEntry inspects one file, directory or link. Linked is set if it is reached through a link.
func (w *linkWalker) walkEntry(name string, parents []string, linked bool) error {
	full := filepath.Join(w.top, name)
	info, err := os.Lstat(full)
	if err != nil {
		return nil
	}
	isLink := info.Mode()&fs.ModeSymlink != 0
	real := filepath.Join(parents[len(parents)-1], filepath.Base(name))
	if isLink {
		linked = true
		if real, err = filepath.EvalSymlinks(full); err != nil {
			return fmt.Errorf("the symbolic link %s is broken", filepath.ToSlash(name))
		}
		if info, err = os.Stat(full); err != nil {
			return nil
		}
	}
	if w.rules.Ignore(filepath.ToSlash(name), info) {
		return nil
	}
	if linked {
		if err := w.check(name, real); err != nil {
			return err
		}
		if w.linked++; w.linked > maxLinked {
			return fmt.Errorf("symbolic links lead to more than %d files", maxLinked)
		}
	}
	if isLink && !links.IsInside(real, w.tree.Folder) {
		file := filepath.ToSlash(name)
		w.warnings = append(w.warnings, report.Message{Code: CodeLinkedFile, File: file, Message: "the symbolic link " + file +
			" leads out of the chart: helm reads its target as part of the chart"})
	}
	if !info.IsDir() {
		return nil
	}
	if isLink && slices.ContainsFunc(parents, func(outer string) bool { return links.IsInside(outer, real) }) {
		return fmt.Errorf("the symbolic link %s leads to a directory that contains it, so following links never ends", filepath.ToSlash(name))
	}
	return w.walkDirectory(name, append(slices.Clone(parents), real), linked)
}

// loadError returns the error of a chart that could not be read.
func loadError(path string, err error) error {
	e := &Error{Message: fmt.Sprintf("loading chart %s: %v", path, err), Advice: hint.Of(err)}
	if errors.Is(err, fs.ErrNotExist) {
		e.Advice = hintNoChart
	}
	return e
}

// Template is a template file of a chart.
type Template struct {
	// Path is the path that the "# Source:" comments of its documents have.
	Path string
	// Values is the path in the values of the whole chart to what the template sees as .Values. It is empty except in subcharts.
	Values []string
	Text   string
}

// Trees returns the parse trees of the file: its own, and those of the templates that it defines, by their names. It accepts calls of any
// function.
func (t Template) Trees() (own *parse.Tree, defined map[string]*parse.Tree, err error) {
	defined, err = parseTemplate(t.Text)
	own = defined[templateName]
	delete(defined, templateName)
	return own, defined, err
}
