package main

import (
	"bytes"
	"encoding/json"
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

// TestConfigExamples checks that the configurations in docs/ignore.md are read without a warning and are valid by the schema.
func TestConfigExamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/ignore.md")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := jsonschema.NewCompiler().Compile(configSchema)
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if !strings.HasPrefix(block, "ignore:") {
			continue
		}
		examples++
		path := filepath.Join(t.TempDir(), configName)
		if err := os.WriteFile(path, []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := readConfig(path)
		if err != nil {
			t.Error(err)
		}
		if rules, warnings := ignore.ReadRules("x", config.Ignore, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); len(warnings) > 0 || len(rules) == 0 {
			t.Errorf("%v of\n%s", warnings, block)
		}
		raw, err := yaml.YAMLToJSON([]byte(block))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); err != nil {
			t.Error(err)
		}
	}
	if examples == 0 {
		t.Error("docs/ignore.md has no example")
	}
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
