package release

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
)

// TestSkim checks what is left out of small records.
func TestSkim(t *testing.T) {
	for text, want := range map[string]string{
		`{"chart":{"templates":[{"name":"a","data":"eA=="}],"files":null,"metadata":{"name":"web"}},"version":1}`: `{"chart":{"templates":"","files":"","metadata":{"name":"web"}},"version":1}`,
		` { "a" : [ 1 , -2.5e3 , true ] , "chart" : { "schema" : "x\"\\\u00e4" , "values" : {} } } `:              ` { "a" : [ 1 , -2.5e3 , true ] , "chart" : { "schema" : "" , "values" : "" } } `,
		`{"chart":{"templates":[]},"chart":{"files":{}}}`:                                                         `{"chart":{"templates":""},"chart":{"files":""}}`,
		`{"Chart":{"templates":[]}}`:                                        `{"Chart":{"templates":[]}}`,
		`{"chart":{"Templates":[],"\u0066iles":1}}`:                         `{"chart":{"Templates":[],"\u0066iles":1}}`,
		`{"chart":"x","templates":[]}`:                                      `{"chart":"x","templates":[]}`,
		`{"chart":{"templates":[}`:                                          `{"chart":{"templates":[}`,
		`{"chart":{"templates":""1}}`:                                       `{"chart":{"templates":""1}}`,
		`{"chart":{"templates":"\x"}}`:                                      `{"chart":{"templates":"\x"}}`,
		"{\"chart\":{\"templates\":\"a\nb\"}}":                              "{\"chart\":{\"templates\":\"a\nb\"}}",
		`{"chart":{"templates":` + strings.Repeat("[", 200):                 `{"chart":{"templates":` + strings.Repeat("[", 200),
		`{"chart":{"templates":1,"files":"` + strings.Repeat("a", 99) + `"`: `{"chart":{"templates":"","files":""`,
	} {
		if got := string((&unpacker{}).skim([]byte(text), false)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	const values = `{"chart":{"values":{"a":1}}}`
	if got := string((&unpacker{}).skim([]byte(values), true)); got != values {
		t.Errorf("with defaults: %s", got)
	}
}

// TestSkimLeavesOutMost checks that the text of a real record becomes much shorter.
func TestSkimLeavesOutMost(t *testing.T) {
	plain := recordOf(t, 5)
	if got := (&unpacker{}).skim(plain, false); len(got)*3 > 2*len(plain) || !json.Valid(got) {
		t.Errorf("%d of %d bytes remain", len(got), len(plain))
	}
}

// FuzzSkim checks that the decoder reads the same from a skimmed text as from the whole one, or refuses both.
func FuzzSkim(f *testing.F) {
	f.Add(marshal(f, helmRelease("web", 2, helm.StatusDeployed)), false)
	f.Add([]byte(`{"chart":{"files":{}e2},"name":"a"}`), false)
	f.Add(helm4JSON(f), true)
	f.Add([]byte(`{"chart":{"templates":[{"a":"\u00e4\n"},-1e5,null,[[]]],"files":{},"schema":"x"},"name":"\\"}`), false)
	f.Add([]byte(`{"chart":{"templates":1,"Values":{"a":1},"metadata":{"name":"a"}},"chart":{"values":{}}} `), true)
	f.Fuzz(func(t *testing.T, data []byte, values bool) {
		skimmed := (&unpacker{}).skim(data, values)
		var want, got recordJSON
		wantErr, gotErr := json.Unmarshal(data, &want), json.Unmarshal(skimmed, &got)
		if (wantErr == nil) != (gotErr == nil) || !reflect.DeepEqual(want, got) {
			t.Errorf("the whole text: %+v, %v; skimmed: %+v, %v", want, wantErr, got, gotErr)
		}
		if json.Valid(data) != json.Valid(skimmed) {
			t.Errorf("valid: %v, skimmed %v", json.Valid(data), json.Valid(skimmed))
		}
	})
}
