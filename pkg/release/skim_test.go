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
		got, manifest := (&unpacker{}).skim([]byte(text), false)
		if string(got) != want || manifest != nil {
			t.Errorf("%s\n got %s and the manifest %s\nwant %s", text, got, manifest, want)
		}
	}
	const values = `{"chart":{"values":{"a":1}}}`
	if got, _ := (&unpacker{}).skim([]byte(values), true); string(got) != values {
		t.Errorf("with defaults: %s", got)
	}
}

// TestSkimManifest checks which manifests are taken out of a record, and their text.
func TestSkimManifest(t *testing.T) {
	for text, want := range map[string]string{
		`{"manifest":"a: \"b\"\n","version":1}`:                          "a: \"b\"\n",
		`{"manifest" : "\u003ca\u003e\u0026 \t\\ \/ \b\f\r 12345678\n"}`: "<a>& \t\\ / \b\f\r 12345678\n",
		`{"manifest":"\u00e4 \ud83d\ude00 \ud83d ä"}`:                    "ä 😀 \ufffd ä",
		"{\"manifest\":\"\xff\"}":                                        "\ufffd",
		`{"manifest":"first","manifest":"last"}`:                         "last",
		`{"manifest":"first","manifest":null}`:                           "first",
		`{"manifest":""}`:                                                "",
	} {
		kept, manifest := (&unpacker{}).skim([]byte(text), false)
		if manifest == nil || !json.Valid(kept) {
			t.Errorf("%s: the manifest stays: %s", text, kept)
		} else if got, err := unquote(manifest); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		`{"manifest":"a","Manifest":"b"}`, `{"manifest":"a","\u006danifest":"b"}`, `{"manifest":5}`, `{"manifest":"\x"}`, `{"manifest":"a`,
	} {
		if kept, manifest := (&unpacker{}).skim([]byte(text), false); string(kept) != text || manifest != nil {
			t.Errorf("%s became %s", text, kept)
		}
	}
}

// TestSkimLeavesOutMost checks that the text of a real record becomes much shorter.
func TestSkimLeavesOutMost(t *testing.T) {
	plain := recordOf(t, 5)
	if got, _ := (&unpacker{}).skim(plain, false); len(got)*20 > len(plain) || !json.Valid(got) {
		t.Errorf("%d of %d bytes remain", len(got), len(plain))
	}
}

// FuzzSkim checks that the decoder reads the same from a skimmed text as from the whole one, or refuses both.
func FuzzSkim(f *testing.F) {
	f.Add(marshal(f, helmRelease("web", 2, helm.StatusDeployed)), false)
	f.Add([]byte(`{"chart":{"files":{}e2},"name":"a"}`), false)
	f.Add([]byte(`{"manifest":"a\u003c\ud83d\ude00\n","Manifest":"b","manifest":null,"version":1}`), false)
	f.Add([]byte("{\"manifest\":\"12345678\xff\\\\\\/\"}"), false)
	f.Add(helm4JSON(f), true)
	f.Add([]byte(`{"chart":{"templates":[{"a":"\u00e4\n"},-1e5,null,[[]]],"files":{},"schema":"x"},"name":"\\"}`), false)
	f.Add([]byte(`{"chart":{"templates":1,"Values":{"a":1},"metadata":{"name":"a"}},"chart":{"values":{}}} `), true)
	f.Fuzz(func(t *testing.T, data []byte, values bool) {
		skimmed, manifest := (&unpacker{}).skim(data, values)
		var want, got recordJSON
		wantErr, gotErr := json.Unmarshal(data, &want), json.Unmarshal(skimmed, &got)
		if gotErr == nil && manifest != nil {
			got.Manifest, gotErr = unquote(manifest)
		}
		if (wantErr == nil) != (gotErr == nil) || !reflect.DeepEqual(want, got) {
			t.Errorf("the whole text: %+v, %v; skimmed: %+v, %v", want, wantErr, got, gotErr)
		}
		if json.Valid(data) != json.Valid(skimmed) {
			t.Errorf("valid: %v, skimmed %v", json.Valid(data), json.Valid(skimmed))
		}
	})
}
