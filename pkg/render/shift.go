package render

import (
	"strings"
	"text/template/parse"
)

// shiftBy is how far the second rendering's clock is ahead: a layout that has the year, the hour, the minute or the second
// cannot hide it. It is odd enough to be recognised where it comes out by mistake.
const shiftBy = "+9521h13m17s"

// turnedRound reverses a list. Its name is rare, so that it too is recognised where it comes out by mistake.
const turnedRound = "mustReverse"

// shift changes the templates of a chart so that functions whose other answers two renderings in a row would hide, answer
// otherwise: `now` is later, and the lists that `keys` and `values` make of a map are in an order of our choice. What a
// chart does with the answers stays: where it sorts them, or only counts them, nothing differs.
type shift struct {
	// later puts the clock forward.
	later bool
	// values changes values and files that are templates too, for charts that pass them to tpl.
	values bool
	// descending is the order of lists made of maps, else ascending.
	descending bool
}

// apply changes a chart that is prepared.
func (s shift) apply(p prepared) {
	templates, files := p.chart.sources()
	if s.values {
		templates = append(templates, files...)
		for key, v := range p.values {
			p.values[key] = mapTexts(v, s.change)
		}
	}
	for _, t := range templates {
		*t.data = []byte(s.change(string(*t.data)))
	}
}

// change rewrites a text if it is a template that calls one of the functions. Others stay as they are, to the byte.
func (s shift) change(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	trees, err := parseTemplate(text)
	if err != nil {
		return text
	}
	changed := false
	for _, tree := range trees {
		eachNode(tree.Root, func(node parse.Node) {
			switch node := node.(type) {
			case *parse.PipeNode:
				changed = s.order(node) || changed
			case *parse.CommandNode:
				for i := range node.Args {
					changed = s.later && later(&node.Args[i]) || changed
				}
			case *parse.ChainNode:
				changed = s.later && later(&node.Node) || changed
			}
		})
	}
	if !changed {
		return text
	}
	return printTemplate(trees)
}

// later puts a later time in the place of `now`.
func later(word *parse.Node) bool {
	function, ok := (*word).(*parse.IdentifierNode)
	if !ok || function.Ident != "now" {
		return false
	}
	*word = pipeOf(`now | mustDateModify "` + shiftBy + `"`)
	return true
}

// order has the lists that a pipe makes of maps sorted. Values of a map can be anything, so they are only turned round.
func (s shift) order(pipe *parse.PipeNode) bool {
	var commands []*parse.CommandNode
	for _, command := range pipe.Cmds {
		commands = append(commands, command)
		function, _ := command.Args[0].(*parse.IdentifierNode)
		switch {
		case function == nil:
		case function.Ident == "keys":
			commands = append(commands, pipeOf("sortAlpha").Cmds...)
			if s.descending {
				commands = append(commands, pipeOf(turnedRound).Cmds...)
			}
		case function.Ident == "values" && s.descending:
			commands = append(commands, pipeOf(turnedRound).Cmds...)
		}
	}
	changed := len(commands) > len(pipe.Cmds)
	pipe.Cmds = commands
	return changed
}

// leaked tells whether a changed value came out as it was changed, because it only looks like a template.
func leaked(again, manifest string) bool {
	for _, mark := range []string{shiftBy, turnedRound} {
		if strings.Contains(again, mark) && !strings.Contains(manifest, mark) {
			return true
		}
	}
	return false
}
