package source

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// TestValues composes the values of sources in a repository with two charts and another repository with the ref values.
func TestValues(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"charts/web/a.yaml", "charts/web/b.yaml", "charts/web/env/prod.yaml", "charts/web/env/eu/prod.yaml", "common.yaml"} {
		writeFile(t, filepath.Join(root, name), "x: 1\n")
	}
	for _, name := range []string{"prod/v.yaml", "prod-eu/v.yaml", "test/v.yaml", "loop/v.yaml"} {
		writeFile(t, filepath.Join(root, "charts/web/in", name), "x: 1\n")
	}
	for link, target := range map[string]string{"in/away": other, "in/linked": "../env", "in/loop/a": "..", "in/loop/b": "..", "in/loop/c": "..", "in/loop/d": ".."} {
		if err := os.Symlink(target, filepath.Join(root, "charts/web", link)); err != nil {
			t.Skip(err)
		}
	}
	writeFile(t, filepath.Join(other, "prod/web.yaml"), "x: 1\n")
	folders := map[string]*Folder{"$values": {Root: other, Dir: other}}
	for name, c := range map[string]struct {
		helm       string
		files, set []string
		fails      string
	}{
		"in their order":           {helm: "valueFiles: [b.yaml, a.yaml]", files: []string{"b.yaml", "a.yaml"}},
		"each once":                {helm: "valueFiles: [b.yaml, a.yaml, b.yaml]", files: []string{"b.yaml", "a.yaml"}},
		"from the root":            {helm: "valueFiles: [/common.yaml, ../../common.yaml]", files: []string{"../../common.yaml"}},
		"of another source":        {helm: "valueFiles: [$values/prod/web.yaml]", files: []string{"OTHER/prod/web.yaml"}},
		"a pattern":                {helm: "valueFiles: ['*.yaml']", files: []string{"a.yaml", "b.yaml"}},
		"a pattern across folders": {helm: "valueFiles: ['env/**/prod.yaml']", files: []string{"env/prod.yaml", "env/eu/prod.yaml"}},
		"folder by folder":         {helm: "valueFiles: ['in/[pt]*/v.yaml']", files: []string{"in/prod/v.yaml", "in/prod-eu/v.yaml", "in/test/v.yaml"}},
		"braces":                   {helm: "valueFiles: ['in/{test,prod*}/v.ya?l']", files: []string{"in/prod/v.yaml", "in/prod-eu/v.yaml", "in/test/v.yaml"}},
		"braces alone":             {helm: "valueFiles: ['{a,b}.yaml']", fails: "there is no file {a,b}.yaml"},
		"all but":                  {helm: "valueFiles: ['[!b].yaml', 'in/[^pl]*/v.yaml']", files: []string{"a.yaml", "in/test/v.yaml"}},
		"through a link":           {helm: "valueFiles: ['in/link*/prod.yaml']", files: []string{"in/linked/prod.yaml"}},
		"a link out of the tree":   {helm: "valueFiles: ['in/aw*/prod/web.yaml']", fails: "no file matches in/aw*/prod/web.yaml"},
		"links to above":           {helm: "valueFiles: ['in/**/no.yaml']", fails: "it takes more than 20000 looks into folders"},
		"no pattern":               {helm: "valueFiles: ['[a.yaml']", fails: "syntax error in pattern"},
		"many braces":              {helm: "valueFiles: ['{a,b}{a,b}{a,b}{a,b}{a,b}*']", fails: "a pattern with more than 256 characters or 4 braces"},
		"the list itself wins":     {helm: "valueFiles: ['*.yaml', a.yaml]", files: []string{"b.yaml", "a.yaml"}},
		"a variable in a path":     {helm: "valueFiles: ['env/$ARGOCD_APP_NAME.yaml']", files: []string{"env/prod.yaml"}},
		"an address":               {helm: "valueFiles: ['https://example.com/v.yaml']", files: []string{"https://example.com/v.yaml"}},
		"values come last":         {helm: "{valueFiles: [a.yaml], values: 'y: 2'}", files: []string{"a.yaml", Inline}},
		"missing and ignored":      {helm: "{valueFiles: [no.yaml, a.yaml, 'no*.yaml'], ignoreMissingValueFiles: true}", files: []string{"a.yaml"}},
		"missing":                  {helm: "valueFiles: [no.yaml]", fails: "there is no file"},
		"no file matches":          {helm: "valueFiles: ['no*.yaml']", fails: "no file matches no*.yaml"},
		"outside":                  {helm: "valueFiles: [../../../x.yaml]", fails: "outside of the repository"},
		"outside, absolute":        {helm: "valueFiles: [/../x.yaml]", fails: "outside of the repository"},
		"outside of the other":     {helm: "valueFiles: [$values/../x.yaml]", fails: "outside of the repository"},
		"no such source":           {helm: "valueFiles: [$no/x.yaml]", fails: "no source has the ref no"},
		"parameters":               {helm: "parameters: [{name: a.b, value: 'x,y'}, {name: c, value: $ARGOCD_APP_NAME}]", set: []string{`a.b=x\,y`, "c=prod"}},
		"a list stays":             {helm: "parameters: [{name: a, value: '{x,y}'}]", set: []string{"a={x,y}"}},
		"escaped already":          {helm: `parameters: [{name: a, value: 'x\,y'}]`, set: []string{`a=x\,y`}},
		"two dollars":              {helm: "parameters: [{name: a, value: '$$x$no'}]", set: []string{"a=$x"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Folder{Root: root, Dir: filepath.Join(root, "charts/web"), OfSeveral: true}
			f.Source.Helm = &api.HelmSource{}
			if err := yaml.Unmarshal([]byte(c.helm), f.Source.Helm); err != nil {
				t.Fatal(err)
			}
			got, err := f.Values(folders, map[string]string{"ARGOCD_APP_NAME": "prod"})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, file := range got.Options.Files {
				file = strings.Replace(file, other, "OTHER", 1)
				if inside, err := filepath.Rel(f.Dir, file); err == nil && filepath.IsAbs(file) {
					file = filepath.ToSlash(inside)
				}
				files = append(files, file)
			}
			if diff := cmp.Diff(c.files, files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.set, got.Options.Set); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInlineValues checks that valuesObject counts before values.
func TestInlineValues(t *testing.T) {
	h := api.HelmSource{Values: "a: 1\n", ValuesObject: json.RawMessage(`{"b":2}`)}
	if text, err := h.Inline(); err != nil || string(text) != "b: 2\n" {
		t.Errorf("%q, %v", text, err)
	}
	h.ValuesObject = nil
	if text, err := h.Inline(); err != nil || string(text) != "a: 1\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOverride checks that the files of the repository change a source, but not where it comes from.
func TestOverride(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, ".argocd-source.yaml"), "helm: {parameters: [{name: image.tag, value: v2}]}\nrepoURL: https://elsewhere.example.com\n")
	writeFile(t, filepath.Join(dir, ".argocd-source-web.yaml"), "helm: {releaseName: shop}\n")
	f := &Folder{Root: dir, Dir: dir, Source: api.Source{RepoURL: "https://git.example.com/shop", Path: "charts/web"}}
	if err := f.Override("web"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, ".argocd-source-null.yaml"), "helm: {releaseName: null, values: null}\nkustomize: {namePrefix: x-}\n")
	if err := f.Override("null"); err != nil || f.Source.Helm == nil || f.Source.Helm.ReleaseName != "shop" || f.Source.Kustomize.NamePrefix != "x-" {
		t.Errorf("a null: %+v, %v", f.Source, err)
	}
	h := f.Source.Helm
	if h == nil || h.ReleaseName != "shop" || len(h.Parameters) != 1 || f.Source.RepoURL != "https://git.example.com/shop" || f.Source.Path != "charts/web" {
		t.Errorf("%+v, %+v", f.Source, h)
	}
	writeFile(t, filepath.Join(dir, ".argocd-source-pin.yaml"), "helm: {parameters: [{name: pin, value: 8675309}]}\n")
	if err := f.Override("pin"); err == nil || strings.Contains(err.Error(), "8675309") {
		t.Errorf("a number for a text: %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, ".argocd-source-api.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := f.Override("api"); err == nil {
		t.Error("a link that leads out of the repository was followed")
	}
}

// TestFolderKind checks what a folder is for the repo-server.
func TestFolderKind(t *testing.T) {
	for name, c := range map[string]struct {
		files  []string
		source api.Source
		want   string
		fails  string
	}{
		"a chart":             {files: []string{"Chart.yaml"}, want: "chart"},
		"manifests":           {files: []string{"a.yaml"}, want: "directory"},
		"manifests by choice": {files: []string{"Chart.yaml"}, source: api.Source{Directory: &api.DirectorySource{}}, want: "directory"},
		"a chart by choice":   {files: []string{"kustomization.yaml"}, source: api.Source{Helm: &api.HelmSource{}}, want: "chart"},
		"kustomize":           {files: []string{"kustomization.yml"}, want: "kustomize"},
		"kustomize by choice": {files: []string{"Chart.yaml"}, source: api.Source{Kustomize: &api.KustomizeSource{}}, want: "kustomize"},
		"both":                {files: []string{"Chart.yaml", "kustomization.yaml"}, want: "kustomize"},
		"both, in order":      {files: []string{"Kustomization", "MyChart.yaml"}, want: "chart"},
		"below the folder":    {files: []string{"sub/kustomization.yaml"}, want: "directory"},
		"two kinds by choice": {source: api.Source{Kustomize: &api.KustomizeSource{}, Helm: &api.HelmSource{}}, fails: "of several kinds, which Argo CD refuses: kustomize, chart"},
		"a plugin":            {files: []string{"Chart.yaml"}, source: api.Source{Plugin: json.RawMessage(`{}`)}, fails: "a config management plugin"},
	} {
		dir := t.TempDir()
		for _, file := range c.files {
			writeFile(t, filepath.Join(dir, file), "")
		}
		got, err := (&Folder{Root: dir, Dir: dir, Source: c.source}).Kind()
		if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestManifests checks which files of a folder are read.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.json", "c.txt", "sub/d.yml", "test/e.yaml"} {
		writeFile(t, filepath.Join(dir, name), `{"apiVersion": "v1", "kind": "ConfigMap"}`)
	}
	writeFile(t, filepath.Join(dir, "values.yaml"), "# +argocd:skip-file-rendering\nname: none\n")
	for name, c := range map[string]struct {
		directory api.DirectorySource
		want      []string
	}{
		"one folder":  {api.DirectorySource{}, []string{"a.yaml", "b.json"}},
		"all folders": {api.DirectorySource{Recurse: true}, []string{"a.yaml", "b.json", "sub/d.yml", "test/e.yaml"}},
		"without":     {api.DirectorySource{Recurse: true, Exclude: "{test/*,b.json}"}, []string{"a.yaml", "sub/d.yml"}},
		"only":        {api.DirectorySource{Recurse: true, Include: "*.yaml"}, []string{"a.yaml", "test/e.yaml"}},
		"every file":  {api.DirectorySource{DisableExtensionFilter: true, Exclude: "*.json"}, []string{"a.yaml", "c.txt"}},
	} {
		files, err := (&Folder{Root: dir, Dir: dir, Source: api.Source{Directory: &c.directory}}).Manifests()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, file := range files {
			got = append(got, file.Name)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	secret := filepath.Join(dir, "secret.yaml") // YAML takes the password for the name of an anchor
	writeFile(t, secret, "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {password: *Xa83kd92Ls}\n")
	if _, err := (&Folder{Root: dir, Dir: dir}).Manifests(); err == nil || !strings.HasSuffix(err.Error(), "unknown anchor") {
		t.Errorf("a password: %v", err)
	}
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "f.jsonnet"), "{}")
	if _, err := (&Folder{Root: dir, Dir: dir}).Manifests(); err == nil || !strings.Contains(err.Error(), "jsonnet") {
		t.Errorf("jsonnet: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "f.jsonnet")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Folder{Root: dir, Dir: dir}).Manifests(); err == nil {
		t.Error("a link that leads out of the repository was followed")
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRefs checks which sources the values of a chart may come from.
func TestRefs(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"web.yaml", "x,y.yaml"} {
		writeFile(t, filepath.Join(root, file), "")
	}
	const charts, values = "https://git.example.com/charts", "https://git.example.com/values"
	of := func(ref, url, target, revision string) *Folder {
		return &Folder{Root: root, Dir: root, Revision: revision, Source: api.Source{Ref: ref, RepoURL: url, TargetRevision: target}}
	}
	archive := of("a", values, "1.0.0", "1.0.0")
	archive.Source.Chart = "other"
	for name, c := range map[string]struct {
		refs   []*Folder
		files  []string
		single bool
		fails  string
	}{
		"another repository":             {refs: []*Folder{of("a", values, "main", "1")}, files: []string{"$a/web.yaml"}},
		"the same commit":                {refs: []*Folder{of("a", charts+".git", "HEAD", "0")}, files: []string{"$a/web.yaml"}},
		"another commit":                 {refs: []*Folder{of("a", charts+".git", "v1", "1")}, files: []string{"$a/web.yaml"}, fails: "source a is another commit of the repository"},
		"another commit, unused":         {refs: []*Folder{of("a", charts, "v1", "1")}, files: []string{"web.yaml"}},
		"two revisions":                  {refs: []*Folder{of("a", values, "v1", "1"), of("b", values, "v2", "2")}, files: []string{"$a/web.yaml", "$b/web.yaml"}, fails: "the sources a and b are two revisions"},
		"two with one revision":          {refs: []*Folder{of("a", values, "v1", "1"), of("b", values, "v1", "1")}, files: []string{"$a/web.yaml", "$b/web.yaml"}},
		"a chart":                        {refs: []*Folder{archive}, files: []string{"$a/web.yaml"}, fails: "source a is a chart"},
		"a variable, one source":         {files: []string{"$ARGOCD_APP_NAME.yaml"}, single: true},
		"a variable, several":            {files: []string{"$ARGOCD_APP_NAME.yaml"}, fails: "no source has the ref ARGOCD_APP_NAME.yaml"},
		"no variable, one source":        {files: []string{"$NO/web.yaml"}, single: true},
		"a name that helm takes for two": {files: []string{"x,y.yaml"}, fails: "x,y.yaml has a comma"},
	} {
		f := of("", charts, "main", "0")
		f.OfSeveral, f.Source.Helm = !c.single, &api.HelmSource{ValueFiles: c.files}
		_, err := f.Values(Refs(c.refs), map[string]string{"ARGOCD_APP_NAME": "web"})
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v, want %q", name, err, c.fails)
		}
	}
}

// TestVersion checks which version of a chart Argo CD names.
func TestVersion(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "Chart.yaml"), "version: 1.2.3\n")
	fetcher := Fetcher{Fetch: func(context.Context, string, fetch.Options) (string, func(), error) { return dir, func() {}, nil }}
	for target, want := range map[string]string{"1.2.3": "1.2.3", "v1.2": "v1.2", "1.x": "1.2.3"} {
		s := api.Source{RepoURL: "https://192.0.2.1/charts", Chart: "web", TargetRevision: target}
		f, err := fetcher.chart(t.Context(), &api.Application{}, s, t.Cleanup)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Variables(&api.Application{}, "web")["ARGOCD_APP_REVISION"]; got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}
