package helmfile

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// generatedInputs makes helmfiles by chance, of what helmfile can do without a network.
func generatedInputs(t *testing.T, helm4 bool) (out []input) {
	t.Helper()
	var secrets []byte
	if *encrypted != "" {
		var err error
		if secrets, err = os.ReadFile(*encrypted); err != nil {
			t.Fatal(err)
		}
	}
	for seed := *firstSeed; seed < *firstSeed+*generated; seed++ {
		g := generator{Rand: rand.New(rand.NewPCG(uint64(seed), 34)), files: map[string]string{}, helm4: helm4, secrets: string(secrets)}
		in := input{name: fmt.Sprint("seed ", seed), file: g.helmfile(), mustRun: true, copy: func(t *testing.T, to string) {
			for name, text := range g.files {
				name = filepath.Join(to, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}}
		if g.IntN(2) == 0 {
			in.environment = "prod"
		}
		if strings.Contains(in.name, *onlyInputs) {
			out = append(out, in)
		}
	}
	return out
}

// generator makes the files of a helmfile.
type generator struct {
	*rand.Rand
	files    map[string]string
	releases int
	// name is that of the next release, if it is set.
	name  string
	helm4 bool
	// secrets is a file for helm-secrets, or empty without the plugins of Helm that these need: secrets and diff.
	secrets string
}

type table = map[string]any

func oneOf[T any](g *generator, all ...T) T { return all[g.IntN(len(all))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// write writes a file of YAML documents.
func (g *generator) write(name string, documents ...any) string {
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
	g.files[name] = text.String()
	return name
}

// helmfile writes all files and returns the name of the helmfile.
func (g *generator) helmfile() string {
	g.files["charts/web/Chart.yaml"] = "apiVersion: v2\nname: web\nversion: 1.2.3\n"
	g.files["charts/web/values.yaml"] = "color: grey\nreplicas: 1\n"
	g.files["charts/web/templates/web.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {all: {{ toJson .Values | quote }}}\n"
	g.files["charts/cache/Chart.yaml"] = "apiVersion: v2\nname: cache\nversion: 0.1.0\n"
	g.files["charts/cache/templates/cache.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-cache}\n"
	g.files["plain/deployment.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"
	g.files["kustomized/kustomization.yaml"] = "resources: [a.yaml]\nnamePrefix: p-\n"
	g.files["kustomized/a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	g.files["post/render.sh"] = "#!/bin/sh\ncat\n"
	g.files["secret.txt"] = "from a file"
	if g.secrets != "" {
		for _, folder := range []string{"", "sub0/", "sub1/"} {
			g.files[folder+"secrets.yaml"] = g.secrets
		}
	}
	g.files["region.yaml"] = "region: north\nlist: [1, 2]\n"
	environments := table{"default": table{"values": []any{"region.yaml", table{"color": "red"}}},
		"prod": table{"values": []any{"region.yaml", table{"color": "blue", "region": "south"}, "gone.yaml"}, "missingFileHandler": "Warn"}}
	if g.secrets != "" && g.chance(30) {
		environments["prod"].(table)["secrets"] = []any{"secrets.yaml"}
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
		g.write(name, table{"releases": g.someReleases("..", 1+g.IntN(2))})
		if g.chance(50) {
			g.files[name] = "bases:\n- ../defaults.yaml\n---\n" + g.files[name]
		}
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
func (g *generator) defaults() table {
	out := table{}
	for key, value := range map[string]any{
		"wait": true, "timeout": 30, "atomic": true, "createNamespace": false, "historyMax": 3, "enableDNS": true,
		"skipSchemaValidation": true, "reuseValues": true, "cleanupOnFail": true, "disableOpenAPIValidation": true, "syncArgs": []any{"--hide-notes --no-hooks"},
		"skipDeps": true, "recreatePods": true, "waitForJobs": true,
	} {
		if g.chance(15) && !(g.helm4 && key == "recreatePods") {
			out[key] = value
		}
	}
	switch g.IntN(6) {
	case 0:
		out["force"] = true
	case 1:
		if g.helm4 {
			out["forceConflicts"] = true
		}
	}
	return out
}

// someReleases makes releases for a helmfile in a folder from which up leads to the root.
func (g *generator) someReleases(up string, n int) (out []any) {
	for range n {
		out = append(out, g.release(up))
	}
	if first := out[0].(table); g.chance(30) { // the same name in another namespace
		g.releases, g.name = g.releases-1, first["name"].(string)
		other := g.release(up)
		other["namespace"], g.name = "another", ""
		out = append(out, other)
	}
	if len(out) > 1 && up == "." && g.chance(40) { // a selector of a nested helmfile may leave out what is needed
		first, second := out[0].(table), out[1].(table)
		if first["installed"] == nil && second["installed"] == nil {
			second["namespace"], second["kubeContext"] = "shop", "helmdrift-test"
			first["namespace"], first["kubeContext"] = "shop", "helmdrift-test"
			second["needs"] = []any{"helmdrift-test/shop/" + first["name"].(string)}
		}
	}
	return out
}

func (g *generator) release(up string) table {
	g.releases++
	name := cmp.Or(g.name, fmt.Sprint("web", g.releases))
	r := table{"name": name, "chart": up + "/charts/web", "labels": table{"tier": oneOf(g, "front", "back")}}
	if g.chance(60) {
		r["namespace"] = oneOf(g, "shop", "prod", "{{`{{ .Environment.Name }}`}}")
	}
	var values []any
	for i := range g.IntN(5) {
		values = append(values, g.values(r, up, fmt.Sprint(name, "-", len(g.files), "-", i)))
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
	for key, value := range map[string]any{
		"createNamespace": oneOf(g, true, false), "atomic": oneOf(g, true, false), "wait": true, "timeout": 7, "historyMax": 2, "reuseValues": true,
		"enableDNS": true, "skipSchemaValidation": true, "disableOpenAPIValidation": true, "description": "as {{`{{ .Release.Name }}`}}",
		"cleanupOnFail": true, "disableValidation": true, "suppressDiff": true, "kubeVersion": "1.30.0",
		"kubeContext": "helmdrift-test", "forceNamespace": "forced", "version": "1.2.3", "devel": true,
	} {
		if g.chance(12) {
			r[key] = value
		}
	}
	if g.secrets != "" {
		for key, value := range map[string]any{"secrets": []any{"secrets.yaml"}, "takeOwnership": true, "suppressOutputLineRegex": []any{"^x"}} {
			if g.chance(25) {
				r[key] = value
			}
		}
		if g.helm4 && g.chance(25) {
			r["serverSide"] = oneOf(g, "true", "false", "auto")
		}
	}
	switch g.IntN(12) {
	case 0:
		r["force"] = oneOf(g, true, false)
	case 1:
		if g.helm4 {
			r["forceConflicts"], r["force"] = oneOf(g, true, false), false
		}
	case 2:
		r["installed"] = false
	case 3:
		r["chart"] = up + "/plain"
		delete(r, "version")
	case 4:
		r["chart"] = up + "/kustomized"
		delete(r, "version")
		delete(r, "set") // helmfile fails with it, and so it does with setString
		delete(r, "setString")
	}
	if g.chance(10) && !g.helm4 {
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
func (g *generator) values(r table, up, name string) any {
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
func (g *generator) inDirOf(up, name, text string) string {
	if up == ".." {
		g.files["sub0/"+name], g.files["sub1/"+name] = text, text
	} else {
		g.files[name] = text
	}
	return name
}

// set makes an entry of set.
func (g *generator) set(up string) any {
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
