package saved

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// File is a file with a report.
type File struct {
	Name string
	Time time.Time
}

// MakesReports is the hint of errors about missing reports.
const MakesReports = "helmdrift diff -A --report json=DIR/$(date +%s).json writes one"

// ByTime returns the reports among files and in folders, the oldest first. In a folder, other documents of helmdrift and what is no regular
// file are left out.
func ByTime(names []string) ([]File, error) {
	var out []File
	for _, name := range names {
		files, inFolder, err := filesIn(name)
		if err != nil {
			return nil, hint.New(err, MakesReports)
		}
		for _, file := range files {
			at, err := timeOf(file)
			switch {
			case inFolder && report.IsOtherKind(err):
			case err != nil:
				return nil, err
			default:
				out = append(out, File{file, at})
			}
		}
	}
	if len(out) == 0 {
		return nil, hint.New(fmt.Errorf("there are no reports in %s", strings.Join(names, ", ")), MakesReports)
	}
	slices.SortStableFunc(out, func(a, b File) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// filesIn returns the files of a folder and of those below it whose names end as those of reports do, or the file itself.
func filesIn(name string) (files []string, isFolder bool, err error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, false, err
	}
	// WalkDir follows no link, but the folder itself may be one.
	root, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, true, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch hidden := strings.HasPrefix(entry.Name(), ".") && path != root; {
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case !isRegular(path):
		case !hidden && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	return files, true, err
}

// isRegular reports whether a name is that of a regular file, or of a link to one.
func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// timeOf returns the time of the report in a file.
func timeOf(name string) (time.Time, error) {
	text, err := contentOf(name, nil)
	if err != nil {
		return time.Time{}, err
	}
	at, err := report.ReadTime(text)
	if err != nil {
		return at, notAReport(name, err)
	}
	return at, nil
}
