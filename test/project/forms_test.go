package project

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// issueForm is a form as GitHub reads it ("Syntax for issue forms" and "Syntax for GitHub's form schema" in GitHub's documentation); no
// other keys are allowed.
type issueForm struct {
	Name        string        `yaml:"name"`
	Description string        `yaml:"description"`
	Title       string        `yaml:"title"`
	Type        string        `yaml:"type"`
	Labels      []string      `yaml:"labels"`
	Assignees   []string      `yaml:"assignees"`
	Projects    []string      `yaml:"projects"`
	Body        []formElement `yaml:"body"`
}

type formElement struct {
	Type        string               `yaml:"type"`
	ID          string               `yaml:"id"`
	Attributes  map[string]yaml.Node `yaml:"attributes"`
	Validations struct {
		Required bool `yaml:"required"`
	} `yaml:"validations"`
}

// attributes are the attributes that an element of a type must have and those that it may have.
var attributes = map[string]struct{ must, may []string }{
	"markdown":   {must: []string{"value"}},
	"textarea":   {must: []string{"label"}, may: []string{"description", "placeholder", "value", "render"}},
	"input":      {must: []string{"label"}, may: []string{"description", "placeholder", "value"}},
	"dropdown":   {must: []string{"label", "options"}, may: []string{"description", "multiple", "default"}},
	"checkboxes": {must: []string{"label", "options"}, may: []string{"description"}},
}

func TestIssueForms(t *testing.T) {
	files, err := filepath.Glob(root + "/.github/ISSUE_TEMPLATE/[0-9]*.yml")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d forms, %v", len(files), err)
	}
	names := map[string]bool{}
	for _, file := range files {
		var form issueForm
		readStrictly(t, file, &form)
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 || names[form.Name] {
			t.Errorf("%s has no name of its own, no description or no body", file)
		}
		names[form.Name] = true
		for _, fault := range form.faults() {
			t.Errorf("%s: %s", file, fault)
		}
	}
	var config struct {
		BlankIssuesEnabled bool `yaml:"blank_issues_enabled"`
		ContactLinks       []struct {
			Name  string `yaml:"name"`
			URL   string `yaml:"url"`
			About string `yaml:"about"`
		} `yaml:"contact_links"`
	}
	if readStrictly(t, root+"/.github/ISSUE_TEMPLATE/config.yml", &config); len(config.ContactLinks) != 1 {
		t.Errorf("config.yml has %d links", len(config.ContactLinks))
	}
}

// faults returns what GitHub would refuse.
func (f issueForm) faults() []string {
	var out []string
	seen, questions := map[string]bool{}, 0
	for _, e := range f.Body {
		known, ok := attributes[e.Type]
		if !ok {
			out = append(out, "unknown type "+e.Type)
			continue
		}
		for _, name := range known.must {
			if node, has := e.Attributes[name]; !has || node.Kind == yaml.ScalarNode && strings.TrimSpace(node.Value) == "" {
				out = append(out, e.Type+" "+e.ID+" has no "+name)
			}
		}
		for name := range e.Attributes {
			if !slices.Contains(known.must, name) && !slices.Contains(known.may, name) {
				out = append(out, e.Type+" must not have "+name)
			}
		}
		if e.Type == "markdown" {
			continue
		}
		questions++
		label := e.Attributes["label"]
		if !regexp.MustCompile(`^[\w-]+$`).MatchString(e.ID) || seen["id "+e.ID] || seen["label "+label.Value] {
			out = append(out, "the id or the label of "+e.ID+" is wrong or used twice")
		}
		seen["id "+e.ID], seen["label "+label.Value] = true, true
	}
	if questions == 0 {
		out = append(out, "there is no question")
	}
	return out
}

func TestFaultsOfForms(t *testing.T) {
	label := map[string]yaml.Node{"label": {Kind: yaml.ScalarNode, Value: "A"}}
	for _, body := range [][]formElement{
		{},
		{{Type: "markdown", Attributes: map[string]yaml.Node{"value": {Kind: yaml.ScalarNode, Value: "text"}}}},
		{{Type: "text", ID: "a", Attributes: label}},
		{{Type: "input", ID: "a b", Attributes: label}},
		{{Type: "input", ID: "a", Attributes: label}, {Type: "input", ID: "b", Attributes: label}},
		{{Type: "dropdown", ID: "a", Attributes: label}},
		{{Type: "input", ID: "a", Attributes: map[string]yaml.Node{"label": label["label"], "render": label["label"]}}},
	} {
		if len((issueForm{Body: body}).faults()) == 0 {
			t.Errorf("%+v has no fault", body)
		}
	}
}

// readStrictly decodes a YAML file and refuses unknown keys.
func readStrictly(t *testing.T, file string, to any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, file)))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
