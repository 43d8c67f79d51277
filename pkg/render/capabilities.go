package render

import (
	"path"
	"slices"
	"strings"
	"text/template/parse"
)

// asked returns those of the groups for which a template may ask by .Capabilities.APIVersions. A template that uses the list itself, or
// hands it on, may ask for each of them; one that calls Has asks for a group whose name stands somewhere in the chart or in its values.
func (p prepared) asked(groups []string) []string {
	if len(groups) == 0 {
		return nil
	}
	var use versionsUse
	var all []string
	templates, files := p.chart.sources()
	for _, t := range templates {
		if all = append(all, string(*t.data)); path.Base(t.name) != notesFile {
			use.read(string(*t.data))
		}
	}
	for _, f := range files {
		all = append(all, string(*f.data))
		use.read(string(*f.data)) // tpl may run it
	}
	mapTexts(p.values, func(text string) string {
		all = append(all, text)
		use.read(text)
		return text
	})
	return slices.DeleteFunc(slices.Clone(groups), func(group string) bool {
		named := slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, group) })
		return !use.whole && !(use.has && named)
	})
}

// versionsUse is how templates use the versions that the cluster serves.
type versionsUse struct{ has, whole bool }

// read notes the uses in one text, which need not be a template.
func (u *versionsUse) read(text string) {
	if !strings.Contains(text, "{{") || !strings.Contains(text, "Capabilities") {
		return
	}
	trees, err := parseTemplate(text)
	if err != nil {
		return
	}
	for _, tree := range trees {
		eachNode(tree.Root, u.note)
	}
}

func (u *versionsUse) note(node parse.Node) {
	var fields []string
	switch node := node.(type) {
	case *parse.FieldNode:
		fields = node.Ident
	case *parse.VariableNode:
		fields = node.Ident
	case *parse.ChainNode:
		fields = node.Field
	case *parse.StringNode:
		fields = []string{node.Text} // as index takes it
	}
	i := slices.Index(fields, "Capabilities")
	if i < 0 {
		return
	}
	switch below := strings.Join(fields[i+1:], "."); {
	case below == "APIVersions.Has":
		u.has = true
	case below == "" || below == "APIVersions":
		u.whole = true
	}
}
