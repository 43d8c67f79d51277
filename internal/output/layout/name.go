package layout

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// MaxNames is how many objects a line names on a terminal.
	MaxNames = 8
	// maxBlockers is how many of the objects that keep Helm from an object are named.
	maxBlockers = 3
	// maxKinds is how many kinds stand beside a group. The others are counted.
	maxKinds = 3
)

// ReleaseName returns the name of a release with its namespace and cluster, as far as they are known: "web in prod on eu-1".
func (s Style) ReleaseName(rel report.Release, namespace string) string {
	name := s.Label(rel.Name)
	if namespace != "" {
		name += " in " + s.Label(namespace)
	}
	if rel.Cluster != "" {
		name += " on " + s.Label(rel.Cluster)
	}
	return name
}

// Kind is a kind of objects as readers know it. It may begin a line, so a name that is not a plain word is quoted.
type Kind struct {
	Name string
	// Version stands behind the name of a custom resource, and is empty for the kinds of Kubernetes.
	Version string
}

// KindOf returns the kind of an object, with its version if the name of the kind alone does not identify it.
func (s Style) KindOf(o report.Object) Kind {
	key, versions := report.ObjectKey{Key: o.Key()}, report.CustomVersions{}
	versions.Add(key, o.APIVersion, o.Engine)
	return s.kindOfKey(key, versions)
}

// kindOfKey returns the kind for the key of an object, with the group of a custom kind if versions does not have it.
func (s Style) kindOfKey(key report.ObjectKey, versions report.CustomVersions) Kind {
	k := Kind{Name: s.Word(key.Kind)}
	if version := versions[key]; version != "" {
		k.Version = " (" + s.Label(version) + ")"
	} else if key.IsCustom() {
		k.Version = " (" + s.Label(key.Group) + ")"
	}
	return k
}

// Count returns a number of objects of the kind: "3 NetworkPolicies".
func (k Kind) Count(n int) string {
	name := k.Name
	if n != 1 {
		name = pluralOfKind(name)
	}
	return fmt.Sprintf("%d %s%s", n, name, k.Version)
}

// Kinds counts objects by kind: the most frequent kinds by name, the others as one number.
func (s Style) Kinds(objects []report.Object) string {
	n := map[Kind]int{}
	for _, o := range objects {
		n[s.KindOf(o)]++
	}
	kinds := Distinct(objects, s.KindOf)
	order.Sort(kinds, func(a, b Kind) int { return cmp.Compare(n[b], n[a]) })
	var said Clauses
	others := 0
	for i, k := range kinds {
		if i >= maxKinds && len(kinds) > maxKinds+1 {
			others += n[k]
			continue
		}
		said = append(said, k.Count(n[k]))
	}
	said.AddIf(others > 0, fmt.Sprintf("%d others", others))
	return strings.Join(said, ", ")
}

// ObjectName returns the kind and the name of an object of a release, and the API version of a custom resource.
func (s Style) ObjectName(o report.Object, rel report.Release) string {
	k := s.KindOf(o)
	return k.Name + " " + s.NameOf(o, rel) + k.Version
}

// NameOf returns the name of an object, with its namespace if it differs from the release's.
func (s Style) NameOf(o report.Object, rel report.Release) string {
	if o.Name == "" && o.GenerateName != "" {
		return s.qualified(o.Namespace, s.Label(o.GenerateName)+"*", rel.Namespace)
	}
	return s.qualified(o.Namespace, s.Label(o.Name), rel.Namespace)
}

// Scope is a release as the names of its objects need it: its namespace, and the versions of its custom kinds.
type Scope struct {
	Namespace string
	Versions  report.CustomVersions
}

// KeyName returns the kind and the name for the key of an object, in the form of ObjectName.
func (s Style) KeyName(key report.ObjectKey, in Scope) string {
	k, name := s.kindOfKey(key, in.Versions), "(generated name)"
	if key.Name != "" {
		name = s.Label(key.Name)
	}
	return k.Name + " " + s.qualified(key.Namespace, name, in.Namespace) + k.Version
}

// qualified puts the namespace before a name, unless it is the release's.
func (s Style) qualified(namespace, name, ofRelease string) string {
	if namespace == "" || namespace == ofRelease {
		return name
	}
	return s.Label(namespace) + "/" + name
}

// Blockers names the objects whose failure keeps Helm from another.
func (s Style) Blockers(keys []report.ObjectKey, rel report.Release) string {
	if len(keys) == 0 {
		return ""
	}
	in := Scope{rel.Namespace, report.CustomVersions{}}
	for _, o := range rel.Objects {
		in.Versions.Add(report.ObjectKey{Key: o.Key()}, o.APIVersion, o.Engine)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = s.KeyName(k, in)
	}
	return ", blocked by " + Enumerate(english.AtMost(names, maxBlockers))
}

// pluralOfKind returns the plural of a kind: "NetworkPolicies", "Ingresses". Quoted kinds, and names that look like a plural (Endpoints),
// stay as they are.
func pluralOfKind(name string) string {
	if strings.HasSuffix(name, `"`) || strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") {
		return name
	}
	if stem, y := strings.CutSuffix(name, "y"); y && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	for _, hissing := range []string{"ss", "x", "ch", "sh"} {
		if strings.HasSuffix(name, hissing) {
			return name + "es"
		}
	}
	return name + "s"
}
