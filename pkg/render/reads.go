package render

import (
	"slices"
	"strings"
	"text/template/parse"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file says what each template may read of the values, by its parse tree: it follows the context through variables, with, range,
// include and template, dictionaries and the functions that pass values on. It is a guide for a search and no proof: a template that
// computes the names of what it reads may read more.

// Reads is what a template may read of the values of the chart.
type Reads struct {
	// Paths lead to the values that are read, from the root of the values of the whole chart. "*" stands for any key or item. What is below a
	// path is read too, unless the path ends in OnlyTested.
	Paths [][]string
	// Everything is set if the template was too large to be followed.
	Everything bool
	// Files are the templates that must be there for the template to render: itself, those that it includes by path, and those that define
	// named templates. It is nil if that is not known.
	Files []string
}

// OnlyTested ends the path of a value that a condition tests.
const OnlyTested = "\x00tested"

// maxVisits bounds the nodes that are visited for one template.
const maxVisits = 200_000

// Reads returns what each template may read, by its path.
func (v *Variants) Reads() map[string]Reads {
	defines := map[string]*parse.Tree{}
	own := map[string]*parse.Tree{}
	var defining []string
	for _, t := range v.sources {
		trees, err := parseTemplate(t.Text)
		if err != nil {
			continue
		}
		for name, tree := range trees {
			if name == templateName {
				own[t.Path] = tree
			} else {
				defines[name] = tree
			}
		}
		if len(trees) > 1 {
			defining = append(defining, t.Path)
		}
	}
	out := map[string]Reads{}
	for _, t := range v.sources {
		base := t.Path[strings.LastIndex(t.Path, "/")+1:]
		if own[t.Path] == nil || strings.HasPrefix(base, "_") {
			continue
		}
		f := &follower{defines: defines, found: map[string][]string{}, done: map[string]bool{}}
		f.template(own[t.Path], origin{root: &t.Values})
		out[t.Path] = Reads{Paths: f.paths(), Everything: f.visits > maxVisits, Files: v.needed(f, own, append(defining, t.Path))}
	}
	return out
}

// needed returns the templates with which a followed template renders: the given ones, and those that are included by path with
// everything that they include in turn. It returns nil if a path is not known.
func (v *Variants) needed(f *follower, own map[string]*parse.Tree, paths []string) []string {
	out := slices.Clone(paths)
	for len(f.included) > 0 && !f.anyFile {
		ending := f.included[0]
		f.included = f.included[1:]
		for _, t := range v.sources {
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
	paths  [][]string
	fields map[string]origin
}

// anyKey is the key of a step to any item of a list or any entry of a map.
const anyKey = "*"

// step returns what is below an origin.
func (c origin) step(name string) origin {
	var out origin
	if c.root != nil && name == "Values" {
		out.paths = append(out.paths, *c.root)
	}
	for _, path := range c.paths {
		// The globals of a subchart are those of the whole chart.
		if name == "global" {
			out.paths = append(out.paths, []string{name})
		}
		out.paths = append(out.paths, append(path[:len(path):len(path)], name))
	}
	if c.fields != nil {
		if name != anyKey {
			out = out.or(c.fields[name])
		}
		out = out.or(c.fields[anyKey])
	}
	return out
}

// or returns what may be either of two origins.
func (c origin) or(o origin) origin {
	out := origin{root: c.root, paths: slices.Concat(c.paths, o.paths), fields: c.fields}
	if out.root == nil {
		out.root = o.root
	}
	if out.fields == nil {
		out.fields = o.fields
	} else if o.fields != nil {
		out.fields = map[string]origin{}
		for _, all := range []map[string]origin{c.fields, o.fields} {
			for name, field := range all {
				out.fields[name] = out.fields[name].or(field)
			}
		}
	}
	return out
}

// id returns a text that tells origins apart.
func (c origin) id(depth int) string {
	var b strings.Builder
	if c.root != nil {
		b.WriteString("$" + strings.Join(*c.root, "."))
	}
	for _, path := range c.paths {
		b.WriteString("|" + strings.Join(path, "."))
	}
	if depth > 0 {
		for _, name := range object.SortedKeys(c.fields) {
			b.WriteString("{" + name + ":" + c.fields[name].id(depth-1) + "}")
		}
	}
	return b.String()
}

// follower follows one template.
type follower struct {
	defines map[string]*parse.Tree
	found   map[string][]string
	// included are the ends of the paths of templates that are included by path. anyFile is set if such a path is computed in another way.
	included []string
	anyFile  bool
	// done are the templates that were followed with a context.
	done   map[string]bool
	visits int
}

// paths returns what was found, without what is below another path.
func (f *follower) paths() [][]string {
	var out [][]string
	for _, id := range object.SortedKeys(f.found) {
		out = append(out, f.found[id])
	}
	return out
}

// use notes that values are read.
func (f *follower) use(c origin) {
	for _, path := range c.paths {
		if len(path) > 0 {
			f.found[strings.Join(path, "\x00")] = path
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
			tested := append(path[:len(path):len(path)], OnlyTested)
			f.found[strings.Join(tested, "\x00")] = tested
		}
	}
}

// variables are the variables in scope. A block has a copy, and assignments reach the outer blocks too, which only adds to what they may
// be.
type variables map[string]*origin

func (v variables) inner() variables {
	out := variables{}
	for name, c := range v {
		out[name] = c
	}
	return out
}

// template follows a template with a context.
func (f *follower) template(tree *parse.Tree, dot origin) {
	if tree == nil || tree.Root == nil {
		return
	}
	f.list(tree.Root, dot, variables{"$": &dot})
}

// named follows a template by its name, once with each context.
func (f *follower) named(name string, dot origin) {
	id := name + "\x00" + dot.id(3)
	if f.done[id] {
		return
	}
	f.done[id] = true
	if tree := f.defines[name]; tree != nil {
		f.template(tree, dot)
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
		inner := vars.inner()
		f.test(f.pipe(node.Pipe, dot, inner))
		f.list(node.List, dot, inner.inner())
		f.list(node.ElseList, dot, inner)
	case *parse.WithNode:
		inner := vars.inner()
		value := f.pipe(node.Pipe, dot, inner)
		f.test(value)
		f.list(node.List, value, inner.inner())
		f.list(node.ElseList, dot, inner)
	case *parse.RangeNode:
		inner := vars.inner()
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
		f.list(node.List, item, inner.inner())
		f.list(node.ElseList, dot, inner)
	case *parse.TemplateNode:
		var arg origin
		if node.Pipe != nil {
			arg = f.pipe(node.Pipe, dot, vars)
		}
		f.named(node.Name, arg)
	}
}

// pipe returns what a pipeline may be.
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
	for _, name := range names {
		c = c.step(name)
	}
	return c
}
