// Package helmfiletest makes helmfiles by chance, of what helmfile can do without a network, for tests that run the real helmfile.
package helmfiletest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Options say what a helmfile may have.
type Options struct {
	// Helm4 is set if helmfile calls Helm 4.
	Helm4 bool
	// HasDiff is set if Helm has the plugin diff, whose version helmfile asks for.
	HasDiff bool
	// Secrets is a file that sops has encrypted, or empty without the plugin helm-secrets.
	Secrets string
	// Prefix stands in front of the names of namespaces.
	Prefix string
}

// Tree is a helmfile with all files that it names. The same seed and options make the same tree.
type Tree struct {
	Options
	// Files are the texts of the files, by their names. File is the helmfile.
	Files map[string]string
	File  string
	// Environment is the environment to choose, or "".
	Environment string

	*rand.Rand
	documents map[string][]any
	releases  []table
	// last is the number of the release that was made last, and name is that of the next one if it is set.
	last int
	name string
}

// New makes a helmfile.
func New(seed int, o Options) *Tree {
	g := &Tree{Rand: rand.New(rand.NewPCG(uint64(seed), 34)), Files: map[string]string{}, Options: o, documents: map[string][]any{}}
	g.File = g.helmfile()
	if g.IntN(2) == 0 {
		g.Environment = "prod"
	}
	return g
}

// Write writes all files into a folder.
func (g *Tree) Write(dir string) error {
	for name, text := range g.Files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

type table = map[string]any

func oneOf[T any](g *Tree, all ...T) T { return all[g.IntN(len(all))] }

func (g *Tree) chance(percent int) bool { return g.IntN(100) < percent }

// some puts each of some values into a table, with a chance in percent.
func (g *Tree) some(percent int, values, into table) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if g.chance(percent) {
			into[key] = values[key]
		}
	}
}

// write writes a file of YAML documents.
func (g *Tree) write(name string, documents ...any) string {
	g.documents[name] = documents
	var text strings.Builder
	for i, d := range documents {
		if i > 0 {
			text.WriteString("---\n")
		}
		part, err := yaml.Marshal(d)
		if err != nil {
			panic(err)
		}
		text.Write(part)
	}
	g.Files[name] = text.String()
	return name
}

// helmfile writes all files and returns the name of the helmfile.
func (g *Tree) helmfile() string {
	g.Files["charts/web/Chart.yaml"] = "apiVersion: v2\nname: web\nversion: 1.2.3\n"
	g.Files["charts/web/values.yaml"] = "color: grey\nreplicas: 1\n"
	g.Files["charts/web/templates/web.yaml"] = chart
	if g.chance(30) {
		group := strings.TrimSuffix(g.Prefix, "-") + ".example.com"
		g.Files["charts/web/crds/things.yaml"] = strings.ReplaceAll(definition, "GROUP", strings.TrimPrefix(group, "."))
	}
	g.Files["charts/cache/Chart.yaml"] = "apiVersion: v2\nname: cache\nversion: 0.1.0\n"
	g.Files["charts/cache/templates/cache.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-cache}\n"
	g.Files["post/render.sh"] = "#!/bin/sh\ncat\n"
	g.Files["secret.txt"] = "from a file"
	if g.Secrets != "" {
		for _, folder := range []string{"", "sub0/", "sub1/"} {
			g.Files[folder+"secrets.yaml"] = g.Secrets
		}
	}
	g.Files["region.yaml"] = "region: north\nlist: [1, 2]\n"
	environments := table{"default": table{"values": []any{"region.yaml", table{"color": "red"}}},
		"prod": table{"values": []any{"region.yaml", table{"color": "blue", "region": "south"}, "gone.yaml"}, "missingFileHandler": "Warn"}}
	if g.Secrets != "" && g.chance(30) {
		environments["prod"].(table)["secrets"] = []any{"secrets.yaml"}
	}
	if g.chance(25) {
		environments[oneOf(g, "default", "prod")].(table)["kubeContext"] = "helmdrift-test"
	}
	main := table{"releases": g.someReleases(".", 1+g.IntN(4))}
	g.write("defaults.yaml", table{"helmDefaults": g.defaults()})
	if g.chance(50) {
		main["bases"] = []any{"defaults.yaml"}
	}
	if g.chance(30) {
		main["commonLabels"] = table{"team": "shop"}
	}
	if g.chance(40) {
		main["templates"] = table{"common": table{"values": []any{table{"common": true}}, "labels": table{"of": "common"}}}
		for _, r := range main["releases"].([]any) {
			if g.chance(50) {
				r.(table)["inherit"] = []any{table{"template": "common"}}
			}
		}
	}
	var nested []any
	for i := range g.IntN(3) {
		name := fmt.Sprintf("sub%d/helmfile.yaml.gotmpl", i)
		documents := []any{table{"releases": g.someReleases("..", 1+g.IntN(2))}}
		if g.chance(50) {
			documents = append([]any{table{"bases": []any{"../defaults.yaml"}}}, documents...)
		}
		g.write(name, documents...)
		one := table{"path": name, "values": []any{table{"region": "nested", "color": "green"}}}
		if g.chance(30) {
			one["selectors"] = []any{"tier=front"}
		}
		nested = append(nested, one)
	}
	if nested != nil {
		main["helmfiles"] = nested
	}
	return g.write("helmfile.yaml.gotmpl", table{"environments": environments}, main)
}

// defaults are some of helmDefaults.
func (g *Tree) defaults() table {
	out := table{}
	values := table{
		"wait": true, "timeout": 300, "atomic": true, "createNamespace": false, "historyMax": 3, "enableDNS": true,
		"skipSchemaValidation": true, "reuseValues": true, "cleanupOnFail": true, "disableOpenAPIValidation": true, "syncArgs": []any{"--hide-notes --no-hooks"},
		"skipDeps": true, "recreatePods": true, "waitForJobs": true, "skipCRDs": true, "plainHttp": true, "keyring": "keys.gpg",
	}
	if g.Helm4 {
		delete(values, "recreatePods")
	}
	g.some(15, values, out)
	switch g.IntN(6) {
	case 0:
		out["force"] = true
	case 1:
		if g.Helm4 {
			out["forceConflicts"] = true
		}
	}
	return out
}

// someReleases makes releases for a helmfile in a folder from which up leads to the root.
func (g *Tree) someReleases(up string, n int) (out []any) {
	for range n {
		out = append(out, g.release(up))
	}
	if first := out[0].(table); g.chance(30) { // the same name in another namespace
		g.last, g.name = g.last-1, first["name"].(string)
		other := g.release(up)
		other["namespace"], g.name = g.Prefix+"another", ""
		out = append(out, other)
	}
	if len(out) > 1 && up == "." && g.chance(40) { // a selector of a nested helmfile may leave out what is needed
		first, second := out[0].(table), out[1].(table)
		if first["installed"] == nil && second["installed"] == nil && first["name"] != second["name"] {
			shop := g.Prefix + "shop"
			second["namespace"], second["kubeContext"] = shop, "helmdrift-test"
			first["namespace"], first["kubeContext"] = shop, "helmdrift-test"
			second["needs"] = []any{"helmdrift-test/" + shop + "/" + first["name"].(string)}
		}
	}
	return out
}

func (g *Tree) release(up string) table {
	g.last++
	name := cmp.Or(g.name, fmt.Sprint("web", g.last))
	r := table{"name": name, "chart": up + "/charts/web", "labels": table{"tier": oneOf(g, "front", "back")}}
	g.releases = append(g.releases, r)
	if g.chance(60) {
		r["namespace"] = g.Prefix + oneOf(g, "shop", "prod", "{{`{{ .Environment.Name }}`}}")
	}
	var values []any
	for i := range g.IntN(5) {
		values = append(values, g.values(r, up, fmt.Sprint(name, "-", len(g.Files), "-", i)))
	}
	if values != nil {
		r["values"] = values
	}
	if g.chance(30) {
		r["set"] = []any{g.set(up), g.set(up)}
	}
	if g.chance(20) {
		r["setString"] = []any{table{"name": "port", "value": "8080"}}
	}
	if g.chance(15) {
		r["valuesTemplate"] = []any{table{"fromTemplate": "{{`{{ .Release.Name }}`}}-{{`{{ .Release.Namespace }}`}}"}}
	}
	g.some(12, table{
		"createNamespace": oneOf(g, true, false), "atomic": oneOf(g, true, false), "wait": true, "timeout": 200, "historyMax": 2, "reuseValues": true,
		"enableDNS": true, "skipSchemaValidation": true, "disableOpenAPIValidation": true, "description": "as {{`{{ .Release.Name }}`}}",
		"cleanupOnFail": true, "disableValidation": true, "suppressDiff": true, "kubeVersion": "1.30.0",
		"kubeContext": "helmdrift-test", "forceNamespace": g.Prefix + "forced", "version": "1.2.3", "devel": true,
	}, r)
	g.some(4, table{"keyring": "keys.gpg", "plainHttp": true}, r)
	g.some(1, table{"verify": true}, r) // helm refuses it
	g.some(30, table{"updateStrategy": "reinstallIfForbidden"}, r)
	if g.Secrets != "" {
		g.some(25, table{"secrets": []any{"secrets.yaml"}}, r)
	}
	if g.HasDiff {
		g.some(25, table{"takeOwnership": true, "suppressOutputLineRegex": []any{"^x"}}, r)
		if g.Helm4 && g.chance(25) {
			r["serverSide"] = oneOf(g, "true", "false", "auto")
		}
	}
	switch g.IntN(12) {
	case 0:
		r["force"] = oneOf(g, true, false)
	case 1:
		if g.Helm4 {
			r["forceConflicts"], r["force"] = oneOf(g, true, false), false
		}
	case 2:
		r["installed"] = false
	case 3:
		g.Files["plain-"+name+"/deployment.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain-" + name + "}\n"
		r["chart"] = up + "/plain-" + name
		delete(r, "version")
	case 4:
		g.Files["kustomized-"+name+"/kustomization.yaml"] = "resources: [a.yaml]\nnamePrefix: p-\n"
		g.Files["kustomized-"+name+"/a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
		r["chart"] = up + "/kustomized-" + name
		delete(r, "version")
		delete(r, "set") // helmfile fails with it, and so it does with setString
		delete(r, "setString")
	}
	if g.chance(10) && !g.Helm4 {
		r["postRenderer"] = up + "/post/render.sh"
		if g.chance(50) {
			r["postRendererArgs"] = []any{"--of", name}
		}
	}
	if g.chance(25) {
		r["hooks"] = []any{table{"events": []any{"prepare", "presync", "postsync", "cleanup"}, "command": "echo", "args": []any{"{{`{{ .Event.Name }}`}}"}}}
	}
	target := table{"version": "v1", "kind": "ConfigMap", "name": name}
	if r["chart"] == up+"/charts/web" && r["forceNamespace"] == nil && g.chance(30) { // a patch does not find an object that is moved
		switch g.IntN(4) {
		case 0:
			r["strategicMergePatches"] = []any{table{"apiVersion": "v1", "kind": "ConfigMap", "metadata": table{"name": name}, "data": table{"patched": "yes"}}}
		case 1:
			r["jsonPatches"] = []any{table{"target": target, "patch": []any{table{"op": "add", "path": "/data/patched", "value": "json"}}}}
		case 2:
			r["transformers"] = []any{table{"apiVersion": "builtin", "kind": "AnnotationsTransformer", "metadata": table{"name": "n"},
				"annotations": table{"by": "transformer"}, "fieldSpecs": []any{table{"path": "metadata/annotations", "create": true}}}}
		case 3:
			r["dependencies"] = []any{table{"chart": up + "/charts/cache", "version": "0.1.0"}}
		}
	}
	return r
}

// values makes an entry of the values of a release.
func (g *Tree) values(r table, up, name string) any {
	switch g.IntN(9) {
	case 0:
		return g.inDirOf(up, name+".yaml", "# plain\ncolor: \"file\" # comment\nnested: {a: [1, null, x], empty: {}}\nport: \"8080\"\n")
	case 1:
		return g.inDirOf(up, name+".yaml.gotmpl", "color: {{ .Values.color }}\nrelease: {{ .Release.Name }}\nregion: {{ .Values.region | quote }}\n")
	case 2:
		r["missingFileHandler"] = oneOf(g, "Warn", "Info", "Debug")
		return "not-there.yaml"
	case 3:
		return table{"password": "ref+echo://hunter/two", "fromFile": "ref+file://" + up + "/secret.txt"}
	case 4:
		return table{"templated": "{{`{{ .Release.Name }}`}}", "region": "{{ .Values.region }}"}
	case 5:
		return g.inDirOf(up, name+".yaml", "ref: ref+echo://in/a/file\nkey: value\n")
	case 6:
		return g.inDirOf(up, name+".yaml", "")
	}
	return table{"color": oneOf(g, "a,b", "", "ünïcode", "true", "{x}"), "number": oneOf[any](g, 1, 1.5, 9007199254740993, "0123", nil), "list": []any{1, "two", table{"three": nil}}}
}

// inDirOf writes a file beside the helmfile.
func (g *Tree) inDirOf(up, name, text string) string {
	if up == ".." {
		g.Files["sub0/"+name], g.Files["sub1/"+name] = text, text
	} else {
		g.Files[name] = text
	}
	return name
}

// set makes an entry of set.
func (g *Tree) set(up string) any {
	switch g.IntN(5) {
	case 0:
		return table{"name": "a.b[0].c", "value": "x,y"}
	case 1:
		return table{"name": "list", "values": []any{"1", "two,three", "{four}"}}
	case 2:
		return table{"name": "whole", "file": up + "/secret.txt"}
	case 3:
		return table{"name": "secret", "value": "ref+echo://a/b"}
	}
	return table{"name": `anno.example\.com/x`, "value": "{{`{{.Release.Name}}`}}"}
}

// Change changes something that decides what helmfile does next, and returns what.
func (g *Tree) Change() string {
	defer func() {
		for name, documents := range g.documents {
			g.write(name, documents...)
		}
	}()
	r := g.releases[g.IntN(len(g.releases))]
	toggle := func(key string) string {
		isOn, _ := r[key].(bool)
		r[key] = !isOn
		return fmt.Sprintf("%s of %v becomes %t", key, r["name"], !isOn)
	}
	switch g.IntN(10) {
	case 0:
		g.Files["region.yaml"] = fmt.Sprintf("region: region%d\nlist: [1, %d]\n", g.IntN(9), g.IntN(9))
		return "values of all environments"
	case 1:
		g.Files["charts/web/values.yaml"] = fmt.Sprintf("color: grey\nreplicas: %d\n", 1+g.IntN(3))
		return "the values of the chart"
	case 2:
		g.Files["charts/web/templates/web.yaml"] = strings.Replace(chart, `settings: ""`, fmt.Sprintf("settings: %q", fmt.Sprint(g.IntN(9))), 1)
		return "a template of the chart"
	case 3:
		if r["installed"] == false {
			delete(r, "installed")
		} else if r["needs"] == nil {
			r["installed"] = false
		}
		return fmt.Sprintf("installed of %v becomes %v", r["name"], r["installed"])
	case 4:
		return toggle("createNamespace")
	case 5:
		if g.Helm4 && g.chance(50) {
			return toggle("forceConflicts")
		}
		return toggle("force")
	case 6:
		return toggle("atomic")
	case 7:
		return toggle("reuseValues")
	case 8: // the API server forbids this
		values, _ := r["values"].([]any)
		r["values"] = append(values, table{"service": fmt.Sprint("service", g.IntN(9))})
		return fmt.Sprintf("the serviceName of %v", r["name"])
	}
	values, _ := r["values"].([]any)
	r["values"] = append(values, table{"color": fmt.Sprint("changed", g.IntN(99)), "more": table{"number": g.IntN(9)}})
	return fmt.Sprintf("the values of %v", r["name"])
}

// chart is the template of the chart.
const chart = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {all: {{ toJson .Values | quote }}, settings: ""}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80, name: http}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: web, image: "nginx:1.27", env: [{name: COLOR, value: {{ .Values.color | toString | quote }}}]}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: {{ .Release.Name }}}
spec:
  serviceName: {{ .Values.service | default "web" }}
  selector: {matchLabels: {set: {{ .Release.Name }}}}
  template:
    metadata: {labels: {set: {{ .Release.Name }}}}
    spec: {containers: [{name: web, image: "nginx:1.27"}]}
`

// definition is a custom resource definition.
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
