package e2e

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	cli3 "helm.sh/helm/v3/pkg/cli"
	cli4 "helm.sh/helm/v4/pkg/cli"
	"sigs.k8s.io/yaml"
)

// TestFlagsOfHelm takes all flags of install, upgrade and rollback of both Helms, from their source, and asks the binary which of them diff
// accepts. The random test has to give each accepted one to both, unless testdata/flags.yaml says why not. So a new flag on either side
// fails here until somebody has decided about it.
func TestFlagsOfHelm(t *testing.T) {
	text, err := os.ReadFile("testdata/flags.yaml")
	must(t, err)
	var known struct {
		Generated []string          `json:"generated"`
		Excepted  map[string]string `json:"excepted"`
		Refused   map[string]string `json:"refused"`
	}
	must(t, yaml.UnmarshalStrict(text, &known))
	ofHelm, generated := flagsOfHelm(t), generatedFlags(t)
	for name := range ofHelm {
		excepted, refused := known.Excepted[name], known.Refused[name]
		listed := slices.Contains(known.Generated, name)
		switch accepted := accepts(t, name); {
		case accepted && !listed && excepted == "":
			t.Errorf("--%s: Helm has it and diff accepts it; the random test does not give it, and testdata/flags.yaml does not say why", name)
		case !accepted && refused == "":
			t.Errorf("--%s: Helm has it and diff does not; testdata/flags.yaml does not say why", name)
		case accepted && refused != "", !accepted && (listed || excepted != ""), listed && excepted != "":
			t.Errorf("--%s: testdata/flags.yaml is wrong about it: diff accepts it: %v", name, accepted)
		case listed && !generated[name]:
			t.Errorf("--%s is listed as generated, and no case of the random test has it", name)
		}
	}
	for _, name := range slices.Concat(known.Generated, slices.Collect(maps.Keys(known.Excepted)), slices.Collect(maps.Keys(known.Refused))) {
		if !ofHelm[name] {
			t.Errorf("--%s is in testdata/flags.yaml, and no Helm has it", name)
		}
	}
	t.Logf("%d flags of Helm: %d generated, %d excepted, %d that diff does not have",
		len(ofHelm), len(known.Generated), len(known.Excepted), len(known.Refused))
}

// accepts reports whether diff knows a flag, hidden ones included. The second flag, which nobody has, ends every run.
func accepts(t *testing.T, name string) bool {
	t.Helper()
	const nobodys = "no-program-has-this-flag"
	out, err := exec.Command(suite.binary, "diff", "r", "--"+name+"=1", "--"+nobodys).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--") {
		t.Fatalf("diff --%s does not fail on a flag: %s", name, out)
	}
	return !strings.Contains(string(out), "unknown flag: --"+name)
}

// generatedFlags returns the flags that the cases of the first seeds give.
func generatedFlags(t *testing.T) map[string]bool {
	t.Helper()
	pool, err := loadPool()
	must(t, err)
	out := map[string]bool{}
	for seed := range uint64(400) {
		c := newExtendedCase(pool, seed)
		verb, _ := c.operation()
		for _, by4 := range []bool{false, true} {
			args := append(routes(by4)[c.route].helmFlags(verb), c.flags.given...)
			for _, arg := range args {
				if name, long := strings.CutPrefix(arg, "--"); long {
					name, _, _ = strings.Cut(name, "=")
					out[name] = true
				}
			}
		}
		out["install"] = out["install"] || c.installs
	}
	return out
}

// flagsOfHelm returns the names of the flags of both Helms: those that the source of install, upgrade and rollback declares, and those that
// every command has.
func flagsOfHelm(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for module, folder := range map[string]string{"helm.sh/helm/v3": "cmd/helm", "helm.sh/helm/v4": "pkg/cmd"} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		must(t, err)
		before := len(out)
		for _, file := range []string{"install.go", "upgrade.go", "rollback.go", "flags.go"} {
			must(t, declaredFlags(filepath.Join(strings.TrimSpace(string(dir)), folder, file), out))
		}
		if len(out) < 40 {
			t.Fatalf("%s: only %d flags are found", module, len(out)-before)
		}
	}
	global := pflag.NewFlagSet("", pflag.ContinueOnError)
	cli3.New().AddFlags(global)
	global.VisitAll(func(f *pflag.Flag) { out[f.Name] = true })
	global = pflag.NewFlagSet("", pflag.ContinueOnError)
	cli4.New().AddFlags(global)
	global.VisitAll(func(f *pflag.Flag) { out[f.Name] = true })
	return out
}

// declaredFlags adds the names of the flags that a file declares: the second argument of a method such as BoolVar, or the first of one such
// as Bool, a text or a constant of the file.
func declaredFlags(path string, out map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	constants := map[string]ast.Expr{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
			for i := range spec.Names {
				constants[spec.Names[i].Name] = spec.Values[i]
			}
		}
		return true
	})
	var wrong error
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) < 3 || !declaresFlag(method.Sel.Name) {
			return true
		}
		name := call.Args[1]
		if constant, ok := name.(*ast.Ident); ok && constants[constant.Name] != nil {
			name = constants[constant.Name]
		}
		literal, ok := name.(*ast.BasicLit)
		if !ok {
			wrong = fmt.Errorf("%s: the name of a flag of %s is no constant", path, method.Sel.Name)
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if wrong = err; err == nil {
			out[text] = true
		}
		return true
	})
	return wrong
}

// declaresFlag reports whether a method of a set of flags declares one, and takes its name as the second argument.
func declaresFlag(method string) bool {
	method = strings.TrimSuffix(strings.TrimSuffix(method, "F"), "P")
	return method == "Var" || strings.HasSuffix(method, "Var")
}
