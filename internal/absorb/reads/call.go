package reads

import (
	"slices"
	"strings"
	"text/template/parse"
)

// call returns what a call of a function may be. The nodes are the arguments that are written in the call; args also has what a pipeline
// passes on. A function that is not named here may return any of its arguments.
func (f *follower) call(name string, nodes []parse.Node, args []origin) origin {
	switch name {
	case "include":
		return f.include(nodes, args)
	case "tpl":
		for _, arg := range args[:min(1, len(args))] {
			f.use(arg)
		}
		return origin{}
	case "dict":
		return dictOf(nodes, args)
	case "set":
		if len(args) == 3 && args[0].fields != nil {
			key := constant(nodes, 1)
			args[0].fields[key] = args[0].fields[key].or(args[2])
			return args[0]
		}
	case "list", "tuple":
		return origin{fields: map[Key]origin{anyKey: union(args)}}
	case "first", "last", "pluck":
		if name == "pluck" && len(args) > 1 {
			return origin{fields: map[Key]origin{anyKey: union(args[1:]).step(constant(nodes, 0))}}
		}
		return union(args).or(union(args).step(anyKey))
	case "index":
		return f.index(nodes, args)
	case "get":
		if len(args) > 1 {
			return args[0].step(constant(nodes, 1))
		}
	case "hasKey":
		if len(args) > 1 {
			f.test(args[0].step(constant(nodes, 1)))
		}
		return origin{}
	case "dig":
		return dig(nodes, args)
	case "ternary", "default", "coalesce", "required", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite", "deepCopy":
		return union(args)
	case "and", "or", "not", "eq", "ne", "empty", "kindIs", "typeIs", "kindOf", "typeOf", "gt", "lt", "ge", "le", "fail":
		for _, arg := range args {
			f.test(arg)
		}
		if name == "and" || name == "or" {
			return union(args)
		}
		return origin{}
	}
	return union(args)
}

// include follows the template that is included.
func (f *follower) include(nodes []parse.Node, args []origin) origin {
	if len(nodes) == 0 || len(args) < 2 {
		return origin{}
	}
	if name, ok := nodes[0].(*parse.StringNode); ok {
		f.named(name.Text, args[1])
		return origin{}
	}
	// The path of a file is written as (print $.Template.BasePath "/config.yaml").
	paths := slices.DeleteFunc(textsOf(nodes[0]), func(text string) bool { return !strings.HasPrefix(text, "/") })
	f.anyFile = f.anyFile || len(paths) != 1 || !strings.Contains(nodes[0].String(), ".Template.BasePath")
	f.included = append(f.included, paths...)
	return origin{}
}

// textsOf returns the texts in an expression.
func textsOf(node parse.Node) (out []string) {
	switch node := node.(type) {
	case *parse.StringNode:
		return []string{node.Text}
	case *parse.ChainNode:
		return textsOf(node.Node)
	case *parse.CommandNode:
		for _, arg := range node.Args {
			out = append(out, textsOf(arg)...)
		}
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			out = append(out, textsOf(command)...)
		}
	}
	return out
}

// index returns what an index expression leads to.
func (f *follower) index(nodes []parse.Node, args []origin) origin {
	if len(args) == 0 {
		return origin{}
	}
	if len(nodes) == 0 || len(args) > len(nodes) {
		return args[len(args)-1].step(anyKey)
	}
	out := args[0]
	for i := 1; i < len(nodes); i++ {
		out = out.step(constant(nodes, i))
	}
	return out
}

// dig returns what dig leads to: its last argument is the dictionary, and the one before it the default.
func dig(nodes []parse.Node, args []origin) origin {
	if len(args) < 3 {
		return union(args)
	}
	out := args[len(args)-1]
	for i := range args[:len(args)-2] {
		out = out.step(constant(nodes, i))
	}
	return out.or(args[len(args)-2])
}

// dictOf returns the dictionary of a call of dict.
func dictOf(nodes []parse.Node, args []origin) origin {
	out := origin{fields: map[Key]origin{}}
	for i := 0; i+1 < len(args); i += 2 {
		key := constant(nodes, i)
		out.fields[key] = out.fields[key].or(args[i+1])
	}
	return out
}

// constant returns the argument at a position as a key if it is a text, and otherwise anyKey.
func constant(nodes []parse.Node, i int) Key {
	if i < len(nodes) {
		if text, ok := nodes[i].(*parse.StringNode); ok {
			return Key{Name: text.Text}
		}
	}
	return anyKey
}

// union returns what may be any of several contexts.
func union(all []origin) origin {
	var out origin
	for _, c := range all {
		out = out.or(c)
	}
	return out
}
