package render

import (
	"path"
	"slices"
	"strings"
	"text/template/parse"
)

// usedGroups returns those of the groups that a template may ask about with .Capabilities.APIVersions. A template
// that uses or passes on the whole list may ask about every group. One that calls Has asks about a group whose name
// occurs in the chart or in its values.
func (p prepared) usedGroups(groups []string) []string {
	if len(groups) == 0 {
		return nil
	}
	var use versionUse
	var all []string
	templates, files := p.chart.sources()
	for _, t := range templates {
		if all = append(all, string(*t.data)); path.Base(t.name) != notesFile {
			use.read(string(*t.data))
		}
	}
	for _, f := range files {
		all = append(all, string(*f.data))
		use.read(string(*f.data)) // tpl may render it
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

// versionUse is how templates use the list of served API versions: through Has, or as a whole.
type versionUse struct{ has, whole bool }

// read notes the uses in one text, which may be no template.
func (u *versionUse) read(text string) {
	if !strings.Contains(text, "{{") || !strings.Contains(text, "Capabilities") {
		return
	}
	trees, err := parseTemplate(text)
	if err != nil {
		return
	}
	for _, tree := range trees {
		walkNode(tree.Root, u.note)
	}
}

// note notes the use in one node.
func (u *versionUse) note(node parse.Node) {
	var fields []string
	switch node := node.(type) {
	case *parse.FieldNode:
		fields = node.Ident
	case *parse.VariableNode:
		fields = node.Ident
	case *parse.ChainNode:
		fields = node.Field
	case *parse.StringNode:
		fields = []string{node.Text} // the key in a call of index
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
