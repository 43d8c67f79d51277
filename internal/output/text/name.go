package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// maxNames is how many objects a line names on a terminal.
	maxNames = 8
	// maxBlockers is how many objects are named that keep Helm from another.
	maxBlockers = 3
	// maxKinds is how many kinds stand beside a group. The others are counted.
	maxKinds = 3
)

// operationName returns what the report predicts, as the subject of a sentence.
func operationName(op report.Operation) string {
	if isPreview(op) {
		return "the " + string(op)
	}
	return "the next upgrade"
}

// isPreview reports whether somebody is about to run the operation. What it changes then stands apart from what drifted. A report of drift,
// or of an operation of a later version, has no such parts.
func isPreview(op report.Operation) bool {
	switch op {
	case report.OperationUpgrade, report.OperationRollback, report.OperationInstall:
		return true
	case report.OperationDrift:
	}
	return false
}

// isInstall reports whether there is no revision that the operation would start from.
func isInstall(rel report.Release) bool {
	return rel.Operation == report.OperationInstall && rel.Old == nil
}

// releaseName returns the name of a release with its namespace and cluster, as far as they are known: "web in prod on eu-1".
func (s style) releaseName(rel report.Release, namespace string) string {
	name := s.label(rel.Name)
	if namespace != "" {
		name += " in " + s.label(namespace)
	}
	if rel.Cluster != "" {
		name += " on " + s.label(rel.Cluster)
	}
	return name
}

// kind is a kind of objects as readers know it. It may begin a line, so a name that is not a plain word is quoted.
type kind struct {
	name string
	// version stands behind the name of a custom resource, and is empty for the kinds of Kubernetes.
	version string
}

// kindOf returns the kind of an object, with its version if the name of the kind alone does not identify it.
func (s style) kindOf(o report.Object) kind {
	key, versions := report.ObjectKey{Key: o.Key()}, report.CustomVersions{}
	versions.Add(key, o.APIVersion, o.Engine)
	return s.kindOfKey(key, versions)
}

// kindOfKey returns the kind of an object of which only the key is known, with the group of a custom kind if versions does not have it.
func (s style) kindOfKey(key report.ObjectKey, versions report.CustomVersions) kind {
	k := kind{name: s.word(key.Kind)}
	if version := versions[key]; version != "" {
		k.version = " (" + s.label(version) + ")"
	} else if key.IsCustom() {
		k.version = " (" + s.label(key.Group) + ")"
	}
	return k
}

// count returns a number of objects of the kind: "3 NetworkPolicies".
func (k kind) count(n int) string {
	name := k.name
	if n != 1 {
		name = english.PluralOfKind(name)
	}
	return fmt.Sprintf("%d %s%s", n, name, k.version)
}

// kinds counts objects by kind: the most frequent kinds by name, the others as one number.
func (s style) kinds(objects []report.Object) string {
	n := map[kind]int{}
	for _, o := range objects {
		n[s.kindOf(o)]++
	}
	kinds := distinct(objects, s.kindOf)
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(n[b], n[a]) })
	var said []string
	others := 0
	for i, k := range kinds {
		if i >= maxKinds && len(kinds) > maxKinds+1 {
			others += n[k]
			continue
		}
		said = append(said, k.count(n[k]))
	}
	if others > 0 {
		said = append(said, fmt.Sprintf("%d others", others))
	}
	return strings.Join(said, ", ")
}

// objectName returns the kind and the name of an object of a release, and the API version of a custom resource.
func (s style) objectName(o report.Object, rel report.Release) string {
	k := s.kindOf(o)
	return k.name + " " + s.nameOf(o, rel) + k.version
}

// nameOf returns the name of an object, with its namespace if that is not the release's.
func (s style) nameOf(o report.Object, rel report.Release) string {
	if o.Name == "" && o.GenerateName != "" {
		return s.qualified(o.Namespace, s.label(o.GenerateName)+"*", rel.Namespace)
	}
	return s.qualified(o.Namespace, s.label(o.Name), rel.Namespace)
}

// scope is a release as the names of its objects need it: its namespace, and the versions of its custom kinds.
type scope struct {
	namespace string
	versions  report.CustomVersions
}

// keyName returns the kind and the name of an object of which only the key is known, in the form of objectName.
func (s style) keyName(key report.ObjectKey, in scope) string {
	k, name := s.kindOfKey(key, in.versions), "(generated name)"
	if key.Name != "" {
		name = s.label(key.Name)
	}
	return k.name + " " + s.qualified(key.Namespace, name, in.namespace) + k.version
}

// qualified puts the namespace before a name, unless it is that of the release.
func (s style) qualified(namespace, name, ofRelease string) string {
	if namespace == "" || namespace == ofRelease {
		return name
	}
	return s.label(namespace) + "/" + name
}

// blockers names the objects whose failure keeps Helm from another.
func (s style) blockers(keys []report.ObjectKey, rel report.Release) string {
	if len(keys) == 0 {
		return ""
	}
	in := scope{rel.Namespace, report.CustomVersions{}}
	for _, o := range rel.Objects {
		in.versions.Add(report.ObjectKey{Key: o.Key()}, o.APIVersion, o.Engine)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = s.keyName(k, in)
	}
	return ", blocked by " + english.Enumerate(english.AtMost(names, maxBlockers))
}
