package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/helmdrift/helmdrift/"

// arrows are the imports that our packages may have of each other; threeway and secret stand at the end of every one.
func arrows() map[string][]string {
	return map[string][]string{
		"cmd/helmdrift": {"internal/absorb", "internal/config", "internal/confine", "internal/escape", "internal/files", "internal/hint",
			"internal/ignore", "internal/jobs", "internal/kubeconfig", "internal/manifestdiff", "internal/output",
			"internal/output/text", "internal/owners", "internal/program", "internal/saved", "internal/secret", "internal/terminal",
			"internal/unified", "internal/valuesfile", "pkg/drift", "pkg/fetch", "pkg/fleet", "pkg/history", "pkg/live", "pkg/object",
			"pkg/release", "pkg/render", "pkg/repair", "pkg/report", "pkg/rollout", "pkg/snapshot", "pkg/threeway"},
		"pkg/snapshot": {"internal/hint", "internal/kinds", "internal/manifestdiff", "internal/secret", "pkg/drift", "pkg/live",
			"pkg/object", "pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"pkg/drift": {"internal/absorb", "internal/engine", "internal/english", "internal/files", "internal/forecast", "internal/hint", "internal/ignore",
			"internal/kinds", "internal/kustomize", "internal/secret", "internal/valuesfile", "pkg/fetch", "pkg/live", "pkg/object",
			"pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"internal/files":   {},
		"internal/unified": {},
		"internal/manifestdiff": {"internal/escape", "internal/secret", "internal/unified", "internal/valuesfile", "pkg/object",
			"pkg/render", "pkg/report", "pkg/threeway"},
		"internal/absorb":    {"internal/secret", "pkg/object"},
		"internal/kustomize": {"pkg/object", "pkg/report"},
		"pkg/fleet":          {"pkg/drift", "pkg/live", "pkg/object", "pkg/release", "pkg/report", "pkg/threeway"},
		"pkg/release":        {"internal/hint"},
		"pkg/fetch":          {"internal/hint", "internal/secret"},
		"pkg/render":         {"internal/files", "internal/hint", "internal/secret", "pkg/object", "pkg/report"},
		"pkg/live":           {"internal/secret", "pkg/object", "pkg/report", "pkg/threeway"},
		"pkg/repair": {"internal/english", "internal/forecast", "internal/kinds", "internal/owners", "pkg/object", "pkg/report",
			"pkg/threeway"},
		"pkg/rollout": {"pkg/object", "pkg/report"},
		"pkg/history": {"pkg/object", "pkg/report"},
		"pkg/threeway": {"internal/apiserver", "internal/document", "internal/engine", "internal/ignore", "internal/kinds",
			"internal/owners", "internal/secret", "internal/verdict", "pkg/object", "pkg/report"},
		"pkg/report":          {"pkg/object"},
		"pkg/object":          {},
		"internal/secret":     {},
		"internal/confine":    {"internal/hint"},
		"internal/hint":       {},
		"internal/kubeconfig": {"internal/hint"},
		"internal/english":    {},
		"internal/saved":      {"internal/files", "internal/hint", "pkg/report"},
		"internal/jobs": {"internal/confine", "internal/hint", "internal/secret", "pkg/drift", "pkg/fetch", "pkg/live", "pkg/release",
			"pkg/render"},
		"internal/program":  {"internal/hint", "internal/secret", "pkg/fetch"},
		"internal/config":   {"internal/files", "internal/hint", "internal/ignore", "internal/owners", "pkg/report"},
		"internal/document": {"pkg/object"},
		"internal/kinds":    {"pkg/object"},
		"internal/engine":   {"internal/apiserver", "internal/kinds", "internal/owners", "pkg/object", "pkg/report"},
		"internal/verdict": {"internal/apiserver", "internal/engine", "internal/ignore", "internal/kinds", "internal/owners",
			"pkg/object", "pkg/report"},
		"internal/apiserver": {"internal/kinds", "internal/secret", "pkg/object"},
		"internal/ignore":    {"internal/kinds", "internal/owners", "internal/secret", "pkg/object", "pkg/report"},
		"internal/owners":    {"pkg/object", "pkg/report"},
		"internal/forecast":  {"internal/english", "internal/kinds", "pkg/object", "pkg/report"},
		"internal/output": {"internal/escape", "internal/output/ci", "internal/output/html", "internal/output/text",
			"internal/output/values", "pkg/report"},
		"internal/output/text": {"internal/english", "internal/escape", "internal/output/html", "internal/output/lookalike",
			"internal/output/monospace", "pkg/report"},
		"internal/output/monospace":  {"internal/escape"},
		"internal/output/lookalike":  {"internal/escape", "internal/output/monospace"},
		"internal/output/html":       {"pkg/report"},
		"internal/output/values":     {"pkg/report"},
		"internal/output/ci":         {"internal/english", "internal/escape", "pkg/object", "pkg/report"},
		"internal/escape":            {},
		"internal/terminal":          {"internal/escape"},
		"internal/valuesfile":        {"pkg/object"},
		"internal/output/schema":     {},
		"internal/secret/secrettest": {},
		"internal/output/reporttest": {"internal/output/schema", "pkg/report"},
		"test/postgres":              {},
		"test/growth":                {},
		"test/project":               {},
		"test/conformance":           {"test/conformance/corpus"},
		"test/conformance/corpus":    {"internal/kinds", "internal/verdict", "pkg/object"},
	}
}

// strangers are imports that only some packages may have: who talks to a cluster, who knows colour, flags and the process.
func strangers() map[string][]string {
	return map[string][]string{
		"k8s.io/client-go/dynamic":                       {"pkg/live", "pkg/release"},
		"k8s.io/client-go/metadata":                      {"pkg/live", "pkg/release"},
		"k8s.io/client-go/discovery":                     {"pkg/live"},
		"k8s.io/client-go/rest":                          {"internal/kubeconfig", "pkg/live", "pkg/render"},
		"k8s.io/client-go/tools/clientcmd":               {"internal/kubeconfig"},
		"net/http":                                       {"pkg/fetch", "pkg/live", "pkg/repair", "pkg/snapshot"},
		"github.com/fatih/color":                         {"internal/output/text"},
		"github.com/spf13/cobra":                         {"cmd/helmdrift"},
		"sigs.k8s.io/kustomize/api/krusty":               {"internal/kustomize"},
		"github.com/spf13/pflag":                         {"cmd/helmdrift"},
		"golang.org/x/term":                              {"internal/terminal"},
		"github.com/fluxcd/cli-utils/pkg/kstatus/status": {"pkg/rollout"},
		"os/exec":           {"internal/confine", "internal/program", "internal/terminal", "test/conformance", "test/postgres"},
		"database/sql":      {"pkg/release", "test/postgres"},
		"github.com/lib/pq": {"pkg/release", "test/postgres"},
	}
}

type goPackage struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestArrows holds the imports to the one direction that the architecture has.
func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows()[name]
		if !known {
			t.Errorf("%s is new: give it a place in arrows", name)
		}
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", name, own)
			}
			if users, limited := strangers()[imported]; limited && !slices.Contains(users, name) {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
	}
}

// TestHouseRules reads the code: packages and everything exported are documented, nothing happens at start-up, only main ends the
// process or reads the environment.
func TestHouseRules(t *testing.T) {
	for _, p := range packages(t) {
		name, documented := strings.TrimPrefix(p.ImportPath, module), false
		for _, file := range p.GoFiles {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || f.Doc != nil
			checkFile(t, set, f, name == "cmd/helmdrift" || name == "test/conformance")
		}
		if !documented {
			t.Errorf("%s has no package comment", name)
		}
	}
}

func checkFile(t *testing.T, set *token.FileSet, f *ast.File, isMain bool) {
	t.Helper()
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			if fn.Name.Name == "init" {
				t.Errorf("%s: init runs behind the reader's back", set.Position(fn.Pos()))
			}
		}
		checkComments(t, set, decl)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok || isMain {
			return true
		}
		if x, ok := call.X.(*ast.Ident); ok && slices.Contains([]string{"os.Exit", "os.Getenv", "os.LookupEnv", "log.Fatal", "log.Fatalf", "os.Stdout", "os.Stderr"}, x.Name+"."+call.Sel.Name) {
			t.Errorf("%s: %s.%s belongs into main", set.Position(n.Pos()), x.Name, call.Sel.Name)
		}
		return true
	})
}

// checkComments wants a comment on everything that a declaration exports. That of a function or a type begins with its name; values may
// share one.
func checkComments(t *testing.T, set *token.FileSet, decl ast.Decl) {
	t.Helper()
	check := func(name *ast.Ident, doc *ast.CommentGroup, isNamed bool) {
		switch {
		case !name.IsExported():
		case doc.Text() == "":
			t.Errorf("%s: %s has no comment", set.Position(name.Pos()), name.Name)
		case isNamed && strings.Fields(doc.Text())[0] != name.Name:
			t.Errorf("%s: the comment of %s does not begin with its name", set.Position(name.Pos()), name.Name)
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if exportedReceiver(d) {
			check(d.Name, d.Doc, true)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				check(s.Name, cmp.Or(s.Doc, d.Doc), true)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					check(name, cmp.Or(s.Doc, s.Comment, d.Doc), false)
				}
			}
		}
	}
}

// exportedReceiver reports whether a function can be reached from outside its package.
func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	kind := fn.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	id, ok := kind.(*ast.Ident)
	return ok && id.IsExported()
}

// TestDependenciesAreExplained holds docs/dependencies.md to go.mod: every direct dependency has a line that says why.
func TestDependenciesAreExplained(t *testing.T) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	doc, err := fs.ReadFile(docs(), "dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if !strings.Contains(string(doc), "`"+path+"`") {
			t.Errorf("docs/dependencies.md has no line for %s", path)
		}
	}
}

func docs() fs.FS { return os.DirFS("../../docs") }

// TestArchitecture wants every file and folder that docs/architecture.md names in backquotes to be there.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := ""
	for _, name := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(text), -1) {
		file := name[1]
		switch {
		case regexp.MustCompile(`^(cmd|pkg|internal|docs|test|testdata)/[\w./*-]+$`).MatchString(file) && !strings.Contains(file, "NAME"):
			folder = filepath.Dir(file)
		case regexp.MustCompile(`^\w+\.(go|yaml|json)$`).MatchString(file):
			file = filepath.Join(folder, file) // named beside a file of the same folder
		default:
			continue
		}
		if found, err := filepath.Glob(filepath.Join("../..", file)); err != nil || len(found) == 0 {
			t.Errorf("docs/architecture.md names %s, which does not exist", file)
		}
	}
}
