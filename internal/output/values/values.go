// Package values turns the result of an absorption into a patch of the document where a tool keeps the values of a release.
//
//	absorption.Result ─► Flux      HelmRelease    spec.values
//	                  ─► ArgoCD    Application    spec.source.helm.valuesObject
//	                  ─► Helmfile  helmfile.yaml  releases[].values
//	                  ─► HCL       helm_release   values
//
// The functions return documents, and internal/output writes them as YAML. That for HCL returns a text. A patch has only the changed
// values; lists are whole, because Helm replaces lists. Unless the result knows the name of the document, the patch has the tool's default
// name.
package values

import "github.com/helmdrift/helmdrift/pkg/report/absorption"

// Document is a patch.
type Document struct {
	// Comment is what a reader must know before applying it. It has no text from the cluster.
	Comment []string
	Content any
}

// fields is a mapping of a patch. Its keys are written in their alphabetical order.
type fields map[string]any

// object returns the patch of a Kubernetes object.
func object(apiVersion, kind, name, namespace string, spec fields) fields {
	return fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": name, "namespace": namespace}, "spec": spec}
}

// nullComment warns of the nulls in a patch. A JSON merge patch removes what is null (RFC 7386), while Helm needs the null itself to drop
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

// argoNamespace is the namespace where Argo CD looks for Applications by default.
const argoNamespace = "argocd"

// ArgoCD returns the patch of an Application. By default, the release has the name of the Application. Of all places for values, only
// spec.source.helm.parameters overrides valuesObject (Argo CD's user guide, "Helm", release 3.4), and spec.source.helm.values is not
// read beside it (argo-cd v3.4 pkg/apis/application/v1alpha1/values.go ValuesYAML).
func ArgoCD(r *absorption.Result) Document {
	return Document{
		Comment: withNulls([]string{
			"Patch of the Application that deploys the release; its name and namespace may differ, and several sources are spec.sources.",
			"valuesObject stands above valueFiles and below parameters. Values beside it are not read: if there are some, move them there.",
		}, r.Overlay),
		Content: object("argoproj.io/v1alpha1", "Application", r.Name, argoNamespace,
			fields{"source": fields{"helm": fields{"valuesObject": nonNil(r.Overlay)}}}),
	}
}

// Flux returns the patch of a HelmRelease. Flux merges spec.values over everything that spec.valuesFrom refers to (helm-controller's
// documentation of HelmRelease v2, "Values").
func Flux(r *absorption.Result) Document {
	name, namespace, about := r.Name, r.Namespace, "Patch of the HelmRelease that deploys the release; its name and namespace may differ."
	if of := r.ValuesOf; of != nil {
		name, namespace, about = of.Name, of.Namespace, "Patch of the HelmRelease that deploys the release."
	}
	return Document{
		Comment: withNulls([]string{
			about,
			"spec.values overrides what spec.valuesFrom refers to. A value that one of those sets can be changed there instead.",
		}, r.Overlay),
		Content: object("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, namespace, fields{"values": nonNil(r.Overlay)}),
	}
}

// nonNil returns values as a map that is written as {} if it is empty.
func nonNil(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}

// Helmfile returns the release of a helmfile.yaml with the values. Helmfile passes the items of values to Helm in their order, so the last
// one wins.
func Helmfile(r *absorption.Result) Document {
	return Document{
		Comment: []string{"Add the item to the end of the values of the release in helmfile.yaml: the last item wins."},
		Content: fields{"releases": []fields{{"name": r.Name, "namespace": r.Namespace, "values": []fields{nonNil(r.Overlay)}}}},
	}
}
