package render

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

// sources returns the templates and the other files of the chart and its subcharts. A name may have dots, which ChartPath of Helm's charts
// has between the names, too.
func (t chartTree) sources() (templates, files []source) {
	templates, files = t.templates, t.files
	for _, sub := range t.below {
		itsTemplates, itsFiles := sub.sources()
		for i := range itsTemplates {
			itsTemplates[i].values = append([]string{sub.name}, itsTemplates[i].values...)
		}
		templates, files = append(templates, itsTemplates...), append(files, itsFiles...)
	}
	return templates, files
}
