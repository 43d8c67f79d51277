package secret

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
)

// growth is how many random texts are tried beyond the known ones.
var growth = flag.Int("growth", 30, "random hostile texts")

// TestFindersAreLinear checks that each finder takes twice the work for twice the text, without the bound on its work. It finds all
// functions of this package that read a scan and return spans, whether or not they are called.
func TestFindersAreLinear(t *testing.T) {
	names := findersByType(t)
	for _, find := range finders() {
		name := runtime.FuncForPC(reflect.ValueOf(find).Pointer()).Name()
		name = name[strings.LastIndex(name, ".")+1:]
		if !slices.Contains(names, name) {
			t.Errorf("%s is no function of the type of a finder", name)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	if len(names) > 0 {
		t.Errorf("%s have the type of a finder and are not in the table", names)
	}
	var k Known
	k.AddMembers(map[string]any{"stringData": map[string]any{"a": "hunter2-canary", "b": "a secret with blanks", "c": "token: [token: ["}})
	k.Holds("")
	known := func(s *scan) []span { return k.inMembers.find(s, s.text, deepestEncoding) }
	work := func(find func(*scan) []span, text string) int {
		s := &scan{text: text, left: math.MaxInt}
		find(s)
		return math.MaxInt - s.left
	}
	const size, times = 8 << 10, 4
	texts := secrettest.Hostile(rand.New(rand.NewPCG(1, 2)), *growth)
	for _, fragment := range texts {
		short := strings.Repeat(fragment, size/len(fragment)+1)
		long := strings.Repeat(short, times)
		for i, find := range append(finders(), known) {
			before, after := work(find, short), work(find, long)
			if after > times*before*9/8+leastWork/8 {
				t.Errorf("finder %d takes %d steps for %d bytes of %q, and %d for %d times as many", i, before, len(short), fragment, after, times)
			}
		}
	}
	t.Logf("%d finders on %d texts", len(finders())+1, len(texts))
}

// findersByType returns the names of the functions with the type of a finder.
func findersByType(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Type.Results.NumFields() == 1 && f.Type.Params.NumFields() == 1 &&
				types.ExprString(f.Type.Params.List[0].Type) == "*scan" && types.ExprString(f.Type.Results.List[0].Type) == "[]span" {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// TestWorkOnKnownIsBounded checks that the work stays within its bound for a text that nearly contains a secret at each position.
func TestWorkOnKnownIsBounded(t *testing.T) {
	var k Known
	k.AddMembers(map[string]any{"stringData": map[string]any{"a": strings.Repeat("a", 64<<10) + "b"}})
	if got := k.Scrub(strings.Repeat("a", 256<<10)); got != Mask {
		t.Errorf("the text became one of %d bytes", len(got))
	}
	if got := k.Scrub(strings.Repeat("apiVersion: v1\n", 1000)); strings.Contains(got, Mask) {
		t.Errorf("the text became %q", got)
	}
}

// TestTooMuchWork checks that a text that takes the finders too much work is masked whole.
func TestTooMuchWork(t *testing.T) {
	lines := strings.Repeat("value:\n", 2000)
	if got := Scrub("first\n" + lines); got != Mask {
		t.Errorf("the text became %q", got)
	}
	if got := new(Known).Scrub(`secret: {"name": "` + strings.ReplaceAll(lines, "\n", `\n`) + `"} and more`); !strings.HasPrefix(got, Mask) && !strings.HasPrefix(got, "secret: "+Mask) {
		t.Errorf("a text in JSON became %q", got)
	}
}

// TestInterrupt checks that after an interrupt a text that takes much work is given up and masked whole, that others are scrubbed as
// before, and that everything is secret if a text was given up where secrets may be in it.
func TestInterrupt(t *testing.T) {
	t.Cleanup(func() { interrupted.Store(false) })
	hostile := strings.Repeat("token: [token: [", 64<<10) // 1 MiB
	ordinary := strings.Repeat("host: db\npassword: hunter2\n", 100)
	before := newScan(hostile, nil)
	if before.spans(); before.interrupted {
		t.Error("a text was given up before the interrupt")
	}
	Interrupt()
	for _, text := range []string{hostile, "a: {b: " + strconv.Quote(hostile) + "}", hostile + ordinary} {
		s := newScan(text, nil)
		found := s.spans()
		if len(found) != 1 || found[0] != (span{0, len(text)}) || !s.interrupted {
			t.Errorf("%.20s: found %v, interrupted %t", text, found, s.interrupted)
		}
	}
	k := new(Known)
	k.AddMembers(map[string]any{"stringData": map[string]any{"a": "hunter2-canary"}})
	want := strings.ReplaceAll(ordinary, "hunter2", Mask) + "a " + Mask
	if got := k.Scrub(ordinary + "a hunter2-canary"); got != want {
		t.Errorf("an ordinary text became %q", got)
	}
	if got := k.Scrub(hostile); got != Mask {
		t.Errorf("a hostile text became %.40q", got)
	}
	if got := k.ScrubProblem("no hunter2-canary"); got != "no "+Mask {
		t.Errorf("an error became %q", got)
	}
	if !Root("", "ConfigMap").Holds(map[string]any{"data": map[string]any{"a": hostile}}) {
		t.Error("a hostile text in an object is shown")
	}
	learns := new(Known)
	learns.AddObject("", "ConfigMap", map[string]any{"data": map[string]any{"a": hostile}})
	copied := new(Known).With(learns)
	for name, k := range map[string]*Known{"it": learns, "a copy": copied} {
		if got := k.Scrub("plain"); got != Mask {
			t.Errorf("%s did not read everything and shows %q", name, got)
		}
		if got := k.ScrubProblem("no hunter2-canary"); got != "interrupted" {
			t.Errorf("%s did not read everything, and an error became %q", name, got)
		}
		if !k.Holds("plain text") {
			t.Errorf("%s did not read everything and calls a text harmless", name)
		}
	}
}
