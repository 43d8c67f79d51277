package main

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCitations checks that every file that a comment or a page cites exists. After "helm v3.22.0", "kubernetes v1.36.3" and the like, a
// path belongs to that module at that version; any other path of a Go file belongs to this repository. The functions that are named after
// a file must be in it. The version of a module that this program links must be the linked one, or the version of the API server of the
// tests. Files of modules that are not downloaded are not checked: only test/controlplane needs these.
func TestCitations(t *testing.T) {
	c := citations{
		t: t, cache: goEnv(t, "GOMODCACHE"), linked: linkedVersions(t), missing: map[string]int{},
		isVersion:  regexp.MustCompile(`^(v|go)\d+(\.\d+)*$`),
		isFunction: regexp.MustCompile(`^[\w.]*([a-z][A-Z]|_)[\w.]*$`),
	}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		c.where, c.page = path, citation{}
		for _, text := range citingTexts(t, path) {
			c.check(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.found < 300 {
		t.Errorf("only %d files are cited; has the form of citations changed?", c.found)
	}
	for module, n := range c.missing {
		t.Logf("%s is not downloaded, so %d citations of it are not checked", module, n)
	}
}

// linkedVersions returns the version of each module that this program may link.
func linkedVersions(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	versions := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		versions[path] = version
	}
	return versions
}

// citingTexts returns the texts of a file that may have citations: the comments of a Go file, or the paragraphs of a page.
func citingTexts(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(path) {
	case ".go":
		file, err := parser.ParseFile(token.NewFileSet(), path, raw, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, group := range file.Comments {
			texts = append(texts, group.Text())
		}
		return texts
	case ".md", ".yaml", ".txtar":
		if base := filepath.Base(path); base != "CHANGELOG.md" && base != "comparison.md" { // it cites the code of other tools
			text := regexp.MustCompile("(?m)^# ?|\\]\\([^)]*\\)|`").ReplaceAllString(string(raw), " ")
			return regexp.MustCompile(`\n(\n|[|])`).Split(text, -1) // paragraphs, and rows of tables
		}
	}
	return nil
}

// citations checks what is cited.
type citations struct {
	t       *testing.T
	cache   string
	linked  map[string]string // the versions of modules
	where   string            // the file that cites
	page    citation          // what it cites first; any of its paths may belong to that
	found   int
	missing map[string]int

	isVersion, isFunction *regexp.Regexp // of a word; the name of a function or type is not a word of a sentence
}

// citation is what the words of a text have cited so far.
type citation struct {
	module string // empty if there is none yet
	dir    string // where it lies; empty if it is not checked
	begins bool   // the last word was the version, so that a folder may follow
	path   string // the file or folder that the words before this one cite
}

// check follows the words of one text. A version holds until the next one.
func (c *citations) check(text string) {
	var at citation
	words := strings.Fields(text)
	for i, raw := range words {
		word := strings.TrimRight(strings.TrimLeft(raw, `("[`), `.,;:)"]`)
		isGo := strings.HasSuffix(word, ".go")
		switch {
		case i > 0 && c.isVersion.MatchString(word):
			if module := moduleOf(at.module, strings.TrimLeft(words[i-1], `("`), word); module != "" {
				at = citation{module: module, dir: c.dir(module, word), begins: true}
			}
			if c.page.dir == "" {
				c.page = at
			}
		case strings.Contains(word, "/") && !strings.Contains(word, "://") && (isGo || at.begins):
			at.path, at.begins = c.path(at, word), false
		case isGo && at.path != "":
			at.path = c.sibling(at.path, word)
		case at.path != "" && (c.isFunction.MatchString(word) || endsClause(raw, word) && strings.HasSuffix(words[i-1], ".go")):
			c.function(at.path, word)
		case word != "and" && word != "or":
			at.path, at.begins = "", false
		}
		if strings.ContainsAny(raw[len(raw)-1:], ".;:)") && !strings.HasSuffix(raw, ":)") {
			at.path = ""
		}
	}
}

// endsClause reports whether a word stands before punctuation, as the name of a function does that is a word of the language too.
func endsClause(raw, word string) bool { return strings.HasPrefix(raw, word) && raw != word }

// moduleOf returns the module of a version, by the word before it; empty if it is none. Behind a version of Helm, one of the other major
// version needs no name. What others write is a module that is never downloaded.
func moduleOf(before, name, version string) string {
	name = strings.TrimPrefix(strings.ToLower(name), "k8s.io/")
	major, _, _ := strings.Cut(version, ".")
	switch {
	case citedModules()[name+" "+major] != "":
		return citedModules()[name+" "+major]
	case strings.HasPrefix(before, "helm.sh/helm/") && (major == "v3" || major == "v4"):
		return "helm.sh/helm/" + major
	case slices.Contains([]string{"keda", "argo-cd", "gitops-engine", "terraform-provider-helm", "helm-diff", "helmfile", "minio-go"}, name),
		strings.HasPrefix(name, "fluxcd/"),
		major == "go1":
		return somebodyElse
	}
	return ""
}

// somebodyElse stands for what is no module that a test could read.
const somebodyElse = "somebody else"

// citedModules are the modules by the names that citations have for them, without "k8s.io/", and their major versions.
func citedModules() map[string]string {
	modules := map[string]string{
		"helm v3": "helm.sh/helm/v3", "helm v4": "helm.sh/helm/v4", "kubernetes v1": "k8s.io/kubernetes",
		"structured-merge-diff v6": "sigs.k8s.io/structured-merge-diff/v6", "json-patch v5": "github.com/evanphx/json-patch",
		"go.yaml.in/yaml/v2 v2": "go.yaml.in/yaml/v2", "go.yaml.in/yaml/v3 v3": "go.yaml.in/yaml/v3",
		"sprig v3": "github.com/!masterminds/sprig/v3", "jsonschema v6": "github.com/santhosh-tekuri/jsonschema/v6",
		"go.etcd.io/etcd/api/v3 v3": "go.etcd.io/etcd/api/v3", "sigs.k8s.io/kustomize/api v0": "sigs.k8s.io/kustomize/api",
		"sigs.k8s.io/kustomize/kustomize v5": "sigs.k8s.io/kustomize/kustomize/v5", "fluxcd/cli-utils v1": "github.com/fluxcd/cli-utils",
	}
	for _, name := range []string{
		"api", "apiextensions-apiserver", "apimachinery", "apiserver", "cli-runtime", "client-go", "cloud-provider", "kubectl",
	} {
		modules[name+" v0"] = "k8s.io/" + name
	}
	return modules
}

// dir returns the folder of a module in the cache; empty if it is not downloaded.
func (c *citations) dir(module, version string) string {
	if module == somebodyElse {
		return ""
	}
	linked := c.linked[module]
	isCopy := strings.HasPrefix(module, "k8s.io/") && strings.HasSuffix(version, ".36.3") // of the API server of the tests
	switch {
	case strings.HasPrefix(linked+".", version+"."), linked == version+"+incompatible":
		version = linked
	case linked != "" && !isCopy:
		c.t.Errorf("%s cites %s %s; the version that is linked is %s", c.where, module, version, linked)
	}
	dir := filepath.Join(c.cache, module+"@"+version)
	if _, err := os.Stat(dir); err != nil {
		c.missing[module+"@"+version]++
		return ""
	}
	return dir
}

// path returns the file or folder that is cited; empty if its module is not checked. Words in capitals stand for any name.
func (c *citations) path(at citation, path string) string {
	c.found++
	if at.module != "" && at.dir == "" {
		return ""
	}
	pattern := regexp.MustCompile(`\b[A-Z]+\b`).ReplaceAllString(path, "*")
	for _, dir := range []string{at.dir, "../..", filepath.Dir(c.where), c.page.dir} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); dir != "" && len(found) > 0 {
			return found[0]
		}
	}
	c.t.Errorf("%s cites %s, which is not in %s", c.where, path, cmp.Or(at.dir, "this repository, and no version of a module stands before it"))
	return ""
}

// sibling returns a file that is cited after another one of the same folder, or after the folder.
func (c *citations) sibling(path, name string) string {
	for _, dir := range []string{path, filepath.Dir(path)} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	c.t.Errorf("%s cites %s, which is not beside %s", c.where, name, path)
	return ""
}

// function wants a file, or one of a folder, to have a function or a type. Of Type.Method it looks for the method.
func (c *citations) function(path, name string) {
	files, _ := filepath.Glob(filepath.Join(path, "*.go"))
	if strings.HasSuffix(path, ".go") {
		files = []string{path}
	}
	word := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\s+)` + regexp.QuoteMeta(name[strings.LastIndex(name, ".")+1:]) + `\b`)
	isThere := func(file string) bool {
		source, err := os.ReadFile(file)
		return err == nil && word.Match(source)
	}
	if !slices.ContainsFunc(files, isThere) {
		c.t.Errorf("%s cites %s, which is not in %s", c.where, name, path)
	}
}
