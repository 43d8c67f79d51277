package growth

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helmdrift/helmdrift/internal/apiserver"
	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/document"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/files"
	fluxapi "github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/helmfile"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/lookalike"
	"github.com/helmdrift/helmdrift/internal/output/monospace"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
	"github.com/helmdrift/helmdrift/internal/terraform"
	"github.com/helmdrift/helmdrift/internal/tokens"
	"github.com/helmdrift/helmdrift/internal/unified"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/release/postgres"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/reading"
)

// texts is how many random texts are tried beyond the known ones.
var texts = flag.Int("growth", 10, "random hostile texts")

// takers are the functions that take one text, by package and name.
func takers() map[string]func(text string) {
	return map[string]func(string){
		"internal/apiserver.IsFixedMetadata":    func(s string) { _ = apiserver.IsFixedMetadata(s) },
		"internal/engine.NewApplyTypes":         func(s string) { _, _ = engine.NewApplyTypes([]byte(s)) },
		"internal/deployer.PodsGo":              func(s string) { _ = deployer.PodsGo(s) },
		"internal/english.Count":                func(s string) { english.Count(2, s) },
		"internal/escape.Text":                  func(s string) { escape.Text(s, true) },
		"internal/escape.Lines":                 func(s string) { escape.Lines(s, true) },
		"internal/escape.SplitLines":            func(s string) { escape.SplitLines(s, true) },
		"internal/escape.StartsCommand":         func(s string) { _ = escape.StartsCommand(s) },
		"internal/escape.JSON":                  func(s string) { escape.JSON(strconv.Quote(s)) },
		"internal/escape.YAML":                  func(s string) { escape.YAML(strconv.Quote(s)) },
		"internal/worktree.Repository":          func(s string) { _ = worktree.Repository(s) },
		"internal/program.CommitOf":             func(s string) { _ = program.CommitOf([]byte(s)) },
		"internal/files.Unpack":                 func(s string) { _, done, _ := files.Unpack([]byte(s), true); done() },
		"internal/flux/api.EndpointURL":         func(s string) { _ = fluxapi.EndpointURL(s, false) },
		"internal/flux/tree.CleanPath":          func(s string) { tree.CleanPath(s) },
		"internal/output/layout.CountLines":     func(s string) { layout.CountLines(s) },
		"internal/flux/tree.FileSource":         func(s string) { tree.FileSource(s) },
		"internal/kustomize.CheckAliases":       func(s string) { _ = kustomize.CheckAliases([]byte(s)) },
		"internal/kustomize.IsKustomization":    func(s string) { _ = kustomize.IsKustomization(s) },
		"internal/kustomize.IsRemote":           func(s string) { _ = kustomize.IsRemote(s) },
		"internal/terraform.Read":               func(s string) { _, _ = terraform.Read([]byte(s)); _, _ = terraform.Read(planOf(s)) },
		"internal/argo/api.IsSet":               func(s string) { _ = api.IsSet([]byte(s)) },
		"internal/argo/api.Listed":              func(s string) { _ = api.Listed(s) },
		"internal/argo/api.NormalURL":           func(s string) { _ = api.NormalURL(s) },
		"internal/argo/source.IsRemote":         func(s string) { _ = source.IsRemote(s) },
		"internal/helmfile.Secrets":             func(s string) { helmfile.Secrets([]byte(s)) },
		"internal/hint.ShellWord":               func(s string) { hint.ShellWord(s) },
		"internal/ignore.ParsePattern":          func(s string) { _, _ = ignore.ParsePattern(s) },
		"internal/ignore.ParsePointer":          func(s string) { _, _ = ignore.ParsePointer(s) },
		"internal/kinds.IsComparedMetadata":     func(s string) { _ = kinds.IsComparedMetadata(s) },
		"internal/kinds.ParseQuantity":          func(s string) { _, _ = kinds.ParseQuantity(s) },
		"internal/kinds.HasHugeExponent":        func(s string) { kinds.HasHugeExponent(s) },
		"internal/output/monospace.Width":       func(s string) { monospace.Width(s) },
		"internal/output/monospace.Pad":         func(s string) { monospace.Pad(s, 80) },
		"internal/output/monospace.DropColumns": func(s string) { monospace.DropColumns(s, 5) },
		"internal/output/monospace.Wrap":        func(s string) { monospace.Wrap(s, 80) },
		"internal/owners.IsForgotten":           func(s string) { _ = owners.IsForgotten(s) },
		"internal/secret.Name":                  func(s string) { secret.Name(s) },
		"internal/secret.MayBeValue":            func(s string) { _ = secret.MayBeValue(s) },
		"internal/secret.EmbedsObject":          func(s string) { _ = secret.EmbedsObject(s) },
		"internal/secret.Scrub":                 func(s string) { secret.Scrub(s) },
		"internal/secret.Token":                 func(s string) { secret.Token([]byte(s)) },
		"internal/secret.IsToken":               func(s string) { _ = secret.IsToken(s) },
		"internal/secret.IsTemplateHash":        func(s string) { _ = secret.IsTemplateHash(s) },
		"pkg/fetch.IsLocal":                     func(s string) { fetch.IsLocal(s) },
		"pkg/fetch.IsPluginURL":                 func(s string) { fetch.IsPluginURL(s) },
		"pkg/fetch.WithoutLogin":                func(s string) { fetch.WithoutLogin(s) },
		"pkg/object.EscapeToken":                func(s string) { object.EscapeToken(s) },
		"pkg/object.NamespaceRef":               func(s string) { _ = object.NamespaceRef(s) },
		"pkg/render.Chunks":                     func(s string) { render.Chunks(s) },
		"pkg/render.ReadChunk":                  func(s string) { render.ReadChunk(s) },
		"pkg/render.NeedsNoBounds":              func(s string) { render.NeedsNoBounds(s) },
		"pkg/render.ReadDocuments":              func(s string) { render.ReadDocuments(s) },
		"pkg/render.DecodeDocuments":            func(s string) { render.DecodeDocuments(s) },
		"pkg/release.ParseApplyMethod":          func(s string) { _, _ = release.ParseApplyMethod(s) },
		"pkg/release/postgres.Secrets":          func(s string) { postgres.Secrets(s) },
		"pkg/report.NotesOf":                    func(s string) { report.NotesOf(s) },
		"pkg/report/reading.Report":             func(s string) { _, _ = reading.Report([]byte(s)) },
		"pkg/report/reading.Time":               func(s string) { _, _ = reading.Time([]byte(s)) },
	}
}

// planOf is a plan of Terraform with a text in each place that can have one.
func planOf(s string) []byte {
	entry := func(name string, value any) []any { return []any{map[string]any{"name": name, "value": value}} }
	arguments := map[string]any{
		"name": "web", "values": []any{s, "a: " + strconv.Quote(s)}, "set": append(entry("a", s), entry(s, "a")...),
		"set_list": entry("b", []any{s, s}), "set_sensitive": entry("c."+s, s),
	}
	change := map[string]any{"actions": []any{"update"}, "before": arguments, "after": arguments, "after_sensitive": true}
	text, _ := json.Marshal(map[string]any{"format_version": "1.2", "resource_changes": []any{
		map[string]any{"address": s, "type": "helm_release", "change": change},
	}})
	return text
}

// notTried are the functions whose text is the name of a file or of a host or comes from a table of this program, and those that tests
// alone call.
var notTried = map[string]bool{
	"pkg/object.TablePath": true,
	"internal/config.Read": true, "internal/links.TreeOf": true, "internal/links.Root": true, "internal/links.IsSystem": true, "internal/links.Check": true, "internal/links.CheckAllowed": true,
	"internal/files.IsRegular": true, "internal/files.Open": true, "internal/worktree.Find": true, "internal/saved.Baseline": true, "internal/saved.Newest": true,
	"internal/output/reporttest.Check": true, "internal/helmfile.NewRun": true,
	"internal/secret/secrettest.Parts": true, "internal/address.Lookup": true,
}

// others are ways of a foreign text through several functions, or through one with another type.
func others() map[string]func(text string) {
	var known secret.Known
	known.AddMembers(map[string]any{"stringData": map[string]any{"a": "hunter2-canary", "b": "with blanks in it"}})
	masker := tokens.NewMasker(&known, nil)
	out := map[string]func(string){
		"Known.Scrub":           func(s string) { known.Scrub(s) },
		"Known.Holds":           func(s string) { known.Holds(map[string]any{s: []any{s}}) },
		"Masker.Value":          func(s string) { masker.Value(map[string]any{"args": []any{s, s}, "a": s}) },
		"Place.Holds":           func(s string) { secret.Root("", "ConfigMap").Holds(map[string]any{"data": map[string]any{"a": s}}) },
		"lookalike.Distinguish": func(s string) { lookalike.Distinguish([]string{s, s + "x"}) },
		"helmfile.ReadState":    func(s string) { _, _ = helmfile.ReadState([]byte(s), helmfile.DefaultEnvironment) },
		"valuesfile.Documents":  func(s string) { valuesfile.Documents("a", []byte(s)) },
		"valuesfile.ConcealAll": func(s string) {
			valuesfile.ConcealAll([]byte(s), "***", func(map[string]any, []any, string) bool { return true })
		},
		"unified.Diff": func(s string) { unified.Diff("a", "b", s, s+"x\n") },
	}
	for _, name := range []string{"a.yaml", "a.json", "a.toml", "a.ini", "a.properties", "a"} {
		out["document.Compare "+name] = func(s string) {
			other := s + "\nx: 1\n"
			document.Compare(name, document.Sides[*string]{&s, &s, &other})
		}
	}
	for _, format := range output.Formats() {
		out["the format "+format] = func(s string) { _ = output.Write(io.Discard, output.Format(format), reportOf(s), output.Options{}) }
	}
	for name, options := range map[string]text.Options{
		"80 columns": {Unicode: true, Color: true, Width: 80},
		"a timeline": {Width: 80, Timeline: true},
	} {
		out["the format text as "+name] = func(s string) { _ = output.Write(io.Discard, output.Text, reportOf(s), output.Options{Text: options}) }
	}
	out["the plan of a fix"] = func(s string) {
		plan := []report.FixPlan{{Fields: reportOf(s).Releases[0].Objects[0].Fields}}
		_ = output.WriteFixPlan(io.Discard, &report.FixResult{Plan: plan}, output.Options{Text: text.Options{Unicode: true, Width: 80}})
	}
	out["the text of errors"] = func(s string) { text.Errors(reportOf(s), text.Options{}) }
	return out
}

// reportOf is a report with a text in each place that can have one.
func reportOf(s string) *report.Report {
	return report.New("test", time.Unix(0, 0), []report.Release{{
		Name: "web", Namespace: "prod", Errors: []report.Message{{Code: "x", Message: s}}, Warnings: []report.Message{{Code: "x", Message: s}},
		Objects: []report.Object{{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: "prod", Name: "settings",
			Fields: []report.Finding{
				{Path: "data.a", Verdict: report.Overwrite, Live: s, Desired: s + "x", Notes: report.NotesOf(s)},
				{Path: "data." + s, Pointer: "/data/" + s, Verdict: report.Overwrite, Live: "a", Desired: "b"},
			},
		}},
	}})
}

// TestFunctionsAreTried compares the table with the exported functions that take one text.
func TestFunctionsAreTried(t *testing.T) {
	found := textFunctions(t)
	known := takers()
	for name := range found {
		if known[name] == nil && !notTried[name] {
			t.Errorf("%s takes a text and is not tried", name)
		}
	}
	for name := range known {
		if !found[name] {
			t.Errorf("%s is no exported function that takes one text", name)
		}
	}
}

// TestWorkGrowsWithText calls each function with a text and one that is eight times as long. The long one takes about eight times as much.
func TestWorkGrowsWithText(t *testing.T) {
	known := takers()
	maps.Copy(known, others())
	fragments := secrettest.Hostile(rand.New(rand.NewPCG(3, 4)), *texts)
	fragments = append(fragments, "\x1b[31m", "e\u0301\u0301\u0301\u0301\u0301", "##[", "\u202e", "a: &a [*a]\n", "[[a]]\n", "a.", "{", "- ", "\t",
		"a,", "&a ", "1e9", "!!x ", "\x00", "a", "\u0301", "· ")
	size := 1 << 10
	if *countsSteps {
		size = 4 << 10 // the steps that every call takes must not count
	}
	for name, call := range known {
		for _, fragment := range fragments {
			// Both texts have a number of fragments that four divides, so that both leave a quote open or neither, and the digits of base64
			// in them end alike.
			short := strings.Repeat(strings.Repeat(fragment, 4), size/len(fragment)/4+1)
			long := strings.Repeat(short, times)
			call(short) // what is made once
			one := measure(t, call, short)
			// The package regexp keeps its machines in a pool that the garbage collector empties, and the first call may make one. So a
			// call that allocates too much is measured again.
			for try := 1; ; try++ {
				all := measure(t, call, long)
				if all.inProportion(one, size) {
					break
				}
				if try == 3 {
					t.Errorf("%s: %d bytes of %q take %v, and %d times as many take %v%s", name, len(short), fragment,
						one, times, all, mostExecuted(t))
					break
				}
			}
		}
	}
	t.Logf("%d functions on %d texts; steps are counted: %t", len(known), len(fragments), *countsSteps)
}

// times is how much longer the long text is.
const times = 8

// work is what a call takes. Steps is 0 if the program does not count them.
type work struct{ bytes, objects, steps uint64 }

func (w work) String() string {
	return fmt.Sprintf("%d bytes in %d objects and %d steps", w.bytes, w.objects, w.steps)
}

// inProportion reports whether the work on the long text is in proportion to the work on the short one, which has about size bytes.
func (w work) inProportion(short work, size int) bool {
	return w.bytes <= 2*times*short.bytes+uint64(times*64*size) && // a buffer grows by doubling, so it may have twice the size that it needs
		w.objects <= times*short.objects*3/2+1000 &&
		w.steps <= times*short.steps*3/2+uint64(size) // sorting takes a little more
}

// measure returns what a call takes.
func measure(t *testing.T, call func(string), text string) work {
	t.Helper()
	var before, after runtime.MemStats
	clearSteps(t)
	runtime.ReadMemStats(&before)
	call(text)
	runtime.ReadMemStats(&after)
	return work{after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs, steps(t)}
}

// textFunctions returns the exported functions of internal and pkg that take exactly one string or slice of bytes, and else only numbers
// and switches.
func textFunctions(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, root := range []string{"internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir, err := filepath.Rel("../..", filepath.Dir(path))
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() && takesText(f.Type.Params) {
					out[filepath.ToSlash(dir)+"."+f.Name.Name] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func takesText(params *ast.FieldList) bool {
	taken := 0
	for _, p := range params.List {
		switch types.ExprString(p.Type) {
		case "string", "[]byte":
			taken += max(1, len(p.Names))
		case "bool", "int":
		default:
			return false
		}
	}
	return taken == 1
}
