package absorb_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// TestPatches absorbs the edits of each case in testdata/patches, and compares the kustomization and the fields that have no patch. The
// search applies each patch before it offers it.
func TestPatches(t *testing.T) {
	files, err := filepath.Glob("testdata/patches/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { checkCase(t, file, patched) })
	}
}

// patched returns the kustomization of a case, followed by the fields without a patch.
func patched(t *testing.T, dir, comment string, parts map[string][]byte) string {
	t.Helper()
	result := resultOf(t, dir, comment, parts)
	var out bytes.Buffer
	if err := output.WriteAbsorb(&out, output.Kustomize, result, output.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "canary") {
		t.Errorf("the kustomization has a secret: %s", out.String())
	}
	for _, f := range result.Fields {
		if f.IsLeft() && !f.Patched {
			out.WriteString("# left: " + described(&absorption.Result{Fields: []absorption.Field{f}}))
		}
	}
	for _, w := range result.Warnings {
		out.WriteString("# warning: " + w.Message + "\n")
	}
	return out.String()
}
