package tempdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNew names the variable if there is no folder for temporary files.
func TestNew(t *testing.T) {
	dir, err := New()
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(dir)
	gone := filepath.Join(t.TempDir(), "gone")
	t.Setenv("TMPDIR", gone)
	t.Setenv("TMP", gone)
	if _, err := New(); err == nil || !strings.Contains(err.Error(), gone) || !strings.Contains(err.Error(), "; TMP") || strings.Contains(err.Error(), "helmdrift-") {
		t.Errorf("the error is %v", err)
	}
}
