package render

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template/parse"
)

// answer says in which way a template function gives another answer each time.
type answer int

const (
	steady answer = iota
	// random functions answer anew by themselves.
	random
	// clock functions answer with the time, which two renderings in a row nearly share.
	clock
	// unordered functions list a map in Go's random order, which for small maps is mostly the same.
	unordered
)

// answerOf knows the functions of Helm's templates that give another answer each time: sprig v3.3.0 functions.go, read one by
// one, and what Helm adds (v3.22.0 pkg/engine/funcs.go; v4.3.1 adds none). Lookups are steady, because they are answered
// twice alike. The date functions are too, as long as they are given a date: without one they answer with the time, unnoticed here.
func answerOf(function string, dns bool) answer {
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
	return steady
}

// calls knows the templates of a chart, and finds out which functions they call.
type calls struct {
	dns bool
	// known are the templates that files define, by their names; partials are those of files that are not rendered by themselves.
	known    map[string]*template
	partials []*template
	// found are the ways to answer anew of the functions that are called, tpl whether texts are run as templates too.
	found map[answer]bool
	tpl   bool
	// texts are constants that tpl may be given.
	texts []string
}

// template is what one template does, as far as it matters here.
type template struct {
	functions, includes, texts []string
	// file is set where a file is included, anything where the name is made up on the way.
	file, anything bool
}

// callsOf reads the parse trees of a chart, from the files that are rendered to the templates that they include. A function
// counts wherever it stands in them, also in branches that are not taken; a name in a text or a comment is no call. Where
// tpl is called, the templates among the values, constants and files count too.
func callsOf(p prepared, dns bool) *calls {
	c := &calls{dns: dns, known: map[string]*template{}, found: map[answer]bool{}}
	templates, files := p.chart.sources()
	var rendered []*template
	for _, t := range templates {
		own := c.read(string(*t.data))
		if strings.HasPrefix(path.Base(t.name), "_") {
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
			c.follow([]*template{c.read(text)})
		}
	}
	return c
}

// read notes what a text defines, and gives what it does itself. A text that is no template does nothing. Which of several
// definitions of a name counts is not asked: what any of them calls counts.
func (c *calls) read(text string) *template {
	own := &template{}
	trees, err := parseTemplate(text)
	if err != nil {
		return own
	}
	for name, tree := range trees {
		t := own
		if name != templateName {
			if c.known[name] == nil {
				c.known[name] = &template{}
			}
			t = c.known[name]
		}
		eachNode(tree.Root, t.note)
	}
	return own
}

// follow goes through templates and all that they include.
func (c *calls) follow(todo []*template) {
	done := map[*template]bool{}
	for len(todo) > 0 {
		t := todo[0]
		todo = todo[1:]
		if done[t] {
			continue
		}
		done[t] = true
		for _, function := range t.functions {
			c.found[answerOf(function, c.dns)] = true
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

// note takes down one node of a template.
func (t *template) note(node parse.Node) {
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

// include takes down what is included. Names that begin with .Template.BasePath are those of files.
func (t *template) include(args []parse.Node) {
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

// renderAgain returns the manifest of a second rendering from the chart loaded anew, if the chart calls functions that answer
// anew each time and the manifest differs. Where two renderings in a row would hide a difference, the second renders
// changed templates: in another year, and with maps in another order. What the changed clock makes is never shown, because
// nobody will ever write it: where the clock is asked, atOnce is another rendering at the time of the first.
func (r renderer) renderAgain(ctx context.Context, first prepared, manifest string) (again, atOnce string, err error) {
	called := callsOf(first, r.EnableDNS)
	others := called.found[random] || called.found[unordered]
	if !others && !called.found[clock] {
		return "", "", nil
	}
	again, err = r.renderOther(ctx, called, manifest, called.found[clock])
	if err != nil || again == manifest {
		return "", "", err
	}
	switch {
	case !called.found[clock]:
		return again, "", nil
	case !others:
		return again, manifest, nil
	}
	atOnce, err = r.renderOther(ctx, called, manifest, false)
	return again, atOnce, err
}

// renderOther renders changed templates. If these fail, the plain ones have the last word.
func (r renderer) renderOther(ctx context.Context, called *calls, manifest string, later bool) (string, error) {
	again, err := r.renderShifted(ctx, shift{later: later, values: called.tpl, descending: true})
	if called.tpl && leaked(again, manifest) {
		again, err = r.renderShifted(ctx, shift{later: later, descending: true})
	}
	if err == nil && again == manifest && called.found[unordered] {
		again, err = r.renderShifted(ctx, shift{later: later})
	}
	if err != nil && ctx.Err() == nil {
		return r.renderPlain(ctx)
	}
	return again, err
}

func (r renderer) renderPlain(ctx context.Context) (string, error) {
	p, err := r.prepare()
	if err != nil {
		return "", err
	}
	manifest, _, err := r.render(ctx, p)
	return manifest, err
}

func (r renderer) renderShifted(ctx context.Context, s shift) (string, error) {
	p, err := r.prepare()
	if err != nil {
		return "", err
	}
	s.apply(p)
	manifest, _, err := r.render(ctx, p)
	return manifest, err
}
