package reads

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// Template is what a template may read of the values of the chart.
type Template struct {
	// Values are the values that are read.
	Values []Value
	// Everything is set if the template was too large to be followed.
	Everything bool
	// Files are the templates that the template needs to render: itself, the templates that it includes by path, and the files that define
	// named templates. It is nil if that is not known.
	Files []string
}

// Value is a value that a template reads.
type Value struct {
	// Path leads to the value from the root of the values of the whole chart.
	Path []Key
	// OnlyTested is set if a condition tests the value. Otherwise, what is below the value is read too.
	OnlyTested bool
}

// Key is one step of a path into values: the key of a map, or any key or item.
type Key struct {
	Name string
	Any  bool
}

// anyKey leads to any item of a list or any entry of a map.
var anyKey = Key{Any: true}

// id returns a text that tells keys apart, also if several of them stand side by side.
func (k Key) id() string {
	if k.Any {
		return "*"
	}
	return strconv.Quote(k.Name)
}

// compareKeys orders keys by their names.
func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.id(), b.id()))
}

// keysOf returns the path of names.
func keysOf(names []string) []Key {
	out := make([]Key, len(names))
	for i, name := range names {
		out[i] = Key{Name: name}
	}
	return out
}

// maxVisits bounds the number of visited nodes per template.
const maxVisits = 200_000

// Of returns what each template may read, by its path.
func Of(templates []render.Template) map[string]Template {
	defines := map[string]*parse.Tree{}
	own := map[string]*parse.Tree{}
	var defining []string
	for _, t := range templates {
		tree, defined, err := t.Trees()
		if err != nil {
			continue
		}
		own[t.Path] = tree
		maps.Copy(defines, defined)
		if len(defined) > 0 {
			defining = append(defining, t.Path)
		}
	}
	out := map[string]Template{}
	for _, t := range templates {
		if own[t.Path] == nil || strings.HasPrefix(path.Base(t.Path), "_") {
			continue
		}
		f := &follower{defines: defines, done: map[inclusion]bool{}}
		f.template(own[t.Path], origin{root: &t.Values})
		out[t.Path] = Template{
			Values: f.found.values(nil), Everything: f.visits > maxVisits,
			Files: f.needed(templates, own, append(defining, t.Path)),
		}
	}
	return out
}

// needed returns the templates that the followed template needs to render: the given ones, and the templates that it includes by
// path, with everything that they include in turn. It returns nil if a path is not known.
func (f *follower) needed(templates []render.Template, own map[string]*parse.Tree, paths []string) []string {
	out := slices.Clone(paths)
	for len(f.included) > 0 && !f.anyFile {
		ending := f.included[0]
		f.included = f.included[1:]
		for _, t := range templates {
			if strings.HasSuffix(t.Path, ending) && !slices.Contains(out, t.Path) {
				out = append(out, t.Path)
				f.template(own[t.Path], origin{root: &t.Values})
			}
		}
	}
	if f.anyFile || f.visits > maxVisits {
		return nil
	}
	return out
}

// origin is what an expression may be: the root context of a chart, whose values are at root; places in the values; or a dictionary.
type origin struct {
	root   *[]string
	paths  [][]Key
	fields map[Key]origin
}

// step returns what is below an origin.
func (c origin) step(key Key) origin {
	var out origin
	if c.root != nil && key == (Key{Name: "Values"}) {
		out.paths = append(out.paths, keysOf(*c.root))
	}
	for _, path := range c.paths {
		// The globals of a subchart are those of the whole chart.
		if key == (Key{Name: "global"}) {
			out.paths = append(out.paths, []Key{key})
		}
		out.paths = append(out.paths, append(path[:len(path):len(path)], key))
	}
	if c.fields != nil {
		if !key.Any {
			out = out.or(c.fields[key])
		}
		out = out.or(c.fields[anyKey])
	}
	return out
}

// or returns an origin that may be either of two origins.
func (c origin) or(o origin) origin {
	out := origin{root: c.root, paths: slices.Concat(c.paths, o.paths), fields: c.fields}
	if out.root == nil {
		out.root = o.root
	}
	if out.fields == nil {
		out.fields = o.fields
	} else if o.fields != nil {
		out.fields = map[Key]origin{}
		for _, all := range []map[Key]origin{c.fields, o.fields} {
			for key, field := range all {
				out.fields[key] = out.fields[key].or(field)
			}
		}
	}
	return out
}

// id returns a text that tells origins apart.
func (c origin) id(depth int) string {
	var b strings.Builder
	if c.root != nil {
		fmt.Fprintf(&b, "$%q", *c.root)
	}
	for _, path := range c.paths {
		b.WriteByte('|')
		for _, key := range path {
			b.WriteString(key.id())
		}
	}
	if depth > 0 {
		for _, key := range order.Sorted(maps.Keys(c.fields), compareKeys) {
			b.WriteString("{" + key.id() + c.fields[key].id(depth-1) + "}")
		}
	}
	return b.String()
}

// follower follows one template.
type follower struct {
	defines map[string]*parse.Tree
	found   readTree
	// included has the last parts of the paths that templates are included by. anyFile is set if such a path is computed in another way.
	included []string
	anyFile  bool
	done     map[inclusion]bool
	visits   int
}

// inclusion is a named template with what its context may be, as a text.
type inclusion struct{ template, dot string }

// readTree has the values that are read, by their keys.
type readTree struct {
	below        map[Key]*readTree
	read, tested bool
}

// at returns the tree of a path.
func (t *readTree) at(path []Key) *readTree {
	for _, key := range path {
		if t.below[key] == nil {
			if t.below == nil {
				t.below = map[Key]*readTree{}
			}
			t.below[key] = &readTree{}
		}
		t = t.below[key]
	}
	return t
}

// values returns what is read at a path and below it, ordered by path.
func (t *readTree) values(path []Key) []Value {
	var out []Value
	if t.read {
		out = append(out, Value{Path: path})
	}
	if t.tested {
		out = append(out, Value{Path: path, OnlyTested: true})
	}
	for _, key := range order.Sorted(maps.Keys(t.below), compareKeys) {
		out = append(out, t.below[key].values(append(path[:len(path):len(path)], key))...)
	}
	return out
}

// use notes that values are read.
func (f *follower) use(c origin) {
	for _, path := range c.paths {
		if len(path) > 0 {
			f.found.at(path).read = true
		}
	}
	for _, field := range c.fields {
		if field.root == nil {
			f.use(field)
		}
	}
}

// test notes that a condition tests values.
func (f *follower) test(c origin) {
	for _, path := range c.paths {
		if len(path) > 0 {
			f.found.at(path).tested = true
		}
	}
}

// variables are the variables in scope. A block has a copy. An assignment adds to what the variable may be, in the outer blocks too.
type variables map[string]*origin

// template follows a template with a context.
func (f *follower) template(tree *parse.Tree, dot origin) {
	if tree != nil {
		f.list(tree.Root, dot, variables{"$": &dot})
	}
}

// named follows a template by its name, once with each context.
func (f *follower) named(name string, dot origin) {
	id := inclusion{name, dot.id(3)}
	if !f.done[id] {
		f.done[id] = true
		f.template(f.defines[name], dot)
	}
}

func (f *follower) list(list *parse.ListNode, dot origin, vars variables) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		if f.visits++; f.visits > maxVisits {
			return
		}
		f.node(node, dot, vars)
	}
}

// node follows one node of a template.
func (f *follower) node(node parse.Node, dot origin, vars variables) {
	switch node := node.(type) {
	case *parse.ActionNode:
		result := f.pipe(node.Pipe, dot, vars)
		if len(node.Pipe.Decl) == 0 {
			f.use(result)
		}
	case *parse.IfNode:
		inner := maps.Clone(vars)
		f.test(f.pipe(node.Pipe, dot, inner))
		f.list(node.List, dot, maps.Clone(inner))
		f.list(node.ElseList, dot, inner)
	case *parse.WithNode:
		inner := maps.Clone(vars)
		value := f.pipe(node.Pipe, dot, inner)
		f.test(value)
		f.list(node.List, value, maps.Clone(inner))
		f.list(node.ElseList, dot, inner)
	case *parse.RangeNode:
		inner := maps.Clone(vars)
		value := f.pipe(&parse.PipeNode{Cmds: node.Pipe.Cmds}, dot, inner)
		f.test(value)
		item := value.step(anyKey)
		switch decl := node.Pipe.Decl; len(decl) {
		case 1:
			inner[decl[0].Ident[0]] = &item
		case 2:
			inner[decl[0].Ident[0]] = &value // the keys of a map are read with it
			inner[decl[1].Ident[0]] = &item
		}
		f.list(node.List, item, maps.Clone(inner))
		f.list(node.ElseList, dot, inner)
	case *parse.TemplateNode:
		f.named(node.Name, f.pipe(node.Pipe, dot, vars))
	}
}

// pipe returns what a pipeline may be. A nil pipeline is nothing.
func (f *follower) pipe(pipe *parse.PipeNode, dot origin, vars variables) origin {
	if pipe == nil {
		return origin{}
	}
	var value origin
	for i, command := range pipe.Cmds {
		var last []origin
		if i > 0 {
			last = []origin{value}
		}
		value = f.command(command, dot, vars, last)
	}
	for _, decl := range pipe.Decl {
		name := decl.Ident[0]
		if outer := vars[name]; pipe.IsAssign && outer != nil {
			*outer = outer.or(value)
		} else {
			one := value
			vars[name] = &one
		}
	}
	return value
}

// command returns what a command may be. Last is what the pipeline passes on.
func (f *follower) command(command *parse.CommandNode, dot origin, vars variables, last []origin) origin {
	function, isCall := command.Args[0].(*parse.IdentifierNode)
	if !isCall {
		return f.value(command.Args[0], dot, vars)
	}
	args := make([]origin, 0, len(command.Args))
	for _, arg := range command.Args[1:] {
		args = append(args, f.value(arg, dot, vars))
	}
	return f.call(function.Ident, command.Args[1:], append(args, last...))
}

// value returns what an argument may be.
func (f *follower) value(node parse.Node, dot origin, vars variables) origin {
	if f.visits++; f.visits > maxVisits {
		return origin{}
	}
	switch node := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return steps(dot, node.Ident)
	case *parse.VariableNode:
		if c := vars[node.Ident[0]]; c != nil {
			return steps(*c, node.Ident[1:])
		}
	case *parse.ChainNode:
		return steps(f.value(node.Node, dot, vars), node.Field)
	case *parse.PipeNode:
		return f.pipe(node, dot, vars)
	case *parse.IdentifierNode:
		return f.call(node.Ident, nil, nil)
	}
	return origin{}
}

func steps(c origin, names []string) origin {
	for _, key := range keysOf(names) {
		c = c.step(key)
	}
	return c
}
