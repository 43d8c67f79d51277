package render

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/helmdrift/helmdrift/pkg/object"
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

// NoObject is the Fault of a file of a crds/ folder without an object, such as one of comments alone. An installation by Helm ends there.
const NoObject = "has no object, and Helm installs no chart with such a file in its folder crds/"

// definitionsIn returns the documents of a file of a crds/ folder.
func definitionsIn(name string, text []byte) []Document {
	documents := ReadDocuments(string(text))
	if !slices.ContainsFunc(documents, func(d Document) bool { return d.Fault != "" || !d.isEmpty() }) {
		documents = []Document{{Fault: NoObject}}
	}
	for i := range documents {
		documents[i].Source = name
	}
	return documents
}

// Definition is a custom kind, as a CustomResourceDefinition defines it.
type Definition struct {
	schema.GroupKind
	// Namespaced is set if objects of the kind live in namespaces.
	Namespaced bool
	// Served are the versions that the API server serves.
	Served []string
}

// DefinitionsAmong returns the kinds that definitions among some objects define.
func DefinitionsAmong(objects []object.Object) (out []Definition) {
	for _, o := range objects {
		spec := object.Child(o.Content, "spec")
		d := Definition{Namespaced: spec["scope"] != "Cluster"}
		d.Group, _ = spec["group"].(string)
		d.Kind, _ = object.Child(spec, "names")["kind"].(string)
		for _, version := range object.Items(spec, "versions") {
			if name, _ := version["name"].(string); version["served"] == true {
				d.Served = append(d.Served, name)
			}
		}
		if o.IsDefinition() && d.Kind != "" {
			out = append(out, d)
		}
	}
	return out
}

// DefinedKinds returns the kinds of DefinitionsAmong alone.
func DefinedKinds(objects []object.Object) (out []schema.GroupKind) {
	for _, d := range DefinitionsAmong(objects) {
		out = append(out, d.GroupKind)
	}
	return out
}

// withDefinitions returns the options of a rendering after the operation has written definitions: templates see the versions that the
// cluster serves then. Helm asks the cluster what it serves after it has written the folders crds/ (helm v3.22.0 and v4.3.1
// pkg/action/install.go RunWithContext).
func (o ChartOptions) withDefinitions(defined []Definition) ChartOptions {
	capabilities := *o.Capabilities
	capabilities.APIVersions = slices.Clone(capabilities.APIVersions)
	add := func(version string) {
		if !capabilities.APIVersions.Has(version) {
			capabilities.APIVersions = append(capabilities.APIVersions, version)
		}
	}
	for _, d := range defined {
		if !o.ReplacesCRDs && o.serves(d.GroupKind) {
			continue
		}
		capabilities.APIVersions = d.withoutUnserved(capabilities.APIVersions)
		for _, name := range d.Served {
			version := d.Group + "/" + name
			add(version)
			add(version + "/" + d.Kind)
		}
	}
	o.Capabilities, o.WritesCRDs = &capabilities, false
	return o
}

// withoutUnserved returns API versions without those of the kind that the definition does not serve. A group keeps a version that another
// kind has.
func (d Definition) withoutUnserved(versions chartutil.VersionSet) chartutil.VersionSet {
	var lost []string
	out := slices.DeleteFunc(slices.Clone(versions), func(version string) bool {
		name, isOfGroup := strings.CutPrefix(version, d.Group+"/")
		name, isOfKind := strings.CutSuffix(name, "/"+d.Kind)
		gone := isOfGroup && isOfKind && !slices.Contains(d.Served, name)
		if gone {
			lost = append(lost, d.Group+"/"+name)
		}
		return gone
	})
	for _, version := range lost {
		isOfVersion := func(other string) bool { return strings.HasPrefix(other, version+"/") }
		if !slices.ContainsFunc(out, isOfVersion) {
			out = slices.DeleteFunc(out, func(other string) bool { return other == version })
		}
	}
	return out
}

// missingFrom returns the API versions that another set lacks.
func missingFrom(other, versions chartutil.VersionSet) (out []string) {
	known := sets.New(other...)
	for _, version := range versions {
		if !known.Has(version) {
			out = append(out, version)
		}
	}
	return out
}

// serves reports whether the cluster serves any version of a kind.
func (o ChartOptions) serves(kind schema.GroupKind) bool {
	return slices.ContainsFunc(o.Capabilities.APIVersions, func(version string) bool {
		return strings.HasPrefix(version, kind.Group+"/") && strings.HasSuffix(version, "/"+kind.Kind)
	})
}

// usedGroups selects the groups that a template may ask about with .Capabilities.APIVersions. A template that uses
// or passes on the whole list may ask about every group. One that calls Has asks about a group whose name occurs in
// the chart or in its values.
func (p prepared) usedGroups(groups []string) []string {
	if len(groups) == 0 {
		return nil
	}
	var use versionUse
	var all []string
	read := func(text string) string {
		all = append(all, text)
		use.read(text)
		return text
	}
	templates, files := p.chart.tree().sources()
	for _, t := range templates {
		if all = append(all, string(*t.data)); path.Base(t.path) != notesFile {
			use.read(string(*t.data))
		}
	}
	for _, f := range files {
		read(string(*f.data)) // tpl may render it
	}
	mapTexts(p.values, read)
	return slices.DeleteFunc(slices.Clone(groups), func(group string) bool {
		named := slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, group) })
		return !use.whole && !(use.has && named)
	})
}

// versionUse is how templates use the list of served API versions: through Has, or as a whole.
type versionUse struct{ has, whole bool }

// read notes the uses in one text. The text need not be a template.
func (u *versionUse) read(text string) {
	if !strings.Contains(text, "{{") || !strings.Contains(text, "Capabilities") {
		return
	}
	trees, err := parseTemplate(text)
	if err != nil {
		return
	}
	for _, tree := range trees {
		walkNode(tree.Root, u.note)
	}
}

// note notes the use in one node.
func (u *versionUse) note(node parse.Node) {
	var fields []string
	switch node := node.(type) {
	case *parse.FieldNode:
		fields = node.Ident
	case *parse.VariableNode:
		fields = node.Ident
	case *parse.ChainNode:
		fields = node.Field
	case *parse.StringNode:
		fields = []string{node.Text} // the key in a call of index
	}
	i := slices.Index(fields, "Capabilities")
	if i < 0 {
		return
	}
	switch below := strings.Join(fields[i+1:], "."); {
	case below == "APIVersions.Has":
		u.has = true
	case below == "" || below == "APIVersions":
		u.whole = true
	}
}
