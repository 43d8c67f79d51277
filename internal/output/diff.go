package output

import (
	"cmp"
	"errors"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/ci"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// errNoManifest refuses a diff of a saved report, because a saved report has no manifest.
var errNoManifest = errors.New("the manifest of the release is not known")

// writeDiff returns the patches of all releases, in the order of the report. Everything else is in lines that begin with "#", which
// patch(1) ignores. If releases were selected, such a line stands above each release that has something to say.
func writeDiff(r *report.Report, _ Options) ([]byte, error) {
	var out strings.Builder
	for _, e := range r.Errors {
		comment(&out, "error: "+ci.SearchName(e)+": "+e.Message)
	}
	for _, release := range r.Releases {
		if release.Patch == nil && len(release.Errors) == 0 {
			return nil, errNoManifest
		}
		patch := cmp.Or(release.Patch, &report.Patch{})
		if r.Scan != nil && len(patch.LeftOut)+len(patch.Hunks)+len(release.Errors) > 0 {
			comment(&out, ci.ReleaseName(&release))
		}
		for _, e := range release.Errors {
			comment(&out, "error: "+e.Message)
		}
		for _, line := range patch.LeftOut {
			comment(&out, line)
		}
		if name := fileName(r, release); patch.Hunks != "" {
			out.WriteString("--- " + name + "\n+++ " + name + "\n" + patch.Hunks)
		}
	}
	return []byte(out.String()), nil
}

// comment writes a line that is not part of a patch.
func comment(out *strings.Builder, text string) {
	out.WriteString("# " + escape.Text(text, false) + "\n")
}

// fileName returns the name of the file that the patch of a release applies to: NAME.yaml, NAMESPACE/NAME.yaml if releases were selected,
// and CLUSTER/NAMESPACE/NAME.yaml if they were selected in several clusters.
func fileName(r *report.Report, release report.Release) string {
	name := plainName(release.Name) + ".yaml"
	if r.Scan != nil {
		name = plainName(cmp.Or(release.StorageNamespace, release.Namespace)) + "/" + name
	}
	if r.Scan != nil && len(r.Scan.Clusters) > 1 {
		name = plainName(release.Cluster) + "/" + name
	}
	return name
}

// plainName returns a name without the characters that are special in a file name or to patch(1).
func plainName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-@", r):
			return r
		}
		return '_'
	}, name)
	if strings.Trim(plain, ".") == "" {
		return strings.Repeat("_", max(1, len(plain)))
	}
	return plain
}
