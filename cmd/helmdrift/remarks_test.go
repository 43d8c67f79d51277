package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
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

// capture learns a secret that no Secret of the cluster has by itself.
func (talker) capture(
	_ context.Context, _ cli.Streams, _ *cli.CompareOptions, _ drift.Connection, namespace string, _ []string, _ *pflag.FlagSet,
) (captured, error) {
	return captured{[]drift.Target{{Namespace: namespace, Release: "web"}}, func(o drift.Options) drift.Options {
		known := &secret.Known{}
		known.AddMembers(map[string]any{"stringData": map[string]any{"greeting": "canary-learned"}})
		o.Learned = (*drift.Secrets)(known)
		return o
	}, func() {}}, nil
}

// TestSnapshotLearns checks that a masked snapshot has no secret that a controller's values brought, and that one with secrets has it.
func TestSnapshotLearns(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	object := "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: prod}, data: {text: say canary-learned twice}}"
	server, err := (&plane{}).start(kubeconfig, object, object, "deployed")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	t.Setenv("KUBECONFIG", kubeconfig)
	for _, includes := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		s := cli.Streams{
			In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(string) string { return "" }, Known: &secret.Known{},
		}
		c := cli.NewConnection(s, version)
		o := snapshotOptions{
			CompareOptions: cli.NewCompareOptions(s, c, nil), output: filepath.Join(t.TempDir(), "web.json.gz"), includeSecrets: includes,
			controllers: controllers{known: []controlled{talker{}}},
		}
		if err := runSnapshot(t.Context(), s, c, o, []string{"hr/web"}, nil); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(o.output)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(unpacked)
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("canary-learned")) != includes {
			t.Errorf("with --include-secrets=%v, the snapshot is\n%s", includes, text)
		}
	}
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
