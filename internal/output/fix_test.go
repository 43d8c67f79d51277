package output

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// fixText returns all that somebody sees of a fix on a terminal: the plan, the question if there is one, and the result.
func fixText(t testing.TB, r *report.FixResult, opts Options) []byte {
	t.Helper()
	var out bytes.Buffer
	errs := []error{WriteFixPlan(&out, r, opts)}
	if len(r.Plan) > 0 && r.DryRun == "" {
		errs = append(errs, WriteFixQuestion(&out, r, opts))
		out.WriteString("y\n")
	}
	errs = append(errs, WriteFix(&out, Text, r, opts))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestFixGolden compares the views of each result. Only results with much text have a view of every width.
func TestFixGolden(t *testing.T) {
	for name, r := range fixes(t) {
		t.Run(name, func(t *testing.T) {
			all := views
			if slices.Contains([]string{"mixed", "hostile", "rollout", "rollout-hostile"}, name) {
				all = slices.Concat(views, wideViews, allViews)
			}
			for _, v := range all {
				got := fixText(t, r, v.opts)
				if v.format != Text {
					got = renderFix(t, v.format, r)
				}
				golden(t, filepath.Join("testdata", "fix", name+"."+v.suffix), got)
			}
		})
	}
}

func renderFix(t *testing.T, f Format, r *report.FixResult) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteFix(&out, f, r, Options{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFixKeepsTheContract: JSON and YAML decode to the result.
func TestFixKeepsTheContract(t *testing.T) {
	for name, r := range fixes(t) {
		fromYAML, err := yaml.YAMLToJSON(renderFix(t, YAML, r))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, doc := range [][]byte{renderFix(t, JSON, r), fromYAML} {
			reporttest.ValidateReport(t, doc)
			if diff := cmp.Diff(r, reporttest.Decode[report.FixResult](t, doc)); diff != "" {
				t.Errorf("%s decodes to something else (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestFixTextFitsTheTerminal: no line is longer than the terminal is wide, and none begins with a value.
func TestFixTextFitsTheTerminal(t *testing.T) {
	for _, r := range fixes(t) {
		for width := 1; width < 200; width += 13 {
			wide := Options{Text: text.Options{Unicode: true, Width: width}}
			checkLines(t, fixText(t, r, wide), wide)
			plain := Options{Text: text.Options{Width: width}}
			checkLines(t, fixText(t, r, plain), plain)
		}
	}
}

// TestFixAfterCounts: the summaries of hand-written results are those that report.New makes.
func TestFixAfterCounts(t *testing.T) {
	for name, r := range fixes(t) {
		if r.After == nil {
			continue
		}
		want := report.New(r.Helmdrift, r.Time, r.After.Releases).Summary
		if diff := cmp.Diff(want, r.After.Summary); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOwnerOnly: if a fix changes the owner of a field alone, its value is written once, and masked if it is a secret. The package comment
// shows the same.
func TestOwnerOnly(t *testing.T) {
	at := fixedTime.Add(-5 * time.Minute)
	field := func(path string, live any) report.Finding {
		return report.Finding{Path: path, Verdict: report.Conflict, Cause: report.CauseDrift, Managed: true, Certain: true, Equivalent: true,
			OwnerOnly: true, Old: false, Live: live, Notes: report.Notes{"conflict with kubectl-edit"},
			Owners: []report.Owner{{Manager: "kubectl-edit", Time: &at}}}
	}
	secret := field("data.pw", nil)
	secret.Masked, secret.Pointer, secret.Old = true, "/data/pw", nil
	list := field("spec.ingress", []any{map[string]any{"ports": []any{map[string]any{"port": int64(80), "protocol": "TCP"}}}})
	r := &report.FixResult{Name: "web", Time: fixedTime, Plan: []report.FixPlan{{
		Object: report.ObjectKey{Key: object.Key{Group: "apps", Kind: "Deployment", Name: "web"}},
		Fields: []report.Finding{field("spec.paused", false), secret, list},
	}}}
	out := strings.Join(strings.Fields(string(fixText(t, r, Options{Text: text.Options{Unicode: true}}))), " ")
	for _, want := range []string{
		"± keeps spec.paused false kubectl-edit, 5 min ago · only its owner changes ±",
		"± keeps data.pw ••• kubectl-edit", `± keeps spec.ingress [{"ports":[{"port":80,"protocol":"TCP"}]}] kubectl-edit`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for width := 40; width < 120; width += 7 {
		checkLines(t, fixText(t, r, Options{Text: text.Options{Unicode: true, Width: width}}), Options{Text: text.Options{Unicode: true, Width: width}})
	}
}
