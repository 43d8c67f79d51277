package absorb_test

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

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/internal/output/reporttest"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

var update = flag.Bool("update", false, "rewrite what the cases want")

// TestCases absorbs the edits of each case in testdata: a chart, a values file, edits in the cluster, and the expected result.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { checkCase(t, file, absorbed) })
	}
}

// checkCase compares the result of a case with the wanted part of its file.
func checkCase(t *testing.T, file string, made func(t *testing.T, dir, comment string, parts map[string][]byte) string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, f := range archive.Files {
		parts[f.Name] = f.Data
	}
	got := made(t, t.TempDir(), string(archive.Comment), parts)
	if *update {
		rewrite(t, file, archive, got)
	} else if diff := cmp.Diff(string(parts["want"]), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func absorbed(t *testing.T, dir, comment string, parts map[string][]byte) string {
	t.Helper()
	return described(resultOf(t, dir, comment, parts))
}

// resultOf absorbs the edits of a case, and returns the result.
func resultOf(t *testing.T, dir, comment string, parts map[string][]byte) *absorption.Result {
	t.Helper()
	chart := map[string][]byte{}
	for name, data := range parts {
		if inside, ok := strings.CutPrefix(name, "chart/"); ok {
			chart[inside] = data
		}
	}
	if chart["Chart.yaml"] == nil {
		chart["Chart.yaml"] = []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")
	}
	writeFiles(t, dir, chart)
	c, err := install(t.Context(), dir, parts["file.yaml"], strings.Contains(comment, "helm4"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.edit(string(parts["edits"])); err != nil {
		t.Fatal(err)
	}
	a, err := absorb.Run(t.Context(), c.connection(), target(dir, parts["file.yaml"]), absorb.Options{
		Options:   drift.Options{NoHooks: strings.Contains(comment, "no-hooks")},
		Unmanaged: strings.Contains(comment, "unmanaged"), NoPatches: strings.Contains(comment, "no-patches"),
		Rewrite: func(edits []search.Edit, _ map[string]any) ([]byte, error) {
			if text := parts["rewritten"]; text != nil {
				return text, nil
			}
			return absorb.RewriteValues("values.yaml", parts["file.yaml"], edits)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	result := a.Report("test", time.Now())
	doc, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	reporttest.ValidateReport(t, doc)
	if strings.Contains(string(doc), "canary") {
		t.Errorf("the result has a secret: %s", doc)
	}
	return result
}

// described writes a result in the form of the cases.
func described(r *absorption.Result) string {
	var b strings.Builder
	for _, f := range r.Fields {
		path := ""
		if f.Field != nil {
			path = " " + f.Field.Path
		}
		fmt.Fprintf(&b, "%s %s%s: %s", f.Object.Kind, f.Object.Name, path, f.Status)
		if f.Reason != "" {
			fmt.Fprintf(&b, " (%s)", f.Reason)
		}
		if f.Line > 0 {
			fmt.Fprintf(&b, " %s:%d", f.File, f.Line)
		}
		b.WriteString("\n")
		if f.Reason == absorption.LeftNotRendered || f.Reason == absorption.LeftConflict && len(f.With) == 0 ||
			f.Reason == absorption.LeftSideEffects && len(f.Others) == 0 {
			fmt.Fprintf(&b, "  %s\n", f.Message)
		}
		describeEdits(&b, "  ", f.Edits, f.SideEffects)
		for _, o := range f.Others {
			b.WriteString("  or\n")
			describeEdits(&b, "    ", o.Edits, o.SideEffects)
		}
		for _, w := range f.Ways {
			fmt.Fprintf(&b, "  way out: %s\n", w)
		}
		for _, w := range f.With {
			fmt.Fprintf(&b, "  conflicts with %s %s %s\n", w.Object.Kind, w.Object.Name, w.Path)
		}
	}
	for _, e := range r.Edits {
		describeEdits(&b, "edit ", []absorption.ValueEdit{e}, nil)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w.Message)
	}
	return b.String()
}

func describeEdits(b *strings.Builder, indent string, edits []absorption.ValueEdit, effects []absorption.Effect) {
	for _, e := range edits {
		switch {
		case e.Masked:
			fmt.Fprintf(b, "%s%s masked\n", indent, e.Name)
		case e.Remove:
			fmt.Fprintf(b, "%s%s removed\n", indent, e.Name)
		default:
			fmt.Fprintf(b, "%s%s: %s -> %s\n", indent, e.Name, shown(e.Old), shown(e.New))
		}
	}
	for _, e := range effects {
		values := shown(e.Before) + " -> " + shown(e.After)
		if e.Masked {
			values = "masked"
		}
		name := "also "
		if e.Hook != nil {
			name = "also hook (" + strings.Join(e.Hook, ", ") + ") "
		}
		fmt.Fprintf(b, "%s%s%s %s %s%s: %s", indent, name, e.Object.Kind, e.Object.Name, e.Path, e.Action, values)
		if e.Derived {
			b.WriteString(" (derived)")
		}
		if e.Verdict != "" {
			fmt.Fprintf(b, " %s", e.Verdict)
		}
		b.WriteString("\n")
	}
}

func shown(v any) string {
	if text, ok := v.(string); ok && len(text) > 60 {
		v = text[:20] + "…"
	}
	return strings.TrimSpace(fmt.Sprintf("%v", v))
}

// rewrite puts the result into the file of a case.
func rewrite(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	found := false
	for i := range archive.Files {
		if archive.Files[i].Name == "want" {
			archive.Files[i].Data, found = []byte(got), true
		}
	}
	if !found {
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}
