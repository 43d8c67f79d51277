package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Helm's loader follows every symbolic link of a chart directory, even out of the chart, and takes the targets as part of the
// chart (helm v3.22.0 internal/sympath Walk; only its log says so). Whoever can propose a change to a chart could so read what the user can
// read. Chart follows a link within the Git working tree that the chart is in, but into no hidden folder of it, and warns about links that
// leave the chart. With ChartOptions.AllowOutsideLinks it follows other links too, but none to /proc, /sys and /dev.
// A link to a directory that contains it keeps Helm's loader busy until a path grows too long for the system, and
// two such links keep it busy for ever: that is an error. So is an unreasonable number of files behind links, which needs no
// circle. In archives, links are empty files.

// maxLinked bounds the number of files and directories that are reached through links.
const maxLinked = 5000

// linkWalker walks a chart directory as Helm's loader does.
type linkWalker struct {
	// top is the chart directory, and real the same path without links.
	top, real string
	rules     *ignore.Rules
	// tree is where links may lead, unless allowed is set.
	tree     files.Tree
	allowed  bool
	linked   int
	warnings []report.Message
}

// inspectLinks returns warnings about links that lead out of a chart directory, and an error if following links would
// never end.
func inspectLinks(path string, allowed bool) ([]report.Message, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil, nil
	}
	top, err := filepath.Abs(path)
	if err != nil {
		return nil, loadError(path, err)
	}
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil, loadError(path, err)
	}
	tree, err := files.TreeOf(real)
	if err != nil {
		return nil, loadError(path, err)
	}
	w := linkWalker{top: top, real: real, tree: tree, allowed: allowed}
	if w.rules, err = w.chartIgnore(); err != nil {
		return nil, loadError(path, err)
	}
	if err := w.walkDirectory("", []string{real}, false); err != nil {
		return nil, loadError(path, err)
	}
	return w.warnings, nil
}

// chartIgnore reads .helmignore. If the file cannot be read, nothing is ignored here, and Helm's loader will report
// the error.
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

// check returns an error if something that is reached through a link is not to be read.
func (w *linkWalker) check(name, real string) error {
	reason := w.tree.Refuses(real)
	if reason == "" || w.allowed && !files.IsSystem(real) {
		return nil
	}
	e := &Error{Message: fmt.Sprintf("the symbolic link %s %s", filepath.ToSlash(name), reason)}
	if !files.IsSystem(real) {
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
	}
	if isLink && !files.IsInside(real, w.real) {
		file := filepath.ToSlash(name)
		w.warnings = append(w.warnings, report.Message{Code: CodeLinkedFile, File: file, Message: "the symbolic link " + file +
			" leads out of the chart: helm reads its target as part of the chart"})
	}
	if linked {
		if w.linked++; w.linked > maxLinked {
			return fmt.Errorf("symbolic links lead to more than %d files", maxLinked)
		}
	}
	if !info.IsDir() {
		return nil
	}
	if isLink && slices.ContainsFunc(parents, func(outer string) bool { return files.IsInside(outer, real) }) {
		return fmt.Errorf("the symbolic link %s leads to a directory that contains it, so following links never ends", filepath.ToSlash(name))
	}
	return w.walkDirectory(name, append(slices.Clone(parents), real), linked)
}

// loadError returns the error of a chart that could not be read.
func loadError(path string, err error) error {
	e := &Error{Message: fmt.Sprintf("loading chart %s: %v", path, err)}
	var cause *Error
	switch {
	case errors.As(err, &cause):
		e.Advice = cause.Advice
	case errors.Is(err, fs.ErrNotExist):
		e.Advice = hintNoChart
	}
	return e
}
