package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// configFile is what a configuration says; its JSON Schema is docs/config.schema.json.
type configFile struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	// Ignore are rules, and Managers the names of field managers by group, beside those that are known.
	Ignore   []report.RuleText `json:"ignore,omitempty"`
	Managers owners.Managers   `json:"managers,omitempty"`
}

// readConfig reads a configuration. A word that is not in the schema is an error: misspelt, it would silence nothing, or too much.
func readConfig(path string) (configFile, error) {
	var out configFile
	text, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("configuration: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		preface := strings.NewReplacer("error unmarshaling JSON: ", "", "while decoding JSON: ", "", "error converting YAML to JSON: ", "",
			"json: ", "", "yaml: unmarshal errors:", "", "yaml: ", "")
		return out, brokenConfig(path, strings.Join(strings.Fields(preface.Replace(err.Error())), " "))
	}
	if out.APIVersion != "" && out.APIVersion != report.APIVersion || out.Kind != "" && out.Kind != "Config" {
		return out, brokenConfig(path, fmt.Sprintf("it says apiVersion %q and kind %q; this helmdrift knows %s and Config",
			out.APIVersion, out.Kind, report.APIVersion))
	}
	for group := range out.Managers {
		if !slices.Contains([]report.ManagerGroup{report.ManagerPerson, report.ManagerController, report.ManagerDeployer}, group) {
			return out, brokenConfig(path, fmt.Sprintf("managers: %q is not one of person, controller, deployer", group))
		}
	}
	for i, rule := range out.Ignore {
		if ignore.TextSelectsEverything(rule) {
			return out, brokenConfig(path, fmt.Sprintf("ignore[%d]: %v", i, ignore.ErrSelectsEverything))
		}
	}
	if err := out.Managers.Check(); err != nil {
		return out, brokenConfig(path, err.Error())
	}
	return out, nil
}

func brokenConfig(path, what string) error {
	return hinted{error: fmt.Errorf("configuration %s: %s", path, what),
		hint: "docs/ignore.md says what it may have, docs/config.schema.json lets an editor check it"}
}
