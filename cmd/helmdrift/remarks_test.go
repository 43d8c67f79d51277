package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// quotes is a message of a controller that quotes secrets.
const quotes = "fetching https://bot:canary-login@git.example.com/web?private_token=canary-token: canary-known"

// talker is a controller that quotes secrets.
type talker struct{ controlled }

func (talker) words() cli.ObjectWords { return cli.ObjectWords{Kinds: []string{"hr"}} }

func (talker) release(context.Context, cli.Streams, *cli.CompareOptions, *cli.Session) (string, error) {
	return quotes, nil
}

// TestControllersWords checks that the note of fix and the warnings and errors of absorb show no secret that a controller quotes.
func TestControllersWords(t *testing.T) {
	known := &secret.Known{}
	known.Add("canary-known")
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	object := "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: prod}}"
	server, err := (&plane{}).start(kubeconfig, object, object, "deployed")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var stdout, stderr bytes.Buffer
	s := cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(name string) string {
		return map[string]string{"KUBECONFIG": kubeconfig}[name]
	}, Known: known}
	t.Setenv("KUBECONFIG", kubeconfig)
	o := fixing.NewFlags()
	o.DryRun.Word = "client"
	if err := runFix(t.Context(), s, cli.NewCompareOptions(s, cli.NewConnection(s, version), nil), o, talker{}, []string{"hr/web"}); err != nil {
		t.Logf("fix: %v", err)
	}
	if got := stderr.String(); strings.Contains(got, "canary") || !strings.Contains(got, "Note: fetching") {
		t.Errorf("fix says %q", got)
	}
	said := []report.Message{{Code: "deployer", Message: quotes}}
	result := &absorption.Result{}
	kept{warnings: said, errors: said}.addRemarks(result, known.Scrub)
	for _, m := range append(result.Warnings, result.Errors...) {
		if strings.Contains(m.Message, "canary") || !strings.HasPrefix(m.Message, "fetching") {
			t.Errorf("absorb says %q", m.Message)
		}
	}
	if len(result.Warnings)+len(result.Errors) != 2 {
		t.Errorf("absorb says %v", result)
	}
}
