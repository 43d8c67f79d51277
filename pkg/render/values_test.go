package render

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// valueFiles writes the files that the cases below read, and returns their paths by name.
func valueFiles(t *testing.T) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"first":  "a: {b: 1, c: [1, 2], d: null}\nmillion: 1000000\ntext: file\n",
		"second": "a: {b: {deep: true}, e: 5}\ntext: null\n",
		"empty":  "# nothing\n",
		"plain":  "line one\nline two, with a comma\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

// mergeCases returns each source once, all sources together, and the special cases of one source.
func mergeCases(t *testing.T) map[string]ValueOptions {
	file := valueFiles(t)
	return map[string]ValueOptions{
		"nothing":      {},
		"file":         {Files: []string{file("first")}},
		"files":        {Files: []string{file("first"), file("second")}},
		"empty file":   {Files: []string{file("first"), file("empty")}},
		"json":         {JSON: []string{`a={"b":[1,2.5,"x"],"c":null},d=1e6, e = "x,y"`, `list[1].k=true`, `gone=`}},
		"set":          {Set: []string{`a.b=1,a.c=x\,y,list={p,q},n=null,yes=true,big=12345678901234567,zero=007`, `list[1]=z`, `k\.e\.y=v`, `none=`}},
		"set-string":   {SetString: []string{"a=1,b=true,c=null", "d={1,2}"}},
		"set-file":     {SetFile: []string{"a.text=" + file("plain") + ",b=" + file("empty")}},
		"set-literal":  {Literal: []string{`a.b=x,y={1,2}\,`, "n=null"}},
		"later of one": {Set: []string{"a=1", "a=2"}},
		"json over a file": {
			Files: []string{file("first")}, JSON: []string{`a.b={"other":1}`, `a.c[0]={"x":1}`},
		},
		"all on one key": {
			Files: []string{file("first")}, JSON: []string{`text="json"`}, Set: []string{"text=set"},
			SetString: []string{"text=string"}, SetFile: []string{"text=" + file("plain")}, Literal: []string{"text=literal"},
		},
		"all but the last": {
			Files: []string{file("first")}, JSON: []string{`text="json"`}, Set: []string{"text=set"},
			SetString: []string{"text=string"}, SetFile: []string{"text=" + file("plain")},
		},
		"all beside each other": {
			Files: []string{file("first"), file("second")}, JSON: []string{`json={"a":[1]},a.j=1`}, Set: []string{"set.a=1,json.b=2,a.c[0]=9"},
			SetString: []string{"string.a=1,json.a[1]=x"}, SetFile: []string{"a.file=" + file("plain")}, Literal: []string{"set.literal=a,b"},
		},
	}
}

// TestMergeLikeHelm compares the merged values of all flags with Helm's.
func TestMergeLikeHelm(t *testing.T) {
	for name, o := range mergeCases(t) {
		t.Run(name, func(t *testing.T) {
			got, err := o.merge()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(mergedByHelm(t, o), got); diff != "" {
				t.Errorf("(-helm +got):\n%s", diff)
			}
		})
	}
}

// TestMergeWholeObject checks the form of --set-json that only Helm 4 accepts (helm v4.3.1 pkg/cli/values/options.go
// MergeValues). Helm 4's package cannot be the oracle here, because it links a plugin runtime.
func TestMergeWholeObject(t *testing.T) {
	o := ValueOptions{
		Files: []string{valueFiles(t)("first")},
		JSON:  []string{` {"a": {"b": {"x": [1, "y"]}, "d": 1}, "n": null} `, `a.b.x[0]=2`, `{"a":{"e":"=,"}}`},
	}
	got, err := o.merge()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": map[string]any{"b": map[string]any{"x": []any{2.0, "y"}}, "c": []any{1.0, 2.0}, "d": 1.0, "e": "=,"},
		"n": nil, "million": 1e6, "text": "file",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func mergedByHelm(t *testing.T, o ValueOptions) map[string]any {
	t.Helper()
	given := values.Options{
		ValueFiles: o.Files, JSONValues: o.JSON, Values: o.Set, StringValues: o.SetString, FileValues: o.SetFile, LiteralValues: o.Literal,
	}
	merged, err := given.MergeValues(getter.Providers{})
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

// previousRevision returns a new record whose chart and config have values of all kinds.
func previousRevision() Previous {
	return Previous{
		Config: map[string]any{
			"replicas": 5.0, "a": map[string]any{"b": "old", "only": "config"}, "off": nil, "image": "old",
		},
		Metadata: &chart.Metadata{Name: "old", Version: "0.0.1", APIVersion: chart.APIVersionV2},
		Values: map[string]any{
			"replicas": 1.0, "off": "default", "oldDefault": map[string]any{"x": 1.0}, "a": map[string]any{"b": "default", "z": 26.0},
		},
	}
}

// newDefaults returns the default values of the new chart.
func newDefaults() map[string]any {
	return map[string]any{"replicas": 2.0, "newDefault": true, "off": "on", "a": map[string]any{"b": "new", "y": 25.0}}
}

// TestChooseLikeHelm tries the policies of helm upgrade (reuseValues) and compares with Helm's own dry run:
// both the values that it would store and the values that its templates see.
func TestChooseLikeHelm(t *testing.T) {
	quiet(t)
	file := valueFiles(t)
	given := ValueOptions{Files: []string{file("second")}, Set: []string{"replicas=9,a.b=null,off=null", "list={1,2}"}}
	with := func(o ValueOptions, reuse Reuse) ValueOptions { o.Reuse = reuse; return o }
	everything := mergeCases(t)["all beside each other"]
	cases := map[string]struct {
		options  ValueOptions
		previous Previous
	}{
		"no flags, nothing given":           {ValueOptions{}, previousRevision()},
		"no flags, an empty file":           {ValueOptions{Files: []string{file("empty")}}, previousRevision()},
		"no flags, given":                   {given, previousRevision()},
		"no flags, no config":               {ValueOptions{}, Previous{}},
		"reset, nothing given":              {ValueOptions{Reuse: ReuseReset}, previousRevision()},
		"reset, given":                      {with(given, ReuseReset), previousRevision()},
		"reuse, nothing given":              {ValueOptions{Reuse: ReuseValues}, previousRevision()},
		"reuse, given":                      {with(given, ReuseValues), previousRevision()},
		"reuse, no config":                  {with(given, ReuseValues), Previous{Metadata: previousRevision().Metadata, Values: previousRevision().Values}},
		"reuse, everything":                 {with(everything, ReuseValues), previousRevision()},
		"reset then reuse, nothing given":   {ValueOptions{Reuse: ReuseAfterReset}, previousRevision()},
		"reset then reuse, given":           {with(given, ReuseAfterReset), previousRevision()},
		"reset then reuse, everything":      {with(everything, ReuseAfterReset), previousRevision()},
		"reset then reuse, nothing was set": {with(given, ReuseAfterReset), Previous{}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			stored := chosenByHelm(t, tt.options, tt.previous)
			values, defaults, err := tt.options.chooseValues(tt.previous)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stored.Config, values); diff != "" {
				t.Errorf("values (-helm +got):\n%s", diff)
			}
			if (tt.options.Reuse == ReuseValues) != (defaults != nil) {
				t.Errorf("defaults %v", defaults)
			}
			got := newChart()
			if defaults != nil {
				got.Values = defaults
			}
			if diff := cmp.Diff(seen(t, stored.Chart, stored.Config), seen(t, got, values)); diff != "" {
				t.Errorf("what templates see (-helm +got):\n%s", diff)
			}
		})
	}
}

// TestChooseByHand spells out one row of each policy, to show that the comparison with Helm distinguishes them.
func TestChooseByHand(t *testing.T) {
	quiet(t)
	tests := map[string]struct {
		options       ValueOptions
		replicas, has any
	}{
		"nothing given":    {ValueOptions{}, 5.0, "newDefault"},
		"given":            {ValueOptions{Set: []string{"image=x"}}, 2.0, "newDefault"},
		"reset":            {ValueOptions{Reuse: ReuseReset}, 2.0, "newDefault"},
		"reuse":            {ValueOptions{Reuse: ReuseValues, Set: []string{"image=x"}}, 5.0, "oldDefault"},
		"reset then reuse": {ValueOptions{Reuse: ReuseAfterReset, Set: []string{"image=x"}}, 5.0, "newDefault"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			values, defaults, err := tt.options.chooseValues(previousRevision())
			if err != nil {
				t.Fatal(err)
			}
			ch := newChart()
			if defaults != nil {
				ch.Values = defaults
			}
			all := seen(t, ch, values)
			if all["replicas"] != tt.replicas {
				t.Errorf("replicas %v, want %v", all["replicas"], tt.replicas)
			}
			for _, key := range []string{"newDefault", "oldDefault"} {
				if _, has := all[key]; has != (key == tt.has) {
					t.Errorf("%s: %v", key, has)
				}
			}
		})
	}
}

func newChart() *chart.Chart {
	return &chart.Chart{Metadata: &chart.Metadata{Name: "new", Version: "0.0.2", APIVersion: chart.APIVersionV2}, Values: newDefaults()}
}

// seen returns what the templates of a chart see below .Values.
func seen(t *testing.T, ch *chart.Chart, values map[string]any) map[string]any {
	t.Helper()
	all, err := chartutil.CoalesceValues(ch, values)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// chosenByHelm returns the record that helm upgrade would write for newChart.
func chosenByHelm(t *testing.T, o ValueOptions, previous Previous) *release.Release {
	t.Helper()
	memory := driver.NewMemory()
	memory.SetNamespace("prod")
	cfg := &action.Configuration{
		Releases:     storage.Init(memory),
		KubeClient:   &kubefake.PrintingKubeClient{Out: io.Discard, LogOutput: io.Discard},
		Capabilities: chartutil.DefaultCapabilities,
		Log:          t.Logf,
	}
	if previous.Metadata == nil {
		previous.Metadata = previousRevision().Metadata
	}
	config, _ := copyValue(previous.Config).(map[string]any)
	err := cfg.Releases.Create(&release.Release{
		Name: "shop", Namespace: "prod", Version: 7, Config: config, Info: &release.Info{Status: release.StatusDeployed},
		Chart: &chart.Chart{Metadata: previous.Metadata, Values: previous.Values},
	})
	if err != nil {
		t.Fatal(err)
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.DryRun, upgrade.DryRunOption = "prod", true, "client"
	upgrade.ResetValues = o.Reuse == ReuseReset
	upgrade.ReuseValues = o.Reuse == ReuseValues
	upgrade.ResetThenReuseValues = o.Reuse == ReuseAfterReset
	stored, err := upgrade.Run("shop", newChart(), mergedByHelm(t, o))
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func TestChooseKeepsThePrevious(t *testing.T) {
	quiet(t)
	for _, reuse := range []Reuse{ReuseDefault, ReuseReset, ReuseValues, ReuseAfterReset} {
		previous := previousRevision()
		values, defaults, err := ValueOptions{Reuse: reuse, Set: []string{"a.b=null,a.z=null,a.only=null,x=1"}}.chooseValues(previous)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []map[string]any{values, defaults} {
			if a, ok := m["a"].(map[string]any); ok {
				a["b"] = "changed by a template's helper"
			}
		}
		if diff := cmp.Diff(previousRevision(), previous); diff != "" {
			t.Errorf("policy %d changed the record (-before +after):\n%s", reuse, diff)
		}
	}
}

// TestValueErrors checks that an error names the flag and the position, or the file, and never quotes a value.
func TestValueErrors(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("a: 1\nb: canary: canary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(dir, "absent")
	tests := map[string]struct {
		options ValueOptions
		want    string
		hint    string
	}{
		"naked":             {ValueOptions{Set: []string{"a=1", "canary"}}, "the 2nd --set expression cannot be parsed", "key=value"},
		"comma":             {ValueOptions{Set: []string{"password=can,canary"}}, "the 1st --set expression cannot be parsed", "backslash"},
		"list without end":  {ValueOptions{SetString: []string{"a=1", "b=1", "c={canary"}}, "the 3rd --set-string expression cannot be parsed", "key=value"},
		"index":             {ValueOptions{Set: []string{"a[canary]=1"}}, "the 1st --set expression cannot be parsed", "key=value"},
		"key below a text":  {ValueOptions{Set: []string{"canary=canary", "canary.canary=1"}}, "the 2nd --set expression cannot be parsed", "key=value"},
		"json":              {ValueOptions{JSON: []string{"a=canary"}}, "the 1st --set-json expression cannot be parsed", "key=JSON"},
		"json object":       {ValueOptions{JSON: []string{`{"a":"canary"`}}, "the 1st --set-json expression cannot be parsed", `{"ports"`},
		"literal":           {ValueOptions{Literal: []string{"canary"}}, "the 1st --set-literal expression cannot be parsed", "key=value"},
		"file expression":   {ValueOptions{SetFile: []string{"canary"}}, "the 1st --set-file expression cannot be parsed", "key=path"},
		"file that is none": {ValueOptions{SetFile: []string{"a=" + broken, "canary=" + absent}}, "reading a file for the 2nd --set-file expression: open " + absent, ""},
		"no values file":    {ValueOptions{Files: []string{absent}}, "reading values: open " + absent, ""},
		"broken YAML of a URL": {ValueOptions{Files: []string{"https://canary:canary@host/a.yaml?token=canary"},
			ReadFile: func(string) ([]byte, error) { return []byte("a: b: canary"), nil }}, "file https://host/a.yaml cannot be read as YAML", ""},
		"no map": {ValueOptions{Files: []string{"a.yaml"}, ReadFile: func(string) ([]byte, error) { return []byte("- canary"), nil }},
			"file a.yaml is not a map of values", ""},
		"broken YAML": {ValueOptions{Files: []string{broken}}, "file " + broken + " cannot be read as YAML: line 2", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := tt.options.chooseValues(Previous{})
			if err == nil {
				t.Fatal("no error")
			}
			text := err.Error()
			if !strings.Contains(text, tt.want) {
				t.Errorf("error %q lacks %q", text, tt.want)
			}
			var hinted interface{ Hint() string }
			if errors.As(err, &hinted) {
				text += hinted.Hint()
			}
			if !strings.Contains(text, tt.hint) {
				t.Errorf("hint of %q lacks %q", text, tt.hint)
			}
			if strings.Contains(text, "canary") {
				t.Errorf("error %q quotes what was given", text)
			}
		})
	}
}

func TestReadFileReadsEverySource(t *testing.T) {
	var asked []string
	o := ValueOptions{
		Files: []string{"-", "https://charts.test/values.yaml"}, SetFile: []string{"cert=-"},
		ReadFile: func(name string) ([]byte, error) {
			asked = append(asked, name)
			return []byte("{}"), nil
		},
	}
	got, err := o.merge()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"-", "https://charts.test/values.yaml", "-"}, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"cert": "{}"}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestOrdinal(t *testing.T) {
	want := map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 111: "111th", 123: "123rd"}
	for n, text := range want {
		if got := ordinal(n); got != text {
			t.Errorf("%d: %s, want %s", n, got, text)
		}
	}
}
