package output

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// patched returns a report whose releases have a patch: a hunk for each object with a field that drifted, and a line for each masked field.
// What a patch of a manifest looks like is tested by internal/manifestdiff.
func patched(r *report.Report) *report.Report {
	out := *r
	out.Releases = slices.Clone(r.Releases)
	for i := range out.Releases {
		release := &out.Releases[i]
		if len(release.Errors) > 0 && len(release.Objects) == 0 {
			continue // it could not be compared
		}
		release.Patch = &report.Patch{}
		for _, o := range release.Objects {
			if o.Drifted {
				release.Patch.Hunks += "@@ -1 +1 @@\n-old\n+live\n"
			}
			for _, f := range o.Fields {
				if f.Masked {
					release.Patch.LeftOut = append(release.Patch.LeftOut, o.Kind+" "+o.Name+" "+f.Path+" is left out: masked")
				}
			}
		}
	}
	return &out
}

// TestDiffGolden checks the order of the patches of releases, and that no text of a report gets out of its line.
func TestDiffGolden(t *testing.T) {
	header := regexp.MustCompile(`^(---|\+\+\+) [A-Za-z0-9._@/-]+\.yaml$`)
	for name, r := range reports(t) {
		if r.Scan == nil && !slices.Contains([]string{"hostile", "noise", "render-error"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			doc := render(t, Diff, patched(r), Options{})
			golden(t, filepath.Join("testdata", name+".diff"), doc)
			checkRaw(t, doc)
			for line := range strings.Lines(string(doc)) {
				line = strings.TrimSuffix(line, "\n")
				isHunk := slices.Contains([]string{"@@ -1 +1 @@", "-old", "+live"}, line)
				if !isHunk && !strings.HasPrefix(line, "# ") && (!header.MatchString(line) || strings.Contains(line, "..")) {
					t.Errorf("a line is no part of a patch and no comment: %q", line)
				}
			}
		})
	}
}

// TestDiffNeedsManifests: a saved report has no manifest, and an empty diff would say that nothing drifted.
func TestDiffNeedsManifests(t *testing.T) {
	if doc, err := Document(Diff, reports(t)["drift"], Options{}); err == nil || len(doc) > 0 {
		t.Errorf("a report without manifests has the diff %q, %v", doc, err)
	}
}
