package reporting

import (
	"os"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
)

// TestWordsOfDeployers checks that a report masks the secrets of its comparison in what a deployer says, unless it shows all values.
func TestWordsOfDeployers(t *testing.T) {
	const canary = "canary-canary"
	known := &secret.Known{}
	known.AddMembers(map[string]any{"stringData": map[string]any{"token": canary}})
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
