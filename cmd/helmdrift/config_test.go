package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const configSchema = "../../docs/config.schema.json"

// checkConfig returns an error if a configuration is not read without a warning, or is not valid by the schema.
func checkConfig(t *testing.T, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), configName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	config, err := readConfig(path)
	if err != nil {
		return err
	}
	if _, warnings := ignore.ReadRules("x", config.Ignore, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); len(warnings) > 0 {
		return fmt.Errorf("%v", warnings)
	}
	compiled, err := jsonschema.NewCompiler().Compile(configSchema)
	if err != nil {
		return err
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// TestConfigSchemaHasEveryWord checks that the schema and configFile have the same words.
func TestConfigSchemaHasEveryWord(t *testing.T) {
	raw, err := os.ReadFile(configSchema)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var doc struct {
		object
		Defs struct {
			Rule object `json:"rule"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var target object
	if err := json.Unmarshal(doc.Defs.Rule.Properties["target"], &target); err != nil {
		t.Fatal(err)
	}
	for typ, properties := range map[reflect.Type]map[string]json.RawMessage{
		reflect.TypeFor[configFile](): doc.Properties, reflect.TypeFor[report.RuleText](): doc.Defs.Rule.Properties,
		reflect.TypeFor[report.TargetText](): target.Properties,
	} {
		var words, known []string
		for f := range typ.Fields() {
			word, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			words = append(words, word)
		}
		for word := range properties {
			known = append(known, word)
		}
		slices.Sort(words)
		slices.Sort(known)
		if !slices.Equal(words, known) {
			t.Errorf("%s: %v, the schema has %v", typ, words, known)
		}
	}
}
