package absorb

import (
	"context"
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
