package tree

import (
	"slices"
	"strings"
)

// aboutSet says what a ResourceSet of Flux Operator means for the answer: what it makes is not built.
func aboutSet(name string, set map[string]any) Problem {
	const advice = "flux-operator build resourceset prints them, and --from - reads them"
	if MakesReleases(set) {
		return Problem{Unbuilt, name, "the objects that Flux Operator makes of it are not compared, and HelmReleases may be among them", advice}
	}
	return Problem{Skipped, name, "the objects that Flux Operator makes of it are not compared", advice}
}

// MakesReleases reports whether a ResourceSet may make HelmReleases, or an object that makes some. Flux Operator executes each item of
// spec.resources as a template of one object, and spec.resourcesTemplate and spec.steps as templates of any objects, with the delimiters <<
// and >> (its function BuildResourceSetFromSpec).
func MakesReleases(set map[string]any) bool {
	spec, _ := set["spec"].(map[string]any)
	if spec["resourcesTemplate"] != nil || spec["steps"] != nil {
		return true
	}
	resources, _ := spec["resources"].([]any)
	return slices.ContainsFunc(resources, func(item any) bool {
		template, _ := item.(map[string]any)
		kind, _ := template["kind"].(string)
		makers := []string{"", "HelmRelease", "Kustomization", "ResourceSet", "FluxInstance"}
		return slices.Contains(makers, kind) || strings.Contains(kind, "<<")
	})
}
