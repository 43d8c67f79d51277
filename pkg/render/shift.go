package render

import (
	"strings"
	"text/template/parse"
)

// shiftBy is how far the second rendering's clock is ahead. A date shows the difference if its layout has the year,
// the hour, the minute or the second. The value is unusual, so that it is recognised if it appears in a manifest by
// mistake.
const shiftBy = "+9521h13m17s"

// reverseFunction reverses a list. Few charts use it, so that it too is recognised if it appears in a manifest by
// mistake.
const reverseFunction = "mustReverse"

// shift changes the templates of a chart so that volatile functions return other values than in the first rendering:
// `now` is later, and the lists that `keys` and `values` make of a map have a fixed order. The chart's use of the
// results stays: if it sorts or only counts them, nothing differs.
type shift struct {
	// later moves the clock forward.
	later bool
	// values changes values and files that are templates too, for charts that pass them to tpl.
	values bool
	// descending orders the lists made of maps in descending instead of ascending order.
	descending bool
}

// apply changes a prepared chart.
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

// change rewrites a text if it is a template that calls one of the functions. It returns any other text unchanged.
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
		walkNode(tree.Root, func(node parse.Node) {
			switch node := node.(type) {
			case *parse.PipeNode:
				changed = s.sortLists(node) || changed
			case *parse.CommandNode:
				for i := range node.Args {
					changed = s.later && moveClock(&node.Args[i]) || changed
				}
			case *parse.ChainNode:
				changed = s.later && moveClock(&node.Node) || changed
			}
		})
	}
	if !changed {
		return text
	}
	return printTemplate(trees)
}

// moveClock replaces `now` by a later time.
func moveClock(word *parse.Node) bool {
	function, ok := (*word).(*parse.IdentifierNode)
	if !ok || function.Ident != "now" {
		return false
	}
	*word = parsePipe(`now | mustDateModify "` + shiftBy + `"`)
	return true
}

// sortLists adds a sort after each function of a pipe that lists a map. The values of a map may have any type, so
// these are only reversed.
func (s shift) sortLists(pipe *parse.PipeNode) bool {
	var commands []*parse.CommandNode
	for _, command := range pipe.Cmds {
		commands = append(commands, command)
		function, _ := command.Args[0].(*parse.IdentifierNode)
		switch {
		case function == nil:
		case function.Ident == "keys":
			commands = append(commands, parsePipe("sortAlpha").Cmds...)
			if s.descending {
				commands = append(commands, parsePipe(reverseFunction).Cmds...)
			}
		case function.Ident == "values" && s.descending:
			commands = append(commands, parsePipe(reverseFunction).Cmds...)
		}
	}
	changed := len(commands) > len(pipe.Cmds)
	pipe.Cmds = commands
	return changed
}

// showsShift reports whether the second manifest shows a change of shift as text, because a changed value only looks
// like a template.
func showsShift(again, manifest string) bool {
	for _, mark := range []string{shiftBy, reverseFunction} {
		if strings.Contains(again, mark) && !strings.Contains(manifest, mark) {
			return true
		}
	}
	return false
}
