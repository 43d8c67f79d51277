package absorb

import (
	"context"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/drift"
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
