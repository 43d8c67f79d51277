package main

import (
	"encoding/json"
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// publicPackages are the packages that other programs import.
func publicPackages() []string {
	return []string{
		"cluster", "drift", "effect", "fleet", "live", "live/lists", "object", "release", "repair", "report", "report/absorption",
		"report/accept", "report/listing", "report/past", "report/reading", "snapshot",
	}
}

// exported returns what imports our packages and those that they need, from what the compiler says of them.
func exported(t *testing.T) types.Importer {
	t.Helper()
	exports := map[string]string{}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./cmd/...", "./internal/...", "./pkg/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// TestPublicTypes checks that no exported name of a public package has a type of an internal package, which other programs cannot name.
func TestPublicTypes(t *testing.T) {
	gc := exported(t)
	for _, name := range publicPackages() {
		p, err := gc.Import(module + "pkg/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, exported := range p.Scope().Names() {
			if o := p.Scope().Lookup(exported); o.Exported() {
				checkPublic(t, "pkg/"+name+" "+exported, o)
			}
		}
	}
}

// checkPublic checks an exported name: the type of a value or function, and the fields and methods of a type.
func checkPublic(t *testing.T, name string, o types.Object) {
	t.Helper()
	typeName, isType := o.(*types.TypeName)
	if !isType || typeName.IsAlias() {
		if found := internalType(o.Type(), map[types.Type]bool{}); found != "" {
			t.Errorf("%s has the internal type %s", name, found)
		}
		return
	}
	named := typeName.Type().(*types.Named)
	if found := internalType(named.Underlying(), map[types.Type]bool{}); found != "" {
		t.Errorf("%s has the internal type %s", name, found)
	}
	for m := range named.Methods() {
		if found := internalType(m.Type(), map[types.Type]bool{}); m.Exported() && found != "" {
			t.Errorf("%s.%s has the internal type %s", name, m.Name(), found)
		}
	}
}

// internalType returns a type of an internal package of ours in what another package sees of a type; empty if there is none.
func internalType(of types.Type, seen map[types.Type]bool) string {
	if seen[of] {
		return ""
	}
	seen[of] = true
	switch of := types.Unalias(of).(type) {
	case *types.Named:
		if p := of.Obj().Pkg(); p != nil && strings.HasPrefix(p.Path(), module+"internal/") {
			return p.Name() + "." + of.Obj().Name()
		}
		return ""
	case interface{ Elem() types.Type }:
		if m, ok := of.(*types.Map); ok {
			if found := internalType(m.Key(), seen); found != "" {
				return found
			}
		}
		return internalType(of.Elem(), seen)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{of.Params(), of.Results()} {
			for v := range tuple.Variables() {
				if found := internalType(v.Type(), seen); found != "" {
					return found
				}
			}
		}
	case *types.Struct:
		for f := range of.Fields() {
			if found := internalType(f.Type(), seen); f.Exported() && found != "" {
				return found
			}
		}
	case *types.Interface:
		for m := range of.Methods() {
			if found := internalType(m.Type(), seen); found != "" {
				return found
			}
		}
	}
	return ""
}

// TestZones checks that the program brings the time zones. Where a machine has none, such as in the image, a zone would count as UTC.
func TestZones(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if !slices.Contains(strings.Fields(string(out)), "time/tzdata") {
		t.Error("the program does not link time/tzdata")
	}
}

// TestEmbeddedSize checks what a program links that embeds pkg/drift: no guest, no kustomize, nothing that fetches charts, and no driver of
// a database.
func TestEmbeddedSize(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./pkg/drift")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := regexp.MustCompile(`(?m)^(sigs\.k8s\.io/kustomize|github\.com/lib/pq|` + module +
		`(internal/(absorb|argo|flux|forecast|helmfile|kustomize|terraform)|pkg/(fetch|fleet|history|rollout|snapshot))).*$`).FindString(string(out))
	if found != "" {
		t.Errorf("pkg/drift links %s", found)
	}
}

// TestSizes checks that no package has more than 4,000 lines without tests, and that the core has at most 34,000: what pkg/drift and
// pkg/repair link.
func TestSizes(t *testing.T) {
	const mostOfPackage, mostOfCore = 4000, 34000
	all := map[string]goPackage{}
	for _, p := range packages(t) {
		all[p.ImportPath] = p
		if lines := linesOf(t, p.Dir, p.GoFiles); lines > mostOfPackage {
			t.Errorf("%s has %d lines", p.ImportPath, lines)
		}
	}
	core, lines := []string{module + "pkg/drift", module + "pkg/repair"}, 0
	for i := 0; i < len(core); i++ {
		p := all[core[i]]
		lines += linesOf(t, p.Dir, p.GoFiles)
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module) && !slices.Contains(core, imported) {
				core = append(core, imported)
			}
		}
	}
	if lines > mostOfCore || lines == 0 {
		t.Errorf("the core has %d lines in %d packages", lines, len(core))
	}
}
