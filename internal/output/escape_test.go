package output

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// hostile are texts that do something to a terminal, a CI agent or a reader, and what is shown instead of them.
func hostile() []struct{ in, want, ascii string } {
	return []struct{ in, want, ascii string }{
		{"nginx:1.27", "nginx:1.27", ""},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, ""},
		{"\x1b]0;title\x07\x1b]8;;https://ex.com\x1b\\", `\x1b]0;title\x07\x1b]8;;https://ex.com\x1b\`, ""},
		{"a\rb\tc\bd", `a\rb\tc\x08d`, ""},
		{"\x00\x7f", `\x00\x7f`, ""},
		{"\u0085\u009b31m", `\u0085\u009b31m`, ""},
		{"user\u202e\u2066// admin", `user\u202e\u2066// admin`, ""},
		{"a\u200bb\u00adc\ufeff", `a\u200bb\u00adc\ufeff`, ""},
		{"a\u2028b\u00a0c\u3000d", `a\u2028b\u00a0c\u3000d`, ""},
		{"\ufe0f\u3164\U000e0041", `\ufe0f\u3164\U000e0041`, ""},
		{"bad\xff\xc3", `bad\xff\xc3`, ""},
		{"é日本\U0001f600", "é日本\U0001f600", `\u00e9\u65e5\u672c\U0001f600`},
		{"\u0430dmin", "\u0430dmin", `\u0430dmin`},
		{"e\u0301", "e\u0301", `e\u0301`},
		{"\u0301e", `\u0301e`, ""},
		{"e" + strings.Repeat("\u0301", 5), "e" + strings.Repeat("\u0301", 4) + `\u0301`, "e" + strings.Repeat(`\u0301`, 5)},
		{`a\nb`, `a\nb`, ""},
		{"##vso[x]", `\x23#vso[x]`, ""},
		{"a ##[group]", `a \x23#[group]`, ""},
		{"## heading [x]", "## heading [x]", ""},
	}
}

// TestEscape: a hostile text is shown in the same way wherever it goes, and escaping twice is escaping once.
func TestEscape(t *testing.T) {
	for _, c := range hostile() {
		for _, ascii := range []bool{false, true} {
			want := c.want
			if ascii && c.ascii != "" {
				want = c.ascii
			}
			if got := escape.Text(c.in, ascii); got != want || escape.Text(got, ascii) != got {
				t.Errorf("Escape(%q, %t) = %s, want %s", c.in, ascii, got, want)
			}
			if got := escape.Lines("a\n"+c.in+" \n", ascii); got != "a\n"+escape.Gutter(ascii)+want {
				t.Errorf("EscapeLines(%q, %t) = %s", c.in, ascii, got)
			}
			var log bytes.Buffer
			if _, err := io.WriteString(escape.Writer(&log, ascii), "x"+c.in+"\n"); err != nil || log.String() != escape.Text("x"+c.in, ascii)+"\n" {
				t.Errorf("a log has %q as %q, %v", c.in, log.String(), err)
			}
			r := &report.Report{Releases: []report.Release{{Warnings: []report.Message{{Message: "a\n" + c.in}}}}}
			if out := string(render(t, Text, r, Options{Text: text.Options{Unicode: !ascii}})); !strings.Contains(out, "warning: "+escape.Lines("a\n"+c.in, ascii)+"\n") {
				t.Errorf("a report has %q as\n%s", c.in, out)
			}
		}
	}
	if got, want := escape.Text("a\nb", false), `a\nb`; got != want {
		t.Errorf("a line break within a line is shown as %q", got)
	}
}

// FuzzEscape: no format writes a text of a report unescaped, and JSON and YAML lose nothing.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{
		"", "nginx:1.27", "\x1b]0;pwned\x07", "a\n::error::b", "##vso[task.complete]", "\u202e\u2066", "no", "1e3", "0x1F", "~", "- a", "a: b",
		"a:", "::error::", "\xff\xfe", "\u2028", "\u00a0", "\U000e0041", "日本語\u3000",
		"e\u0301\u0301\u0301\u0301\u0301\u0301", "<absent>", "a → b", `"q"\`, strings.Repeat("k", 2000),
	} {
		f.Add(s, 80)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		r := reportOf(s)
		checkText(t, r, Options{Text: text.Options{Unicode: true, Width: max(0, width%200)}})
		checkText(t, r, Options{Text: text.Options{Width: max(0, width%200)}})
		checkText(t, r, Options{Text: text.Options{Unicode: true, Width: max(0, width%200), Timeline: true}})
		scan := *r
		scan.Scan = &report.Scan{Clusters: []string{s, s + "x"}}
		scan.Errors = []report.ScanError{{Cluster: s, Namespace: s, Code: s, Message: s}, {Message: s}}
		checkText(t, &scan, Options{Text: text.Options{Unicode: true, Width: max(0, width%200)}})
		checkText(t, &scan, Options{Text: text.Options{Width: max(0, width%200), Verbose: true}})
		scan.Releases = []report.Release{{Name: s, Namespace: s, Cluster: s, Patch: &report.Patch{LeftOut: []string{s}, Hunks: "@@ -1 +1 @@\n-a\n+b\n"}}}
		checkRaw(t, render(t, Diff, &scan, Options{}))
		if !utf8.ValidString(s) { // no JSON and so no API server can send it
			return
		}
		want := asJSON(t, r)
		doc := render(t, JSON, r, Options{})
		checkRaw(t, doc)
		var got any
		if err := json.Unmarshal(doc, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("JSON alters a value (-want +got):\n%s", diff)
		}
		doc = render(t, YAML, r, Options{})
		checkRaw(t, doc)
		got = nil
		if err := yaml.Unmarshal(doc, &got); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("YAML alters a value (-want +got):\n%s", diff)
		}
	})
}

// reportOf returns a report whose every text is s, so that every branch of the text format writes s.
func reportOf(s string) *report.Report {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	rule, flag := &report.IgnoreRule{Rule: s, Reason: s}, &report.IgnoreRule{Rule: s, LeftOut: true}
	message := []report.Message{{Code: s, Message: s, Object: s, File: s, Line: 3}}
	inside := &report.Inside{Format: s, More: 2, Changes: []report.InsideChange{
		{Path: s, Change: s, Cause: report.CauseDrift, Old: s, Desired: s, Live: s + "x"},
		{Path: s, Change: report.InsideChanged, Cause: report.CauseBoth, Old: s, Desired: map[string]any{s: s}, Live: []any{s, nil}},
		{Path: s, Change: report.InsideAdded, Cause: report.CauseChange, Desired: s}, {Path: s, Change: s, Cause: report.Cause(s), Masked: true},
	}}
	field := func(old, desired, live any, cause report.Cause) report.Finding {
		return report.Finding{
			ID: s, Path: s, Pointer: s, Verdict: report.Overwrite, Cause: cause, Managed: true, Class: report.Class(s), Template: s,
			Old: old, Desired: desired, Live: live, After: s, Notes: report.Notes{s}, IgnoredBy: rule, Inside: inside,
			Owners: []report.Owner{{Manager: s, Operation: s, Subresource: s, Time: &at}, {Manager: s}},
		}
	}
	long := strings.Repeat("x", 40)
	object := report.Object{
		ID: s, APIVersion: s, Kind: s, Namespace: s + "x", Name: s, Source: s, Action: report.ActionUpdate, Reason: s, Engine: report.EngineMerge,
		Notes: report.Notes{s}, IgnoredBy: rule, DryRun: &report.DryRun{Result: s, Message: s},
		Fields: []report.Finding{
			field(s, s, s+"y", report.CauseDrift),
			field(map[string]any{s: s}, nil, []any{s, nil, true, int64(1) << 60}, report.CauseDrift),
			field([]any{long, s}, []any{long}, []any{s + "z", long}, report.CauseDrift),
			field("a\n"+s, "a\n", "b\n"+s+"\nc", report.CauseDrift),
		},
	}
	leftOut, foreign := field(s, s, s+"y", report.CauseDrift), field(s, s, s+"y", report.CauseDrift)
	leftOut.IgnoredBy, foreign.IgnoredBy = flag, nil
	foreign.Verdict, foreign.Class = report.Verdict(s), ""
	object.Fields = append(object.Fields, leftOut, foreign)
	changed, failing, skipped, broken := object, object, object, object
	changed.Fields = append(changed.Fields[:len(changed.Fields):len(changed.Fields)],
		field(s, "other\n"+s, s, report.CauseChange), field(nil, s, "a\n"+s, report.CauseBoth))
	failing.Action, failing.Kind = report.ActionFail, s
	skipped.Action, skipped.BlockedBy = report.ActionSkip, slices.Repeat([]report.ObjectKey{hostileKey(s)}, 2)
	skipped.Name, skipped.GenerateName = "", s
	broken.Error = &report.ObjectError{Code: s, Message: s}
	revision := &report.Revision{Revision: 1, Status: s, Chart: s}
	return &report.Report{
		APIVersion: report.APIVersion, Kind: report.KindReport, Helmdrift: s, Time: at, Summary: report.Summary{Releases: 1, Errors: 3},
		Releases: append(foldedReleases(s, object), report.Release{
			Name: s, Namespace: s, StorageNamespace: s + "x", Cluster: s, Operation: report.Operation(s), ApplyMethod: report.ApplyMethod(s),
			Old: revision, Last: &report.Revision{Revision: 2, Status: s}, Desired: &report.Desired{Source: "chart", Chart: s, Helm: s},
			Warnings: message, Errors: message, NotCompared: []report.NotCompared{{Kind: s, Name: s, Reason: s}},
			Deployer: &report.Deployer{
				Kind: s, Namespace: s, Name: s, Controller: s, Action: report.DeployerAction(s), Otherwise: report.DeployerAction(s), Reason: s,
				PutsBack: report.PutsBack(s), Inputs: []report.DeployerInput{{Use: s, Kind: s, Namespace: s, Name: s, Version: s}},
			},
			Objects: []report.Object{object, changed, failing, skipped, broken},
		}),
		Scan: claimsOf(s),
	}
}

// claimsOf is a scan with an orphan and an overlap. Each text in it is s.
func claimsOf(s string) *report.Scan {
	named := report.ClaimedObject{Cluster: s, APIVersion: s, Kind: s, Namespace: s, Name: s}
	return &report.Scan{
		Clusters: []string{s, s + "x"}, Idle: []string{s}, Times: map[string]time.Time{s: time.Date(2026, 11, 19, 10, 0, 0, 0, time.UTC)},
		Orphans: []report.Orphan{{ClaimedObject: named, Release: s, ReleaseNamespace: s + "x", Reason: report.OrphanReason(s), Problem: s,
			Revision: &report.Revision{Revision: 1, Status: s, Chart: s}}},
		Overlaps: []report.Overlap{{ClaimedObject: named, Claims: []report.Claim{{Kind: s, Namespace: s, Name: s, By: report.ClaimSource(s)}}}},
	}
}

// hostileKey returns the key of an object whose names are all s.
func hostileKey(s string) (k report.ObjectKey) {
	k.Group, k.Kind, k.Namespace, k.Name = s+".", s, s, s
	return k
}

// foldedReleases are previews where everything folds that can: groups, volatile fields, skipped and created objects, and objects that the
// server could not be asked about.
func foldedReleases(s string, object report.Object) []report.Release {
	grouped := report.Finding{ID: s, Path: s, Verdict: report.Overwrite, Cause: report.CauseChange, Old: s, Desired: s + "y", Live: s, Notes: report.Notes{s}}
	made := report.Finding{ID: s, Path: s, Verdict: report.Overwrite, Cause: report.CauseChange, Class: report.ClassVolatile, Template: s}
	plain := report.Object{APIVersion: s, Kind: s, Namespace: s, Name: s, Engine: report.EngineMerge}
	var objects []report.Object
	for i := range 20 {
		updated, created, skipped := plain, plain, plain
		updated.Action, updated.DryRun = report.ActionUpdate, &report.DryRun{Result: report.DryRunRefused, Message: s + "\n" + s}
		updated.Fields = []report.Finding{grouped, made}
		created.Action = report.ActionCreate
		skipped.Action, skipped.BlockedBy = report.ActionSkip, slices.Repeat([]report.ObjectKey{hostileKey(s)}, 5)
		objects = append(objects, created)
		if i < 5 {
			objects = append(objects, updated, skipped)
		}
	}
	deleted, disagreeing := object, object
	deleted.Action, deleted.Fields = report.ActionDelete, object.Fields[:2]
	disagreeing.DryRun, disagreeing.Notes = &report.DryRun{Result: report.DryRunDisagrees, Message: s + "\n" + s}, report.Notes{s + "\n" + s}
	objects = append(objects, deleted, disagreeing)
	var releases []report.Release
	for _, op := range []report.Operation{report.OperationUpgrade, report.OperationInstall} {
		releases = append(releases, report.Release{
			Name: s, Namespace: s + "x", Operation: op, Desired: &report.Desired{Source: "revision", Revision: 3, Chart: s}, Objects: objects,
			Errors: []report.Message{{Code: "render", Message: s + "\n" + s, File: s}},
		})
	}
	return releases
}

// asJSON is the report as encoding/json alone encodes and decodes it.
func asJSON(t *testing.T, r *report.Report) any {
	t.Helper()
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func checkText(t *testing.T, r *report.Report, opts Options) {
	t.Helper()
	checkLines(t, render(t, Text, r, opts), opts)
}

// checkLines checks that a text fits its terminal.
func checkLines(t *testing.T, out []byte, opts Options) {
	t.Helper()
	checkRaw(t, out)
	for _, line := range strings.Split(string(out), "\n") {
		if w := monospace.Width(line); opts.Text.Width > 0 && w > max(opts.Text.Width, layout.MinWidth) {
			t.Errorf("%d columns where there are %d: %q", w, opts.Text.Width, line)
		}
		if !opts.Text.Unicode && strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			t.Errorf("not ASCII: %q", line)
		}
	}
}

// TestMessagesKeepTheirLines: a message of several lines keeps its lines, and no line begins with a word of the message, on a terminal or
// not.
func TestMessagesKeepTheirLines(t *testing.T) {
	const message = "\n  first: \r\n::error::second\n\n    third \x1b[31m\n\n"
	r := &report.Report{Releases: []report.Release{{
		Operation: report.OperationUpgrade,
		Errors:    []report.Message{{Message: message, File: "a.yaml", Line: 7}, {Message: message, File: "first", Line: 0}},
		Objects:   []report.Object{{Kind: "Job", Name: "j", Action: report.ActionFail, Reason: message, Notes: report.Notes{message}}},
	}}}
	for _, width := range []int{0, 40, 80} {
		out := string(render(t, Text, r, Options{Text: text.Options{Unicode: true, Width: width}}))
		for _, want := range []string{
			"\nerror: first: (a.yaml:7)\n│ ::error::second\n│\n│     third \\x1b[31m\n",
			"\nerror: first:\n│ ::error::second\n│\n│     third \\x1b[31m\n",
			"\n  │ ::error::second\n  │\n  │     third \\x1b[31m\n  │ first:\n  │ ::error::second\n  │\n  │     third \\x1b[31m\n",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("at %d columns there is no\n%s\nin\n%s", width, want, out)
			}
		}
	}
}

// checkRaw fails the test if a document has what must not reach a terminal or a CI agent, in any format.
func checkRaw(t *testing.T, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Errorf("invalid UTF-8: %q", out)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.ContainsFunc(line, escape.IsHidden) {
			t.Errorf("raw control character: %q", line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a line begins with a value: %q", line)
		}
		for i := range line {
			if escape.StartsCommand(line[i:]) {
				t.Errorf("a CI command: %q", line)
			}
		}
	}
}
