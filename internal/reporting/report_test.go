package reporting

import (
	"bytes"
	"encoding/gob"
	"os"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
)

// compared compares the release of a snapshot, with other secrets besides those of its objects.
func compared(t *testing.T, known *secret.Known) *drift.Result {
	t.Helper()
	file, err := os.Open("../../testdata/snapshots/web.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	saved, err := snapshot.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	target := drift.Target{Namespace: saved.Namespace, Release: saved.Release}
	result, err := drift.New(snapshot.NewPlayer(saved).Connection(), drift.Options{Learned: (*drift.Secrets)(known)}).Compare(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestInterruptedRelease checks that a release has an error and nothing else, not even what a deployer says, if an interrupt has kept the
// comparison from finding all secrets.
func TestInterruptedRelease(t *testing.T) {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(struct{ Missed bool }{true}); err != nil { // as a Known crosses to another process
		t.Fatal(err)
	}
	known := &secret.Known{}
	if err := known.GobDecode(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	finish := func(_ *drift.Result, r *report.Release) { r.Deployer = &report.Deployer{Reason: "it says so"} }
	r := (&Flags{chooser: &cli.Chooser{}}).Release(compared(t, known), finish)
	if len(r.Errors) != 1 || r.Errors[0].Code != report.ErrorInterrupted || r.Errors[0].Message == secret.Mask {
		t.Errorf("errors %v", r.Errors)
	}
	if r.Deployer != nil || len(r.Objects) > 0 || r.HasDrifted() {
		t.Errorf("it has %v", r)
	}
}

// TestWordsOfDeployers checks that a report masks the secrets of its comparison in what a deployer says, unless it shows all values.
func TestWordsOfDeployers(t *testing.T) {
	const canary = "canary-canary"
	known := &secret.Known{}
	known.AddMembers(map[string]any{"stringData": map[string]any{"token": canary}})
	result := compared(t, known)
	finish := func(_ *drift.Result, r *report.Release) {
		r.Deployer = &report.Deployer{Reason: "it says " + canary, Inputs: []report.DeployerInput{{Name: "https://example.com/" + canary}}}
		r.Warnings = append(r.Warnings, report.Message{Code: "x", Message: canary + " is unused"})
		r.Errors = append(r.Errors, report.Message{Code: "x", Message: "cannot read " + canary})
	}
	for shows, word := range map[bool]string{false: secret.Mask, true: canary} {
		f := &Flags{chooser: &cli.Chooser{}}
		f.ShowSecrets = shows
		r := f.Release(result, finish)
		got := []string{r.Deployer.Reason, r.Deployer.Inputs[0].Name, r.Warnings[len(r.Warnings)-1].Message, r.Errors[len(r.Errors)-1].Message}
		for i, want := range []string{"it says " + word, "https://example.com/" + word, word + " is unused", "cannot read " + word} {
			if got[i] != want {
				t.Errorf("--show-secrets=%t: %q, want %q", shows, got[i], want)
			}
		}
	}
}
