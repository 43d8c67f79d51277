package controlplane

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func options(t *testing.T, assets string) Options {
	t.Helper()
	module, err := FindModule(".")
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Builder: Builder{Module: module, Assets: assets, Log: t.Output()},
		Dir:     filepath.Join(t.TempDir(), "plane"),
	}
}

func TestPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the real servers")
	}
	options := options(t, os.Getenv("HELMDRIFT_CONTROLPLANE_ASSETS"))
	options.Controllers, options.FakeNodes = true, 2
	started, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Stop() })
	plane, err := Load(options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if !plane.Running() || len(plane.processes) != 5 {
		t.Errorf("plane does not run: %+v", plane)
	}
	t.Run("nodes", func(t *testing.T) { checkNodes(t, plane.Kubeconfig) })
	// Stop only needs the state file, as in another process.
	if err := plane.Stop(); err != nil {
		t.Fatal(err)
	}
	if plane.Running() || started.Running() {
		t.Error("a process outlives Stop")
	}
	if _, err := Load(options.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Stop: %v", err)
	}
}

func TestStartReportsWhyAServerEnded(t *testing.T) {
	assets := t.TempDir()
	script(t, assets, etcd, "exec sleep 60")
	script(t, assets, apiServer, "echo no such flag; exit 1")
	options := options(t, assets)
	_, err := Start(t.Context(), options)
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended: no such flag") {
		t.Errorf("error %v", err)
	}
	if exists(options.Dir) {
		t.Error("the folder is left behind")
	}
}

func TestStartTriesOtherPorts(t *testing.T) {
	assets := t.TempDir()
	count := filepath.Join(assets, "count")
	script(t, assets, etcd, "exec sleep 60")
	script(t, assets, apiServer, "echo x >> "+count+"; echo bind: address already in use; exit 1")
	if _, err := Start(t.Context(), options(t, assets)); !errors.Is(err, errPortTaken) {
		t.Errorf("error %v", err)
	}
	if text, _ := os.ReadFile(count); len(text) != len("x\n")*3 {
		t.Errorf("attempts: %q", text)
	}
}

func TestStopSparesUnrelatedProcesses(t *testing.T) {
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	// The record is old, and its process id now belongs to another process.
	plane := &Plane{Dir: t.TempDir(), processes: []process{{Name: etcd, PID: stranger.Process.Pid}}}
	if plane.Running() {
		t.Error("a stranger counts as running")
	}
	if err := plane.Stop(); err != nil {
		t.Fatal(err)
	}
	if ended(stranger.Process.Pid) {
		t.Error("the stranger was ended")
	}
}

func TestWaitNoticesAnEnd(t *testing.T) {
	dir := t.TempDir()
	script(t, dir, etcd, "echo disk full")
	child, err := spawn(program{name: etcd, binary: filepath.Join(dir, etcd)}, filepath.Join(dir, "log"), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = (&Plane{Dir: dir, processes: []process{child}}).Wait(ctx)
	if err == nil || err.Error() != "etcd ended: disk full" {
		t.Errorf("error %v", err)
	}
}
