package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// vulnerability says that every version of sigs.k8s.io/yaml has a fault. It has an address, because govulncheck 1.9 panics without one, and
// then sometimes ends with success: its main function does not wait for the end of a panic.
const vulnerability = `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z","published":"2026-01-01T00:00:00Z",
"summary":"Reading YAML","affected":[{"package":{"name":"sigs.k8s.io/yaml","ecosystem":"Go"},
"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
"ecosystem_specific":{"imports":[{"path":"sigs.k8s.io/yaml"}]}}],
"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-0001"}}`

// TestVulncheck runs make vulncheck with databases of its own: one that has a vulnerability which the program reaches, one that has none,
// and one that cannot be reached.
func TestVulncheck(t *testing.T) {
	if testing.Short() {
		t.Skip("analyses the program three times")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	// The cases are cut off from the network, so the tool itself is downloaded before.
	if out, err := exec.Command("go", "build", "-modfile="+filepath.Join(root, "tools", "go.mod"), "-o", os.DevNull,
		"golang.org/x/vuln/cmd/govulncheck").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	modules := `[{"path":"sigs.k8s.io/yaml","vulns":[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]}]`
	for _, c := range []struct {
		name, database, offline string
		fails                   bool
		says                    string
	}{
		{"reached", database(t, modules), "skip", true, "Found in: sigs.k8s.io/yaml@"},
		{"clean", database(t, "[]"), "fail", false, "no known vulnerability"},
		{"skipped", "", "skip", false, "govulncheck is SKIPPED: its database cannot be reached"},
		{"unreachable", "", "fail", true, "fetching vulnerabilities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("make", "-s", "vulncheck", "VULN_DB="+c.database, "VULN_OFFLINE="+c.offline,
				"VULN_PACKAGES=./internal/secret")
			cmd.Dir, cmd.Env = root, append(os.Environ(), "HTTPS_PROXY=http://127.0.0.1:9") // nothing listens there
			out, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(out), c.says) {
				t.Errorf("%v\n%s\nwant %q", err, out, c.says)
			}
		})
	}
}

// database writes a database of vulnerabilities and returns its address.
func database(t *testing.T, modules string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"index/db.json": `{"modified":"2026-01-01T00:00:00Z"}`, "index/modules.json": modules, "index/vulns.json": "[]",
		"ID/GO-2026-0001.json": vulnerability} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(dir)
}
