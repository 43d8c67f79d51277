package values

import "github.com/helmdrift/helmdrift/pkg/report"

// argoNamespace is the namespace in which Argo CD looks for Applications by default.
const argoNamespace = "argocd"

// ArgoCD returns the patch of an Application. The name of the release is that of the Application by default. Of all places for values,
// only spec.source.helm.parameters stands above valuesObject (Argo CD's user guide, "Helm", release 3.4), and values beside it are not
// read (argo-cd v3.4 pkg/apis/application/v1alpha1/values.go ValuesYAML).
func ArgoCD(r *report.AbsorbResult) Document {
	return Document{
		Comment: withNulls([]string{
			"Patch of the Application that deploys the release; its name and namespace may differ, and several sources are spec.sources.",
			"valuesObject stands above valueFiles and below parameters. Values beside it are not read: if there are some, move them there.",
		}, r.Overlay),
		Content: object{
			APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Metadata: metadata{r.Name, argoNamespace},
			Spec: argoSpec{Source: argoSource{Helm: argoHelm{ValuesObject: nonNil(r.Overlay)}}},
		},
	}
}

type argoSpec struct {
	Source argoSource `json:"source"`
}

type argoSource struct {
	Helm argoHelm `json:"helm"`
}

type argoHelm struct {
	ValuesObject map[string]any `json:"valuesObject"`
}
