package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Helm's loader follows every symbolic link of a chart directory, wherever it leads, and takes what it finds as part of the
// chart (helm v3.22.0 internal/sympath Walk; only its log says so). What it reads this way is in the result here too,
// because it is in Helm's; a link out of the chart is a warning. But a link to a directory around it keeps Helm's loader
// busy until a path grows too long for the system, and two of them for ever: that is an error, as is an unreasonable number of
// files behind links, which takes no circle. In archives links count for nothing: they are empty files there.

// maxLinked bounds the files and directories that are reached through links.
const maxLinked = 5000

// linkWalk goes through a chart directory as Helm's loader does.
type linkWalk struct {
	// top is the chart directory, real its place without links.
	top, real string
	rules     *ignore.Rules
	linked    int
	warnings  []report.Message
}

// inspectLinks warns of links that lead out of a chart directory, and fails where following links comes to no end.
func inspectLinks(path string) ([]report.Message, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil, nil
	}
	top, err := filepath.Abs(path)
	if err != nil {
		return nil, loadFault(path, err)
	}
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil, loadFault(path, err)
	}
	w := linkWalk{top: top, real: real, rules: chartIgnore(top)}
	if err := w.directory("", []string{real}, false); err != nil {
		return nil, loadFault(path, err)
	}
	return w.warnings, nil
}

// chartIgnore reads .helmignore. One that cannot be read ignores nothing here; the loader will complain of it.
func chartIgnore(top string) *ignore.Rules {
	rules, err := ignore.ParseFile(filepath.Join(top, ignore.HelmIgnore))
	if err != nil {
		rules = ignore.Empty()
	}
	rules.AddDefaults()
	return rules
}

// directory looks at the entries of a directory. name is its path from the top, around are the real places of it and of all
// directories around it.
func (w *linkWalk) directory(name string, around []string, linked bool) error {
	entries, err := os.ReadDir(filepath.Join(w.top, name))
	if err != nil {
		return nil // The loader will say it better.
	}
	for _, entry := range entries {
		if err := w.entry(filepath.Join(name, entry.Name()), around, linked); err != nil {
			return err
		}
	}
	return nil
}

func (w *linkWalk) entry(name string, around []string, linked bool) error {
	full := filepath.Join(w.top, name)
	info, err := os.Lstat(full)
	if err != nil {
		return nil
	}
	isLink := info.Mode()&fs.ModeSymlink != 0
	real := filepath.Join(around[len(around)-1], filepath.Base(name))
	if isLink {
		linked = true
		if real, err = filepath.EvalSymlinks(full); err != nil {
			return fmt.Errorf("the symbolic link %s leads nowhere", filepath.ToSlash(name))
		}
		if info, err = os.Stat(full); err != nil {
			return nil
		}
	}
	if w.rules.Ignore(filepath.ToSlash(name), info) {
		return nil
	}
	if isLink && !within(real, w.real) {
		file := filepath.ToSlash(name)
		w.warnings = append(w.warnings, report.Message{Code: CodeLinkedFile, File: file, Message: "the symbolic link " + file +
			" leads out of the chart: helm reads what is there as part of the chart"})
	}
	if linked {
		if w.linked++; w.linked > maxLinked {
			return fmt.Errorf("symbolic links lead to more than %d files", maxLinked)
		}
	}
	if !info.IsDir() {
		return nil
	}
	if isLink && slices.ContainsFunc(around, func(outer string) bool { return within(outer, real) }) {
		return fmt.Errorf("the symbolic link %s leads to a directory around it, so that following links never ends", filepath.ToSlash(name))
	}
	return w.directory(name, append(slices.Clone(around), real), linked)
}

// within tells whether a path is a directory or below it.
func within(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, strings.TrimSuffix(directory, string(filepath.Separator))+string(filepath.Separator))
}

// loadFault says that a chart could not be read.
func loadFault(path string, err error) error {
	e := &Error{Message: fmt.Sprintf("loading chart %s: %v", path, err)}
	if errors.Is(err, fs.ErrNotExist) {
		e.Advice = hintNoChart
	}
	return e
}
