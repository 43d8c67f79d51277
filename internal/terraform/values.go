package terraform

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/unknown"
)

// This file composes the values as the provider does: the documents of values, then set, set_list and set_sensitive
// (terraform-provider-helm v3.1.2 helm/resource_helm_release.go getValues, v2.17.0 helm/resource_release.go getValues).

// compose adds the values to a release. Its errors quote no value.
func (r *Release) compose(a arguments) error {
	values := map[string]any{}
	documents, err := argument[[]any](a.now, "values")
	if err != nil {
		return err
	}
	if marked(a.unknown, "values") {
		r.addWhole("values")
	}
	for i, document := range documents {
		if marked(a.unknown, "values", i) {
			r.addWhole(fmt.Sprintf("values[%d]", i))
			continue
		}
		text, isText := document.(string)
		if document != nil && !isText {
			return errType("values")
		}
		given := map[string]any{}
		if yaml.Unmarshal([]byte(text), &given) != nil {
			return fmt.Errorf("its argument values[%d] is not a YAML document with a table", i)
		}
		values = loader.MergeMaps(values, given)
	}
	for _, name := range []string{"set", "set_list", "set_sensitive"} {
		if err := r.set(a, name, values); err != nil {
			return err
		}
	}
	if r.Values, err = json.Marshal(values); err != nil {
		return errors.New("its values cannot be encoded")
	}
	r.Integers = deployer.Integers(values)
	return nil
}

// set applies the entries of one argument to values. A value that is not known becomes unknown.Any.
func (r *Release) set(a arguments, field string, values map[string]any) error {
	entries, err := argument[[]any](a.now, field)
	if err != nil {
		return err
	}
	if marked(a.unknown, field) {
		r.addWhole(field)
	}
	for i, entry := range entries {
		title := fmt.Sprintf("%s[%d]", field, i)
		of, isObject := entry.(map[string]any)
		if marked(a.unknown, field, i, "name") || marked(a.unknown, field, i, "type") { // also if the entry is marked as a whole
			r.addWhole(title)
			continue
		}
		name, isText := of["name"].(string)
		if !isObject || !isText {
			return errType(title)
		}
		e := setEntry{name: name, isOld: !a.isVersion3()}
		if e.kind, isText = of["type"].(string); of["type"] != nil && !isText {
			return errType(title)
		}
		// Messages cut long names, which are texts of the plan.
		titled := fmt.Sprintf("%s, %.80s", title, name)
		r.Sets = append(r.Sets, SetName{title, name})
		marks := markAt(a.unknown, field, i, "value")
		if field == "set_list" && marks == true {
			r.addWhole(titled) // how many items it has is not known
			continue
		}
		if holdsMark(marks) {
			r.Unknown = append(r.Unknown, titled)
		}
		if field == "set_list" {
			err = e.setList(values, of["value"], marks)
		} else {
			err = e.setOne(values, of["value"], marks == true)
		}
		if err != nil {
			return fmt.Errorf("its argument %s: %w", titled, err)
		}
	}
	return nil
}

// setEntry is an entry of set, set_list or set_sensitive. isOld is set for versions of the provider before 3.
type setEntry struct {
	name, kind string
	isOld      bool
}

// errName is the error of an entry. That of the library quotes the value.
var errName = errors.New("helm cannot parse it as it does --set")

// setOne sets a value (getValue).
func (e setEntry) setOne(values map[string]any, value any, isUnknown bool) error {
	text, isText := value.(string)
	if value != nil && !isText {
		return errors.New("its value is no text")
	}
	if isUnknown {
		text = unknown.Any
	}
	parse := strvals.ParseInto
	switch {
	case e.kind == "" || e.kind == "auto":
	case e.kind == "string":
		parse = strvals.ParseIntoString
	case e.kind == "literal" && !e.isOld:
		// The name is a key and no path.
		var literal any
		if yaml.Unmarshal([]byte(e.name+": "+text), &literal) != nil {
			return errors.New("its literal is not YAML")
		}
		if table, isTable := literal.(map[string]any); isTable {
			literal = table[e.name]
		}
		values[e.name] = literal
		return nil
	default:
		return errors.New("the provider does not know its type")
	}
	if parse(e.name+"="+text, values) != nil {
		return errName
	}
	return nil
}

// setList sets a list (getListValue).
func (e setEntry) setList(values map[string]any, value, marks any) error {
	items, isList := value.([]any)
	if !isList {
		return errors.New("its value is no list")
	}
	var texts []string
	for i, item := range items {
		text, isText := item.(string)
		switch {
		case marked(marks, i):
			texts = append(texts, unknown.Any)
		case item != nil && !isText:
			return errors.New("its value is no list of texts")
		case item == nil || text == "" && e.isOld: // the provider leaves them out
		default:
			texts = append(texts, text)
		}
	}
	if strvals.ParseInto(fmt.Sprintf("%s={%s}", e.name, strings.Join(texts, ",")), values) != nil {
		return errName
	}
	return nil
}

// addDocument adds every text of a sensitive document as a secret, and the document itself if it has no table.
func (r *Release) addDocument(text string) {
	var values map[string]any
	if yaml.Unmarshal([]byte(text), &values) != nil || values == nil {
		r.Secrets = append(r.Secrets, Secret{"values", text})
		return
	}
	r.addSecret("values", values)
}
