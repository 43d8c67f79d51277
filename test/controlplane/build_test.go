package controlplane

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestBuildHappensOnce checks that only one of several concurrent builds compiles,
// because the test binaries of several packages start at the same time.
func TestBuildHappensOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module m\n\ngo 1.26\n")
	write(t, dir, "go.sum", "")
	write(t, dir, "cmd/etcd/main.go", "package main\n\nfunc main() { println(\"built\") }\n")
	log := &lockedBuffer{}
	builder := Builder{Module: Module{Dir: dir, Version: "v1.2.3"}, Cache: t.TempDir(), Log: log}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			paths, err := builder.Build(t.Context(), etcd)
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := exec.Command(paths[etcd]).CombinedOutput(); err != nil || string(out) != "built\n" {
				t.Errorf("%s says %q, %v", paths[etcd], out, err)
			}
		})
	}
	all.Wait()
	if builds := strings.Count(log.text.String(), "building etcd"); builds != 1 {
		t.Errorf("%d builds:\n%s", builds, log.text.String())
	}
}

type lockedBuffer struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.Write(text)
}
