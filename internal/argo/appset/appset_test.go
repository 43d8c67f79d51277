package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/worktree"
)

// grow writes files below a new folder, and returns its path without links.
func grow(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const remote = "https://git.example.com/team/shop.git"

// build searches a folder of a tree. It returns each Application as the value of .spec.project, .metadata.name and what the test asks for,
// and the problems.
func build(t *testing.T, root, dir string) (Answer, string) {
	t.Helper()
	answer, err := Build(Order{Tree: worktree.Tree{Root: root, Remotes: []string{remote}}, Dir: filepath.Join(root, dir)})
	if err != nil {
		return answer, err.Error()
	}
	return answer, strings.Join(answer.Problems, "\n")
}

// lines returns a line for each Application: its name, and its project. The templates of the tests show their parameters there.
func lines(t *testing.T, answer Answer) (out []string) {
	t.Helper()
	for _, m := range answer.Made {
		var a struct {
			Metadata struct{ Name, Namespace string }
			Spec     struct{ Project string }
		}
		if err := json.Unmarshal(m.JSON, &a); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(a.Metadata.Name+" "+a.Spec.Project))
	}
	return out
}

// set is an ApplicationSet whose templates are in Go's form.
func setOf(generators, name, project, more string) string {
	text, _ := json.Marshal(project)
	return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set, namespace: argocd}\nspec:\n  goTemplate: true\n" +
		more + "  generators: " + generators + "\n  template: {metadata: {name: '" + name + "'}, spec: {destination: {name: in-cluster}, project: " + string(text) + "}}\n"
}

// plainOf is one whose templates are in the plain form.
func plainOf(generators, name, project string) string {
	return strings.Replace(setOf(generators, name, project, ""), "goTemplate: true", "goTemplate: false", 1)
}

// TestGenerators has ApplicationSets and the Applications that they make, in a tree with a few folders.
func TestGenerators(t *testing.T) {
	const git = "repoURL: 'git@git.example.com:team/shop', revision: HEAD, "
	for name, c := range map[string]struct {
		set  string
		want []string
		// fails is a part of the problems.
		fails string
	}{
		"list": {set: setOf(`[{list: {elements: [{name: a, num: 1, deep: {x: yes-x}}, {name: b}]}}]`, "{{.name}}", `{{.num}} {{ dig "x" "none" (.deep | default dict) }}`, ""),
			want: []string{"a 1 yes-x", "b <no value> none"}},
		"list, plain": {set: plainOf(`[{list: {elements: [{name: a, values: {x: 'y'}}]}}]`, "{{name}}-{{ name }}", "{{values.x}} {{no}} {{ no }}"),
			want: []string{"a-a y {{no}} {{ no }}"}},
		"list, plain, with a number": {set: plainOf(`[{list: {elements: [{name: 1}]}}]`, "{{name}}", ""), fails: "elements[0]: name is no text"},
		"a list as YAML": {set: setOf(`[{list: {elements: [], elementsYaml: "[{name: a}, {name: b}]"}}]`, "{{.name}}", "", ""),
			want: []string{"a", "b"}},
		"a parameter that does not exist": {set: setOf(`[{list: {elements: [{name: a}]}}]`, "{{.name}}", "{{.no}}", "  goTemplateOptions: [missingkey=error]\n"),
			fails: `map has no entry for key "no"`},
		"an option that does not exist": {set: setOf(`[{list: {elements: [{name: a}]}}]`, "{{.name}}", "", "  goTemplateOptions: [magic]\n"),
			fails: "goTemplateOptions: unrecognized option: magic"},
		"a selector": {set: setOf(`[{list: {elements: [{name: a, env: {kind: prod}}, {name: b}]}, selector: {matchLabels: {env.kind: prod}}}]`, "{{.name}}", "", ""),
			want: []string{"a"}},
		"a selector of expressions": {set: setOf(
			`[{list: {elements: [{name: a, x: "1"}, {name: b, x: "2"}, {name: c}]}, selector: {matchExpressions: [{key: x, operator: NotIn, values: ["1"]}]}}]`,
			"{{.name}}", "", ""), want: []string{"b", "c"}},
		"folders": {set: setOf("[{git: {"+git+"directories: [{path: apps/*}, {path: apps/not, exclude: true}]}}]", "{{.path.basenameNormalized}}",
			"{{.path.path}} {{index .path.segments 0}}", ""), want: []string{"one apps/one apps", "two-x apps/two_x apps"}},
		"folders, plain": {set: plainOf("[{git: {"+git+"directories: [{path: apps/*}, {path: apps/not, exclude: true}], values: {v: '{{path[1]}}!'}}}]",
			"{{path.basenameNormalized}}", "{{path}} {{values.v}}"), want: []string{"one apps/one one!", "two-x apps/two_x two_x!"}},
		"hidden and empty folders are none": {set: setOf("[{git: {"+git+"directories: [{path: '*'}, {path: .hidden/*}]}}]", "{{.path.basename}}", "", ""),
			want: []string{"apps", "envs", "sets"}},
		"files": {set: setOf("[{git: {"+git+"files: [{path: 'envs/**/config.json'}], values: {v: '{{.name}}-{{.path.filename}}'}}}]", "{{.name}}",
			"{{.path.basename}} {{.values.v}} {{.nested.a}}", ""), want: []string{"prod prod prod-config.json 1"}},
		"files cross folders": {set: setOf("[{git: {"+git+"files: [{path: 'envs/*.json'}]}}]", "{{.name}}", "", ""), want: []string{"prod"}},
		"files of a folder":   {set: setOf("[{git: {"+git+"files: [{path: envs/prod}]}}]", "{{.name}}", "", ""), want: []string{"prod"}},
		"files, plain": {set: plainOf("[{git: {"+git+"files: [{path: envs/prod/config.json}], pathParamPrefix: at}}]", "{{name}}", "{{nested.a}} {{at.path.filename}}"),
			want: []string{"prod 1 config.json"}},
		"a file with a list":        {set: setOf("[{git: {"+git+"files: [{path: envs/list.yaml}]}}]", "{{.name}}", "", ""), want: []string{"x", "z"}},
		"a file that is no object":  {set: setOf("[{git: {"+git+"files: [{path: envs/text.txt}]}}]", "{{.name}}", "", ""), fails: "envs/text.txt: it is neither an object"},
		"magic":                     {set: setOf("[{git: {"+git+"files: [{path: ':(glob)**'}]}}]", "{{.name}}", "", ""), fails: "has magic of git"},
		"another repository":        {set: setOf("[{git: {repoURL: 'https://git.example.com/other', directories: [{path: x}]}}]", "x", "", ""), fails: "is not this working tree"},
		"a commit":                  {set: setOf("[{git: {repoURL: '"+remote+"', revision: da39a3ee5e6b4b0d3255bfef95601890afd80709, directories: [{path: x}]}}]", "x", "", ""), fails: "is not this working tree"},
		"neither folders nor files": {set: setOf("[{git: {"+git+"}}]", "x", "", ""), fails: "it names neither directories nor files"},
		"matrix": {set: setOf("[{matrix: {generators: [{git: {"+git+"directories: [{path: apps/one}]}}, {list: {elements: [{env: a, app: '{{.path.basename}}'}, {env: b}]}}]}}]",
			"{{.env}}", "{{.path.basename}} {{.app}}", ""), want: []string{"a one one", "b one <no value>"}},
		"matrix, the first wins": {set: setOf("[{matrix: {generators: [{list: {elements: [{name: a, x: '1'}]}}, {list: {elements: [{x: '2', w: z}]}}]}}]",
			"{{.name}}", "{{.x}} {{.w}}", ""), want: []string{"a 1 z"}},
		"matrix, plain, both say otherwise": {set: plainOf("[{matrix: {generators: [{list: {elements: [{name: a, x: '1'}]}}, {list: {elements: [{x: '2'}]}}]}}]",
			"{{name}}", ""), fails: "both generators have the parameter x, with different values"},
		"matrix, elements of a file": {set: setOf("[{matrix: {generators: [{git: {"+git+"files: [{path: envs/prod/config.json}]}}, {list: {elements: [], elementsYaml: '{{ .clusters | toJson }}'}}]}}]",
			"{{.name}}-{{.cluster}}", "", ""), want: []string{"prod-eu", "prod-us"}},
		"matrix, values that are not known yet": {set: setOf("[{matrix: {generators: [{list: {elements: [{a: b}]}}, {git: {"+git+"directories: [{path: apps/one}], values: {v: '{{.path.basename}}', w: '{{.a}}'}}}]}}]",
			"{{.values.v}}", "{{.values.w}}", ""), want: []string{"one b"}},
		"matrix of one": {set: setOf("[{matrix: {generators: [{list: {elements: []}}]}}]", "x", "", ""), fails: "it takes two generators"},
		"matrix in itself": {set: setOf("[{matrix: {generators: [{matrix: {generators: [{list: {elements: [{a: x}]}}, {list: {elements: [{b: 'y'}]}}]}}, {list: {elements: [{c: z}]}}]}}]",
			"{{.a}}{{.b}}{{.c}}", "", ""), want: []string{"xyz"}},
		"merge": {set: setOf("[{merge: {mergeKeys: [name], generators: [{list: {elements: [{name: b, x: '1', d: {k: v}}, {name: a, x: '1'}]}}, {list: {elements: [{name: b, x: '2', d: {l: w}}, {name: c}]}}]}}]",
			"{{.name}}", "{{.x}} {{.d}}", ""), want: []string{"b 2 map[k:v l:w]", "a 1 <no value>"}},
		"merge, plain": {set: plainOf("[{merge: {mergeKeys: [name], generators: [{list: {elements: [{name: b, x: '1'}]}}, {list: {elements: [{name: b, x: '2'}]}}]}}]",
			"{{name}}", "{{x}}"), want: []string{"b 2"}},
		"merge, twice the same":  {set: setOf("[{merge: {mergeKeys: [name], generators: [{list: {elements: [{name: b}, {name: b}]}}, {list: {elements: []}}]}}]", "x", "", ""), fails: "two sets of parameters with the merge keys"},
		"merge without keys":     {set: setOf("[{merge: {generators: [{list: {elements: []}}, {list: {elements: []}}]}}]", "x", "", ""), fails: "it has no mergeKeys"},
		"the template of a list": {set: setOf("[{list: {elements: [{name: a}], template: {metadata: {}, spec: {project: own}}}}]", "{{.name}}", "other", ""), want: []string{"a own"}},
		"a patch": {set: setOf("[{list: {elements: [{name: a, big: true}]}}]", "{{.name}}", "p",
			"  templatePatch: |\n    metadata: {name: '{{.name}}-patched'}\n    spec: {project: other{{if .big}}, x: y{{end}}}\n"), want: []string{"a-patched p"}},
		"a patch with a directive": {set: setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", "p", "  templatePatch: 'spec: {$patch: delete}'\n"),
			fails: "it generates the Application a, which is refused: spec.destination has neither"},
		"a patch that is none": {set: setOf("[{list: {elements: [{name: a}]}}, {list: {elements: [{name: b}]}}]", "{{.name}}", "p", "  templatePatch: '[]'\n"),
			fails: "spec.templatePatch is no object in YAML"},
		"twice the same name": {set: setOf("[{list: {elements: [{name: a}, {name: b}, {name: a}]}}]", "{{.name}}", "", ""), want: []string{"b"},
			fails: "it generates several Applications with the name a, and Argo CD changes none of them"},
		"one failure stops all": {set: setOf("[{list: {elements: [{name: a}]}}, {list: {elements: [{}], elementsYaml: x}}]", "{{.name}}", "", ""),
			fails: "spec.generators[1]: list: elementsYaml is no list of objects: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal"},
		"elements with a value that an error would quote": {set: setOf("[{list: {elementsYaml: '*canary'}}]", "x", "", ""),
			fails: "elementsYaml is no list of objects: error converting YAML to JSON: yaml: unknown anchor"},
		"a patch with such a value": {set: setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", "p", "  templatePatch: '*canary'\n"),
			fails: "spec.templatePatch is no object in YAML: error converting YAML to JSON: yaml: unknown anchor"},
		"a text with such a value": {set: setOf("[{list: {elements: [{name: a, t: '*canary'}]}}]", "{{.name}}", "{{ fromYaml .t }}", ""),
			fails: "error calling fromYaml: error converting YAML to JSON: yaml: unknown anchor"},
		"a name that is none": {set: setOf("[{list: {elements: [{name: a_b}, {name: c}]}}]", "{{.name}}", "", ""), want: []string{"c"},
			fails: `metadata.name: Invalid value: "a_b"`},
		"no parameters": {set: setOf("[{list: {elements: [{}]}}]", "x", "{{x", ""), want: []string{"x {{x"}},
		"others keep their Applications": {set: setOf("[{clusters: {}}, {list: {elements: [{name: a}]}}]", "{{.name}}", "", ""), want: []string{"a"},
			fails: "ApplicationSet argocd/set: spec.generators[0]: the generator clusters asks for what is not in the tree"},
		"a generator that does not exist": {set: setOf("[{magic: {}}]", "x", "", ""), fails: "there is no generator magic"},
		"the environment":                 {set: setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", `{{ env "HOME" }}`, ""), fails: `function "env" not defined`},
		"a name of the network":           {set: setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", `{{ getHostByName "x" }}`, ""), fails: `function "getHostByName" not defined`},
		"slugs": {set: setOf("[{list: {elements: [{name: a, t: 'A long/Name, with.dots_and-more'}]}}]", "{{.name}}",
			"{{ slugify .t }} {{ slugify 9 .t }} {{ slugify 10 false .t }} {{ slugify 3 `abcdef` }}", ""),
			want: []string{"a a-long-name-with-dots-and-more a-long a-long-nam abc"}},
		"a slug of a number": {set: setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", "{{ slugify 3 }}", ""), fails: "slugify: argument 1 has the wrong type"},
		"tpl": {set: setOf("[{list: {elements: [{name: a, t: '{{ .name | upper }}'}]}}]", "{{.name}}", "{{ tpl .t . }} {{ normalize `A_b` }}", ""),
			want: []string{"a A a-b"}},
		"tpl in itself": {set: setOf("[{list: {elements: [{name: a, t: '{{ tpl .t . }}'}]}}]", "{{.name}}", "{{ tpl .t . }}", ""), fails: "tpl calls itself more than 3 times"},
		"a selector of a key that no label has": {set: setOf("[{list: {elements: [{name: a}]}, selector: {matchLabels: {'path[0]': a}}}]", "{{.name}}", "", ""),
			fails: `selector has the key "path[0]", which is not a valid name of a label`},
		"a selector with another operator": {set: setOf("[{list: {elements: [{name: a}]}, selector: {matchExpressions: [{key: x, operator: Like, values: [a]}]}}]", "{{.name}}", "", ""),
			fails: `selector has the operator "Like", and Argo CD knows In, NotIn, Exists and DoesNotExist`},
		"a selector without values": {set: setOf("[{list: {elements: [{name: a}]}, selector: {matchExpressions: [{key: x, operator: NotIn}]}}]", "{{.name}}", "", ""),
			fails: "the operator NotIn needs values"},
		"a selector with values that do not count": {set: setOf("[{list: {elements: [{name: a}]}, selector: {matchExpressions: [{key: name, operator: Exists, values: [a]}]}}]", "{{.name}}", "", ""),
			fails: "the operator Exists takes no values"},
		"a patch with a brace that is no JSON": {set: setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", "p", "  templatePatch: ' {metadata: {name: b}}'\n"),
			fails: "spec.templatePatch begins with { and is no JSON"},
		"differences that stay": {set: setOf("[]", "x", "", "  ignoreApplicationDifferences: [{jsonPointers: [/spec/source]}]\n"),
			fails: "ignoreApplicationDifferences keeps fields"},
	} {
		t.Run(name, func(t *testing.T) {
			root := grow(t, map[string]string{
				"sets/set.yaml": c.set, "apps/one/a.yaml": "", "apps/two_x/a.yaml": "", "apps/not/a.yaml": "", ".hidden/x/a.yaml": "", ".git/config": "",
				"envs/prod/config.json": `{"name": "prod", "nested": {"a": 1}, "clusters": [{"cluster": "eu"}, {"cluster": "us"}]}`,
				"envs/list.yaml":        "- name: x\n- name: z\n", "envs/text.txt": "just a text",
			})
			if err := os.MkdirAll(filepath.Join(root, "empty"), 0o700); err != nil {
				t.Fatal(err)
			}
			answer, problems := build(t, root, "sets")
			if diff := cmp.Diff(c.want, lines(t, answer)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, problems)
			}
			if !strings.Contains(problems, c.fails) || c.fails == "" && problems != "" || strings.Contains(problems, "canary") {
				t.Errorf("problems: %s, want %q", problems, c.fails)
			}
		})
	}
}

// TestNulls checks that templates drop the nulls of values, except in lists, and that nothing is dropped without parameters.
func TestNulls(t *testing.T) {
	values := "{a: null, b: {c: null, d: x}, e: [null], '{{.name}}': null}"
	for elements, want := range map[string]any{
		"[{name: a}]": map[string]any{"b": map[string]any{"d": "x"}, "e": []any{nil}},
		"[{}]":        map[string]any{"a": nil, "b": map[string]any{"c": nil, "d": "x"}, "e": []any{nil}, "{{.name}}": nil},
	} {
		text := strings.Replace(setOf("[{list: {elements: "+elements+"}}]", "x", "p", ""), "spec: {destination", "spec: {source: {helm: {valuesObject: "+values+"}}, destination", 1)
		answer, problems := build(t, grow(t, map[string]string{"set.yaml": text}), ".")
		if problems != "" || len(answer.Made) != 1 {
			t.Fatal(problems, answer)
		}
		var got struct {
			Spec struct {
				Source struct{ Helm struct{ ValuesObject any } }
			}
		}
		if err := json.Unmarshal(answer.Made[0].JSON, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Spec.Source.Helm.ValuesObject); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", elements, diff)
		}
	}
}

// TestSets has what a set says about its Applications.
func TestSets(t *testing.T) {
	text := setOf("[{list: {elements: [{name: a}]}}]", "{{.name}}", "p", "  syncPolicy: {applicationsSync: create-only}\n  preservedFields: {labels: [team]}\n")
	answer, problems := build(t, grow(t, map[string]string{"set.yaml": text}), ".")
	if problems != "" || len(answer.Made) != 1 {
		t.Fatal(problems, answer)
	}
	m := answer.Made[0]
	var got map[string]any
	if err := yaml.Unmarshal(m.JSON, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": "a", "namespace": "argocd", "finalizers": []any{api.Finalizer}},
		"spec":     map[string]any{"project": "p", "destination": map[string]any{"name": "in-cluster"}}}
	if diff := cmp.Diff(want, got); diff != "" || m.Set != "set" || m.Policy != "create-only" || !slices.Equal(m.Preserved.Labels, []string{"team"}) || m.By != "ApplicationSet argocd/set" || m.File != "set.yaml" {
		t.Error(diff, m)
	}
}

// TestFiles has files, and which Applications are in them.
func TestFiles(t *testing.T) {
	app := func(name string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec: {}\n"
	}
	root := grow(t, map[string]string{
		"a/two.yaml": app("one") + "---\n" + app("two"), "a/deep/x.yml": app("deep"), "a/x.json": `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "json"}}`,
		"a/list.yaml":  "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: item}}\n",
		"a/other.yaml": strings.Replace(app("other"), "argoproj.io", "app.k8s.io", 1), "a/broken.yaml": "{{ no: YAML", "a/text.txt": app("text"),
		"a/escaped.yaml":     strings.Replace(app("escaped"), "argoproj.io/v1alpha1", `"\u0061rgoproj.io/v1alpha1"`, 1),
		"a/chart/Chart.yaml": "name: x", "a/chart/templates/x.yaml": app("chart"), "a/.git/x.yaml": app("git"),
		"b/broken.yaml": app("x") + "---\n{{ if argoproj.io }}\n", "c/x.yaml": app("kustomized"), "c/kustomization.yaml": "resources: [x.yaml]\n",
		"c/set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec: {generators: [], template: {metadata: {name: x}, spec: {}}}\n",
	})
	answer, problems := build(t, root, "a")
	if diff := cmp.Diff([]string{"deep", "escaped", "item", "one", "two", "json"}, lines(t, answer)); diff != "" || problems != "" {
		t.Error(diff, problems)
	}
	if answer, problems := build(t, root, "b"); !strings.HasPrefix(problems, "b/broken.yaml: an object of Argo CD may be in it") {
		t.Error(problems, answer)
	}
	answer, problems = build(t, root, "c")
	if len(answer.Made) != 1 || !answer.Made[0].IsKustomized || !strings.Contains(problems, "c/set.yaml: a kustomization is in its folder, which may change ApplicationSet s") {
		t.Error(problems, answer)
	}
}

// TestHostile has trees that somebody wrote to do harm.
func TestHostile(t *testing.T) {
	bomb := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: bomb}\nspec:\n  a: &a [x, x, x, x, x, x, x, x, x]\n"
	for letter := 'b'; letter < 'k'; letter++ {
		bomb += fmt.Sprintf("  %c: &%c [%s]\n", letter, letter, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", letter-1), 9), ", "))
	}
	const git = "[{git: {repoURL: '" + remote + "', "
	many := ""
	for i := range maxApplications + 1 {
		many += fmt.Sprintf("---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x%d}\n", i)
	}
	deep := "{list: {elements: [{a: b}]}}"
	for range maxNested + 1 {
		deep = "{matrix: {generators: [" + deep + ", {list: {elements: [{a: b}]}}]}}"
	}
	for name, c := range map[string]struct {
		files map[string]string
		links map[string]string
		fails string
		most  int
	}{
		"a bomb":                   {files: map[string]string{"x.yaml": bomb}, fails: "an object of Argo CD may be in it, and it cannot be read"},
		"many":                     {files: map[string]string{"x.yaml": many}, fails: "it makes more than 10000 Applications", most: maxApplications},
		"a link out":               {links: map[string]string{"x.yaml": "/etc/hostname"}, fails: "x.yaml: it is a link that leads out of the tree"},
		"a link to .git":           {files: map[string]string{".git/config": "x"}, links: map[string]string{"x.yaml": ".git/config"}, fails: "it is a link into a folder .git"},
		"a folder that is a link":  {links: map[string]string{"x": "/etc"}},
		"parameters out":           {files: map[string]string{"x.yaml": setOf(git+"files: [{path: '../../etc/*'}]}}]", "x", "", "")}, fails: `the pattern "../../etc/*" is outside of the repository`},
		"parameters of a machine":  {files: map[string]string{"x.yaml": setOf(git+"files: [{path: /etc/hostname}]}}]", "x", "", "")}, fails: `the pattern "/etc/hostname" is outside of the repository`},
		"parameters through links": {files: map[string]string{"x.yaml": setOf(git+"files: [{path: out.txt}]}}]", "x", "", "")}, links: map[string]string{"out.txt": "/etc/hostname"}},
		"parameters of .git": {files: map[string]string{"x.yaml": setOf(git+"files: [{path: g.txt}, {path: .git/config}]}}]", "x", "", ""), ".git/config": "a: b"},
			links: map[string]string{"g.txt": ".git/config"}, fails: "g.txt: it is a link into a folder .git"},
		"generators inside generators": {files: map[string]string{"x.yaml": setOf("["+deep+"]", "x", "", "")}, fails: "a matrix or a merge inside two others is none for Argo CD"},
		"a product": {files: map[string]string{"x.yaml": setOf("[{matrix: {generators: [{list: {elementsYaml: \""+elements(200)+"\"}}, {list: {elementsYaml: \""+elements(200)+"\"}}]}}]", "x", "", "")},
			fails: "it makes more than 10000 sets of parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			root := grow(t, c.files)
			for from, to := range c.links {
				if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
					t.Fatal(err)
				}
			}
			answer, problems := build(t, root, ".")
			if !strings.Contains(problems, c.fails) || c.fails == "" && problems != "" || len(answer.Made) != c.most {
				t.Errorf("%d Applications, problems: %.300s, want %q", len(answer.Made), problems, c.fails)
			}
		})
	}
	if _, problems := build(t, grow(t, nil), ".."); !strings.Contains(problems, "is outside of the tree") {
		t.Error(problems)
	}
}

// TestUnlistedTree lists a tree with a folder that cannot be read, here because it is gone when its turn comes. The tree is not listed
// again for the next generator.
func TestUnlistedTree(t *testing.T) {
	dir := grow(t, map[string]string{"a/x.txt": "", "b/y.txt": ""})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	b := &builder{root: root}
	remove := func(string) {
		if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
			t.Error(err)
		}
	}
	if err := b.walk(".", false, remove); err == nil {
		t.Error("the files of b are not known, and there is no error")
	}
	deep := filepath.Join(dir, strings.Repeat("x/", maxDepth+1))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	_, first := b.allFiles()
	if err := os.RemoveAll(filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if _, again := b.allFiles(); first == nil || again != first {
		t.Errorf("%v, and then %v", first, again)
	}
}

// TestDeepTree has two sets that list a tree whose folders are too deep. Neither set is whole.
func TestDeepTree(t *testing.T) {
	const git = "[{git: {repoURL: '" + remote + "', directories: [{path: shops/*}]}}]"
	set := setOf(git, "{{.path.basename}}", "", "")
	root := grow(t, map[string]string{
		"roots/a.yaml": set, "roots/b.yaml": strings.Replace(set, "name: set", "name: other", 1),
		"deep/" + strings.Repeat("x/", maxDepth) + "a.txt": "", "shops/one/a.txt": "",
	})
	answer, problems := build(t, root, "roots")
	if len(answer.Sets) != 2 || strings.Count(problems, "folders inside each other") != 2 || strings.Contains(problems, "Argo CD then") {
		t.Errorf("%d sets, problems %s", len(answer.Sets), problems)
	}
	for _, set := range answer.Sets {
		if !set.IsPartial || len(set.Makes) > 0 {
			t.Errorf("%+v", set)
		}
	}
}

// elements is a list of many elements as YAML.
func elements(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat("{a: b}, ", n), ", ") + "]"
}

// TestGlobRefuses says why a pattern is not looked up.
func TestGlobRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"a/{b,c}":                `the pattern "a/{b,c}" is not looked up: braces may stand for too many paths`,
		"a/[b":                   `the pattern "a/[b" is not valid`,
		strings.Repeat("a", 300): `the pattern "` + strings.Repeat("a", 40) + `"… is not looked up: it has more than 256 bytes`,
	} {
		if _, err := glob(pattern); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", pattern, err, want)
		}
	}
}
