package values

import "github.com/helmdrift/helmdrift/pkg/report"

// Helmfile returns the release of a helmfile.yaml with the values. Helmfile passes the items of values to Helm in their order, so the last
// one wins.
func Helmfile(r *report.AbsorbResult) Document {
	return Document{
		Comment: []string{"Add the item to the end of the values of the release in helmfile.yaml: the last item wins."},
		Content: helmfile{Releases: []helmfileRelease{{Name: r.Name, Namespace: r.Namespace, Values: []map[string]any{nonNil(r.Overlay)}}}},
	}
}

type helmfile struct {
	Releases []helmfileRelease `json:"releases"`
}

type helmfileRelease struct {
	Name      string           `json:"name"`
	Namespace string           `json:"namespace"`
	Values    []map[string]any `json:"values"`
}
