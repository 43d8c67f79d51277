package render

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	common4 "helm.sh/helm/v4/pkg/chart/common"
	util4 "helm.sh/helm/v4/pkg/chart/common/util"
	chart4 "helm.sh/helm/v4/pkg/chart/v2"
)

// TestSchemaOfHelm compares the errors of values that violate a schema, or whose schema is wrong, with those of both Helms.
func TestSchemaOfHelm(t *testing.T) {
	remote := schemaServer(t, `{"$defs": {"port": {"type": "integer", "maximum": 65535}}}`)
	const objectOfPort = `{"properties": {"port": {"type": "integer"}, "names": {"items": {"pattern": "^a"}}}, "required": ["port"]}`
	tests := map[string]struct {
		schema, below string
		values        map[string]any
	}{
		"valid":               {schema: objectOfPort, values: map[string]any{"port": 80}},
		"no values":           {schema: objectOfPort},
		"violated twice":      {schema: objectOfPort, values: map[string]any{"port": "many", "names": []any{"b"}}},
		"not JSON":            {schema: `{`},
		"not a schema":        {schema: `{"type": "number of ports"}`},
		"empty":               {schema: ``},
		"false":               {schema: `false`},
		"subchart":            {schema: `true`, below: objectOfPort, values: map[string]any{"sub": map[string]any{"port": "many"}}},
		"subchart, no values": {schema: objectOfPort, below: objectOfPort, values: map[string]any{"port": 1}},
		"both":                {schema: objectOfPort, below: objectOfPort, values: map[string]any{"sub": map[string]any{"port": "many"}}},
		"reference inside":    {schema: `{"$ref": "#/$defs/a", "$defs": {"a": ` + objectOfPort + `}}`},
		"reference by id":     {schema: `{"$ref": "a.json", "$defs": {"a": {"$id": "a.json", "required": ["port"]}}}`},
		"reference nowhere":   {schema: `{"$ref": "#/$defs/b"}`},
		"remote, valid":       {schema: `{"properties": {"port": {"$ref": "` + remote + `#/$defs/port"}}}`, values: map[string]any{"port": 80}},
		"remote, violated":    {schema: `{"properties": {"port": {"$ref": "` + remote + `#/$defs/port"}}}`, values: map[string]any{"port": 99999}},
		"remote, missing":     {schema: `{"$ref": "` + remote + `/missing"}`},
		"URN":                 {schema: `{"$ref": "urn:example:a"}`},
		"other scheme":        {schema: `{"$ref": "gopher://example.com/a"}`},
		"old draft":           {schema: `{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": {"minProperties": 1}}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var below []byte
			if tt.below != "" {
				below = []byte(tt.below)
			}
			sub := &chart.Chart{Metadata: &chart.Metadata{Name: "sub"}, Schema: below}
			top := &chart.Chart{Metadata: &chart.Metadata{Name: "web"}, Schema: []byte(tt.schema)}
			top.SetDependencies(sub)
			sub4 := &chart4.Chart{Metadata: &chart4.Metadata{Name: "sub"}, Schema: below}
			top4 := &chart4.Chart{Metadata: &chart4.Metadata{Name: "web"}, Schema: []byte(tt.schema)}
			top4.SetDependencies(sub4)
			all, err := chartutil.ToRenderValuesWithSchemaValidation(top, tt.values, chartutil.ReleaseOptions{}, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			got := helm3{top}.tree().validate(all["Values"].(chartutil.Values), func(*jsonschema.ValidationError) {})
			_, want3 := chartutil.ToRenderValuesWithSchemaValidation(top, tt.values, chartutil.ReleaseOptions{}, nil, false)
			_, want4 := util4.ToRenderValuesWithSchemaValidation(top4, tt.values, common4.ReleaseOptions{}, nil, false)
			if sorted(got) != sorted(want3) || sorted(got) != sorted(want4) {
				t.Errorf("got %v, want\n%v\n%v", got, want3, want4)
			}
			if four := (helm4{top4}).tree(); fmt.Sprint(four) != fmt.Sprint(helm3{top}.tree()) {
				t.Errorf("Helm 4 has other schemas: %v", four)
			}
		})
	}
}

// TestSchemaErrorsHaveNoValues violates every keyword that makes the validator show a value, a part of it, or its length.
func TestSchemaErrorsHaveNoValues(t *testing.T) {
	const canary, number = "it's \"canary\" is not valid uri: 'x' does not match pattern\nline", 86753093.0
	for keyword, want := range map[string]string{
		`"pattern": "^a"`:                       "the value does not match pattern '^a'",
		`"format": "date-time"`:                 "the value is not valid date-time",
		`"format": "regex"`:                     "the value is not valid regex",
		`"format": "uri"`:                       "the value is not valid uri",
		`"minLength": 400`:                      "minLength: want 400",
		`"maxLength": 4`:                        "maxLength: want 4",
		`"const": "b"`:                          "value must be 'b'",
		`"enum": ["b", "c"]`:                    "value must be one of 'b', 'c'",
		`"minimum": 1000000000`:                 "minimum: want 1×10⁰⁹",
		`"maximum": 10`:                         "maximum: want 10",
		`"exclusiveMinimum": 1000000000`:        "exclusiveMinimum: want 1×10⁰⁹",
		`"exclusiveMaximum": 10`:                "exclusiveMaximum: want 10",
		`"multipleOf": 10`:                      "multipleOf: want 10",
		`"type": "boolean"`:                     "got ",
		`"not": {"type": ["string", "number"]}`: "'not' failed",
	} {
		schema := `{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"it's": {` + keyword + `}}}`
		messages := ""
		for _, value := range []any{canary, canary + `\`, "(" + canary, number} {
			err := chartTree{name: "web", schema: []byte(schema)}.validate(map[string]any{"it's": value}, withoutValues)
			if err == nil {
				continue
			}
			message := valuesError("web", err).Message
			messages += message
			for _, part := range []string{"canary", "line", "8.67", "867", "53,093", "93", strconv.Itoa(len(canary)), strconv.Itoa(len(canary) + 1)} {
				if strings.Contains(message, part) && !strings.Contains(keyword, part) {
					t.Errorf("%s: %q is in %q", keyword, part, message)
				}
			}
		}
		if !strings.Contains(messages, want) {
			t.Errorf("%s: %q", keyword, messages)
		}
	}
}

// sorted returns the text of an error with its violations in order.
func sorted(err error) string {
	if err == nil {
		return ""
	}
	return sortViolations(err.Error())
}

// schemaServer serves a schema at every path but /missing, and returns its URL.
func schemaServer(t *testing.T, schema string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, schema)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestSchemaReadsNoFiles refers from a schema to a file with a canary, in every way that reaches a file in Helm.
func TestSchemaReadsNoFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.ToSlash(filepath.Join(dir, "canary.json"))
	if err := os.WriteFile(file, []byte(`{"enum": ["canary"], "$defs": {"a": {"enum": ["canary"]}}, "$schema": "canary:x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "file://" + file
	if !strings.HasPrefix(file, "/") { // on Windows
		url = "file:///" + file
	}
	remote := schemaServer(t, `{"$ref": "`+url+`"}`)
	tests := map[string]string{
		"file":           `{"$ref": "` + url + `"}`,
		"part of a file": `{"$ref": "` + url + `#/$defs/a"}`,
		"upper case":     `{"$ref": "FILE` + strings.TrimPrefix(url, "file") + `"}`,
		"path":           `{"$ref": "` + strings.TrimPrefix(url, "file://") + `"}`,
		"relative path":  `{"$ref": "..` + strings.TrimPrefix(url, "file://") + `"}`,
		"id":             `{"$id": "` + strings.TrimSuffix(url, "canary.json") + `x.json", "$ref": "canary.json"}`,
		"dynamic":        `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicRef": "` + url + `"}`,
		"below":          `{"properties": {"a": {"anyOf": [{"$ref": "` + url + `"}]}}}`,
		"remote":         `{"$ref": "` + remote + `"}`,
		"dialect":        `{"$schema": "` + url + `"}`,
		"missing file":   `{"$ref": "` + url + `.no"}`,
	}
	for name, schema := range tests {
		t.Run(name, func(t *testing.T) {
			path := chartOf(t, "-- templates/c.yaml --\na: b\n-- values.schema.json --\n"+schema)
			bothHelms(t, func(t *testing.T, four bool) {
				_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path, o.Helm4 = path, four }))
				var got *Error
				if !errors.As(err, &got) || got.Advice != hintSchema {
					t.Fatalf("error %v", err)
				}
				if !strings.Contains(got.Message, "a schema must not refer to another file") {
					t.Errorf("the message does not say why: %s", got.Message)
				}
				if strings.Contains(strings.ReplaceAll(got.Message, "canary.json", ""), "canary") {
					t.Errorf("the message has what the file has: %s", got.Message)
				}
			})
		})
	}
}
