package tree

import (
	"slices"
	"strings"
)

// aboutSet says what a ResourceSet of Flux Operator means for the answer: what it makes is not built.
func aboutSet(name string, set map[string]any) Problem {
	const said = "the objects that Flux Operator makes of it are not compared"
	const advice = "flux-operator build resourceset prints them, and --from - reads them"
	if ConcernsReleases(set) {
		return Problem{Unbuilt, name, said + ", and HelmReleases or what they use may be among them", advice}
	}
	return Problem{Skipped, name, said, advice}
}

// ConcernsReleases reports whether a ResourceSet may make HelmReleases, what they use, or an object that makes some of these. Flux Operator
// executes each item of spec.resources as a template of one object, and spec.resourcesTemplate and spec.steps as templates of any objects,
// with the delimiters << and >> (its function BuildResourceSetFromSpec).
func ConcernsReleases(set map[string]any) bool {
	spec, _ := set["spec"].(map[string]any)
	if spec["resourcesTemplate"] != nil || spec["steps"] != nil {
		return true
	}
	resources, _ := spec["resources"].([]any)
	return slices.ContainsFunc(resources, func(item any) bool {
		template, _ := item.(map[string]any)
		version, _ := template["apiVersion"].(string)
		key := keyOf(template)
		return key.kind == "" || strings.Contains(version+key.kind, "<<") || key.isRead() || key.group == OperatorGroup
	})
}
