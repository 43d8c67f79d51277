package report

import "strings"

// CustomVersions are the API versions of the objects of custom kinds that a document names by their keys, such as "shop.example.com/v1".
// They are for people to read, and no part of the JSON: two versions of an object are one object.
type CustomVersions map[ObjectKey]string

// Add adds the version of an object if it is of a custom kind.
func (v CustomVersions) Add(key ObjectKey, apiVersion string, engine Engine) {
	if key.IsCustom() || engine == EngineMerge {
		v[key] = apiVersion
	}
}

// IsCustom reports whether readers may need the group to know the kind. The groups of Kubernetes have no dot or end in k8s.io. Custom
// resources whose groups do so as well are known by their engine.
func (k ObjectKey) IsCustom() bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io")
}
