package appset

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/yamlerror"
)

// This file replaces parameters in texts (argo-cd v3.6.1 applicationset/utils/utils.go Replace, template_functions.go).

// replaceAll replaces parameters in each string of a value, keys included. A key whose value is null goes.
func (g *generation) replaceAll(value any, p params, options []string) (any, error) {
	switch v := value.(type) {
	case string:
		return g.replace(v, p, options)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			if inner == nil {
				continue
			}
			name, err := g.replace(key, p, options)
			if err != nil {
				return nil, err
			}
			if out[name], err = g.replaceAll(inner, p, options); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			var err error
			if out[i], err = g.replaceAll(inner, p, options); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}

// replace replaces parameters in a text.
func (g *generation) replace(text string, p params, options []string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	if g.set.Spec.GoTemplate {
		return replaceGo(text, p, options)
	}
	return replacePlain(text, p)
}

// isTemplated matches a text with a parameter in the plain form.
var isTemplated = regexp.MustCompile(`{{.*}}`)

// replacePlain replaces {{name}}. A parameter that does not exist stays.
func replacePlain(text string, p params) (string, error) {
	if !isTemplated.MatchString(text) {
		return text, nil
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, isClosed := strings.Cut(rest, "}}")
		if !isClosed {
			return "", fmt.Errorf("a template has {{ without }}: %q", shortened(text))
		}
		if value, isText := p[strings.TrimSpace(name)].(string); isText {
			out.WriteString(value)
		} else {
			out.WriteString("{{" + name + "}}")
		}
		text = after
	}
}

// replaceGo executes a template of Go.
func replaceGo(text string, p params, options []string) (out string, err error) {
	defer func() { // an option that does not exist panics
		if cause := recover(); cause != nil {
			err = fmt.Errorf("goTemplateOptions: %v", cause)
		}
	}()
	t := template.New("base").Funcs(functions()).Option(options...)
	t = t.Funcs(template.FuncMap{"tpl": tpl(t)})
	if t, err = t.Parse(text); err != nil {
		return "", fmt.Errorf("a template cannot be read: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return "", fmt.Errorf("a template fails: %w", err)
	}
	return b.String(), nil
}

// isMissing reports whether a template failed because a parameter does not exist.
func isMissing(err error) bool {
	return strings.Contains(err.Error(), "map has no entry for key") || strings.Contains(err.Error(), "can't evaluate field")
}

// functions returns the functions of templates: those of sprig, without those that look at the machine or ask a server.
func functions() template.FuncMap {
	out := sprig.TxtFuncMap()
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(out, name)
	}
	out["normalize"] = normalize
	out["slugify"] = slugify
	out["toYaml"] = func(value any) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	out["fromYaml"] = func(text string) (map[string]any, error) {
		value := map[string]any{}
		return value, yamlerror.WithoutValues(yaml.Unmarshal([]byte(text), &value))
	}
	out["fromYamlArray"] = func(text string) ([]any, error) {
		value := []any{}
		return value, yamlerror.WithoutValues(yaml.Unmarshal([]byte(text), &value))
	}
	return out
}

// tpl returns the function tpl, which executes a text as a template. It may call itself three times.
func tpl(parent *template.Template) func(string, any) (string, error) {
	const most = 3
	depth := 0
	return func(text string, values any) (string, error) {
		if depth++; depth > most {
			return "", fmt.Errorf("tpl calls itself more than %d times", most)
		}
		defer func() { depth-- }()
		t, err := parent.Clone()
		if err == nil {
			t, err = t.New(parent.Name()).Parse(text)
		}
		if err != nil {
			return "", err
		}
		var out strings.Builder
		err = t.Execute(&out, values)
		return strings.ReplaceAll(out.String(), "<no value>", ""), err
	}
}

// otherLetters matches what no name of an object has.
var otherLetters = regexp.MustCompile(`[^-a-z0-9.]`)

// normalize returns a text as the name of an object.
func normalize(name string) string {
	const most = 253
	name = otherLetters.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(name[:min(most, len(name))], "-.")
}

// dashes matches what becomes one dash in a slug.
var dashes = regexp.MustCompile(`[^a-z0-9]+`)

// slugify returns a text as a part of an address: slugify [LENGTH [SMART]] TEXT. If it is smart, a text that is too long ends before a dash
// (utils.go SlugifyName, which replaces everything but a-z, 0-9, - and . before its library sees the text).
func slugify(args ...any) (string, error) {
	most, isSmart, text, isRight := 50, true, "", true
	for i, arg := range args {
		switch {
		case i == len(args)-1:
			text, isRight = arg.(string)
		case i == 0:
			most, isRight = arg.(int)
		case i == 1:
			isSmart, isRight = arg.(bool)
		}
		if !isRight {
			return "", fmt.Errorf("slugify: argument %d has the wrong type", i+1)
		}
	}
	text = normalize(text)
	if !isSmart {
		if most < 0 {
			return "", errors.New("slugify: the length is negative")
		}
		text = text[:min(most, len(text))]
	}
	text = strings.Trim(dashes.ReplaceAllString(text, "-"), "-")
	if !isSmart || most <= 0 || len(text) <= most {
		return text, nil
	}
	if at := strings.LastIndexByte(text[:most+1], '-'); at >= 0 {
		return text[:at], nil
	}
	return text[:most], nil
}

// shortened returns the beginning of a text for a message.
func shortened(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
