package threeway

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

var (
	update = flag.Bool("update", false, "rewrite the want files of testdata/threeway")
	record = flag.String("record", "", "write the reports of testdata/threeway into this folder, to compare two versions of the code")
)

// TestCases runs testdata/threeway/*.txtar. A case has the manifest of old, the manifest of desired if it differs,
// the live object, and the right findings. Its first lines say what it is about.
func TestCases(t *testing.T) {
	for _, file := range caseFiles(t, "*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := filesOf(archive)
	in := caseInput(t, files)
	c := Compare(in)
	if in.Operation == report.OperationDrift {
		checkOnlyDrift(t, c)
	}
	wants := map[string]string{"want": describe(c)}
	report := reportJSON(t, c, Mask{})
	if _, ok := files["report.json"]; ok {
		wants["report.json"] = report
	}
	if _, ok := files["inside"]; ok {
		wants["inside"] = describeInside(c, Mask{})
	}
	if _, ok := files["requests"]; ok {
		wants["requests"] = describeRequests(c)
	}
	recordReports(t, c)
	checkCanaries(t, files["canaries"], c, report)
	checkContract(t, c)
	if *update {
		writeWants(t, file, archive, wants)
		return
	}
	for _, name := range object.SortedKeys(wants) {
		if diff := cmp.Diff(files[name], wants[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// reportJSON is the masked report of one comparison, as programs get it.
func reportJSON(t *testing.T, c *Comparison, mask Mask) string {
	t.Helper()
	raw, err := json.MarshalIndent(c.Report(mask), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

// recordReports writes the reports of a case, masked and in clear, and the requests if -record asks for them.
func recordReports(t *testing.T, c *Comparison) {
	t.Helper()
	if *record == "" {
		return
	}
	if err := os.MkdirAll(*record, 0o755); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"masked.json": reportJSON(t, c, Mask{}), "clear.json": reportJSON(t, c, Mask{Show: true}), "requests": describeRequests(c)}
	for name, text := range texts {
		file := filepath.Join(*record, filepath.Base(t.Name())+"."+name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkContract checks the report against the published schema, masked and in clear.
func checkContract(t *testing.T, c *Comparison) {
	t.Helper()
	for _, mask := range []Mask{{}, {Show: true}} {
		raw, err := json.Marshal(report.New("test", time.Unix(0, 0), []report.Release{c.Report(mask)}))
		if err != nil {
			t.Fatal(err)
		}
		reporttest.ValidateReport(t, raw)
	}
}

// checkCanaries wants every line of the file in the comparison, in clear, and none in the report.
func checkCanaries(t *testing.T, canaries string, c *Comparison, report string) {
	t.Helper()
	shown := describe(c) + fmt.Sprintf("%#v", c.Objects)
	for line := range strings.Lines(canaries) {
		canary := strings.TrimSpace(line)
		if !strings.Contains(shown, canary) {
			t.Errorf("the comparison has lost %q", canary)
		}
		if strings.Contains(report, canary) {
			t.Errorf("the report shows %q:\n%s", canary, report)
		}
	}
}

func writeWants(t *testing.T, file string, archive *txtar.Archive, wants map[string]string) {
	files := archive.Files[:0]
	for _, f := range archive.Files {
		if _, ok := wants[f.Name]; !ok {
			files = append(files, f)
		}
	}
	for _, name := range object.SortedKeys(wants) {
		files = append(files, txtar.File{Name: name, Data: []byte(wants[name])})
	}
	archive.Files = files
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
