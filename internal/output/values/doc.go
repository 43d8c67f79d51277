// Package values makes the result of an absorption a patch of the document in which a tool keeps the values of a release.
//
//	AbsorbResult ─► Flux      HelmRelease    spec.values
//	             ─► ArgoCD    Application    spec.source.helm.valuesObject
//	             ─► Helmfile  helmfile.yaml  releases[].values
//
// Each has a file. They return documents, which internal/output writes as YAML. A patch has only the changed values; lists are whole,
// because Helm replaces lists. The result does not know the name of the document: the patch has the one that the tool uses by default.
package values

// Document is a patch.
type Document struct {
	// Comment is what a reader must know before applying it. It has no text from the cluster.
	Comment []string
	Content any
}

// object is a Kubernetes object of which a patch is made.
type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       any      `json:"spec"`
}

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// nullComment warns of the nulls of a patch. A JSON merge patch removes what is null (RFC 7386), while Helm needs the null itself to drop
// a default of the chart (helm v3.22.0 pkg/chartutil/coalesce.go coalesceValues).
const nullComment = "A null drops a default of the chart. Write it into the document: kubectl patch --type=merge removes the key instead."

// withNulls adds the warning to a comment if values have a null.
func withNulls(comment []string, values any) []string {
	if hasNull(values) {
		return append(comment, nullComment)
	}
	return comment
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, item := range v {
			if hasNull(item) {
				return true
			}
		}
	}
	return false
}
