package render

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// OverrideCapabilities returns capabilities with another version of Kubernetes, unless kubeVersion is empty, and with
// additional API versions, as `helm template --kube-version --api-versions` does (helm v3.22.0 cmd/helm/template.go,
// pkg/action/install.go RunWithContext). It does not change caps.
func OverrideCapabilities(caps *chartutil.Capabilities, kubeVersion string, apiVersions []string) (*chartutil.Capabilities, error) {
	changed := *caps
	if kubeVersion != "" {
		version, err := chartutil.ParseKubeVersion(kubeVersion)
		if err != nil {
			return nil, fmt.Errorf("%q is not a version of Kubernetes: %w", kubeVersion, err)
		}
		changed.KubeVersion = *version
	}
	changed.APIVersions = append(changed.APIVersions[:len(changed.APIVersions):len(changed.APIVersions)], apiVersions...)
	return &changed, nil
}

// definitionsIn returns the documents of a file of a crds/ folder.
func definitionsIn(name string, text []byte) []Document {
	documents := ReadDocuments(string(text))
	for i := range documents {
		documents[i].Source = name
	}
	return documents
}

// definedKinds returns the kinds that the documents of crds/ folders define. One that cannot be read defines none.
func definedKinds(documents []Document) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, o := range Objects(documents, ParseOptions{}).Objects {
		if o.Group != apiextensionsv1.GroupName || o.Kind != "CustomResourceDefinition" {
			continue
		}
		spec, _ := o.Content["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		if kind, _ := names["kind"].(string); kind != "" {
			kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
		}
	}
	return kinds
}
