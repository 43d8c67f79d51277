package config

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

const configSchema = "../../docs/config.schema.json"

// TestSchemaHasEveryWord checks that the schema and File have the same words.
func TestSchemaHasEveryWord(t *testing.T) {
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
		reflect.TypeFor[File](): doc.Properties, reflect.TypeFor[report.RuleText](): doc.Defs.Rule.Properties,
		reflect.TypeFor[report.TargetText](): target.Properties,
	} {
		var words, known []string
		for f := range typ.Fields() {
			word, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if word != "-" {
				words = append(words, word)
			}
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
