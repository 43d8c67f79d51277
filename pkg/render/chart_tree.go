package render

import "strings"

// chartTree is the files of a chart, and the charts below it.
type chartTree struct {
	name string
	// values are those of values.yaml, and schema is values.schema.json.
	values           map[string]any
	schema           []byte
	templates, files []source
	below            []chartTree
}

// source is one file of a chart. Writing to data replaces its content. A template has the path of a [Template], and sources adds its
// values.
type source struct {
	path   string
	values []string
	data   *[]byte
}

// defaults returns the values of the chart and its subcharts, as their files have them.
func (t chartTree) defaults() any {
	all := []any{t.values}
	for _, sub := range t.below {
		all = append(all, sub.defaults())
	}
	return all
}

// sources returns the templates and the other files of the chart and its subcharts. Helm splits the name of a subchart at dots when it looks
// for the values that its templates see (helm v3.22.0 pkg/engine/engine.go recAllTpls, v4.3.1 the same).
func (t chartTree) sources() (templates, files []source) {
	templates, files = t.templates, t.files
	for _, sub := range t.below {
		itsTemplates, itsFiles := sub.sources()
		for i := range itsTemplates {
			itsTemplates[i].values = append(strings.Split(sub.name, "."), itsTemplates[i].values...)
		}
		templates, files = append(templates, itsTemplates...), append(files, itsFiles...)
	}
	return templates, files
}
