package program

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// TestPostRenderer runs real programs over a manifest.
func TestPostRenderer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	for name, test := range map[string]struct{ script, want, err string }{
		"changes": {"sed s/a/b/ $1", "kind: bbc", ""},
		"silent":  {"cat > /dev/null", "", "printed nothing"},
		"fails":   {"echo 'no such overlay' >&2; exit 3", "", "ended with exit code 3:\nno such overlay"},
		"talks":   {"exec cat /dev/zero", "", "/render prints more than 2 MiB"}, // it never ends by itself
		"leaves":  {`echo kind: b; while [ -e "$0" ]; do sleep 0.1; done &`, "", "a program that it started keeps its output open"},
		"hangs":   {"sleep 5 & wait", "", "deadline"},
		"folder":  {"cat all.yaml", "kind: there", ""},
	} {
		t.Run(name, func(t *testing.T) {
			program, dir := filepath.Join(t.TempDir(), "render"), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "all.yaml"), []byte("kind: there"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, patience := t.Context(), time.Minute
			if name == "hangs" {
				patience = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			got, err := PostRenderer{Command: program, Dir: dir, MaxOutput: 2 << 20}.Run(ctx, []byte("kind: abc"))
			if string(got) != test.want {
				t.Errorf("%.40q, want %q", got, test.want)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %s", err, test.err)
			}
			if wants := map[bool]string{true: "--render-memory allows more"}[name == "talks"]; hint.Of(err) != wants {
				t.Errorf("hint %q, want %q", hint.Of(err), wants)
			}
		})
	}
	if _, err := (PostRenderer{Command: "no-such-program"}).Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "was not found") {
		t.Errorf("error %v", err)
	}
}
