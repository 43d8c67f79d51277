package output

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

func TestFormatIsAFlagValue(t *testing.T) {
	f := Text
	if err := f.Set("yaml"); err != nil || f != YAML || f.String() != "yaml" || f.Type() != "format" {
		t.Errorf("Set(yaml) makes it %q, %v", f, err)
	}
	err := f.Set("xml")
	if err == nil || !strings.Contains(err.Error(), "text, json, yaml") {
		t.Errorf("Set(xml): %v, want an error that lists the formats", err)
	}
	if f != YAML {
		t.Errorf("a refused word changed the format to %q", f)
	}
	if err := Write(&bytes.Buffer{}, "xml", &report.Report{}, Options{}); err == nil {
		t.Error("Write takes an unknown format")
	}
}

// fixedTime is the time of the reports that tests make.
var fixedTime = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

type brokenPipe struct{}

var errPipe = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestWriteReturnsTheWritersError(t *testing.T) {
	for _, f := range formats() {
		if err := Write(brokenPipe{}, f.name, &report.Report{}, Options{}); !errors.Is(err, errPipe) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

func TestJSONKeepsTheContract(t *testing.T) {
	for name, r := range reports(t) {
		doc := render(t, JSON, r, Options{})
		reporttest.ValidateReport(t, doc)
		if diff := cmp.Diff(r, reporttest.Decode[report.Report](t, doc)); diff != "" {
			t.Errorf("%s decodes to something else (-want +got):\n%s", name, diff)
		}
		if name == "upgrade" && !bytes.Contains(doc, []byte("9007199254740993")) {
			t.Error("a large integer lost digits")
		}
	}
}

// TestEmptyScanKeepsTheContract: a selection without a release, such as an empty shard, has an empty list of releases.
func TestEmptyScanKeepsTheContract(t *testing.T) {
	r := report.NewScan("v", fixedTime, nil, nil, report.Scan{Seconds: 1, Shard: &report.Shard{Index: 1, Count: 4}})
	reporttest.ValidateReport(t, render(t, JSON, r, Options{}))
}

func TestYAMLSaysWhatJSONSays(t *testing.T) {
	for name, r := range reports(t) {
		doc, err := yaml.YAMLToJSON(render(t, YAML, r, Options{}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		reporttest.ValidateReport(t, doc)
		if diff := cmp.Diff(r, reporttest.Decode[report.Report](t, doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	for _, r := range reports(t) {
		for width := 1; width < 200; width += 13 {
			checkText(t, r, Options{Text: text.Options{Unicode: true, Width: width}})
			checkText(t, r, Options{Text: text.Options{Width: width}})
			checkText(t, r, Options{Text: text.Options{Unicode: true, Width: width, Timeline: true}})
		}
	}
}

// TestWhatIsBeingDeleted: the answer says what is being deleted, even if it is only the namespace.
func TestWhatIsBeingDeleted(t *testing.T) {
	release := report.Release{
		Name: "web", Namespace: "prod", Operation: report.OperationDrift, Terminating: true, Drifted: true, Compared: 2,
		Warnings: []report.Message{}, Errors: []report.Message{}, NotCompared: []report.NotCompared{}, StorageNamespace: "prod",
	}
	object := report.Object{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: "prod", Name: "a", Action: report.ActionNone, Terminating: true, Drifted: true,
		Notes: report.Notes{"it is being deleted"}, Fields: []report.Finding{},
	}
	for name, c := range map[string]struct {
		objects []report.Object
		want    []string
	}{
		"an object": {[]report.Object{object}, []string{
			"  DRIFTED   its namespace is being deleted, 1 of 2 objects being deleted\n",
			"ConfigMap a: being deleted; the next upgrade leaves it as it is",
			"  do        nothing can be put back while the namespace is being deleted",
		}},
		"the namespace alone": {[]report.Object{}, []string{
			"  DRIFTED   its namespace is being deleted, no drift in 2 objects\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			release.Objects = c.objects
			r := report.New("v0", time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), []report.Release{release})
			var text, doc bytes.Buffer
			if err := Write(&text, Text, r, Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(text.String(), want) {
					t.Errorf("%q is not in\n%s", want, text.String())
				}
			}
			if err := Write(&doc, JSON, r, Options{}); err != nil {
				t.Fatal(err)
			}
			reporttest.ValidateReport(t, doc.Bytes())
		})
	}
}
