package helmfile

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecord runs a helmfile that fails before it calls helm for two of three releases. It runs again for each of these, without the
// selector, and the fault of one costs no other.
func TestRecord(t *testing.T) {
	run, err := NewRun(os.Args[0])
	if err == nil {
		err = run.passTo("real-helm", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	call := func(name string) {
		text, err := json.Marshal(Call{Args: []string{"diff", "upgrade", "--allow-unreleased", name, "chart"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run.folder, callsName, name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	runner := func(_ context.Context, args ...string) ([]byte, error) {
		asked = append(asked, strings.Join(args, " "))
		switch one := args[slices.Index(args, "--selector")+1]; one {
		case "tier=web":
			call("api")
			return nil, errors.New("the values of cache are missing")
		case "name=web":
			call("web")
			return nil, nil
		default:
			return nil, errors.New("no values for " + one)
		}
	}
	state := &State{}
	for _, name := range []string{"api", "cache", "web"} {
		state.Releases = append(state.Releases, Declared{Name: name, IsInstalled: true})
	}
	all, calls, err := run.Record(t.Context(), runner, []string{"--file", "helmfile.yaml", "--selector", "tier=web"}, state)
	if err != nil || len(calls) != 2 {
		t.Fatalf("%d calls: %v", len(calls), err)
	}
	want := []string{
		"--file helmfile.yaml --selector tier=web diff",
		"--file helmfile.yaml --selector name=cache diff", "--file helmfile.yaml --selector name=web diff",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("helmfile ran with %q, want %q", asked, want)
	}
	faults := map[string]string{}
	for _, r := range all {
		faults[r.Name] = r.Fault
	}
	if faults["api"] != "" || faults["web"] != "" || faults["cache"] != "no values for name=cache" {
		t.Errorf("the faults are %q", faults)
	}
}
