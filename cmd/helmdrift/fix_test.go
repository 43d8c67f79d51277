package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// TestFixInterrupted interrupts a fix. The request in flight is finished, no other is sent, the result says what was done, and the next
// run completes the fix. The interrupt comes while the server works on the first patch; a real signal could not be timed as exactly.
func TestFixInterrupted(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/script/fix.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	p := &plane{}
	server, err := p.start(kubeconfig, files["manifest.yaml"], files["live.yaml"], "deployed")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	p.meanwhile = func(r *http.Request) {
		if r.Method == http.MethodPatch {
			interrupt()
		}
	}
	fix := func(ctx context.Context) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := run(ctx, []string{"fix", "web", "--yes", "--kubeconfig", kubeconfig},
			cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(string) string { return "" }})
		return code, stdout.String(), stderr.String()
	}
	code, stdout, stderr := fix(ctx)
	if want := "\nfixed: Secret login\nfailed: ConfigMap settings, Service web, Deployment web, Thing demo (ex.com/v1): interrupted\n" +
		"1 field put back\nthe release could not be compared again, so it is not known what remains\n"; code != cli.ExitFailure || !strings.HasSuffix(stdout, want) {
		t.Errorf("code %d, stderr %s, stdout\n%s\nwhich does not end with\n%s", code, stderr, stdout, want)
	}
	if len(p.writes) != 1 {
		t.Errorf("written: %q", p.writes)
	}
	code, stdout, stderr = fix(t.Context())
	if want := "web is as Helm deployed it: 4 fields and 1 object put back; 1 unmanaged field\n"; code != cli.ExitClean || !strings.HasSuffix(stdout, want) {
		t.Errorf("code %d, stderr %s, stdout\n%s\nwhich does not end with\n%s", code, stderr, stdout, want)
	}
}

// TestDocsNameTheirTests checks that the test of each guarantee in docs/dev/guarantees.md and SECURITY.md exists.
func TestDocsNameTheirTests(t *testing.T) {
	links := regexp.MustCompile(`\[([^\]]+)\]\(([a-z./][^):]+)\)`)
	for page, least := range map[string]int{"../../docs/dev/guarantees.md": 30, "../../SECURITY.md": 20} {
		doc, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := links.FindAllStringSubmatch(string(doc), -1)
		if len(found) < least {
			t.Errorf("%s: %d links", page, len(found))
		}
		for _, link := range found {
			file, _, _ := strings.Cut(link[2], "#")
			checkLink(t, page, link[1], filepath.Join(filepath.Dir(page), file))
		}
	}
}

// checkLink checks that a file exists and, if the text of the link is the name of a test, has it.
func checkLink(t *testing.T, page, text, file string) {
	t.Helper()
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return
	}
	content, err := os.ReadFile(file)
	isTest := strings.HasPrefix(text, "Test") || strings.HasPrefix(text, "Fuzz")
	if err != nil || isTest && !strings.Contains(string(content), "\nfunc "+text+"(") {
		t.Errorf("%s: %s is not in %s (%v)", page, text, file, err)
	}
}
