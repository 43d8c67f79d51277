package render

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template/parse"
)

// volatility says how the answers of a template function change from call to call.
type volatility int

const (
	stable volatility = iota
	// random functions return another value with each call.
	random
	// clock functions return the time, which is nearly the same in two renderings in a row.
	clock
	// unordered functions list a map in Go's random order, which is often the same for small maps.
	unordered
)

// volatilityOf returns the volatility of a function of Helm's templates: those of sprig v3.3.0 functions.go, read one
// by one, and those that Helm adds (helm v3.22.0 pkg/engine/funcs.go; v4.3.1 adds none that is volatile). Lookups are
// stable, because a repeated lookup gets the same answer. The date functions are stable too if they get a date.
// Without one they return the time, which this function does not notice.
func volatilityOf(function string, dns bool) volatility {
	switch function {
	case "randAlphaNum", "randAlpha", "randNumeric", "randAscii", "randBytes", "randInt", "shuffle", "uuidv4",
		"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert",
		"genSignedCertWithKey", "bcrypt", "htpasswd", "encryptAES", "ago":
		return random
	case "getHostByName":
		if dns {
			return random
		}
	case "now":
		return clock
	case "keys", "values":
		return unordered
	}
	return stable
}

// callGraph holds the templates of a chart and what the rendered ones call.
type callGraph struct {
	dns bool
	// known has the templates that files define, by name. partials are the templates of files that are not
	// rendered by themselves.
	known    map[string]*templateCalls
	partials []*templateCalls
	// volatile has the volatilities of the called functions. tpl is set if tpl is called, which renders texts as
	// templates.
	volatile map[volatility]bool
	tpl      bool
	// texts are constants that may be passed to tpl.
	texts []string
}

// templateCalls is what one template calls and includes.
type templateCalls struct {
	functions, includes, texts []string
	// file is set if the template includes a file, and anything is set if it computes the name of what
	// it includes.
	file, anything bool
}

// findCalls reads the parse trees of a chart, from the rendered files to the templates that they include. A call
// counts wherever it is, even in a branch that is not taken. The name of a function in a text or a comment does not
// count. If tpl is called, the templates among the values, constants and files count too.
func findCalls(p prepared, dns bool) *callGraph {
	c := &callGraph{dns: dns, known: map[string]*templateCalls{}, volatile: map[volatility]bool{}}
	templates, files := p.chart.tree().sources()
	var rendered []*templateCalls
	for _, t := range templates {
		own := c.read(string(*t.data))
		if strings.HasPrefix(path.Base(t.path), "_") {
			c.partials = append(c.partials, own)
		} else {
			rendered = append(rendered, own)
		}
	}
	c.follow(rendered)
	if !c.tpl {
		return c
	}
	for _, f := range files {
		c.texts = append(c.texts, string(*f.data))
	}
	mapTexts(p.values, func(text string) string {
		c.texts = append(c.texts, text)
		return text
	})
	for len(c.texts) > 0 {
		text := c.texts[0]
		c.texts = c.texts[1:]
		if strings.Contains(text, "{{") {
			c.follow([]*templateCalls{c.read(text)})
		}
	}
	return c
}

// read adds the templates that a text defines and returns what the text itself calls. A text that is not a template
// calls nothing. If a name is defined more than once, the calls of all its definitions count.
func (c *callGraph) read(text string) *templateCalls {
	own := &templateCalls{}
	trees, err := parseTemplate(text)
	if err != nil {
		return own
	}
	for name, tree := range trees {
		t := own
		if name != templateName {
			if c.known[name] == nil {
				c.known[name] = &templateCalls{}
			}
			t = c.known[name]
		}
		walkNode(tree.Root, t.note)
	}
	return own
}

// follow visits templates and everything that they include.
func (c *callGraph) follow(todo []*templateCalls) {
	done := map[*templateCalls]bool{}
	for len(todo) > 0 {
		t := todo[0]
		todo = todo[1:]
		if done[t] {
			continue
		}
		done[t] = true
		for _, function := range t.functions {
			c.volatile[volatilityOf(function, c.dns)] = true
			c.tpl = c.tpl || function == "tpl"
		}
		c.texts = append(c.texts, t.texts...)
		file := t.file || t.anything
		for _, name := range t.includes {
			if included := c.known[name]; included != nil {
				todo = append(todo, included)
			} else {
				file = true
			}
		}
		if file {
			todo = append(todo, c.partials...)
		}
		if t.anything {
			todo = slices.AppendSeq(todo, maps.Values(c.known))
		}
	}
}

// note records what one node calls or includes.
func (t *templateCalls) note(node parse.Node) {
	switch node := node.(type) {
	case *parse.IdentifierNode:
		t.functions = append(t.functions, node.Ident)
	case *parse.StringNode:
		if strings.Contains(node.Text, "{{") {
			t.texts = append(t.texts, node.Text)
		}
	case *parse.TemplateNode:
		t.includes = append(t.includes, node.Name)
	case *parse.CommandNode:
		if function, ok := node.Args[0].(*parse.IdentifierNode); ok && function.Ident == "include" {
			t.include(node.Args[1:])
		}
	}
}

// include records the argument of an include. A name that begins with .Template.BasePath is the path of a
// file.
func (t *templateCalls) include(args []parse.Node) {
	if len(args) == 0 {
		t.anything = true
		return
	}
	if name, ok := args[0].(*parse.StringNode); ok {
		t.includes = append(t.includes, name.Text)
		return
	}
	isFile := strings.Contains(args[0].String(), ".Template.BasePath")
	t.file, t.anything = t.file || isFile, t.anything || !isFile
}

// renderAgain returns the manifest of a second rendering, if the chart calls volatile functions and the manifest
// differs. The chart is loaded again for it. A report must not show what the changed clock produces, because no
// upgrade will ever write it. So if a template calls the clock, atOnce is another rendering at the time of the first.
func (r renderer) renderAgain(ctx context.Context, first prepared, manifest string) (again, atOnce string, err error) {
	calls := findCalls(first, r.EnableDNS)
	others := calls.volatile[random] || calls.volatile[unordered]
	if !others && !calls.volatile[clock] {
		return "", "", nil
	}
	again, err = r.renderVariant(ctx, calls, manifest, calls.volatile[clock])
	if err != nil || again == manifest {
		return "", "", err
	}
	switch {
	case !calls.volatile[clock]:
		return again, "", nil
	case !others:
		return again, manifest, nil
	}
	atOnce, err = r.renderVariant(ctx, calls, manifest, false)
	return again, atOnce, err
}

// renderVariant renders changed templates. If that fails, it renders the unchanged ones once more.
func (r renderer) renderVariant(ctx context.Context, calls *callGraph, manifest string, later bool) (string, error) {
	again, _, err := r.renderShifted(ctx, &shift{later: later, values: calls.tpl, descending: true})
	if calls.tpl && showsShift(again, manifest) {
		again, _, err = r.renderShifted(ctx, &shift{later: later, descending: true})
	}
	if err == nil && again == manifest && calls.volatile[unordered] {
		again, _, err = r.renderShifted(ctx, &shift{later: later})
	}
	if err != nil && ctx.Err() == nil {
		again, _, err = r.renderShifted(ctx, nil)
	}
	return again, err
}

// renderShifted loads the chart, changes its templates unless s is nil, and renders them.
func (r renderer) renderShifted(ctx context.Context, s *shift) (string, []Hook, error) {
	p, err := r.prepare()
	if err != nil {
		return "", nil, err
	}
	if s != nil {
		s.apply(p)
	}
	return r.render(ctx, p)
}

// shiftBy is how far the second rendering's clock is ahead. A date shows the difference if its layout has the year,
// the hour, the minute or the second. The value is unusual, so that it is recognised if it appears in a manifest by
// mistake.
const shiftBy = "+9521h13m17s"

// reverseFunction reverses a list. Few charts use it, so that it too is recognised.
const reverseFunction = "mustReverse"

// shift changes the templates of a chart so that volatile functions return other values than in the first rendering:
// `now` is later, and the lists that `keys` and `values` make of a map have a fixed order. The chart uses the
// results as before: if it sorts or only counts them, nothing differs.
type shift struct {
	// later moves the clock forward.
	later bool
	// values also changes values and files that are templates, for charts that pass them to tpl.
	values bool
	// descending orders the lists made of maps in descending instead of ascending order.
	descending bool
}

// apply changes a prepared chart.
func (s shift) apply(p prepared) {
	templates, files := p.chart.tree().sources()
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

// sortLists adds a sort after each function of a pipe that lists a map. The values of a map may have any type and
// cannot be sorted, so it only reverses them.
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

// showsShift reports whether the second manifest shows a change of shift as text. That happens if a changed value
// only looks like a template.
func showsShift(again, manifest string) bool {
	return slices.ContainsFunc([]string{shiftBy, reverseFunction}, func(mark string) bool {
		return strings.Contains(again, mark) && !strings.Contains(manifest, mark)
	})
}
