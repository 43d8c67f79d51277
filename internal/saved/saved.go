// Package saved finds, reads and merges reports that helmdrift has written into files, as JSON or YAML. The commands report
// and history read nothing else, and --baseline needs such a report.
//
//	files, folders ─► ByTime ─► File, File, … the oldest first, with only their times
//	a file, or - ──► Read ─► report.Report
//	reports ───────► Merge ─► one report.Report, of jobs that each compare a part of a fleet
//	--baseline ────► Baseline ─► report.Report, or nil
//
// The files may come from somebody else; pkg/report bounds and checks what it reads. A file that is not a report is an error that names
// the file, and so is a report that was cut off: it would look like one without drift.
package saved

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// File is a file with a report.
type File struct {
	Name string
	Time time.Time
}

// MakesReports is the hint of errors about missing reports.
const MakesReports = "helmdrift diff -A --report json=DIR/$(date +%s).json writes one"

// ByTime returns the reports among files and in folders, the oldest first. In a folder, it skips other documents of helmdrift, and
// everything that is not a regular file.
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
			case inFolder && reading.IsOtherKind(err):
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
	order.Sort(out, func(a, b File) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// Newest returns the newest report of a folder. The name of a file is returned as it is.
func Newest(name string) (newest string, inFolder bool, err error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return name, false, nil
	}
	all, err := ByTime([]string{name})
	if err != nil {
		return "", true, err
	}
	return all[len(all)-1].Name, true, nil
}

// filesIn returns the file itself or, for a folder, all files in and below it whose names end like a report's.
func filesIn(name string) (found []string, isFolder bool, err error) {
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
		case !files.IsRegular(path):
		case !hidden && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)):
			found = append(found, path)
		}
		return nil
	})
	return found, true, err
}

// timeOf returns the time of the report in a file.
func timeOf(name string) (time.Time, error) {
	text, err := contentOf(name, nil)
	if err != nil {
		return time.Time{}, err
	}
	at, err := reading.Time(text)
	return at, notAReport(name, err)
}

// longest is the greatest length of a report in bytes. The report of a fleet of ten thousand releases is a tenth as long.
const longest = 256 << 20

// Read reads a report from a file, or from standard input if the name is -. A report that lacks what its summary counts is an error.
func Read(name string, stdin io.Reader) (*report.Report, error) {
	text, err := contentOf(name, stdin)
	if err != nil {
		return nil, err
	}
	r, err := reading.Report(text)
	if err != nil {
		return nil, notAReport(name, err)
	}
	if err := checkWhole(r); err != nil {
		return nil, hint.New(fmt.Errorf("%s is not a whole report: %w", name, err),
			"save it again with helmdrift diff -o json > FILE; helmdrift report chooses releases of a report with -n, --filter and --exclude")
	}
	return r, nil
}

// checkWhole returns an error if a report lacks what its summary counts, because the end of a YAML file was cut off or somebody edited it:
// what is not there could have drifted. It compares the counts that do not depend on which findings a version of helmdrift silences.
func checkWhole(r *report.Report) error {
	if r.Releases == nil {
		return errors.New("it has no releases; its end may have been cut off")
	}
	says, has := r.Summary, report.New("", r.Time, r.Releases).Summary
	for _, count := range []struct {
		thing     string
		says, has int
	}{
		{"release", says.Releases, has.Releases},
		{"drifted release", says.DriftedReleases, has.DriftedReleases},
		{"object", says.Objects, has.Objects},
		{"drifted object", says.DriftedObjects, has.DriftedObjects},
		{"error", says.Errors, has.Errors + len(r.Errors)},
		{"finding", says.Managed + says.Unmanaged + says.Ignored, has.Managed + has.Unmanaged + has.Ignored},
	} {
		if count.says != count.has {
			why := "its end may have been cut off"
			if count.has > count.says {
				why = "somebody may have edited it"
			}
			return fmt.Errorf("its summary counts %s, and the report has %d; %s", english.Count(count.says, count.thing), count.has, why)
		}
	}
	return nil
}

// contentOf returns the content of a regular file or of standard input.
func contentOf(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return files.ReadAll("standard input", stdin, longest)
	}
	text, err := files.Read(name, longest)
	if errors.Is(err, files.ErrNotRegular) {
		return nil, hint.New(err, "give the name of a file; for helmdrift report, - is standard input")
	}
	return text, err
}

// notAReport returns the error for a file that is not a report; nil stays nil.
func notAReport(name string, err error) error {
	if err == nil {
		return nil
	}
	return hint.New(fmt.Errorf("%s is not a report: %w", name, err), "helmdrift diff -o json > FILE writes one")
}

// Baseline reads the report that --baseline names, as JSON or YAML. It returns nil if path is empty. The findings of that earlier report
// count as known, so that a team can start with known drift and see only what is new (accept.Known). A file that is not a report
// is an error: with an empty report, every finding would count.
func Baseline(path string) (*report.Report, error) {
	if path == "" {
		return nil, nil
	}
	text, err := files.Read(path, longest)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	known, err := reading.Report(text)
	if err != nil {
		return nil, hint.New(fmt.Errorf("--baseline %s is not a report: %w", path, err),
			"helmdrift diff RELEASE -o json > "+hint.ShellWord(path)+" makes one")
	}
	return known, nil
}
