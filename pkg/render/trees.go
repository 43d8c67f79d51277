package render

import (
	"strconv"
	"strings"
	"text/template/parse"
)

// templateName stands for the name of the file among the trees of a file.
const templateName = "\x00"

// parseTemplate gives the trees of a template: its own, under templateName, and those that it defines. Any function may be
// called in it.
func parseTemplate(text string) (map[string]*parse.Tree, error) {
	trees := map[string]*parse.Tree{}
	tree := parse.New(templateName)
	tree.Mode = parse.SkipFuncCheck
	_, err := tree.Parse(text, "", "", trees)
	return trees, err
}

// printTemplate writes trees as a template. Line numbers are not kept.
func printTemplate(trees map[string]*parse.Tree) string {
	var own string
	var b strings.Builder
	for name, tree := range trees {
		if name == templateName {
			own = tree.Root.String()
			continue
		}
		b.WriteString("{{define " + strconv.Quote(name) + "}}" + tree.Root.String() + "{{end}}")
	}
	return b.String() + own
}

// eachNode visits a node and all below it, inner ones before those around them. On the way it takes braces off the ends of
// texts: a brace that template text left before an action would run into it when printed.
func eachNode(node parse.Node, visit func(parse.Node)) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node == nil {
			return
		}
		eachOf(node.Nodes, visit)
		node.Nodes = guardBraces(node.Nodes)
	case *parse.ActionNode:
		eachNode(node.Pipe, visit)
	case *parse.TemplateNode:
		eachNode(node.Pipe, visit)
	case *parse.IfNode:
		eachOf([]parse.Node{node.Pipe, node.List, node.ElseList}, visit)
	case *parse.RangeNode:
		eachOf([]parse.Node{node.Pipe, node.List, node.ElseList}, visit)
	case *parse.WithNode:
		eachOf([]parse.Node{node.Pipe, node.List, node.ElseList}, visit)
	case *parse.PipeNode:
		if node == nil {
			return
		}
		for _, command := range node.Cmds {
			eachNode(command, visit)
		}
	case *parse.CommandNode:
		eachOf(node.Args, visit)
	case *parse.ChainNode:
		eachNode(node.Node, visit)
	}
	visit(node)
}

func eachOf(nodes []parse.Node, visit func(parse.Node)) {
	for _, node := range nodes {
		eachNode(node, visit)
	}
}

// guardBraces writes a brace at the end of a text as an action.
func guardBraces(nodes []parse.Node) []parse.Node {
	var out []parse.Node
	for _, node := range nodes {
		out = append(out, node)
		if text, ok := node.(*parse.TextNode); ok && strings.HasSuffix(string(text.Text), "{") {
			bare := strings.TrimRight(string(text.Text), "{")
			braces := string(text.Text[len(bare):])
			text.Text = []byte(bare)
			out = append(out, &parse.ActionNode{NodeType: parse.NodeAction, Pipe: pipeOf(strconv.Quote(braces))})
		}
	}
	return out
}

// pipeOf parses a pipeline that is known to be one.
func pipeOf(text string) *parse.PipeNode {
	trees, err := parseTemplate("{{" + text + "}}")
	if err != nil {
		panic(err)
	}
	return trees[templateName].Root.Nodes[0].(*parse.ActionNode).Pipe
}
