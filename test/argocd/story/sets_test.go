package story

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// This file records which Applications Argo CD makes of ApplicationSets. A test of internal/argo/appset compares helmdrift with the
// records. A record is an archive: the tree, whose file set.yaml is the ApplicationSet, and want, the Applications.

var (
	sets        = flag.Int("sets", 0, "how many random ApplicationSets are recorded")
	setsSeed    = flag.Uint64("sets.seed", 1, "the seed of the first one")
	setsDir     = flag.String("sets.dir", "", "the folder for the records of random ApplicationSets; the default is that of the script")
	keptSets    = flag.String("sets.kept", "../../../internal/argo/appset/testdata/recorded", "the folder with the records that are kept; Argo CD must still agree")
	setsAddress = "https://git.example.com/team/shop.git"
)

// setCase is one ApplicationSet. Its namespace and its repository have the same name.
type setCase struct {
	*syncCase
	file  string
	files map[string]string
	want  string
	// kinds are the kinds of its generators.
	kinds map[string]bool
}

// applicationSets is the command sets.
func applicationSets(ts *testscript.TestScript, _ bool, _ []string) {
	var all []*setCase
	kept, err := filepath.Glob(filepath.Join(*keptSets, "*.txtar"))
	ts.Check(err)
	for i, file := range kept {
		archive, err := txtar.ParseFile(file)
		ts.Check(err)
		c := &setCase{syncCase: &syncCase{ts: ts, name: fmt.Sprintf("kept%d", i)}, file: file, files: map[string]string{}}
		for _, f := range archive.Files {
			c.files[f.Name] = string(f.Data)
		}
		c.want = c.files["want"]
		delete(c.files, "want")
		all = append(all, c)
	}
	for i := range uint64(*sets) {
		seed := *setsSeed + i
		c := &setCase{syncCase: &syncCase{ts: ts, random: rand.New(rand.NewPCG(seed, 3)), name: fmt.Sprintf("set%d", seed)}}
		c.file = filepath.Join(cmp.Or(*setsDir, ts.MkAbs(".")), c.name+".txtar")
		c.files = c.randomTree()
		all = append(all, c)
	}
	for _, c := range all {
		ts.Check(c.apply())
	}
	wrong := 0
	for _, c := range all {
		got, err := c.made()
		ts.Check(err)
		if c.random == nil && !*update {
			if withoutMessage(got) != withoutMessage(c.want) {
				wrong++
				ts.Logf("%s: Argo CD now makes\n%s", c.file, got)
			}
			continue
		}
		archive := &txtar.Archive{}
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(c.files[name])})
		}
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
		ts.Check(os.WriteFile(c.file, txtar.Format(archive), 0o600))
	}
	ts.Logf("%d ApplicationSets", len(all))
	if wrong > 0 {
		ts.Fatalf("%d records are not what Argo CD does", wrong)
	}
}

// withoutMessage returns a record without the words of its error, which name commits and addresses.
func withoutMessage(record string) string {
	first, rest, _ := strings.Cut(record, "\n")
	if strings.HasPrefix(first, "# error: ") {
		return "# error\n" + rest
	}
	return record
}

// apply commits the tree and applies the ApplicationSet.
func (c *setCase) apply() error {
	for name, text := range c.files {
		file := c.ts.MkAbs(filepath.Join(c.name, name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", c.name},
		{"-C", c.name, "add", "-f", "."},
		{"-C", c.name, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", c.name},
	} {
		if _, _, err := c.program("", "git", args...); err != nil {
			return err
		}
	}
	if _, err := c.kubectl("", "create", "namespace", c.name); err != nil {
		return err
	}
	_, err := c.kubectl(strings.ReplaceAll(c.files["set.yaml"], setsAddress, c.address()), "apply", "--server-side", "-n", c.name, "-f", "-")
	return err
}

// address returns the address of the repository.
func (c *setCase) address() string {
	return strings.TrimSuffix(c.ts.Getenv("REPO"), "charts/.git") + c.name + "/.git"
}

// made waits for Argo CD and returns the Applications as YAML, and the line "error" if it names one.
func (c *setCase) made() (string, error) {
	failed := ""
	for i := range 600 {
		text, err := c.kubectl("", "get", "applicationset", "set", "-n", c.name, "-o", "json")
		if err != nil {
			return "", err
		}
		var set struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		if err := json.Unmarshal([]byte(text), &set); err != nil {
			return "", err
		}
		isDone := false
		for _, condition := range set.Status.Conditions {
			isTrue := condition.Status == "True"
			isDone = isDone || isTrue && (condition.Type == "ResourcesUpToDate" || condition.Type == "ErrorOccurred")
			if isTrue && condition.Type == "ErrorOccurred" {
				failed = condition.Message
			}
		}
		if isDone {
			break
		}
		if i == 599 {
			return "", fmt.Errorf("Argo CD does nothing with %s", c.file)
		}
		time.Sleep(200 * time.Millisecond)
	}
	text, err := c.kubectl("", "get", "applications", "-n", c.name, "-o", "json")
	if err != nil {
		return "", err
	}
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return "", err
	}
	out := []any{}
	for _, a := range list.Items {
		metadata, _ := a["metadata"].(map[string]any)
		one := map[string]any{"name": metadata["name"], "spec": a["spec"]}
		for _, field := range []string{"labels", "annotations", "finalizers"} {
			if metadata[field] != nil {
				one[field] = metadata[field]
			}
		}
		out = append(out, one)
	}
	made, err := yaml.Marshal(out)
	answer := string(made)
	if failed != "" {
		message := strings.Join(strings.Fields(failed), " ")
		answer = "# error: " + strings.ReplaceAll(message, c.name+"/", "") + "\n" + answer
	}
	return strings.ReplaceAll(answer, c.address(), setsAddress), err
}

// randomTree returns a tree with an ApplicationSet.
func (c *setCase) randomTree() map[string]string {
	out := map[string]string{
		"apps/one/a.yaml": "", "apps/two_x/a.yaml": "", "apps/Three.b/deep/a.yaml": "", "apps/not/a.yaml": "", ".hidden/x/a.yaml": "", "other/Ü b/a.yaml": "",
		"envs/prod/config.json": `{"name": "prod", "nested": {"a": 1, "b": true, "c": null}, "list": [1, "x"], "big": 9007199254740993, "half": 0.5,` +
			` "clusters": [{"cluster": "eu"}, {"cluster": "us"}]}`,
		"envs/dev/config.yaml":   "name: dev\nnested: {a: 2}\nversion: 1.10\nyes: on\ncount: 1000000\nclusters: []\n",
		"envs/dev/config.json":   `{"name": "dev2", "nested": {}, "env": "x"}`,
		"envs/list.yaml":         "- name: x\n  env: one\n- name: z\n  env: two\n",
		"envs/empty.yaml":        "",
		"envs/deep/er/conf.yaml": "name: deeper\nenv: three\nname2: A_b c\n",
	}
	isGo := c.percent(65)
	c.kinds = map[string]bool{}
	var generators []any
	for range 1 + c.random.IntN(3)/2 {
		generators = append(generators, c.generator(isGo, 0))
	}
	spec := map[string]any{"generators": generators, "goTemplate": isGo, "template": c.template()}
	if isGo && c.percent(40) {
		spec["goTemplateOptions"] = []any{c.one("missingkey=error", "missingkey=default", "missingkey=zero", "missingkey=invalid")}
	}
	if c.percent(30) {
		policy := map[string]any{}
		if c.percent(50) {
			policy["preserveResourcesOnDeletion"] = c.percent(70)
		}
		if c.percent(50) {
			policy["applicationsSync"] = c.one("create-only", "create-update", "create-delete", "sync")
		}
		spec["syncPolicy"] = policy
	}
	text := asText(spec)
	if isGo {
		text = strings.NewReplacer("{{path}}", "{{.path.path}}", "{{path[0]}}", `{{ dig "path" "path" "none" . }}`, "{{ env }}", "{{ .env }}",
			"{{ clusters }}", "{{ .clusters | toJson }}", "{{", "{{.").Replace(text)
		_ = json.Unmarshal([]byte(text), &spec)
		c.addGo(spec)
	}
	if isGo && c.percent(3) {
		spec["templatePatch"] = c.one("hello world", "spec: [a]\n", "spec: {source: {path: y}}\n", "spec: {source: {helm: {valuesObject: {a: {added: 1}}}}}\n")
	} else if isGo && c.percent(45) {
		spec["templatePatch"] = c.one(
			"spec: {syncPolicy: {automated: {prune: true}}}\n",
			"spec: {source: {helm: {parameters: [{name: b, value: '2'}]}}}\n",
			"metadata: {finalizers: [example.com/other], labels: {patched: 'yes'}}\n",
			"spec: {source: {$patch: replace, repoURL: 'https://git.example.com/other', path: z}}\n",
			"spec: {source: {helm: null}}\n",
			"spec: {source: {helm: {$patch: delete}}}\n",
			"spec: {destination: {$retainKeys: [server], namespace: other}}\n",
			"spec: {syncPolicy: {$retainKeys: [automated], automated: {prune: true}}}\n",
			"metadata: {annotations: {$patch: replace, only: this}}\n",
			"metadata: {finalizers: [example.com/kept, example.com/other]}\n",
			"metadata: {$deleteFromPrimitiveList/finalizers: [example.com/kept], finalizers: []}\n",
			"metadata: {name: '{{ .name | default \"x\" }}-patched'}\nspec: {project: other}\n",
			"{{- if .name }}\nmetadata: {annotations: {named: '{{ .name }}'}}\n{{- end }}\n",
			"spec:\n  sources:\n  - {repoURL: 'https://git.example.com/other', path: x}\n  source: null\n",
			`{"spec": {"info": [{"name": "a", "value": "{{ .name }}"}]}}`,
			"spec: {source: {helm: {valuesObject: {added: 1}}}}\n",
			"spec: {ignoreDifferences: [{kind: ConfigMap, jsonPointers: [/data]}]}\n",
		)
	}
	set := map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": map[string]any{"name": "set"}, "spec": spec}
	made, _ := yaml.Marshal(set)
	out["set.yaml"] = string(made)
	return out
}

// template returns a template with parameters in the plain form.
func (c *setCase) template() map[string]any {
	names := []string{"x-{{name}}"}
	switch hasPath := c.kinds["directories"] || c.kinds["files"]; {
	case c.kinds["list"] && hasPath:
		names = []string{"{{name}}-{{path.basenameNormalized}}", "{{name}}", "{{path.basenameNormalized}}-{{name}}"}
	case hasPath && !c.kinds["files"]:
		names = []string{"x-{{path.basenameNormalized}}", "app-{{path.basename}}"}
	case hasPath:
		names = []string{"{{name}}-{{path.basename}}", "{{name}}"}
	}
	if c.percent(10) {
		names = []string{"fixed", "{{name}}-{{env}}", "{{nothing}}"}
	}
	metadata := map[string]any{"name": c.one(names...)}
	if c.percent(40) {
		metadata["labels"] = map[string]any{"a": "b", c.one("a", "l-{{name}}"): c.one("b", "{{name}}")}
	}
	if c.percent(40) {
		metadata["annotations"] = map[string]any{"where": "{{path}}", "values": "{{values.v}}"}
	}
	if c.percent(30) {
		metadata["finalizers"] = []any{c.one("example.com/kept", "resources-finalizer.argocd.argoproj.io", "x.example.com/{{name}}")}
	}
	source := map[string]any{"repoURL": "https://git.example.com/team/charts", "path": c.one("chart", "{{path}}", "charts/{{name}}"), "targetRevision": c.one("main", "{{nested.a}}", "{{ env }}")}
	helm := map[string]any{}
	if c.percent(50) {
		helm["valuesObject"] = map[string]any{"a": map[string]any{"name": "{{name}}", "n": 1, "half": 0.5, "b": true}, "{{env}}": []any{"{{name}}", 2, nil}}
	}
	if c.percent(40) {
		helm["values"] = "name: {{name}}\nwhere: {{path[0]}}\n"
	}
	if c.percent(40) {
		helm["parameters"] = []any{map[string]any{"name": "a", "value": "{{nested.a}}", "forceString": true}}
	}
	if c.percent(30) {
		helm["valueFiles"] = []any{"{{env}}.yaml", "x.yaml"}
		helm["ignoreMissingValueFiles"] = c.percent(50)
	}
	if len(helm) > 0 {
		source["helm"] = helm
	}
	spec := map[string]any{"project": "default", "source": source,
		"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": c.one("shop", "{{name}}", "")}}
	if c.percent(40) {
		policy := map[string]any{"syncOptions": []any{"CreateNamespace=true", "{{name}}"}}
		if c.percent(70) {
			policy["automated"] = map[string]any{"selfHeal": c.percent(50)}
		}
		if c.percent(30) {
			policy["retry"] = map[string]any{"limit": 3}
		}
		spec["syncPolicy"] = policy
	}
	if c.percent(20) {
		spec["revisionHistoryLimit"] = c.random.IntN(3)
	}
	return map[string]any{"metadata": metadata, "spec": spec}
}

// generator returns a random generator.
func (c *setCase) generator(isGo bool, depth int) map[string]any {
	kinds := []string{"list", "list", "directories", "files", "files"}
	if depth < 2 {
		kinds = append(kinds, "matrix", "matrix", "merge")
	}
	out := map[string]any{}
	kind := c.one(kinds...)
	c.kinds[kind] = true
	values := map[string]any{"v": c.one("fixed", "{{path.basename}}", "{{name}}!", "{{nothing}}")}
	switch kind {
	case "list":
		list := map[string]any{"elements": c.elements(isGo)}
		if c.percent(25) {
			list["elementsYaml"] = c.one("[{name: v, env: e}, {name: w}]", "- {name: ü, n: 1}\n", "[]", "{{ clusters }}")
		}
		out["list"] = list
	case "directories":
		git := c.git(values)
		directories := []any{map[string]any{"path": c.one("apps/*", "*", "apps/[ot]*", "*/*", "other/*", ".hidden/*", "envs/**", "nowhere/*", "apps/one")}}
		if c.percent(50) {
			directories = append(directories, map[string]any{"path": c.one("apps/not", "*/t*", "envs"), "exclude": true})
		}
		git["directories"] = directories
		out["git"] = git
	case "files":
		git := c.git(values)
		files := []any{map[string]any{"path": c.one("envs/*/config.json", "envs/**/config.json", "envs/*.yaml", "envs/**", "envs/list.yaml", "envs/dev", "**/config.*", "envs/{{env}}/config.json",
			"envs/deep/**/conf.yaml", "envs/deep/**", "envs/[dp]*/*.json", "./envs/list.yaml", "envs/?ev/config.yaml", "nowhere.json")}}
		if c.percent(30) {
			files = append(files, map[string]any{"path": c.one("envs/dev/*", "envs/empty.yaml", "set.yaml"), "exclude": true})
		}
		git["files"] = files
		out["git"] = git
	case "matrix":
		first, second := c.generator(isGo, depth+1), c.generator(isGo, depth+1)
		if !isGo && c.percent(80) { // two that have other parameters
			first = map[string]any{"list": map[string]any{"elements": c.elements(false)}}
			second = map[string]any{"git": map[string]any{"repoURL": setsAddress, "revision": "main", "directories": []any{map[string]any{"path": c.one("apps/*", "{{name}}/*", "envs/*")}}}}
			c.kinds["list"], c.kinds["directories"] = true, true
		}
		out["matrix"] = map[string]any{"generators": []any{first, second}}
	case "merge":
		out["merge"] = map[string]any{"mergeKeys": []any{c.one("name", "name", "env", "path.basename")}, "generators": []any{c.generator(isGo, depth+1), c.generator(isGo, depth+1)}}
	}
	if c.percent(20) {
		out["selector"] = map[string]any{"matchLabels": map[string]any{c.one("name", "env", "path.basename", "nested.a", "values.v"): c.one("prod", "x", "one", "1")}}
		if c.percent(50) {
			out["selector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": c.one("name", "env"), "operator": c.one("NotIn", "In"), "values": []any{"prod", "x", "a"}}}}
			if c.percent(40) {
				out["selector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": c.one("env", "nested.a", "list.0"), "operator": c.one("Exists", "DoesNotExist")}}}
			}
		}
	}
	if depth == 0 && c.percent(20) {
		for _, of := range out {
			if spec, isMap := of.(map[string]any); isMap && of != nil && out["selector"] == nil {
				spec["template"] = map[string]any{"metadata": map[string]any{}, "spec": map[string]any{"project": "", "destination": map[string]any{"namespace": "own"},
					"source": map[string]any{"repoURL": "https://git.example.com/team/own", "targetRevision": "{{name}}"}}}
			}
		}
	}
	return out
}

// git returns what both forms of a git generator have.
func (c *setCase) git(values map[string]any) map[string]any {
	out := map[string]any{"repoURL": setsAddress, "revision": c.one("HEAD", "main")}
	if c.percent(40) {
		out["values"] = values
	}
	if c.percent(15) {
		out["pathParamPrefix"] = "at"
	}
	return out
}

// elements returns the elements of a list.
func (c *setCase) elements(isGo bool) []any {
	all := []any{
		map[string]any{"name": "a", "env": "one"}, map[string]any{"name": "b", "env": "two"}, map[string]any{"name": "prod", "env": "dev"},
		map[string]any{"name": "x", "values": map[string]any{"v": "of-list"}}, map[string]any{"name": "A_b", "env": "{{path.basename}}"}, map[string]any{},
	}
	if isGo || c.percent(5) {
		all = append(all, map[string]any{"name": "n", "nested": map[string]any{"a": 1, "b": []any{1, "x"}}, "env": true}, map[string]any{"name": "big", "env": 12345678, "half": 1.5})
	}
	c.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+c.random.IntN(3)]
}

// addGo adds templates of Go to a specification.
func (c *setCase) addGo(spec map[string]any) {
	template, _ := spec["template"].(map[string]any)
	metadata, _ := template["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	for _, text := range []string{
		`{{ .name | default "none" | upper }}`, `{{ slugify (.name | default "x") }}`, `{{ slugify 10 "a-long-name with Some_words.and dots" }}`,
		`{{ slugify 12 false "a-long-name-with-words" }}`, `{{ slugify 12 true "a-long-name-with-words" }}`, `{{ normalize "A_b.C/ü" }}`, `{{ toYaml . }}`,
		`{{ toJson .nested }}`, `{{ (fromYaml "a: {b: 1}").a.b }}`, `{{ index (fromYamlArray "[x, y]") 1 }}`, `{{ dig "nested" "a" "none" . }}`,
		`{{ range $k, $v := .nested }}{{ $k }}={{ $v }} {{ end }}`, `{{ tpl "{{ .name }}-x" . }}`, `{{ tpl "{{ .nothing }}" . }}`,
		`{{ with .path }}{{ .segments | join "/" }} {{ index .segments 0 }} {{ .filename }}{{ end }}`, `{{ printf "%v %T" .env .env }}`,
		`{{ .big }} {{ .half }} {{ .count }}`, `{{ with .values }}{{ .v }}{{ end }}`, `{{ .values }}`, `{{ trunc 3 (toString .name) }}`,
		`{{ if eq (toString .name) "prod" }}yes{{ else }}no{{ end }}`, `{{ .name | toString | sha256sum | trunc 8 }}`, `{{ .list }}`,
		`{{ with .clusters }}{{ len . }}{{ end }}`, `{{- "x" -}}`, `{{/* nothing */}}`, `{{ regexReplaceAll "[aeiou]" (toString .name) "-" }}`,
	} {
		if c.percent(12) {
			annotations[fmt.Sprintf("go%d", len(annotations))] = text
		}
	}
	for _, text := range []string{`{{ env "HOME" }}`, `{{ slugify 3 }}`, `{{ fail "stop" }}`, `{{ len .clusters }}`, `{{ .nested.a | int }}`, `{{ index .path.segments 0 }}`, `{{ .name.x }}`} {
		if c.percent(1) {
			annotations[fmt.Sprintf("go%d", len(annotations))] = text
		}
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
}
