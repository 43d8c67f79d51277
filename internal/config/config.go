package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// File is the content of a configuration file.
type File struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	// Ignore lists rules. Managers lists names of field managers by group, in addition to the names that are built in.
	Ignore   []report.RuleText `json:"ignore,omitempty"`
	Managers owners.Managers   `json:"managers,omitempty"`
}

// longest bounds a configuration.
const longest = 1 << 20

// Read reads a configuration file. A word that is not in the schema is an error: a misspelt one would ignore nothing, or too much.
// A rule that would ignore everything is an error too, since it would turn the program off for everybody who uses the file.
func Read(path string) (File, error) {
	var out File
	if path == os.DevNull { // which stands for no configuration
		return out, nil
	}
	text, err := files.Read(path, longest)
	if err != nil {
		return out, fmt.Errorf("configuration: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		return out, problemError(path, decodeProblem(err))
	}
	if out.APIVersion != "" && out.APIVersion != report.APIVersion || out.Kind != "" && out.Kind != "Config" {
		return out, problemError(path, fmt.Sprintf("apiVersion %q and kind %q are not supported; this version of helmdrift reads %s and Config",
			out.APIVersion, out.Kind, report.APIVersion))
	}
	for group := range out.Managers {
		if !slices.Contains([]report.ManagerGroup{report.ManagerPerson, report.ManagerController, report.ManagerDeployer}, group) {
			return out, problemError(path, fmt.Sprintf("managers: %q is not one of person, controller, deployer", group))
		}
	}
	for i, rule := range out.Ignore {
		if ignore.TextSelectsEverything(rule) {
			return out, problemError(path, fmt.Sprintf("ignore[%d]: %v", i, ignore.ErrSelectsEverything))
		}
	}
	if err := out.Managers.Check(); err != nil {
		return out, problemError(path, err.Error())
	}
	return out, nil
}

// decodeProblem returns what is wrong with the text of a configuration, without the names of Go types and of the decoders.
func decodeProblem(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		where := ""
		if wrong.Field != "" {
			where = wrong.Field + ": "
		}
		found := map[string]string{"array": "a list", "object": "a mapping"}[wrong.Value]
		if found == "" {
			found = "a " + wrong.Value
		}
		return where + "must be " + yamlKind(wrong.Type) + ", not " + found
	}
	decoders := strings.NewReplacer("error unmarshaling JSON: ", "", "while decoding JSON: ", "", "error converting YAML to JSON: ", "",
		"json: ", "", "yaml: unmarshal errors:", "", "yaml: ", "")
	return strings.Join(strings.Fields(decoders.Replace(err.Error())), " ")
}

// yamlKind returns what YAML calls the values that a Go type takes. A configuration has lists, mappings and strings.
func yamlKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	}
	return "a " + t.Kind().String()
}

// problemError returns the error of a configuration that is not as it should be.
func problemError(path, problem string) error {
	return hint.New(fmt.Errorf("configuration %s: %s", path, problem),
		"docs/ignore.md describes the file, and docs/config.schema.json lets an editor check it")
}
