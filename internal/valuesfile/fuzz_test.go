package valuesfile

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yaml3 "go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// FuzzApply makes a random edit of a random file. Either the edit is refused, or the data is as wanted and every line away from the
// edited place is as before.
func FuzzApply(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i, in := range archive.Files {
			if strings.HasSuffix(in.Name, "/in.yaml") {
				text := string(in.Data)
				f.Add(text, uint64(i))
				f.Add(strings.TrimSuffix(text, "\n"), uint64(i+1))
				f.Add("\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"), uint64(i+2))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		file, err := Parse("fuzz", []byte(text))
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		for range 4 {
			e := randomEdit(r, file.values)
			after, err := file.Apply(e)
			if err != nil {
				continue
			}
			checkData(t, []byte(text), after, e)
			checkLines(t, text, string(after), e)
		}
	})
}

var fuzzValues = []any{
	nil, true, 1, 0.5, "", "x", "yes", "1e3", "a: b # c", "it's", "tab\t", "\u00e9\u0085",
	"one\ntwo", "one\n two\n", " one\n\ntwo\n", "\tx\n\ty\n", "end\n\n",
	map[string]any{}, []any{}, map[string]any{"k": "v", "l": []any{1, map[string]any{"m": "n\no\n"}}},
	[]any{"x", []any{"y"}, map[string]any{"z": nil}},
}

func randomEdit(r *rand.Rand, v any) Edit {
	e := Edit{Value: fuzzValues[r.IntN(len(fuzzValues))]}
	for {
		switch at := v.(type) {
		case map[string]any:
			if keys := object.SortedKeys(at); len(keys) > 0 && r.IntN(5) > 0 {
				key := keys[r.IntN(len(keys))]
				e.Path, v = append(e.Path, key), at[key]
			} else {
				e.Path, v = append(e.Path, []string{"new", "a.b/c", "on", "x: y"}[r.IntN(4)]), nil
			}
		case []any:
			index := r.IntN(len(at) + 1)
			if e.Path, v = append(e.Path, index), nil; index < len(at) {
				v = at[index]
			}
			e.Insert = r.IntN(3) == 0
		}
		_, isMap := v.(map[string]any)
		_, isList := v.([]any)
		if e.Insert || !isMap && !isList || r.IntN(4) == 0 {
			e.Remove = !e.Insert && r.IntN(4) == 0
			return e
		}
	}
}

// checkData compares the data with its own code, not with the package's.
func checkData(t *testing.T, before, after []byte, e Edit) {
	t.Helper()
	got, want := plainData(t, after), editData(plainData(t, before), e.Path, e)
	if left, right := marshal(got), marshal(want); left != right {
		t.Fatalf("%+v\n%s\nbecomes\n%s\ndata %s\nwant %s", e, before, after, left, right)
	}
}

func plainData(t *testing.T, text []byte) any {
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if v == nil {
		v = map[string]any{}
	}
	return v
}

func marshal(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func editData(root any, path []any, e Edit) any {
	if len(path) == 0 {
		return e.Value
	}
	isLast := len(path) == 1
	if key, ok := path[0].(string); ok {
		m, _ := root.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		if m[key] = editData(m[key], path[1:], e); isLast && e.Remove {
			delete(m, key)
		}
		return m
	}
	index, l := path[0].(int), []any(nil)
	l, _ = root.([]any)
	switch {
	case isLast && e.Remove:
		return slices.Delete(l, index, index+1)
	case isLast && e.Insert || index == len(l):
		return slices.Insert(l, index, editData(nil, path[1:], e))
	}
	l[index] = editData(l[index], path[1:], e)
	return l
}

// checkLines finds the lines that an edit may touch from the nodes of the YAML library, and checks that all lines before and after them
// are unchanged.
func checkLines(t *testing.T, before, after string, e Edit) {
	t.Helper()
	first, last := touched(strings.TrimPrefix(before, "\ufeff"), e)
	lines := strings.SplitAfter(before, "\n")
	first, last = max(min(first, len(lines)), 1), min(last, len(lines))
	head, tail := strings.Join(lines[:first-1], ""), strings.Join(lines[max(last, first-1):], "")
	if len(after) < len(head)+len(tail) || !strings.HasPrefix(after, head) || !strings.HasSuffix(after, tail) {
		t.Fatalf("%+v may touch lines %d to %d of\n%s\nbecomes\n%s", e, first, last, before, after)
	}
}

// touched returns the lines from the node before the edited place to the node after it.
func touched(text string, e Edit) (first, last int) {
	var document yaml3.Node
	rare := strings.ContainsAny(strings.ReplaceAll(text, "\r\n", "\n"), "\r\u0085\u2028\u2029") // line breaks of YAML 1.1 only
	if rare || yaml3.Unmarshal([]byte(text), &document) != nil || len(document.Content) == 0 {
		return 1, 1 << 30
	}
	var order []*yaml3.Node
	var visit func(n *yaml3.Node) int
	ends := map[*yaml3.Node]int{}
	starts := map[*yaml3.Node]int{}
	visit = func(n *yaml3.Node) int {
		starts[n] = len(order)
		order = append(order, n)
		for _, below := range n.Content {
			visit(below)
		}
		ends[n] = len(order)
		return ends[n]
	}
	visit(document.Content[0])
	begin, end := 0, len(order)
	n := document.Content[0]
	for i, step := range e.Path {
		isLast := i == len(e.Path)-1
		child, key, size := childOf(n, step)
		switch {
		case child == nil && len(n.Content) > 0: // something is added after the last entry
			begin, end = ends[n], ends[n]
		case child == nil:
			begin, end = starts[n], ends[n]
		case isLast && e.Remove && size == 1:
			begin, end = starts[n], ends[n]
		case isLast && e.Insert:
			begin, end = starts[child], starts[child]
		case isLast && e.Remove && key != nil:
			begin, end = starts[key], ends[child]
		default:
			begin, end = starts[child], ends[child]
			n = child
			continue
		}
		break
	}
	first, last = 1, 1<<30
	for begin > 0 && len(order[begin-1].Content) > 0 { // it begins where its first key does, and comments may precede that
		begin--
	}
	if begin > 0 {
		first = order[begin-1].Line
	}
	if end < len(order) {
		last = order[end].Line
	}
	return first, last
}

// childOf returns the last child of a node with a key or index, its key, and the number of entries. If a map has
// the key twice, it counts as one entry, because an edit may touch all of the map.
func childOf(n *yaml3.Node, step any) (child, key *yaml3.Node, size int) {
	twice := false
	switch step := step.(type) {
	case string:
		if n.Kind == yaml3.MappingNode {
			for i := 0; i < len(n.Content); i += 2 {
				if keyName(n.Content[i]) != step {
					size++
					continue
				}
				twice = child != nil
				child, key = n.Content[i+1], n.Content[i]
			}
			if size++; twice {
				size = 1
			}
		}
	case int:
		if n.Kind == yaml3.SequenceNode && step < len(n.Content) {
			child, size = n.Content[step], len(n.Content)
		}
	}
	return child, key, size
}
