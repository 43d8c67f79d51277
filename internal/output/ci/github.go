package ci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxAnnotations is how many annotations of a kind GitHub shows for a step (docs.github.com: workflow commands). It drops the others
// without a word.
const maxAnnotations = 10

// GitHub returns a report as annotations of a run of GitHub Actions: one for each object, an error, a warning or a notice. GitHub shows
// ten of a kind, so if there are more, the tenth counts the rest.
func GitHub(r *report.Report, o Options) ([]byte, error) {
	kinds := []struct {
		level level
		word  string
	}{{levelError, "error"}, {levelWarning, "warning"}, {levelNote, "notice"}}
	groups := grouped(entriesOf(r))
	var b strings.Builder
	for _, kind := range kinds {
		those := slices.DeleteFunc(slices.Clone(groups), func(g []entry) bool { return slices.MinFunc(g, byLevel).level != kind.level })
		shown := those
		if len(those) > maxAnnotations {
			shown = those[:maxAnnotations-1]
		}
		for _, g := range shown {
			b.WriteString(annotation(kind.word, g, o))
		}
		if more := len(those) - len(shown); more > 0 {
			fmt.Fprintf(&b, "::%s title=helmdrift::%d more: see the report\n", kind.word, more)
		}
	}
	return []byte(b.String()), nil
}

// grouped returns the entries that are not silent, grouped by object.
func grouped(all []entry) [][]entry {
	var out [][]entry
	for _, e := range slices.DeleteFunc(all, entry.isSilent) {
		if n := len(out); n > 0 && e.object != nil && out[n-1][0].object == e.object {
			out[n-1] = append(out[n-1], e)
			continue
		}
		out = append(out, []entry{e})
	}
	return out
}

// annotation returns the workflow command for the entries of an object.
func annotation(kind string, entries []entry, o Options) string {
	first := entries[0]
	title := first.subject
	if first.release != nil && first.object != nil {
		title = first.subject + " of " + ReleaseName(first.release)
	}
	properties := "title=" + githubProperty("helmdrift: "+title)
	if first.object != nil && first.object.Source != "" {
		properties = "file=" + githubProperty(first.file(o)) + ",line=1," + properties
	}
	return fmt.Sprintf("::%s %s::%s\n", kind, properties, githubData(strings.TrimSpace(lines(entries))))
}

// githubData escapes the message of a workflow command (github.com/actions/toolkit packages/core/src/command.ts escapeData).
func githubData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// githubProperty escapes a property of a workflow command (escapeProperty of the same file).
func githubProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
