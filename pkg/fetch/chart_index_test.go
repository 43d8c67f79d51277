package fetch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/repo"
)

// TestIndexesLikeHelm reads random indexes and compares the versions and what is chosen from them with Helm's own package.
func TestIndexesLikeHelm(t *testing.T) {
	silent(t)
	wanted := []string{"", ">0.0.0-0", "^1.0.0", "1", "1.2.3", "v1.2.3", "~1.2", ">=2.0.0-rc.1", "no version", "<1.0.0 || >3", "1.2.3+b"}
	file := filepath.Join(t.TempDir(), "index.yaml")
	for seed := range uint64(400) {
		text := randomIndex(rand.New(rand.NewPCG(seed, 0)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want, wantErr := repo.LoadIndexFile(file)
		got, gotErr := readIndex(file)
		if (wantErr == nil) != (gotErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Fatalf("seed %d: error %v, Helm has %v, of\n%s", seed, gotErr, wantErr, text)
		}
		if gotErr != nil {
			continue
		}
		if len(got.Entries) != len(want.Entries) {
			t.Fatalf("seed %d: %d charts, Helm has %d", seed, len(got.Entries), len(want.Entries))
		}
		for name, versions := range want.Entries {
			if a, b := fmt.Sprint(described(got.Entries[name])), fmt.Sprint(describedByHelm(versions)); a != b {
				t.Errorf("seed %d: versions of %s: %s, Helm has %s", seed, name, a, b)
			}
			for _, version := range wanted {
				var a, b string
				if chosen := got.Entries[name].choose(version); chosen != nil {
					a = chosen.Digest
				}
				if chosen, err := want.Get(name, version); err == nil {
					b = chosen.Digest
				}
				if a != b {
					t.Errorf("seed %d: %s %q is %q, Helm chooses %q", seed, name, version, a, b)
				}
			}
		}
	}
}

// described returns what tells the versions of a chart apart.
func described(versions chartVersions) (out []string) {
	for _, v := range versions {
		out = append(out, strings.Join(append([]string{v.Name, v.Version, v.APIVersion, v.Digest}, v.URLs...), " "))
	}
	return out
}

// describedByHelm does the same with Helm's type.
func describedByHelm(versions repo.ChartVersions) (out []string) {
	for _, v := range versions {
		out = append(out, strings.Join(append([]string{v.Name, v.Version, v.APIVersion, v.Digest}, v.URLs...), " "))
	}
	return out
}

// randomIndex writes an index, of which one in eight cannot be read. Its digests are numbers.
func randomIndex(r *rand.Rand) string {
	if r.IntN(40) == 0 {
		return ""
	}
	var b strings.Builder
	oneOf := func(words ...string) string { return words[r.IntN(len(words))] }
	if r.IntN(20) > 0 {
		b.WriteString("apiVersion: v1\n")
	}
	b.WriteString(oneOf("", "", "", "", "generated: \"2026-11-01T00:00:00Z\"\n", "publicKeys: [a]\n", "annotations: {a: b}\n", "serverInfo: {x: 1}\n",
		"unknown: field\n", "annotations: {a: 1}\n"))
	b.WriteString("entries:\n")
	for _, name := range []string{"web", "db"} {
		fmt.Fprintf(&b, "  %s:\n", name)
		for i := range r.IntN(12) {
			if r.IntN(15) == 0 {
				b.WriteString("  - null\n")
				continue
			}
			version := oneOf("1.2.3", "1.2.3", "v1.2.3", "1.2.3+b", "1.2.3-rc.1", "2.0.0-rc.1", "2.0.0", "0.9.0", "10.0.0", "1.10.0", "3.1.4", "latest", "1", "")
			fmt.Fprintf(&b, "  - digest: \"%d\"\n    version: %q\n    name: %s\n", i, version, oneOf(name, name, name, name, "other", "\"../x\"", "\"\""))
			fmt.Fprintf(&b, "    urls: [%s-%d.tgz]\n", name, i)
			b.WriteString(oneOf("", "", "", "", "", "    apiVersion: v2\n", "    type: library\n", "    type: no such type\n", "    created: \"2026-11-01T00:00:00Z\"\n",
				"    checksum: x\n    engine: x\n    tillerVersion: x\n    url: x\n", "    removed: true\n", "    maintainers: [null]\n",
				"    dependencies: [{name: a, version: 1.0.0, repository: \"\"}, {name: a, version: 1.0.0, repository: \"\"}]\n"))
			if r.IntN(60) == 0 {
				b.WriteString("    unknown: field\n")
			}
		}
	}
	return b.String()
}

// TestURLsLikeHelm resolves references as Helm's own package does.
func TestURLsLikeHelm(t *testing.T) {
	bases := []string{"https://example.com", "https://example.com/", "https://example.com/charts", "https://example.com/a%2Fb/?token=x", "", "://", "oci://h/p"}
	for _, base := range bases {
		for _, ref := range []string{"index.yaml", "web-1.tgz", "../web.tgz", "/web.tgz", "https://other.example/web.tgz", "a b", "%zz", "", "web.tgz?x=1"} {
			got, gotErr := resolveURL(base, ref)
			want, wantErr := repo.ResolveReferenceURL(base, ref)
			if (gotErr == nil) != (wantErr == nil) || gotErr == nil && got != want {
				t.Errorf("%q in %q is %q (%v), Helm has %q (%v)", ref, base, got, gotErr, want, wantErr)
			}
		}
	}
}

// TestRepositoriesLikeHelm reads the file of helm repo add.
func TestRepositoriesLikeHelm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "repositories.yaml")
	for _, text := range []string{
		"", "apiVersion: \"\"\nrepositories: []\n", "repositories: [null, {name: a, url: u}]\n", "repositories: {}\n",
		"repositories: [{name: a, url: u, username: n, password: p, certFile: c, keyFile: k, caFile: ca, pass_credentials_all: true, more: x}]\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, gotErr := fetcher{Options: Options{RepositoryConfig: file}}.repositories()
		want, wantErr := repo.LoadFile(file)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%s: error %v, Helm has %v", text, gotErr, wantErr)
		}
		if gotErr != nil {
			continue
		}
		known := slices.DeleteFunc(want.Repositories, func(e *repo.Entry) bool { return e == nil })
		if len(got) != len(known) {
			t.Fatalf("%s: %d repositories, Helm has %d", text, len(got), len(known))
		}
		for i, w := range known {
			h := repository{w.Name, w.URL, w.Username, w.Password, w.CertFile, w.KeyFile, w.CAFile, w.PassCredentialsAll}
			if *got[i] != h {
				t.Errorf("%s: %+v, Helm has %+v", text, *got[i], h)
			}
		}
	}
}
