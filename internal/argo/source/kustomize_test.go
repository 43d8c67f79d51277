package source

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/kustomize"
)

const aConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"

// TestKustomize builds kustomizations of the folder app that the judge does not have: those of somebody who wants to do harm, and those
// that need what helmdrift does not do. TestRecordedKustomizations in internal/argo has the others.
func TestKustomize(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n"
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for letter := 'b'; letter < 'k'; letter++ {
		bomb += string(letter) + ": &" + string(letter) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(letter-1)+", ", 9), ", ") + "]\n"
	}
	for name, c := range map[string]struct {
		// files are those of the repository. kustomization is the one of app.
		files         map[string]string
		kustomization string
		source        api.KustomizeSource
		options       string
		// link is a link, NAME:TARGET.
		link        string
		bases       map[string]string
		want, fails string
	}{
		"an object":               {kustomization: "resources: [a.yaml]\n", want: "# Source: app/a.yaml\n"},
		"a base beside it":        {files: map[string]string{"base/kustomization.yaml": "resources: [b.yaml]\n", "base/b.yaml": aConfigMap}, kustomization: "resources: [../base]\n", want: "# Source: base/b.yaml\n"},
		"a file beside it":        {files: map[string]string{"b.yaml": aConfigMap}, kustomization: "resources: [../b.yaml]\n", fails: "is not in or below"},
		"a file that is allowed":  {files: map[string]string{"b.yaml": aConfigMap}, kustomization: "resources: [../b.yaml]\n", options: "--enable-helm --load-restrictor LoadRestrictionsNone", want: "# Source: b.yaml\n"},
		"a file of the machine":   {kustomization: "configMapGenerator: [{name: g, files: [/etc/passwd]}]\n", options: "--load-restrictor=LoadRestrictionsNone", fails: "/etc/passwd is outside of the tree"},
		"a link out of it":        {kustomization: "resources: [l.yaml]\n", link: "l.yaml:/etc/passwd", fails: "app/l.yaml is a symbolic link that leads out of the tree, or into a hidden folder"},
		"a folder out of it":      {kustomization: "resources: [l]\n", link: "l:/etc", fails: "app/l is a symbolic link that leads out of the tree"},
		"a link into .git":        {files: map[string]string{".git/config": aConfigMap}, kustomization: "resources: [l]\n", link: "l:../.git/config", fails: "app/l is a symbolic link that leads out of the tree, or into a hidden folder"},
		"a hidden folder":         {files: map[string]string{".git/config": "", ".x/a.yaml": aConfigMap}, kustomization: "resources: [l]\n", link: "l:../.x/a.yaml", fails: "or into a hidden folder"},
		"a link to nothing":       {kustomization: "resources: [l]\n", link: "l:gone", fails: "app/l is a symbolic link that leads to nothing"},
		"a link to itself":        {kustomization: "resources: [l]\n", link: "l:l", fails: "app/l is a symbolic link that leads to nothing"},
		"a circle":                {kustomization: "resources: [a.yaml, l]\n", link: "l:.", fails: "app"},
		"a link beside the base":  {files: map[string]string{"b.yaml": aConfigMap}, kustomization: "resources: [l.yaml]\n", link: "l.yaml:../b.yaml", fails: "is not in or below"},
		"an absolute path":        {kustomization: "resources: [/etc/hostname]\n", fails: "/etc/hostname"},
		"a link of a component":   {kustomization: "resources: [a.yaml]\n", link: "l:/etc", source: api.KustomizeSource{Components: []string{"l"}, IgnoreMissingComponents: true}, fails: "app/l is a symbolic link"},
		"below a link":            {kustomization: "resources: [a.yaml]\n", link: "l:/", source: api.KustomizeSource{Components: []string{"l/base"}, IgnoreMissingComponents: true}, fails: "app/l is a symbolic link"},
		"a link beside it":        {kustomization: "resources: [a.yaml]\n", link: "Kustomization:kustomization.yaml", fails: "app/Kustomization is a symbolic link, and helmdrift follows none in the place of a kustomization"},
		"a plugin behind a link":  {files: map[string]string{"app/p/g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: g}\nrepo: https://example.com\n"}, kustomization: "generators: [l]\n", link: "l:p/g.yaml", fails: "app/p/g.yaml: it needs \"https://example.com\""},
		"an address behind one":   {files: map[string]string{"base/kustomization.yaml": "resources: ['https://example.com/a.yaml']\n"}, kustomization: "resources: [l]\n", link: "l:../base", fails: "base/kustomization.yaml: it needs \"https://example.com/a.yaml\""},
		"the folder .git":         {files: map[string]string{"app/.git/config": "x"}, kustomization: "configMapGenerator: [{name: g, files: [.git/config]}]\n", fails: ".git/config does not exist"},
		"YAML aliases":            {kustomization: bomb, fails: "its YAML aliases stand for more than 16 MiB"},
		"a remote resource":       {kustomization: "resources: ['https://example.com/a.yaml']\n", fails: "--allow-remote-bases fetches resources and components"},
		"a remote component":      {kustomization: "resources: [a.yaml]\n", source: api.KustomizeSource{Components: []string{"https://github.com/org/repo//c?ref=v1"}}, fails: "--allow-remote-bases fetches resources"},
		"a remote patch":          {kustomization: "resources: [a.yaml]\n", source: api.KustomizeSource{}, files: map[string]string{"app/kustomization.yml": "patches: [{path: 'https://example.com/p.yaml'}]\n"}, fails: "nothing else is fetched"},
		"charts":                  {kustomization: "helmCharts: [{name: x, repo: 'https://example.com'}]\n", options: "--enable-helm", fails: "it has helmCharts, and helmdrift runs no helm"},
		"a function":              {kustomization: "generators: [g.yaml]\n", options: "--enable-alpha-plugins", files: map[string]string{"app/g.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: g\n  annotations: {config.kubernetes.io/function: \"exec: {path: ./run.sh}\"}\n"}, fails: "external plugins disabled"},
		"functions that run":      {kustomization: "resources: [a.yaml]\n", options: "--enable-alpha-plugins --enable-exec", fails: "helmdrift does not know the option --enable-exec"},
		"a restriction of none":   {kustomization: "resources: [a.yaml]\n", options: "--load-restrictor none", fails: `"none" is no value of --load-restrictor`},
		"the version in a label":  {kustomization: "resources: [a.yaml]\nbuildMetadata: [managedByLabel]\n", fails: "buildMetadata has managedByLabel"},
		"nothing":                 {fails: "kustomization.yaml is empty"},
		"a fetched base":          {kustomization: "resources: ['https://github.com/org/repo//base?ref=v1', a.yaml]\n", bases: map[string]string{"kustomization.yaml": "", "base/kustomization.yaml": "namePrefix: x-\nresources: [b.yaml]\n", "base/b.yaml": aConfigMap}, want: "# Source: https://github.com/org/repo?ref=v1 base/b.yaml\n"},
		"a fetched file":          {kustomization: "resources: ['https://example.com/all.yaml']\n", bases: map[string]string{"all.yaml": aConfigMap}, want: "# Source: https://example.com/all.yaml all.yaml\n"},
		"a secret in a patch":     {kustomization: "resources: [a.yaml]\npatches: [{patch: \"" + strings.ReplaceAll(secret, "\n", `\n`) + "\"}]\n", fails: "no resource matches"},
		"a secret in a generator": {kustomization: "secretGenerator: [{name: s, literals: [hunter2]}]\n", fails: "literal sources ..."},
		"a secret without target": {kustomization: "resources: [a.yaml]\npatches: [{patch: '- {op: add, path: /data/p, value: hunter2}'}]\n", fails: "a target for JSON patch ..."},
		"a secret in a broken patch": {kustomization: "resources: [a.yaml]\npatches: [{patch: 'hunter2: [', target: {kind: ConfigMap}}]\n",
			fails: "unable to parse SM or JSON patch"},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(root, "app/kustomization.yaml"), c.kustomization)
			writeFile(t, filepath.Join(root, "app/a.yaml"), strings.Replace(aConfigMap, "name: a", "name: c", 1))
			for name, text := range c.files {
				if strings.HasSuffix(name, "kustomization.yml") { // instead of the other
					if err := os.Remove(filepath.Join(root, "app/kustomization.yaml")); err != nil {
						t.Fatal(err)
					}
				}
				writeFile(t, filepath.Join(root, name), text)
			}
			if link, to, isLink := strings.Cut(c.link, ":"); isLink {
				if err := os.Symlink(to, filepath.Join(root, "app", link)); err != nil {
					t.Fatal(err)
				}
			}
			order, err := (&Folder{Root: root, Dir: filepath.Join(root, "app"), Source: api.Source{Kustomize: &c.source}}).Kustomize(nil, c.options)
			if err != nil {
				t.Fatal(err)
			}
			order.FetchesBases = c.bases != nil
			got, err := order.Build(func(b kustomize.Base) (string, error) {
				dir := t.TempDir()
				for name, text := range c.bases {
					writeFile(t, filepath.Join(dir, name), text)
				}
				return dir, nil
			})
			switch {
			case c.fails == "" && err != nil, c.fails == "" && !strings.Contains(got, c.want):
				t.Errorf("%s, %v, want %q", got, err, c.want)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("%s, %v, want %q", got, err, c.fails)
			case err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), root)):
				t.Errorf("it says too much: %v", err)
			}
		})
	}
	if _, err := (&Folder{Root: "/x", Dir: "/x/a", Source: api.Source{Kustomize: &api.KustomizeSource{Version: "v4"}}}).Kustomize(nil, ""); err == nil {
		t.Error("another version of kustomize is taken for this one")
	}
}

// TestOwnFolder checks what a folder of the user stands for.
func TestOwnFolder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".git/config", "overlay/kustomization.yaml"} {
		writeFile(t, filepath.Join(root, name), "")
	}
	writeFile(t, filepath.Join(root, "built/all.yaml"), "{apiVersion: v1, kind: ConfigMap}\n")
	s := api.Source{Kustomize: &api.KustomizeSource{NamePrefix: "x"}, Plugin: json.RawMessage(`{}`)}
	for dir, want := range map[string]string{"overlay": "kustomize", "built": "directory"} {
		f := &Folder{Source: s, Root: filepath.Join(root, dir), Dir: filepath.Join(root, dir)}
		err := f.ownedByUser()
		kind, other := f.Kind()
		if errors.Join(err, other) != nil || kind != want {
			t.Errorf("%s: %s, %v", dir, kind, errors.Join(err, other))
		}
		if isRoot := f.Root == root; isRoot != (dir == "overlay") {
			t.Errorf("%s: the root is %s", dir, f.Root)
		}
	}
}
