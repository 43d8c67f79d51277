package values

import "github.com/helmdrift/helmdrift/pkg/report"

// Flux returns the patch of a HelmRelease. Flux merges spec.values over everything that spec.valuesFrom refers to (helm-controller's
// documentation of HelmRelease v2, "Values").
func Flux(r *report.AbsorbResult) Document {
	return Document{
		Comment: withNulls([]string{
			"Patch of the HelmRelease that deploys the release; its name and namespace may differ.",
			"spec.values overrides what spec.valuesFrom refers to. A value that one of those sets can be changed there instead.",
		}, r.Overlay),
		Content: object{
			APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease", Metadata: metadata{r.Name, r.Namespace},
			Spec: fluxSpec{Values: nonNil(r.Overlay)},
		},
	}
}

type fluxSpec struct {
	Values map[string]any `json:"values"`
}

// nonNil returns values as a map that is written as {} if it is empty.
func nonNil(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}
