package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/helmdrift/helmdrift/"

// sorting is the package that sorts for all others.
const sorting = "internal/order"

// arrows lists which of our packages each package may import.
func arrows() map[string][]string {
	return map[string][]string{
		"cmd/helmdrift": {"internal/absorb", "internal/argo", "internal/argo/api", "internal/argo/appset", "internal/argo/ignored", "internal/argo/source", "internal/cli", "internal/confine", "internal/deployer", "internal/escape",
			"internal/files", "internal/fixing", "internal/flux", "internal/flux/api", "internal/flux/applied", "internal/flux/tree", "internal/forecast", "internal/garbage", "internal/garbage/early", "internal/helmfile", "internal/hint", "internal/jobs", "internal/kustomize",
			"internal/output", "internal/output/progress", "internal/program", "internal/reporting", "internal/saved", "internal/search", "internal/secret", "internal/tempdir", "internal/terraform", "internal/valuesfile", "internal/waiting", "internal/worktree", "pkg/effect",
			"pkg/drift", "pkg/fetch", "pkg/fleet", "pkg/history", "pkg/report",
			"pkg/report/absorption", "pkg/report/accept", "pkg/report/listing", "pkg/snapshot", "pkg/threeway"},
		"internal/cli": {"internal/choose", "internal/config", "internal/confine", "internal/escape", "internal/hint",
			"internal/ignore", "internal/ignore/findings", "internal/jobs", "internal/kubeconfig", "internal/output", "internal/output/progress",
			"internal/output/text",
			"internal/owners",
			"internal/program",
			"internal/secret", "internal/terminal", "pkg/effect", "pkg/drift", "pkg/fetch", "pkg/live", "pkg/live/lists", "pkg/release",
			"pkg/release/postgres", "pkg/object", "pkg/render", "pkg/repair", "pkg/report", "pkg/threeway"},
		"internal/fixing": {"internal/cli", "internal/files", "internal/hint", "internal/output", "internal/secret", "internal/terminal",
			"pkg/drift", "pkg/effect", "pkg/object", "pkg/repair", "pkg/report", "pkg/threeway"},
		"internal/reporting": {"internal/choose", "internal/cli", "internal/files", "internal/fixing", "internal/hint", "internal/manifestdiff",
			"internal/output", "internal/output/text", "internal/saved", "internal/secret", "internal/terminal", "internal/tokens", "pkg/drift",
			"pkg/object", "pkg/repair", "pkg/report", "pkg/report/accept", "pkg/threeway"},
		"internal/garbage": {}, "internal/garbage/early": {"internal/garbage"},
		"internal/waiting": {"internal/fixing", "internal/hint", "internal/output/progress", "internal/output/text", "internal/terminal",
			"pkg/live/lists", "pkg/object", "pkg/repair", "pkg/report", "pkg/rollout"},
		"internal/search": {"internal/cli", "internal/deployer", "internal/hint", "internal/kubeconfig", "internal/output/progress", "internal/terminal",
			"pkg/drift", "pkg/fleet", "pkg/live", "pkg/report"},
		"pkg/snapshot": {"internal/files", "internal/hint", "internal/kinds", "internal/manifestdiff", "internal/secret", "internal/tokens", "pkg/drift", "pkg/live",
			"pkg/cluster", "pkg/object", "pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"pkg/drift": {"internal/engine", "internal/english", "internal/helmrelease", "internal/hint", "internal/links", "internal/ignore",
			"internal/kinds", "internal/once", "internal/secret", "pkg/live", "pkg/cluster", "pkg/effect", "pkg/object",
			"pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"internal/helmrelease": {"internal/hint", "internal/ignore", "pkg/cluster", "pkg/object", "pkg/report"},
		"internal/choose": {"internal/english", "internal/hint", "internal/ignore", "internal/kinds", "pkg/object", "pkg/report",
			"pkg/threeway"},
		"internal/files":   {"internal/tempdir"},
		"internal/tempdir": {},
		"internal/links":   {"internal/hint"},
		"internal/unified": {},
		"internal/manifestdiff": {"internal/english", "internal/escape", "internal/secret", "internal/tokens", "internal/unified", "internal/valuesfile", "pkg/object",
			"pkg/render", "pkg/report", "pkg/threeway"},
		"internal/absorb": {"internal/absorb/kustomize", "internal/absorb/reads", "internal/absorb/search", "internal/absorb/vary", "internal/files",
			"internal/once", "internal/secret", "internal/unified",
			"internal/valuesfile", "pkg/cluster", "pkg/drift", "pkg/object", "pkg/render", "pkg/report", "pkg/report/absorption", "pkg/threeway"},
		"internal/absorb/search":    {"internal/absorb/reads", "internal/secret", "internal/valuesfile", "pkg/object"},
		"internal/absorb/kustomize": {"pkg/object", "pkg/report/absorption"},
		"internal/absorb/reads":     {"pkg/render"},
		"internal/absorb/vary":      {"internal/once", "internal/secret", "pkg/render"},
		"internal/sweep":            {"pkg/cluster", "pkg/live", "pkg/live/lists", "pkg/object", "pkg/report"},
		"internal/livetest":         {"pkg/cluster", "pkg/object"},
		"pkg/fleet": {"internal/hint", "internal/reread", "internal/sweep", "pkg/drift", "pkg/live", "pkg/live/lists", "pkg/cluster", "pkg/object", "pkg/release", "pkg/render", "pkg/report", "pkg/report/listing",
			"pkg/threeway"},
		"pkg/release":          {"internal/gunzip", "internal/hint", "pkg/report"},
		"pkg/release/postgres": {"internal/hint", "pkg/release"},
		"pkg/fetch":            {"internal/hint", "internal/secret", "internal/tempdir"},
		"pkg/render":           {"internal/hint", "internal/links", "internal/secret", "pkg/object", "pkg/report"},
		"pkg/live":             {"internal/gunzip", "internal/retry", "internal/secret", "pkg/cluster", "pkg/object", "pkg/report"},
		"pkg/live/lists":       {"pkg/live"},
		"pkg/effect":           {"pkg/cluster", "pkg/object", "pkg/report"},
		"pkg/cluster":          {"pkg/object", "pkg/report"},
		"pkg/repair": {"internal/english", "internal/kinds", "internal/owners", "internal/retry", "pkg/cluster", "pkg/effect", "pkg/object", "pkg/report",
			"pkg/threeway"},
		"pkg/rollout": {"internal/once", "pkg/object", "pkg/report"},
		"pkg/history": {"pkg/object", "pkg/report", "pkg/report/past"},
		"pkg/threeway": {"internal/apiserver", "internal/document", "internal/engine", "internal/ignore", "internal/kinds",
			"internal/owners", "internal/secret", "internal/verdict", "pkg/cluster", "pkg/object", "pkg/report"},
		"pkg/report":            {"pkg/object"},
		"pkg/report/absorption": {"pkg/report"},
		"pkg/report/accept":     {"pkg/report"},
		"pkg/report/listing":    {"pkg/report"},
		"pkg/report/past":       {"pkg/report"},
		"pkg/report/reading":    {"pkg/report"},
		"pkg/object":            {},
		"internal/secret":       {},
		"internal/tokens":       {"internal/secret"},
		"internal/confine":      {"internal/hint"},
		"internal/gunzip":       {},
		"internal/retry":        {},
		"internal/hint":         {},
		"internal/address":      {"internal/hint"},
		"internal/kubeconfig":   {"internal/hint"},
		"internal/english":      {},
		sorting:                 {},
		"internal/saved":        {"internal/english", "internal/files", "internal/hint", "pkg/report", "pkg/report/reading"},
		"internal/jobs": {"internal/absorb", "internal/confine", "internal/hint", "internal/secret", "pkg/drift", "pkg/fetch", "pkg/live", "pkg/release",
			"pkg/render"},
		"internal/program":  {"internal/hint", "internal/secret", "internal/tempdir", "pkg/fetch"},
		"internal/config":   {"internal/files", "internal/hint", "internal/ignore", "internal/owners", "pkg/report"},
		"internal/document": {"pkg/object"},
		"internal/kinds":    {"pkg/object"},
		"internal/engine":   {"internal/apiserver", "internal/kinds", "internal/owners", "pkg/object", "pkg/report"},
		"internal/verdict": {"internal/apiserver", "internal/engine", "internal/ignore", "internal/kinds", "internal/owners",
			"pkg/object", "pkg/report"},
		"internal/apiserver":       {"internal/kinds", "internal/secret", "pkg/object"},
		"internal/ignore":          {"internal/kinds", "internal/owners", "pkg/object", "pkg/report"},
		"internal/ignore/findings": {"internal/ignore", "pkg/object", "pkg/report"},
		"internal/owners":          {"pkg/object", "pkg/report"},
		"internal/forecast":        {"internal/english", "internal/kinds", "pkg/cluster", "pkg/effect", "pkg/object", "pkg/report"},
		"internal/flux": {"internal/deployer", "internal/once", "internal/program", "internal/unknown", "internal/address", "internal/english", "internal/files", "internal/flux/api", "internal/flux/applied", "internal/flux/bucket", "internal/flux/keep", "internal/flux/tree",
			"internal/hint", "internal/kustomize", "internal/links", "internal/secret", "internal/tempdir", "pkg/cluster", "pkg/drift", "pkg/fetch", "pkg/live/lists", "pkg/object",
			"pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"internal/flux/api": {"internal/deployer", "internal/hint", "internal/unknown", "internal/secret", "pkg/cluster", "pkg/object"},
		"internal/flux/applied": {"internal/deployer", "internal/engine", "internal/files", "internal/flux/api", "internal/flux/tree", "internal/hint",
			"internal/ignore", "internal/kinds", "internal/kustomize", "internal/owners", "internal/secret", "internal/worktree", "pkg/cluster",
			"pkg/drift", "pkg/live", "pkg/object", "pkg/report"},
		"internal/flux/bucket":            {"internal/files", "internal/flux/api", "internal/flux/tree", "internal/hint", "internal/once", "internal/tempdir", "pkg/fetch"},
		"internal/flux/bucket/buckettest": {},
		"internal/flux/keep": {"internal/deployer", "internal/flux/api", "internal/flux/applied", "internal/flux/tree", "internal/places", "internal/unknown",
			"internal/valuesfile", "pkg/cluster", "pkg/drift", "pkg/object"},
		"internal/flux/tree":     {"internal/kustomize", "internal/secret", "internal/unknown", "internal/worktree", "internal/yamlerror"},
		"internal/flux/fluxtest": {"pkg/cluster", "pkg/drift", "pkg/object", "pkg/report"},
		"internal/argo": {"internal/argo/api", "internal/argo/appset", "internal/argo/ignored", "internal/argo/source", "internal/deployer",
			"internal/engine", "internal/engine/argocd", "internal/hint", "internal/ignore", "internal/kinds", "internal/once", "internal/owners",
			"internal/places", "internal/reread", "internal/secret", "internal/worktree", "pkg/cluster", "pkg/drift", "pkg/effect", "pkg/live/lists", "pkg/object",
			"pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"internal/argo/api": {"internal/deployer", "internal/hint", "internal/yamlerror", "pkg/object"},
		"internal/argo/source": {"internal/address", "internal/argo/api", "internal/files", "internal/hint", "internal/kustomize", "internal/links", "internal/worktree", "internal/yamlerror",
			"pkg/drift", "pkg/fetch", "pkg/render"},
		"internal/argo/appset":   {"internal/argo/api", "internal/worktree", "internal/yamlerror", "pkg/object", "pkg/render"},
		"internal/argo/ignored":  {},
		"internal/engine/argocd": {"internal/apiserver", "internal/engine", "internal/kinds", "internal/owners", "pkg/object", "pkg/report"},
		"internal/kustomize":     {"internal/address", "internal/files", "internal/links", "internal/once", "internal/program", "internal/tempdir", "internal/yamlerror", "pkg/fetch"},
		"internal/once":          {},
		"internal/yamlerror":     {},
		"internal/reread":        {},
		"internal/deployer":      {"internal/hint", "internal/once", "internal/secret", "internal/tempdir", "pkg/cluster", "pkg/drift", "pkg/fetch", "pkg/object", "pkg/report"},
		"internal/worktree":      {"internal/files", "internal/links"},
		"internal/terraform": {"internal/deployer", "internal/english", "internal/files", "internal/hint", "internal/secret", "internal/unknown", "internal/valuesfile", "pkg/drift", "pkg/fetch", "pkg/live/lists", "pkg/object",
			"pkg/release", "pkg/render", "pkg/report", "pkg/threeway"},
		"internal/helmfile": {"internal/deployer", "internal/english", "internal/files", "internal/hint", "internal/places", "internal/program", "internal/secret", "internal/tempdir", "internal/valuesfile", "internal/worktree", "pkg/drift", "pkg/fetch", "pkg/object",
			"pkg/release", "pkg/render",
			"pkg/report", "pkg/threeway"},
		"internal/helmfile/helmfiletest": {},
		"internal/unknown":               {"internal/english", "pkg/drift", "pkg/render"},
		"internal/output": {"internal/escape", "internal/output/ci", "internal/output/html", "internal/output/layout", "internal/output/text",
			"internal/output/text/absorb", "internal/output/text/history", "internal/output/timeline", "internal/output/values",
			"pkg/report", "pkg/report/accept", "pkg/report/absorption", "pkg/report/past", "pkg/report/listing"},
		"internal/output/layout":   {"internal/english", "internal/escape", "internal/output/monospace", "pkg/report"},
		"internal/output/progress": {"internal/english", "internal/output/layout", "internal/output/monospace", "pkg/report"},
		"internal/output/text": {"internal/english", "internal/escape", "internal/output/counts", "internal/output/edits", "internal/output/found", "internal/output/layout",
			"internal/output/monospace", "internal/output/sides", "internal/output/environments", "internal/output/consequences",
			"internal/output/urgency", "pkg/report", "pkg/report/listing"},
		"internal/output/urgency":      {"pkg/report"},
		"internal/output/edits":        {"internal/english", "internal/output/layout", "internal/output/sides", "pkg/report"},
		"internal/output/counts":       {"internal/english", "internal/output/edits", "internal/output/found", "internal/output/layout", "pkg/report"},
		"internal/output/found":        {"internal/english", "internal/output/layout", "pkg/report"},
		"internal/output/consequences": {"internal/output/layout", "pkg/report"},
		"internal/output/environments": {"internal/english", "internal/output/layout", "internal/output/monospace", "internal/output/sides",
			"pkg/report"},
		"internal/output/sides": {"internal/english", "internal/output/layout", "internal/output/lookalike", "internal/output/monospace",
			"internal/unified", "pkg/report"},
		"internal/output/timeline":    {"internal/english", "internal/output/layout", "internal/output/monospace", "pkg/report"},
		"internal/output/text/absorb": {"internal/english", "internal/output/layout", "pkg/report", "pkg/report/absorption"},
		"internal/output/text/history": {"internal/english", "internal/output/layout", "internal/output/monospace",
			"pkg/report", "pkg/report/past"},
		"internal/output/monospace": {"internal/escape"},
		"internal/output/lookalike": {"internal/escape", "internal/output/monospace"},
		"internal/output/html": {"internal/english", "internal/output/counts", "internal/output/environments", "internal/output/layout", "internal/output/text",
			"internal/output/text/history", "internal/unified", "pkg/report", "pkg/report/past"},
		"internal/output/values": {"internal/escape", "pkg/report/absorption"},
		"internal/output/ci": {"internal/english", "internal/escape", "internal/output/consequences", "internal/output/counts",
			"internal/output/environments", "internal/output/layout", "internal/output/text", "internal/output/urgency", "internal/unified", "pkg/report"},
		"internal/escape":            {},
		"internal/terminal":          {"internal/escape"},
		"internal/valuesfile":        {"pkg/object"},
		"internal/places":            {"internal/files", "internal/valuesfile", "pkg/object", "pkg/render"},
		"internal/places/placestest": {"internal/files", "internal/unified", "internal/valuesfile", "pkg/object"},
		"internal/output/schema":     {},
		"internal/secret/secrettest": {},
		"internal/casetest":          {},
		"internal/files/filestest":   {},
		"internal/output/reporttest": {"internal/output/schema", "pkg/report"},
		"test/postgres":              {},
		"test/growth":                {},
		"test/project":               {},
		"test/conformance":           {"test/conformance/corpus"},
		"test/conformance/corpus":    {"internal/kinds", "internal/verdict", "pkg/object"},
	}
}

// strangers lists imports that only some packages may have: packages that talk to a cluster, or know colour, flags and the process.
func strangers() map[string][]string {
	return map[string][]string{
		"k8s.io/client-go/dynamic":         {"pkg/live"},
		"k8s.io/client-go/metadata":        {"pkg/live", "pkg/release"},
		"k8s.io/client-go/discovery":       {"pkg/live"},
		"k8s.io/client-go/rest":            {"internal/kubeconfig", "pkg/drift", "pkg/live", "pkg/live/lists", "pkg/release", "pkg/render"},
		"k8s.io/client-go/tools/clientcmd": {"internal/kubeconfig"},
		"net/http":                         {"internal/flux/bucket", "internal/flux/bucket/buckettest", "internal/livetest", "pkg/fetch", "pkg/live", "pkg/repair", "pkg/snapshot"},
		"github.com/fatih/color":           {"internal/output/layout", "internal/output/text"},
		"github.com/spf13/cobra":           {"cmd/helmdrift", "internal/cli", "internal/reporting"},
		"sigs.k8s.io/kustomize/api/krusty": {"internal/absorb/kustomize", "internal/flux", "internal/kustomize"},
		"github.com/spf13/pflag": {"cmd/helmdrift", "internal/cli", "internal/fixing", "internal/helmfile", "internal/reporting", "internal/search",
			"internal/waiting"},
		"golang.org/x/term": {"internal/terminal"},
		"github.com/fluxcd/cli-utils/pkg/kstatus/status": {"pkg/rollout"},
		"os/exec":           {"internal/confine", "internal/program", "internal/terminal", "test/conformance", "test/postgres"},
		"database/sql":      {"pkg/release/postgres", "test/postgres"},
		"github.com/lib/pq": {"pkg/release/postgres", "test/postgres"},
	}
}

type goPackage struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
	TestGoFiles     []string
	XTestGoFiles    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
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

// TestArrows checks that imports follow the one direction of the architecture.
func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows()[name]
		if !known {
			t.Errorf("%s is new: give it a place in arrows", name)
		}
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module); ok && own != sorting && !slices.Contains(allowed, own) {
				t.Errorf("%s must not import %s", name, own)
			}
			if users, limited := strangers()[imported]; limited && !slices.Contains(users, name) {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
		for _, own := range allowed {
			if !slices.Contains(p.Imports, module+own) {
				t.Errorf("%s does not import %s any more: remove it from arrows", name, own)
			}
		}
	}
}

// guestPackages lists the packages of each guest. Packages below them belong to it, too.
func guestPackages() map[string][]string {
	return map[string][]string{
		"absorb":    {"internal/absorb", "internal/output/text/absorb", "internal/output/values", "pkg/report/absorption"},
		"argo":      {"internal/argo", "internal/engine/argocd"},
		"fleet":     {"internal/search", "internal/sweep", "pkg/fleet", "pkg/report/listing"},
		"flux":      {"internal/flux"},
		"forecast":  {"internal/forecast"},
		"helmfile":  {"internal/helmfile"},
		"history":   {"internal/output/text/history", "pkg/history", "pkg/report/past"},
		"rollout":   {"internal/waiting", "pkg/rollout"},
		"snapshot":  {"pkg/snapshot"},
		"terraform": {"internal/terraform"},
	}
}

// sharedByGuests lists packages for guests alone, which several of them import.
func sharedByGuests() []string {
	return []string{"internal/address", "internal/deployer", "internal/kustomize", "internal/places", "internal/reread", "internal/unknown",
		"internal/worktree", "internal/yamlerror"}
}

// TestGuests checks that the core imports no guest, and that no guest imports another. Only cmd/helmdrift knows all guests; a package that
// knows one has a file for it. "make guests" builds the program without each of them.
func TestGuests(t *testing.T) {
	knows := map[string][]string{
		"internal/jobs": {"internal/absorb"},
		"internal/output": {"internal/output/text/absorb", "internal/output/text/history", "internal/output/values",
			"pkg/report/absorption", "pkg/report/listing", "pkg/report/past"},
		"internal/output/html": {"internal/output/text/history", "pkg/report/past"},
		"internal/output/text": {"pkg/report/listing"},
	}
	isIn := func(name string, folders []string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
	}
	const shared = "every guest"
	guestOf := func(name string) string {
		for guest, folders := range guestPackages() {
			if isIn(name, folders) {
				return guest
			}
		}
		if isIn(name, sharedByGuests()) {
			return shared
		}
		return ""
	}
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		own := guestOf(name)
		seen[name] = true
		for _, imported := range p.Imports {
			imported = strings.TrimPrefix(imported, module)
			guest := guestOf(imported)
			mayImport := guest == "" || guest == own || guest == shared && own != "" || name == "cmd/helmdrift" ||
				slices.Contains(knows[name], imported)
			if !mayImport {
				t.Errorf("%s must not import %s, which is for %s", name, imported, guest)
			}
		}
	}
	for _, name := range slices.Concat(append(slices.Collect(maps.Values(guestPackages())), sharedByGuests())...) {
		if !seen[name] {
			t.Errorf("there is no package %s", name)
		}
	}
}

// TestHouseRules checks rules for the code: packages and everything exported are documented, a package says where its tests are if its own
// are less than a tenth of its lines, nothing happens at start-up but what internal/garbage/early does, one package sorts, and only main
// ends the process or reads the environment.
func TestHouseRules(t *testing.T) {
	for _, p := range packages(t) {
		name, doc, hasCode, lines := strings.TrimPrefix(p.ImportPath, module), "", false, 0
		for _, file := range p.GoFiles {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, file), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			doc += f.Doc.Text()
			lines += set.File(f.Pos()).LineCount()
			hasCode = hasCode || slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { _, ok := d.(*ast.FuncDecl); return ok })
			checkFile(t, set, f, name)
		}
		if doc == "" {
			t.Errorf("%s has no package comment", name)
		}
		if tested := linesOf(t, p.Dir, p.TestGoFiles, p.XTestGoFiles); hasCode && tested*10 < lines && !saysTests.MatchString(doc) {
			t.Errorf("%s has %d lines and %d of tests, and its comment does not say what tests it", name, lines, tested)
		}
	}
}

// saysTests matches a package comment that says something about tests.
var saysTests = regexp.MustCompile(`\b[Tt]est(s|ed|data)?\b|\bTest[A-Z]`)

// linesOf returns how many lines files of a folder have.
func linesOf(t *testing.T, dir string, lists ...[]string) (lines int) {
	t.Helper()
	for _, name := range slices.Concat(lists...) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte("\n"))
	}
	return lines
}

func checkFile(t *testing.T, set *token.FileSet, f *ast.File, pkg string) {
	t.Helper()
	isEarly := pkg == "internal/garbage/early"
	isMain := isEarly || pkg == "cmd/helmdrift" || pkg == "test/conformance"
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			if fn.Name.Name == "init" && !isEarly {
				t.Errorf("%s: init runs behind the reader's back", set.Position(fn.Pos()))
			}
		}
		checkComments(t, set, decl)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := call.X.(*ast.Ident)
		if !ok {
			return true
		}
		name := x.Name + "." + call.Sel.Name
		if !isMain && slices.Contains([]string{"os.Exit", "os.Getenv", "os.LookupEnv", "log.Fatal", "log.Fatalf", "os.Stdout", "os.Stderr"}, name) {
			t.Errorf("%s: %s belongs into main", set.Position(n.Pos()), name)
		}
		if f.Name.Name != path.Base(sorting) && slices.Contains([]string{"slices.SortFunc", "slices.SortStableFunc", "slices.SortedFunc",
			"slices.SortedStableFunc", "sort.Slice", "sort.SliceStable"}, name) {
			t.Errorf("%s: %s sorts by comparing: use %s", set.Position(n.Pos()), name, sorting)
		}
		return true
	})
}

// checkComments checks that everything that a declaration exports has a comment. The comment of a function or a type must begin with
// its name; values may share one.
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

// TestDependenciesAreExplained checks that docs/dev/dependencies.md has a line for every direct dependency in go.mod that says why.
func TestDependenciesAreExplained(t *testing.T) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	doc, err := os.ReadFile("../../docs/dev/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if !strings.Contains(string(doc), "`"+path+"`") {
			t.Errorf("docs/dev/dependencies.md has no line for %s", path)
		}
	}
}

// TestArchitecture checks that every file and folder exists that a page of docs/dev names in backquotes.
func TestArchitecture(t *testing.T) {
	pages, err := filepath.Glob("../../docs/dev/*.md")
	if err != nil || len(pages) < 4 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		checkNamedFiles(t, page, string(text))
	}
}

// checkNamedFiles checks that the files and folders that a text names in backquotes exist. A file without a folder is in the folder
// that the text named last, or next to the file that it named last.
func checkNamedFiles(t *testing.T, page, text string) {
	t.Helper()
	folder := ""
	for _, name := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		file := name[1]
		switch {
		case regexp.MustCompile(`^(cmd|pkg|internal|docs|test|testdata|tools|deploy)/[\w./*-]+$`).MatchString(file) && !strings.Contains(file, "NAME"):
			folder = filepath.Dir(file)
			if info, err := os.Stat(filepath.Join("../..", file)); err == nil && info.IsDir() {
				folder = file
			}
		case regexp.MustCompile(`^\w+\.(go|yaml|json)$`).MatchString(file):
			file = filepath.Join(folder, file)
		default:
			continue
		}
		if found, err := filepath.Glob(filepath.Join("../..", file)); err != nil || len(found) == 0 {
			t.Errorf("%s names %s, which does not exist", page, file)
		}
	}
}
