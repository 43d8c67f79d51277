package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
)

// flagName is a flag in the text of a page.
var flagName = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9-]+)`)

// otherFlags are flags of other programs that the pages name.
func otherFlags() []string {
	return []string{"allow-untrusted", "as", "atomic", "binary", "cascade", "cask", "cleanup-on-fail", "detailed-exitcode", "extra", "log-level", "manifest-url",
		"post-renderer-strategy", "three-way-merge", "type"}
}

// pagesOfOthersFlags are pages about the flags of other programs.
func pagesOfOthersFlags() []string { return []string{"docs/coming-from.md", "docs/gitops.md"} }

// TestFlagsInDocs checks that every flag that a page names exists, and that some page names every flag.
func TestFlagsInDocs(t *testing.T) {
	exists := map[string]bool{}
	for _, cmd := range allCommands(newRoot(cli.Streams{Env: emptyEnv})) {
		// Flags of other tools are tested elsewhere, and of -h only the letter counts.
		add := func(f *pflag.Flag) {
			exists[f.Name] = strings.HasPrefix(f.Usage, "a flag of another tool") || f.Usage == ""
		}
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
	}
	for _, p := range pages(t) {
		for _, found := range flagName.FindAllStringSubmatch(p.prose(), -1) {
			if _, ok := exists[found[1]]; ok {
				exists[found[1]] = true
			} else if !slices.Contains(otherFlags(), found[1]) && !slices.Contains(pagesOfOthersFlags(), p.file) {
				t.Errorf("%s names --%s, which does not exist", p.file, found[1])
			}
		}
		if p.file == "docs/cli.md" { // its blocks list the flags
			for _, found := range flagName.FindAllStringSubmatch(p.text, -1) {
				exists[found[1]] = true
			}
		}
	}
	for name, documented := range exists {
		if !documented {
			t.Errorf("no page names --%s", name)
		}
	}
}

// allCommands returns a command and all commands below it.
func allCommands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		all = append(all, allCommands(cmd)...)
	}
	return all
}

// variable is the name of an environment variable.
var variable = regexp.MustCompile(`^[A-Za-z][A-Z0-9a-z]*(_[A-Za-z0-9]+)*$`)

// readsVariables are the packages that get env. Only main reads the environment, and gives it on as the function env (TestHouseRules).
func readsVariables() []string {
	return []string{
		".", "../../internal/cli", "../../internal/reporting", "../../pkg/fleet", "../../internal/config", "../../internal/garbage", "../../internal/terminal",
	}
}

// variablesInCode returns the environment variables that the code reads: arguments of env, and lists of names that are passed to it.
func variablesInCode(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	upper := regexp.MustCompile(`^([A-Z][A-Z0-9]*(_[A-Z0-9]+)+|https?_proxy|no_proxy)$`)
	var files []string
	for _, dir := range readsVariables() {
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && upper.MatchString(text) {
					names[text] = true
				}
			case *ast.CallExpr:
				if name := calledName(n); strings.EqualFold(name, "env") || name == "Getenv" || name == "LookupEnv" {
					for _, arg := range n.Args {
						if lit, ok := arg.(*ast.BasicLit); ok {
							names[strings.Trim(lit.Value, `"`)] = true
						}
					}
				}
			}
			return true
		})
	}
	return names
}

// calledName returns the name of the function or method that a call names.
func calledName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// readers are the packages that read environment variables for helmdrift, by the word in docs/environment.md.
func readers() map[string][]string {
	return map[string][]string{
		"Helm":      {"helm.sh/helm/v3/pkg/helmpath", "helm.sh/helm/v3/pkg/helmpath/xdg"},
		"client-go": {"k8s.io/client-go/tools/clientcmd", "k8s.io/client-go/util/homedir"},
		"Go":        {"golang.org/x/net/http/httpproxy", "crypto/x509", "runtime", "os", "time"},
		"lib/pq":    {"github.com/lib/pq"},
		"less":      nil,
	}
}

// TestVariablesInDocs checks that docs/environment.md has every environment variable that is read, and no other. The first table has the
// variables of our code, and the second those of libraries, with the library.
func TestVariablesInDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`(\\w+)`")
	_, variables, _ := strings.Cut(string(text), "\n## Environment variables\n")
	own, libraries, _ := strings.Cut(variables, "\n## Read by libraries\n")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[A-Za-z_`, 0-9]+`) \\|").FindAllStringSubmatch(own, -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = true
		}
	}
	code := variablesInCode(t)
	for name := range code {
		if !documented[name] {
			t.Errorf("docs/environment.md lacks %s", name)
		}
	}
	for name := range documented {
		if !code[name] && !lists(t, name) {
			t.Errorf("docs/environment.md has %s, which the code does not read", name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[A-Za-z_`, 0-9]+`) \\| ([\\w/-]+) \\|").FindAllStringSubmatch(libraries, -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			documented[name[1]] = true
			if !libraryReads(t, readers()[row[2]], name[1]) {
				t.Errorf("docs/environment.md: %s does not read %s", row[2], name[1])
			}
		}
	}
	checkVariablesOfPages(t, documented)
}

// lists reports whether a list of variables in the code has a name that could be an ordinary word, such as TZ.
func lists(t *testing.T, name string) bool {
	t.Helper()
	for _, file := range []string{"../../internal/cli/limits.go", "../../internal/terminal/terminal.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if variable.MatchString(name) && strings.Contains(string(text), strconv.Quote(name)) {
			return true
		}
	}
	return false
}

// libraryReads reports whether the source of one of the packages contains the name of a variable.
func libraryReads(t *testing.T, packages []string, name string) bool {
	t.Helper()
	for _, p := range packages {
		dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", p).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", p, err)
		}
		files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"`+name) {
				return true
			}
		}
	}
	return false
}

// checkVariablesOfPages checks that the variables of Helm and helmdrift that pages name are documented.
func checkVariablesOfPages(t *testing.T, documented map[string]bool) {
	t.Helper()
	others := []string{"HELM_DIFF", "HELM_DIFF_", "HELM_DRIFT", "HELM_BIN", "HELM_PLUGINS", "HELM_PLUGIN_", "HELMDRIFT_TEST_"}
	for _, p := range pages(t) {
		for _, name := range slices.Sorted(maps.Keys(words(p.text, regexp.MustCompile(`\b(?:HELM|HELMDRIFT)_[A-Z_]+\b`)))) {
			isOther := slices.ContainsFunc(others, func(other string) bool {
				return name == other || strings.HasSuffix(other, "_") && strings.HasPrefix(name, other)
			})
			if !documented[name] && !isOther {
				t.Errorf("%s names %s, which docs/environment.md does not have", p.file, name)
			}
		}
	}
}

// words returns the set of the matches of a pattern.
func words(text string, pattern *regexp.Regexp) map[string]bool {
	out := map[string]bool{}
	for _, word := range pattern.FindAllString(text, -1) {
		out[word] = true
	}
	return out
}

// TestExitCodesInDocs checks that docs/environment.md has a row for each exit code, and that no page names another.
func TestExitCodesInDocs(t *testing.T) {
	codes := map[string]bool{"0": false, "1": false, "2": false}
	if cli.ExitClean != 0 || cli.ExitFailure != 1 || cli.ExitSelected != 2 {
		t.Fatal("the exit codes are others")
	}
	named := regexp.MustCompile(`(?i)\b(?:exit codes?(?: is)?|exits? with|exit)\s+(\d+)\b`)
	row := regexp.MustCompile(`(?m)^\| (\d) \|`)
	for _, p := range pages(t) {
		for _, found := range named.FindAllStringSubmatch(p.prose(), -1) {
			if _, ok := codes[found[1]]; !ok && !slices.Contains(pagesOfOthersFlags(), p.file) && p.file != "docs/comparison.md" {
				t.Errorf("%s: there is no exit code %s", p.file, found[1])
			}
		}
		if p.file == "docs/environment.md" {
			for _, found := range row.FindAllStringSubmatch(p.text, -1) {
				codes[found[1]] = true
			}
		}
	}
	for code, documented := range codes {
		if !documented || len(codes) != 3 {
			t.Errorf("docs/environment.md has no row for exit code %s", code)
		}
	}
}
