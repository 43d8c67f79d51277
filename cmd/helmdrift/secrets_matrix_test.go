package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
)

// TestNoCanaryInAnyFormat runs diff with every verbosity and several failures whose messages quote secrets. Each run writes every format.
// The release, live and the values of the chart have canaries, and the messages have them in all encodings. No output may have one.
func TestNoCanaryInAnyFormat(t *testing.T) {
	const object = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: prod}\ndata:\n  password: %\n" +
		"---\napiVersion: v1\nkind: ConfigMap\n" +
		"metadata:\n  name: settings\n  namespace: prod\ndata:\n  mode: #\n  url: redis://:@cache\n  app.yaml: |\n    mode: #\n    api_key: @\n"
	with := func(canary, mode string) string {
		return strings.NewReplacer("%", base64.StdEncoding.EncodeToString([]byte(canary)), "@", canary, "#", mode).Replace(object)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	p := &plane{}
	server, err := p.start(kubeconfig, with("canary-old-5f2c", "fast"), with("canary-new-81aa", "slow"), "deployed")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	quoting, forbidden := `admission webhook says: canary-new-81aa, not canary-old-5f2c`, []string{"canary", "Y2FuYXJ5"}
	for _, e := range secrettest.Encodings() {
		for _, canary := range []string{"canary-new-81aa", "canary-old-5f2c"} {
			quoting += ", or " + e.Encode(canary)
			forbidden = append(forbidden, secrettest.Parts(e.Encode(canary))...)
		}
	}
	failing := chartWith(t, `{{ fail (printf "the password %s is too short, as is %s" .Values.db.password `+
		`(printf "a:%s" .Values.db.password | b64enc)) }}`)
	forbidden = append(forbidden, base64.StdEncoding.EncodeToString([]byte("a:canary-set-77d0")))
	for name, failure := range map[string]struct {
		fault string
		args  []string
		want  int
	}{
		"no failure":                   {"", nil, cli.ExitSelected},
		"an object that is refused":    {"GET settings", nil, cli.ExitFailure},
		"a chart that does not render": {"", []string{failing, "--set", "db.password=canary-set-77d0"}, cli.ExitFailure},
	} {
		for _, verbosity := range [][]string{nil, {"-v"}, {"-q"}, {"--debug"}, {"--show-ignored", "--show-controllers", "-v", "--debug"}} {
			p.mu.Lock()
			p.faults = map[string]fault{}
			if failure.fault != "" {
				p.faults[failure.fault] = fault{403, quoting}
			}
			p.mu.Unlock()
			dir := t.TempDir()
			args := append([]string{"diff", "web"}, failure.args...)
			args = append(append(args, verbosity...), "--kubeconfig", kubeconfig)
			for _, format := range output.Formats() {
				args = append(args, "--report", format+"="+filepath.Join(dir, format))
			}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: os.Getenv})
			shown := map[string][]byte{"stdout": stdout.Bytes(), "stderr": stderr.Bytes()}
			for _, format := range output.Formats() {
				if shown[format], err = os.ReadFile(filepath.Join(dir, format)); err != nil {
					t.Errorf("%s %s: %v", name, verbosity, err)
				}
			}
			if code != failure.want {
				t.Errorf("%s %s: exit %d, want %d: %s", name, verbosity, code, failure.want, &stderr)
			}
			for where, text := range shown {
				for _, canary := range forbidden {
					if i := bytes.Index(text, []byte(canary)); i >= 0 {
						t.Errorf("%s %s: %s has %q", name, verbosity, where, text[max(0, i-100):min(len(text), i+50)])
					}
				}
			}
		}
	}
}
