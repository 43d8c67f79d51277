package tree

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
)

// variables are those of one Kustomization.
type variables struct {
	values map[string]string
	// hidden is set if one of the sources cannot be read: what none of the others defines may come from it.
	hidden bool
	// fault says why a source that must be there cannot be used. The controller finds out with the first object that it replaces
	// variables in, so a Kustomization without one is built.
	fault error
}

// add adds variables over those that are there. Line breaks are removed.
func (v *variables) add(values map[string]string) {
	for name, text := range values {
		v.values[name] = strings.ReplaceAll(text, "\n", "")
	}
}

// get returns the value of a variable, which may be unknown.
func (v *variables) get(name string) (string, bool) {
	text, found := v.values[name]
	if !found && v.hidden {
		return unknown.Any, true
	}
	return text, found
}

// variableName matches the names that the controller accepts.
var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// disabled is the label or annotation of an object whose variables stay as they are.
const disabled = fluxGroup + "/substitute"

// replace replaces the variables in an object, and reports whether it did (fluxcd/pkg/kustomize v1.41.0 kustomize_varsub.go
// SubstituteVariables). A variable that is not defined and has no default is an error, as it is by default since
// kustomize-controller 1.9.
func (v *variables) replace(r *resource.Resource, title string, always bool, report func(Problem)) (bool, error) {
	if r.GetLabels()[disabled] == "disabled" || r.GetAnnotations()[disabled] == "disabled" {
		return false, nil
	}
	if v.fault != nil {
		return false, v.fault
	}
	if len(v.values) == 0 && !v.hidden && !always {
		return false, nil
	}
	for name := range v.values {
		if !variableName.MatchString(name) {
			return false, fmt.Errorf("%q cannot be the name of a variable", name)
		}
	}
	text, err := r.AsYAML()
	if err != nil {
		return false, err
	}
	if len(text) > maxObject {
		return false, fmt.Errorf("it has more than %d MiB", maxObject>>20)
	}
	length := len(text)
	out, err := envsubst.Eval(string(text), func(name string) (string, bool) {
		value, found := v.get(name)
		if length += len(value); length > 2*maxObject {
			return "", true
		}
		return value, found
	})
	switch {
	case err != nil:
		return false, fmt.Errorf("the variables in it: %w", err)
	case length > 2*maxObject || len(out) > 2*maxObject:
		return false, fmt.Errorf("its variables make it larger than %d MiB", maxObject>>20)
	}
	if name := v.cut(string(text)); name != "" {
		report(Problem{NotKnown, title, "it takes a part of the variable " + name + ", whose value is not known: the text is a guess", ""})
	}
	changed, err := yaml.YAMLToJSON([]byte(out))
	if err != nil {
		return false, fmt.Errorf("with its variables it is not YAML: %w", yamlerror.WithoutValues(err))
	}
	return true, r.UnmarshalJSON(changed)
}

// cut returns the name of an unknown variable whose value the text changes or measures, or "". What comes out of that no longer shows that
// it is unknown.
func (v *variables) cut(text string) string {
	tree, err := parse.Parse(text)
	if err != nil {
		return ""
	}
	return v.cutBelow(tree.Root)
}

func (v *variables) cutBelow(n parse.Node) string {
	var below []parse.Node
	switch n := n.(type) {
	case *parse.ListNode:
		below = n.Nodes
	case *parse.FuncNode:
		value, _ := v.get(n.Param)
		switch n.Name {
		case "", "-", "+", "=", "?", ":-", ":+", ":=", ":?": // the value as it is, or a default
		default:
			if strings.Contains(value, unknown.Text) {
				return n.Param
			}
		}
		below = n.Args
	}
	for _, one := range below {
		if name := v.cutBelow(one); name != "" {
			return name
		}
	}
	return ""
}
