package render

import (
	"strconv"
	"strings"
	"text/template/parse"
)

// templateName is the key of the file's own template among the trees of the file.
const templateName = "\x00"

// parseTemplate returns the parse trees of a template: its own, under templateName, and those that it defines. It
// accepts calls of any function.
func parseTemplate(text string) (map[string]*parse.Tree, error) {
	trees := map[string]*parse.Tree{}
	tree := parse.New(templateName)
	tree.Mode = parse.SkipFuncCheck
	_, err := tree.Parse(text, "", "", trees)
	return trees, err
}

// printTemplate prints trees as the text of a template. Line numbers are not kept.
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

// walkNode visits a node and all nodes below it, the inner ones first. On the way it turns a brace at the end of a
// text into an action: printed in front of an action, the brace would become a part of it.
func walkNode(node parse.Node, visit func(parse.Node)) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node == nil {
			return
		}
		walkNodes(node.Nodes, visit)
		node.Nodes = guardBraces(node.Nodes)
	case *parse.ActionNode:
		walkNode(node.Pipe, visit)
	case *parse.TemplateNode:
		walkNode(node.Pipe, visit)
	case *parse.IfNode:
		walkNodes([]parse.Node{node.Pipe, node.List, node.ElseList}, visit)
	case *parse.RangeNode:
		walkNodes([]parse.Node{node.Pipe, node.List, node.ElseList}, visit)
	case *parse.WithNode:
		walkNodes([]parse.Node{node.Pipe, node.List, node.ElseList}, visit)
	case *parse.PipeNode:
		if node == nil {
			return
		}
		for _, command := range node.Cmds {
			walkNode(command, visit)
		}
	case *parse.CommandNode:
		walkNodes(node.Args, visit)
	case *parse.ChainNode:
		walkNode(node.Node, visit)
	}
	visit(node)
}

func walkNodes(nodes []parse.Node, visit func(parse.Node)) {
	for _, node := range nodes {
		walkNode(node, visit)
	}
}

// guardBraces turns the braces at the end of a text into an action that prints them.
func guardBraces(nodes []parse.Node) []parse.Node {
	var out []parse.Node
	for _, node := range nodes {
		out = append(out, node)
		if text, ok := node.(*parse.TextNode); ok && strings.HasSuffix(string(text.Text), "{") {
			bare := strings.TrimRight(string(text.Text), "{")
			braces := string(text.Text[len(bare):])
			text.Text = []byte(bare)
			out = append(out, &parse.ActionNode{NodeType: parse.NodeAction, Pipe: parsePipe(strconv.Quote(braces))})
		}
	}
	return out
}

// parsePipe parses a pipeline that is known to be valid.
func parsePipe(text string) *parse.PipeNode {
	trees, err := parseTemplate("{{" + text + "}}")
	if err != nil {
		panic(err)
	}
	return trees[templateName].Root.Nodes[0].(*parse.ActionNode).Pipe
}
