package tree

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// grow writes files below a folder.
func grow(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// configMap is an object.
func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: x}\ndata: {a: b}\n"
}

// fluxApps is a Kustomization of Flux for a folder.
func fluxApps(name, folder, more string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec:\n  path: " + folder + "\n  sourceRef: {kind: GitRepository, name: flux-system}\n" + more
}

// buildAll builds a folder of a tree, and returns its error and its problems as one text.
func buildAll(root, dir string) (Answer, string) { return buildWith(root, dir, Outside{}) }

// buildWith does the same with what a caller answers.
func buildWith(root, dir string, from Outside) (Answer, string) {
	answer, err := Build(context.Background(), Order{Dir: filepath.Join(root, dir), Root: root}, from)
	lines := []string{fmt.Sprint(err)}
	for _, p := range answer.Problems {
		lines = append(lines, line(p))
	}
	return answer, strings.Join(lines, "\n")
}

// TestHostile has trees that somebody wrote to do harm. Each is refused with a message.
func TestHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for letter := 'b'; letter < 'k'; letter++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", letter, letter, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", letter-1), 9), ", "))
	}
	deep := strings.Repeat("d/", kustomize.MaxFolderDepth+1)
	doubles := map[string]string{"p0/kustomization.yaml": "resources: [a.yaml]\n", "p0/a.yaml": ""}
	for i := range kustomize.MaxObjects/2 + 1 {
		doubles["p0/a.yaml"] += "---\n" + configMap(fmt.Sprintf("a%d", i))
	}
	for i := 1; i < 20; i++ {
		for _, side := range []string{"l", "r"} {
			doubles[fmt.Sprintf("p%d/%s/kustomization.yaml", i, side)] = fmt.Sprintf("namePrefix: %s\nresources: [../../p%d]\n", side, i-1)
		}
		doubles[fmt.Sprintf("p%d/kustomization.yaml", i)] = "resources: [l, r]\n"
	}
	generators := map[string]string{"f": "x", "kustomization.yaml": "configMapGenerator: [{name: a, files: [" + strings.Repeat("f, ",
		kustomize.MaxReads) + "]}]\n"}
	many := map[string]string{}
	for i := range kustomize.MaxObjects + 1 {
		many[fmt.Sprintf("a/%d.yaml", i)] = ""
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		dir   string
		want  string
	}{
		{"aliases in an object", map[string]string{"a.yaml": configMap("a") + bomb}, "",
			"a.yaml: its YAML aliases stand for more than 16 MiB"},
		{"aliases in a kustomization", map[string]string{"kustomization.yaml": bomb}, "",
			"kustomization.yaml: its YAML aliases stand for more"},
		{"an anchor in itself", map[string]string{"a.yaml": configMap("a") + "b: &b [*b]\n"}, "",
			"its YAML aliases stand for more than 16 MiB"},
		{"a large file", map[string]string{"a.yaml": configMap("a") + strings.Repeat("# x\n", kustomize.MaxFile/4)}, "",
			"a.yaml has 16 MiB, and helmdrift reads 16"},
		{"many folders", map[string]string{deep + "a.yaml": configMap("a")}, "", "more than 100 folders inside each other"},
		{"many files", many, "a", "more than 3000 YAML files without a kustomization.yaml"},
		{"many objects", map[string]string{"a.yaml": strings.Repeat("---\nkind: HelmRelease\n", 10_000)}, "",
			"kustomize reads more than 3000 objects for it"},
		{"bases that double", doubles, "p19", "kustomize reads more than 3000 objects for it"},
		{"files that are read again and again", generators, "", "kustomize reads more than 10000 files for it"},
		{"a base of itself", map[string]string{"kustomization.yaml": "resources: [a]\n", "a/kustomization.yaml": "resources: [..]\n"},
			"", "cycle detected"},
		{"above the tree", map[string]string{"kustomization.yaml": "resources: [../../../../../../etc/passwd]\n"}, "",
			"/etc/passwd is outside of the tree"},
		{"an absolute file", map[string]string{"kustomization.yaml": "configMapGenerator: [{name: a, files: [/etc/passwd]}]\n"}, "",
			"/etc/passwd is outside of the tree"},
		{"the folder .git", map[string]string{"kustomization.yaml": "configMapGenerator: [{name: a, files: [.git/config]}]\n",
			".git/config": "x"}, "",
			".git/config does not exist"},
		{"a folder of transformers", map[string]string{"kustomization.yaml": "resources: [a.yaml]\ntransformers: [t]\n",
			"a.yaml":               configMap("a"),
			"t/kustomization.yaml": "resources: [p.yaml]\n",
			"t/p.yaml":             "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: x\n"}, "",
			"t is a folder of generators, transformers or validators"},
		{"a function", map[string]string{"kustomization.yaml": "generators: [g.yaml]\n",
			"g.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: g\n" +
				"  annotations: {config.kubernetes.io/function: \"exec: {path: ./run.sh}\"}\n", "run.sh": "#!/bin/sh\ntouch ran\n"}, "",
			"external plugins disabled"},
		{"a container", map[string]string{"kustomization.yaml": "transformers: [g.yaml]\n",
			"g.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: g\n" +
				"  annotations: {config.kubernetes.io/function: \"container: {image: busybox}\"}\n"}, "", "external plugins disabled"},
		{"helm", map[string]string{"kustomization.yaml": "helmCharts: [{name: x, repo: https://example.com}]\n"}, "", "runs no helm"},
		{"helm as a generator", map[string]string{"kustomization.yaml": "generators: [g.yaml]\n",
			"g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: g}\nname: x\n"}, "",
			"must specify --enable-helm"},
		{"a link as .sourceignore", map[string]string{"a.yaml": configMap("a")}, "link", ".sourceignore cannot be read"},
		{"a link to a file of the tree", map[string]string{"kustomization.yaml": "resources: [l.yaml]\n", "a.yaml": configMap("a")},
			"l.yaml:a.yaml",
			"l.yaml is a symbolic link"},
		{"a link out of the tree", map[string]string{"kustomization.yaml": "resources: [l]\n"}, "l:..", "l is a symbolic link"},
		{"a link as kustomization", map[string]string{"a.yaml": configMap("a"), "b/kustomization.yaml": "resources: [../c]\n"}, "c:b",
			"c is a symbolic link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := grow(t, tt.files)
			dir := tt.dir
			if link, to, isLink := strings.Cut(dir, ":"); isLink {
				dir = ""
				if link == "c" {
					dir = "b"
				}
				if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
					t.Fatal(err)
				}
			} else if dir == "link" {
				dir = ""
				if err := os.Symlink("/etc/passwd", filepath.Join(root, ".sourceignore")); err != nil {
					t.Fatal(err)
				}
			}
			answer, said := buildAll(root, dir)
			if !strings.Contains(said, tt.want) || strings.Contains(said, "root:") {
				t.Errorf("it says %s\nwant %s", said, tt.want)
			}
			if len(answer.Objects) > 0 {
				t.Errorf("it makes %d objects", len(answer.Objects))
			}
			if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
				t.Error("a program of the tree ran")
			}
		})
	}
}

// TestNoNetwork puts an address into every field of a kustomization that names a file. Nothing may be fetched.
func TestNoNetwork(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	marker := filepath.Join(t.TempDir(), "ran")
	git := grow(t, map[string]string{"git": "#!/bin/sh\n: > " + marker + "\nexit 1\n"})
	if err := os.Chmod(filepath.Join(git, "git"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", git)
	plugin := func(kind, more string) string {
		return "{apiVersion: builtin, kind: " + kind + ", metadata: {name: x}, " + more + "}"
	}
	for _, address := range []string{server.URL + "/x.yaml", strings.ToUpper(server.URL[:4]) + server.URL[4:] + "/org/repo",
		"file:///tmp/repo.git",
		"git@example.com:org/repo", "github.com/org/repo", "GitHub.com:org/repo", "git::ssh://example.com/org/repo",
		"other@example.com/org/repo.git"} {
		quoted := fmt.Sprintf("%q", address)
		for _, field := range []string{
			"resources: [%s]", "Resources: [%s]", "bases: [%s]", "components: [%s]", "crds: [%s]", "configurations: [%s]",
			"generators: [%s]", "transformers: [%s]",
			"validators: [%s]", "patches: [{path: %s}]", "patchesStrategicMerge: [%s]",
			"patchesJson6902: [{path: %s, target: {kind: ConfigMap, name: a}}]",
			"replacements: [{path: %s}]", "openapi: {path: %s}", "configMapGenerator: [{name: a, files: [%s]}]",
			"configMapGenerator: [{name: a, envs: [%s]}]",
			"configMapGenerator: [{name: a, env: %s}]", "secretGenerator: [{name: a, files: [%s]}]",
			"secretGenerator: [{name: a, envs: [%s]}]",
			"transformers: ['" + plugin("PatchTransformer", "path: %s") + "']", "generators: ['" + plugin("ConfigMapGenerator",
				"files: [%s]") + "']",
			"generators: [g.yaml]", "resources: [sub]", "transformers: [b.yaml]",
		} {
			text := strings.ReplaceAll(field, "%s", quoted)
			binary := "!!binary " + base64.StdEncoding.EncodeToString([]byte(address))
			others := map[string]string{
				"g.yaml":                 strings.ReplaceAll(plugin("SecretGenerator", "files: ['k=%s']"), "%s", address),
				"b.yaml":                 strings.ReplaceAll(plugin("PatchTransformer", "path: %s, target: {kind: ConfigMap}"), "%s", binary),
				"sub/kustomization.yaml": "resources: [" + quoted + "]\n",
			}
			files := map[string]string{"kustomization.yaml": text + "\nnamePrefix: p\n", "apps/kustomization.yaml": text + "\n",
				"cluster/ks.yaml": fluxApps("apps", "apps", "")}
			if !strings.Contains(field, "esources:") {
				files["kustomization.yaml"] += "resources: [cm.yaml]\n"
			}
			others["cm.yaml"] = configMap("a")
			for name, content := range others {
				files[name], files["apps/"+name] = content, content
			}
			root := grow(t, files)
			for _, dir := range []string{"", "cluster"} {
				if _, said := buildAll(root, dir); !strings.Contains(said, "nothing else is fetched") {
					t.Errorf("%s in %q: it says %s", text, dir, said)
				}
				if dir == "" {
					continue
				}
				// If the caller fetches bases, kustomize does not see their addresses either.
				_, said := buildWith(root, dir, Outside{Fetch: func(context.Context, kustomize.Base) (string, error) { return "", errors.New("no such base") }})
				if !strings.Contains(said, "nothing else is fetched") && !strings.Contains(said, "of https only") &&
					!strings.Contains(said, "no such base") {
					t.Errorf("%s in %q with bases: it says %s", text, dir, said)
				}
			}
		}
		root := grow(t, map[string]string{"apps/a.yaml": configMap("a"), "ks/a.yaml": fluxApps("apps", "apps", "  components: ["+
			quoted+"]\n")})
		if _, said := buildAll(root, "ks"); !strings.Contains(said, "which is no path relative to apps") {
			t.Errorf("a component of Flux: it says %s", said)
		}
	}
	if _, err := os.Stat(marker); err == nil || asked.Load() > 0 {
		t.Errorf("git ran: %t, and %d requests came", err == nil, asked.Load())
	}
}

// TestLimits has trees that make more than helmdrift takes. The rest is there, and a line says what is missing.
func TestLimits(t *testing.T) {
	releases := strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(&releases, "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r%d, namespace: x, labels: {"+
			"kustomize.toolkit.fluxcd.io/namespace: flux-system, kustomize.toolkit.fluxcd.io/name: apps}}\n", i)
	}
	stream, err := Build(context.Background(), Order{Dir: "-", Rendered: true, Text: []byte(releases.String())}, Outside{})
	if err != nil || len(stream.Objects) != maxReleases || len(stream.Problems) != 1 ||
		stream.Problems[0].Message != "it makes more than 2000 HelmReleases, and helmdrift takes the first 2000" {
		t.Errorf("%d objects, %v, %v", len(stream.Objects), stream.Problems, err)
	}
	if !slices.Contains(stream.Left, Maker{"flux-system", "apps"}) {
		t.Errorf("the Kustomization of the others is built: %v", stream.Left)
	}
	many, chain := strings.Builder{}, map[string]string{}
	for i := range maxKustomizations + 10 {
		many.WriteString("---\n" + fluxApps(fmt.Sprintf("k%d", i), "none", ""))
	}
	for i := range maxKustomizeDepth + 3 {
		chain[fmt.Sprintf("c%d/ks.yaml", i)] = fluxApps(fmt.Sprintf("c%d", i+1), fmt.Sprintf("c%d", i+1), "")
	}
	answer, said := buildAll(grow(t, map[string]string{"ks.yaml": many.String()}), "")
	if !strings.Contains(said, "it has more than 1000 Kustomizations") || len(answer.Left) != 10 {
		t.Errorf("many Kustomizations: %v, %.500s", answer.Left, said)
	}
	answer, said = buildAll(grow(t, chain), "c0")
	if !strings.Contains(said, "more than 20 Kustomizations make each other") || len(answer.Objects) != maxKustomizeDepth+1 {
		t.Errorf("a chain makes %d objects: %s", len(answer.Objects), said)
	}
	large := "  postBuild: {substitute: {v: " + strings.Repeat("x", 1<<20) + "}}\n"
	text := strings.Replace(configMap("a"), "a: b", `a: "`+strings.Repeat("${v}", 100)+`"`, 1)
	root := grow(t, map[string]string{"ks/a.yaml": fluxApps("apps", "apps", large), "apps/a.yaml": text})
	if _, said := buildAll(root, "ks"); !strings.Contains(said, "its variables make it larger than 3 MiB") {
		t.Errorf("large variables: %.500s", said)
	}
	root = grow(t, map[string]string{"ks/a.yaml": fluxApps("apps", "apps", "  postBuild: {substitute: {v: x}}\n"),
		"apps/a.yaml": strings.Replace(configMap("a"), "a: b", `a: "`+strings.Repeat("x", maxObject)+`"`, 1)})
	if _, said := buildAll(root, "ks"); !strings.Contains(said, "it has more than 3 MiB") {
		t.Errorf("a large object: %.500s", said)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(stopped, Order{Dir: filepath.Join(root, "ks"), Root: root}, Outside{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a build that was stopped returns %v", err)
	}
}
