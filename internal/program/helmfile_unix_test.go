//go:build unix

package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHelmfileHangs interrupts a helmfile that waits forever, in a program that it has started. Run returns the cause at once.
func TestHelmfileHangs(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	script := "#!/bin/sh\nsh -c ': > \"$STARTED\"; sleep 600'\n"
	if err := os.WriteFile(filepath.Join(dir, "helmfile"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	interrupted := errors.New("interrupted")
	ctx, interrupt := context.WithCancelCause(t.Context())
	go func() {
		for range 600 {
			if _, err := os.Stat(started); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		interrupt(interrupted)
	}()
	ended := make(chan error, 1)
	go func() {
		_, err := Helmfile{Env: []string{"STARTED=" + started}}.Run(ctx, "build")
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, interrupted) {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("helmfile outlives the interrupt")
	}
}
