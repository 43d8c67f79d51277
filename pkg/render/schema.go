package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"helm.sh/helm/v3/pkg/chartutil"
)

// schemaViolation begins the error for values that violate a schema.
const schemaViolation = "values don't meet the specifications of the schema(s) in the following chart(s):\n"

// validate checks coalesced values as Helm does and with its messages (helm v3.22.0 pkg/chartutil/values.go and jsonschema.go, v4.3.1
// pkg/chart/common/util: ToRenderValuesWithSchemaValidation, ValidateAgainstSchema), but reads no file.
// Conceal changes a violation before its message is made.
func (t chartTree) validate(values map[string]any, conceal func(*jsonschema.ValidationError)) error {
	if violations := t.violations(values, conceal); violations != "" {
		return errors.New(schemaViolation + violations)
	}
	return nil
}

func (t chartTree) violations(values map[string]any, conceal func(*jsonschema.ValidationError)) string {
	var out strings.Builder
	if t.schema != nil {
		if err := checkSchema(t.schema, values, conceal); err != nil {
			fmt.Fprintf(&out, "%s:\n%s", t.name, err)
		}
	}
	for _, sub := range t.below {
		if given, isMap := values[sub.name].(map[string]any); isMap { // coalescing lets only maps and null pass
			out.WriteString(sub.violations(given, conceal))
		}
	}
	return out.String()
}

// schemaURL is the address of a chart's schema, to which its references are relative.
const schemaURL = "file:///values.schema.json"

// checkSchema checks values against one schema (ValidateAgainstSingleSchema).
func checkSchema(text []byte, values map[string]any, conceal func(*jsonschema.ValidationError)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unable to validate schema: %s", r)
		}
	}()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(schemaLoader())
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return err
	}
	schema, err := compiler.Compile(schemaURL)
	if err != nil {
		return err
	}
	if values == nil {
		values = map[string]any{}
	}
	if err := schema.Validate(values); err != nil {
		if violation, isOne := errors.AsType[*jsonschema.ValidationError](err); isOne {
			conceal(violation)
		}
		return errors.New(strings.TrimPrefix(err.Error(), "jsonschema validation failed with '"+schemaURL+"#'\n") + "\n")
	}
	return nil
}

// schemaLoader loads what a schema refers to as Helm does, but for files. Whoever writes a chart, or a schema that the chart's schema
// refers to, could learn from the messages whether a file of the user exists, and parts of what it has. An unresolved URN allows every
// value.
func schemaLoader() jsonschema.SchemeURLLoader {
	remote := &chartutil.HTTPURLLoader{Timeout: 15 * time.Second}
	return jsonschema.SchemeURLLoader{
		"http": remote, "https": remote,
		"urn":  loadSchema(func(string) (any, error) { return true, nil }),
		"file": loadSchema(func(string) (any, error) { return nil, errors.New("a schema must not refer to another file") }),
	}
}

// loadSchema is a function that loads the schema at a URL.
type loadSchema func(url string) (any, error)

// Load calls the function.
func (f loadSchema) Load(url string) (any, error) { return f(url) }

// said is a kind of violation whose message is known.
type said string

// KeywordPath implements jsonschema.ErrorKind.
func (said) KeywordPath() []string { return nil }

// LocalizedString implements jsonschema.ErrorKind.
func (s said) LocalizedString(*message.Printer) string { return string(s) }

// withoutValues takes what is of the values out of the messages of a violation and its causes: a text, a number, a length, and the error of
// a parser, which may quote the text (jsonschema v6.0.3 kind). Helm does not let the validator check contentEncoding and contentMediaType.
func withoutValues(e *jsonschema.ValidationError) {
	p := message.NewPrinter(language.English)
	switch k := e.ErrorKind.(type) {
	case *kind.Pattern:
		e.ErrorKind = said("the value" + strings.TrimPrefix((&kind.Pattern{Want: k.Want}).LocalizedString(p), "''"))
	case *kind.Format:
		e.ErrorKind = said("the value is not valid " + k.Want)
	case *kind.MinLength, *kind.MaxLength, *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		keyword, rest, _ := strings.Cut(k.LocalizedString(p), ": got ")
		_, want, _ := strings.Cut(rest, ", want ")
		e.ErrorKind = said(keyword + ": want " + want)
	}
	for _, cause := range e.Causes {
		withoutValues(cause)
	}
}
