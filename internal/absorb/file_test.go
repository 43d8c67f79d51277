package absorb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/absorb/search"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestLoginOfFile shows a values file of a server without its login.
func TestLoginOfFile(t *testing.T) {
	chart := &drift.Chart{ReadFile: func(context.Context, string) ([]byte, error) { return []byte("replicas: 2\n"), nil }}
	const name, want = "https://me:canary@example.com/values.yaml?token=canary", "https://example.com/values.yaml"
	file, err := ReadFile(t.Context(), name, want, chart)
	if err != nil {
		t.Fatal(err)
	}
	edits := []Edit{{Path: []any{"replicas"}, Value: 3}}
	content, err := file.Rewrite(edits, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := Absorption{Result: &drift.Result{Comparison: &threeway.Comparison{}}, Edits: edits, Content: content}
	r := absorption.Result{Fields: []absorption.Field{{File: "templates/web.yaml"}, {Reason: absorption.LeftConflict, File: name}}}
	if err := file.Describe(&r, &a); err != nil {
		t.Fatal(err)
	}
	if r.Fields[0].File != "templates/web.yaml" || r.Fields[1].File != want {
		t.Errorf("%+v", r.Fields)
	}
	if r.ValuesFile != want || !strings.Contains(r.Patch, "--- "+want) || strings.Contains(r.Patch, "canary") {
		t.Errorf("the values file is %s, and the patch is\n%s", r.ValuesFile, r.Patch)
	}
}

// TestDefaults edits the values.yaml of a chart: it takes a new value, and not that one goes. That of a subchart takes nothing.
func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	chart, below := filepath.Join(dir, "chart"), filepath.Join(dir, "chart", "charts", "cache")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	const text = "a: {b: 1, c: 2}\n"
	for _, folder := range []string{chart, below, dir} {
		if err := os.WriteFile(filepath.Join(folder, "values.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(chart, "values.yaml"), filepath.Join(dir, "link.yaml")); err != nil {
		t.Skip(err)
	}
	before := map[string]any{"a": map[string]any{"b": 1.0, "c": 2.0}}
	for _, test := range []struct {
		name    string
		edit    Edit
		refused bool
	}{
		{"chart/values.yaml", Edit{Path: []any{"a", "b"}}, true},
		{"link.yaml", Edit{Path: []any{"a", "b"}}, true},
		{"chart/values.yaml", Edit{Path: []any{"a"}, Value: map[string]any{"b": 1.0}}, true},
		{"chart/values.yaml", Edit{Path: []any{"a", "b"}, Remove: true}, true},
		{"chart/values.yaml", Edit{Path: []any{"a", "b"}, Value: 3.0}, false},
		{"chart/values.yaml", Edit{Path: []any{"d"}, Value: 3.0}, false},
		{"chart/values.yaml", Edit{Path: []any{"cache", "size"}}, false}, // a default of the subchart goes
		{"values.yaml", Edit{Path: []any{"a", "b"}}, false},
	} {
		file, err := ReadFile(t.Context(), filepath.Join(dir, test.name), test.name, &drift.Chart{Ref: chart})
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.Rewrite([]Edit{test.edit}, before)
		var refusal *Refusal
		if errors.As(err, &refusal) != test.refused || err != nil && !test.refused {
			t.Errorf("%s, %v: %v", test.name, test.edit, err)
		}
	}
	_, err := ReadFile(t.Context(), filepath.Join(below, "values.yaml"), "sub.yaml", &drift.Chart{Ref: chart})
	if err == nil || !strings.Contains(err.Error(), "absorb cannot change sub.yaml: it has the defaults of a subchart") {
		t.Error(err)
	}
}

// TestReset describes changes of the values that a release stores: all values are needed only if one of them goes.
func TestReset(t *testing.T) {
	type values = map[string]any
	of := &report.ObjectKey{}
	for name, test := range map[string]struct {
		file          File
		of            *report.ObjectKey
		stored, after values
		want          absorption.Result
	}{
		"one goes": {
			stored: values{"a": values{"b": 1, "c": 2}}, after: values{"a": values{"c": 2}},
			want: absorption.Result{Reset: true, Values: values{"a": values{"c": 2}}},
		},
		"all go": {
			stored: values{"a": values{"b": 1}}, after: values{"a": values{}},
			want: absorption.Result{Reset: true, Values: values{"a": values{}}},
		},
		"one becomes null": {
			stored: values{"a": 1}, after: values{"a": nil}, want: absorption.Result{Reset: true, Values: values{"a": nil}},
		},
		"with a secret": {
			stored: values{"a": 1, "password": "canary"}, after: values{"password": "canary"}, want: absorption.Result{Reset: true, Masked: true},
		},
		"one changes":    {stored: values{"a": values{"b": 1}}, after: values{"a": values{"b": 2}}},
		"a default goes": {stored: values{"a": values{"b": 1}}, after: values{"a": values{"b": 1, "c": nil}}},
		"a controller has them": {
			of: of, stored: values{"a": values{"b": 1}}, after: values{"a": values{}}, want: absorption.Result{ValuesOf: of},
		},
		"a file": {
			file: File{name: "f.yaml", title: "f.yaml"}, stored: values{"a": 1}, after: values{}, want: absorption.Result{ValuesFile: "f.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := Absorption{
				Result: &drift.Result{Comparison: &threeway.Comparison{}}, Edits: []Edit{{Path: []any{"a"}}}, Edited: test.stored,
				found: search.Result{Edited: test.after},
			}
			got := absorption.Result{ValuesOf: test.of}
			if err := test.file.Describe(&got, &a); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
