package manifestdiff

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

var update = flag.Bool("update", false, "rewrite the diffs in testdata")

// comparison compares a manifest, and desired if that is not empty, with live objects.
func comparison(manifest, desired, live string) *threeway.Comparison {
	options := render.ParseOptions{Namespace: "d", Scope: func(schema.GroupVersionKind) (bool, bool) { return true, true }}
	in := threeway.Input{
		Name: "web", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1}, Last: &report.Revision{Revision: 1}, Live: map[object.Ref]cluster.Live{},
		Desired:    &report.Desired{Source: "record", Helm: "3"},
		OldObjects: render.Parse(manifest, options).Objects,
	}
	if in.DesiredObjects = in.OldObjects; desired != "" {
		in.Operation, in.Desired.Source = report.OperationUpgrade, "chart"
		in.DesiredObjects = render.Parse(desired, options).Objects
	}
	if manifest == "" {
		in.Operation, in.Old, in.Last = report.OperationInstall, nil, nil
	}
	for _, list := range [][]object.Object{in.OldObjects, in.DesiredObjects} {
		for _, o := range list {
			in.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
		}
	}
	for _, o := range render.Parse(live, options).Objects {
		in.Live[o.Ref] = cluster.Live{Object: object.HelmMetadata(o.Content, in.Name, in.Namespace)}
	}
	return threeway.Compare(in)
}

// printed returns the output of -o diff for a comparison of a manifest.
func printed(t *testing.T, manifest string, c *threeway.Comparison, show bool) []byte {
	t.Helper()
	release := c.Report(threeway.Mask{Show: show})
	release.Patch = Diff(manifest, c, release, show)
	doc, err := output.Document(output.Diff, report.New("test", time.Unix(0, 0), []report.Release{release}), output.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestCases compares the diffs in testdata: old.yaml and live.yaml, and desired.yaml for an upgrade, must give want. <CR> and <RLO> in
// an input stand for characters. If there is a file named show, the diff shows secrets.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]string{}
			for _, f := range archive.Files {
				in[f.Name] = strings.NewReplacer(`<CR>`, "\r", `<RLO>`, "\u202e").Replace(string(f.Data))
			}
			_, show := in["show"]
			c := comparison(in["old.yaml"], in["desired.yaml"], in["live.yaml"])
			got := printed(t, in["old.yaml"], c, show)
			if !strings.Contains(string(got), "left out") {
				checkPatch(t, in["old.yaml"], got, c)
			}
			shown := []byte(strings.ReplaceAll(string(got), "\r", "<CR>"))
			if *update {
				archive.Files[len(archive.Files)-1].Data = shown
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := in["want"]; string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestSeveralReleases checks that the diff of several releases is one patch for the manifests of all, each in a file below its
// namespace.
func TestSeveralReleases(t *testing.T) {
	program, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("patch is not installed")
	}
	dir := t.TempDir()
	var releases []report.Release
	for _, namespace := range []string{"a", "b", "c"} {
		manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: d\ndata:\n  mode: fast"
		c := comparison(manifest, "", strings.Replace(manifest, "fast", "slow-"+namespace, 1))
		release := c.Report(threeway.Mask{})
		release.Patch = Diff(manifest, c, release, false)
		release.Name, release.Namespace, release.StorageNamespace = "web", namespace, namespace
		releases = append(releases, release)
		if err := os.MkdirAll(filepath.Join(dir, namespace), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, namespace, "web.yaml"), []byte(manifest+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	releases[1] = report.Release{Name: "web", Namespace: "b", Errors: []report.Message{{Message: "--- a\n+++ b"}}}
	all := report.NewScan("test", time.Unix(0, 0), releases, []report.ScanError{{Message: "+++ x"}}, report.Scan{})
	doc, err := output.Document(output.Diff, all, output.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--binary", "-F0", "-p0")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(doc)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "patching file a/web.yaml\npatching file c/web.yaml\n" {
		t.Fatalf("patch: %v: %s\n%s", err, out, doc)
	}
	for namespace, want := range map[string]string{"a": "mode: slow-a\n", "b": "mode: fast\n", "c": "mode: slow-c\n"} {
		if text, err := os.ReadFile(filepath.Join(dir, namespace, "web.yaml")); err != nil || !strings.HasSuffix(string(text), want) {
			t.Errorf("%s has %s, %v", namespace, text, err)
		}
	}
}

// TestThreewayCases makes the diff of the manifest and the live objects of each case of pkg/threeway. It checks that the diff applies,
// and that everything that it does not leave out then equals live.
func TestThreewayCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/threeway/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	applied, partly := 0, 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var old, live string
		for _, f := range archive.Files {
			switch f.Name {
			case "old.yaml":
				old = string(f.Data)
			case "live.yaml":
				live = string(f.Data)
			}
		}
		c := comparison(old, "", live)
		for _, show := range []bool{false, true} {
			diff := printed(t, old, c, show)
			switch {
			case len(diff) == 0:
			case strings.Contains(string(diff), "left out"):
				partly++
				if strings.Contains(string(diff), "\n--- ") {
					patched(t, old, diff)
				}
			default:
				applied++
				t.Run(filepath.Base(file), func(t *testing.T) { checkPatch(t, old, diff, c) })
			}
		}
	}
	t.Logf("%d diffs are whole, %d leave something out", applied, partly)
	if applied < 100 {
		t.Errorf("only %d diffs are whole", applied)
	}
}

// patched returns a manifest, as helm get manifest prints it, with a diff applied by patch(1).
func patched(t *testing.T, manifest string, diff []byte) string {
	t.Helper()
	program, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("patch is not installed")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "web.yaml")
	if manifest != "" {
		if err := os.WriteFile(name, []byte(manifest+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(diff) > 0 {
		cmd := exec.Command(program, "--binary", "-F0", "-p0")
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("offset")) {
			t.Fatalf("patch: %v: %s\n%s", err, out, diff)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkPatch applies a diff and compares again. It checks that the findings in the diff are gone, and that nothing else changed except for
// the order of lists with new items.
func checkPatch(t *testing.T, manifest string, diff []byte, c *threeway.Comparison) {
	t.Helper()
	after := render.Parse(patched(t, manifest, diff), render.ParseOptions{Namespace: "d",
		Scope: func(schema.GroupVersionKind) (bool, bool) { return true, true }})
	if len(after.Errors) > 0 {
		t.Fatalf("%v\n%s", after.Errors, diff)
	}
	in := c.Input
	toLive := in.Operation == report.OperationDrift
	if in.OldObjects = after.Objects; toLive {
		in.DesiredObjects = after.Objects
	}
	again := threeway.Compare(in)
	d := differ{comparison: again, toLive: toLive}
	was := map[string]bool{}
	for _, o := range c.Report(threeway.Mask{Show: true}).Objects {
		for _, f := range o.Fields {
			was[title(o)+" "+f.Path] = true
		}
	}
	shown := again.Report(threeway.Mask{Show: true})
	for _, o := range shown.Objects {
		compared := d.compared(o)
		if toLive && o.Missing && o.IgnoredBy == nil {
			t.Errorf("%s is still in the manifest:\n%s", title(o), diff)
		}
		for i, f := range o.Fields {
			if target, counts := d.target(f, compared.Findings[i]); counts && compared.Old != nil && (was[title(o)+" "+f.Path] || !isOrder(f)) {
				t.Errorf("%s %s is still %v and not %v:\n%s", title(o), f.Path, f.Old, target.value, diff)
			}
		}
	}
}

// isOrder reports whether a finding is about the order of a list: both sides have items of the same number.
func isOrder(f report.Finding) bool {
	old, isList := f.Old.([]any)
	live, alsoList := f.Live.([]any)
	return isList && alsoList && len(old) == len(live)
}
