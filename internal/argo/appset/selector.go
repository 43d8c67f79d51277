package appset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation"
)

// selector chooses sets of parameters as a label selector chooses labels, whose values may be any text (argo-cd v3.6.1
// applicationset/utils/selector.go).
type selector []requirement

// requirement is one condition.
type requirement struct {
	key, operator string
	values        []string
}

// newSelector reads the selector of a generator. One that is not set matches everything.
func newSelector(value any) (selector, error) {
	fields, isMap := value.(map[string]any)
	if value == nil {
		return nil, nil
	}
	if !isMap {
		return nil, errors.New("selector is no object")
	}
	var out selector
	labels, _ := fields["matchLabels"].(map[string]any)
	for key, value := range labels {
		out = append(out, requirement{key, "In", []string{fmt.Sprint(value)}})
	}
	expressions, _ := fields["matchExpressions"].([]any)
	for _, one := range expressions {
		e, _ := one.(map[string]any)
		r := requirement{}
		r.key, _ = e["key"].(string)
		r.operator, _ = e["operator"].(string)
		values, _ := e["values"].([]any)
		for _, v := range values {
			r.values = append(r.values, fmt.Sprint(v))
		}
		out = append(out, r)
	}
	for _, r := range out {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// check returns why Argo CD refuses a condition.
func (r requirement) check() error {
	takesValues := r.operator == "In" || r.operator == "NotIn"
	switch {
	case !takesValues && r.operator != "Exists" && r.operator != "DoesNotExist":
		return fmt.Errorf("selector has the operator %q, and Argo CD knows In, NotIn, Exists and DoesNotExist", r.operator)
	case takesValues && len(r.values) == 0:
		return fmt.Errorf("selector, key %q: the operator %s needs values", r.key, r.operator)
	case !takesValues && len(r.values) > 0:
		return fmt.Errorf("selector, key %q: the operator %s takes no values", r.key, r.operator)
	case len(validation.IsQualifiedName(r.key)) > 0:
		return fmt.Errorf("selector has the key %q, which is not a valid name of a label", r.key)
	}
	return nil
}

// matches reports whether parameters meet all conditions.
func (s selector) matches(labels map[string]string) bool {
	for _, r := range s {
		value, found := labels[r.key]
		isMet := found // Exists
		switch r.operator {
		case "In":
			isMet = found && slices.Contains(r.values, value)
		case "NotIn":
			isMet = !found || !slices.Contains(r.values, value)
		case "DoesNotExist":
			isMet = !found
		}
		if !isMet {
			return false
		}
	}
	return true
}

// flat returns parameters as texts, with dots between the names of nested ones.
func flat(p params) map[string]string {
	out := map[string]string{}
	for name, value := range p {
		flatten(out, name, value)
	}
	return out
}

func flatten(out map[string]string, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for inner, value := range v {
			flatten(out, name+"."+inner, value)
		}
	case map[string]string:
		for inner, value := range v {
			out[name+"."+inner] = value
		}
	case []any:
		for i, value := range v {
			flatten(out, name+"."+strconv.Itoa(i), value)
		}
	default:
		out[name] = fmt.Sprint(v)
	}
}
