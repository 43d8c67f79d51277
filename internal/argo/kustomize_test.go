package argo_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// This file compares what kustomizations make with what the repo-server makes of them, object by object.

var (
	kustomizations = flag.Int("kustomizations", 100, "how many random kustomizations TestKustomizations builds")
	kustomizeTrees = flag.String("kustomize.trees", "", "a folder with repositories, whose kustomizations TestKustomizations builds, too")
	kustomizeOf    = flag.Int("kustomize.sample", 0, "how many of those TestKustomizations takes, by chance and -renderings.seed; 0 is all of them")
	recordedInto   = flag.String("kustomize.record", "", "a folder that gets the kustomizations that differ; testdata records all of them anew")
)

// kustomizeCase is case.yaml of a recorded kustomization: an Application. The other files are its repository, and want.json what the
// repo-server makes.
type kustomizeCase struct {
	Name, Namespace string
	Sources         []map[string]any
	Settings        map[string]string
	// Links are symbolic links of the repository, with what they lead to.
	Links map[string]string `json:",omitempty"`
}

// TestKustomizations builds random kustomizations.
func TestKustomizations(t *testing.T) {
	if *argocdPrograms == "" {
		t.Skip("-argocd names no folder: make argocd runs this test")
	}
	t.Setenv("PATH", *argocdPrograms+string(os.PathListSeparator)+os.Getenv("PATH"))
	server := startArgoCD(t)
	var all []*randomApplication
	for n := range *kustomizations {
		all = append(all, newRandomKustomization(t, n))
	}
	if *kustomizeTrees != "" {
		public := publicKustomizations(t, *kustomizeTrees)
		found := len(public)
		if *kustomizeOf > 0 && *kustomizeOf < found {
			rand.New(rand.NewPCG(*renderingSeed, 0)).Shuffle(found, func(i, j int) { public[i], public[j] = public[j], public[i] })
			public = public[:*kustomizeOf]
		}
		t.Logf("%d of %d kustomizations below %s, with seed %d", len(public), found, *kustomizeTrees, *renderingSeed)
		all = append(all, public...)
	}
	same, refused, objects, excused := 0, 0, 0, 0
	for n, a := range all {
		theirs, refusal := server.renderCopy(t, a)
		ours, err := a.render(t)
		var differs []string
		switch {
		case refusal != "" && err != nil:
			refused++
			t.Logf("%d: both refuse it: %v\n\ttheirs: %.300s", n, err, refusal)
		case refusal != "":
			differs = []string{"Argo CD refuses it, and helmdrift does not: " + refusal}
		case err != nil:
			differs = []string{"helmdrift refuses it, and Argo CD does not: " + err.Error()}
		default:
			differs = differences(theirs, theirs, ours)
			if left := slices.DeleteFunc(slices.Clone(differs), templateLabel.MatchString); len(left) < len(differs) {
				differs, excused = left, excused+1
			}
		}
		if len(differs) > 0 {
			t.Errorf("%d: theirs, then ours:\n%s\n%s", n, strings.Join(differs, "\n"), a)
			if *recordedInto != "" {
				record(t, filepath.Join(*recordedInto, fmt.Sprintf("differs-%d-%d.txtar", *renderingSeed, n)), a, theirs, refusal)
			}
		} else if refusal == "" {
			same++
			objects += len(ours)
		}
	}
	t.Logf("%d kustomizations: %d are the same, with %d objects; Argo CD and helmdrift refuse %d; the labels of templates of claims are excused in %d",
		len(all), same, objects, refused, excused)
	if excused > len(all)/6 { // of the first 100 random ones, 14 have such a template
		t.Errorf("%d of %d are excused", excused, len(all))
	}
}

// templateLabel matches a difference that is excused: a label of a template of a claim that this judge has and helmdrift does not. The
// judge runs kustomize 5.8.1, which sets the labels of includeTemplates there. Argo CD 3.6.1 has 5.8.3, which does not.
var templateLabel = regexp.MustCompile(`^/apps/v1 StatefulSet [^ ]+/spec/volumeClaimTemplates/\d+/metadata/labels(/[^:]+)?: .*, null$`)

// renderCopy returns what Argo CD makes of a copy of the repository, since it changes the files of a kustomization.
func (c argoCD) renderCopy(t *testing.T, a *randomApplication) (objects map[string]any, refusal string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	of := *a
	of.root = filepath.Join(root, "repository")
	defer func() { _ = os.RemoveAll(of.root) }() // a thousand of them fill a disk
	if err := os.CopyFS(of.root, os.DirFS(a.root)); err != nil {
		t.Fatal(err)
	}
	return c.render(t, &of)
}

// TestRecordedKustomizations renders the kustomizations below testdata/kustomize, and the charts and folders below testdata/sources, which
// the repo-server has rendered.
func TestRecordedKustomizations(t *testing.T) {
	names, err := filepath.Glob("testdata/kustomize/*.txtar")
	sources, otherErr := filepath.Glob("testdata/sources/*.txtar")
	if min(len(names), len(sources)) < 10 || err != nil || otherErr != nil {
		t.Fatalf("%d kustomizations, %d other sources, %v, %v", len(names), len(sources), err, otherErr)
	}
	names = append(names, sources...)
	var server *argoCD
	if *recordedInto != "" && *argocdPrograms != "" {
		t.Setenv("PATH", *argocdPrograms+string(os.PathListSeparator)+os.Getenv("PATH"))
		started := startArgoCD(t)
		server = &started
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, want := recorded(t, name)
			if server != nil {
				objects, refusal := server.renderCopy(t, a)
				record(t, name, a, objects, refusal)
				_, want = recorded(t, name)
			}
			ours, err := a.render(t)
			got := recording{Objects: ours}
			if err != nil {
				got = recording{Objects: map[string]any{}, Refused: true}
				t.Log(err)
			}
			if diff := cmp.Diff(asText(want), asText(got)); diff != "" {
				t.Errorf("theirs, then ours:\n%s", strings.Join(differences(want.Objects, want.Objects, got.Objects), "\n"))
			}
		})
	}
}

// recording is want.json.
type recording struct {
	Objects map[string]any
	Refused bool `json:",omitempty"`
}

// recorded reads a recorded kustomization.
func recorded(t *testing.T, name string) (*randomApplication, recording) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var c kustomizeCase
	var want recording
	a := &randomApplication{root: root, revision: "0123456789abcdef0123456789abcdef01234567", server: "v1.36.3", files: map[string]string{}}
	for _, file := range archive.Files {
		switch file.Name {
		case "case.yaml":
			err = yaml.UnmarshalStrict(file.Data, &c)
		case "want.json":
			err = json.Unmarshal(file.Data, &want)
		default:
			a.files[file.Name] = string(file.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a.name, a.namespace, a.sources, a.settings, a.links = c.Name, c.Namespace, c.Sources, c.Settings, c.Links
	a.write(t)
	return a, want
}

// record writes a kustomization with what the repo-server makes of it.
func record(t *testing.T, name string, a *randomApplication, objects map[string]any, refusal string) {
	t.Helper()
	text, err := yaml.Marshal(kustomizeCase{a.name, a.namespace, a.sources, a.settings, a.links})
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(recording{objects, refusal != ""}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	archive := &txtar.Archive{Files: []txtar.File{{Name: "case.yaml", Data: text}}}
	for _, file := range slices.Sorted(maps.Keys(a.files)) {
		archive.Files = append(archive.Files, txtar.File{Name: file, Data: []byte(a.files[file])})
	}
	archive.Files = append(archive.Files, txtar.File{Name: "want.json", Data: append(want, '\n')})
	if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// publicKustomizations returns an Application for each folder with a kustomization below a folder.
func publicKustomizations(t *testing.T, dir string) (out []*randomApplication) {
	t.Helper()
	roots, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range roots {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, d.Name()) {
				return err
			}
			if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), "kind: Component") {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(name))
			out = append(out, &randomApplication{root: root, revision: "0123456789abcdef0123456789abcdef01234567", name: "web", namespace: "shop", server: "v1.36.3",
				sources: []map[string]any{{"repoURL": "https://git.example.com/" + entry.Name(), "path": filepath.ToSlash(folder), "targetRevision": "main"}}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// newRandomKustomization makes the nth repository with an overlay in overlays/prod, and an Application for it.
func newRandomKustomization(t *testing.T, n int) *randomApplication {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &randomApplication{Rand: rand.New(rand.NewPCG(*renderingSeed, uint64(n))), root: root, revision: "0123456789abcdef0123456789abcdef01234567",
		name: "web", namespace: "shop", server: "v1.36.3", settings: map[string]string{}, files: map[string]string{}}
	source := map[string]any{"repoURL": "https://git.example.com/team/shop", "path": "overlays/prod", "targetRevision": "main"}
	a.sources = []map[string]any{source}
	a.varyInstance()
	a.addBase()
	a.addOverlay()
	if n%10 > 0 {
		if options := a.kustomizeOptions(); a.percent(20) {
			a.files["overlays/prod/"+one(a, ".argocd-source.yaml", ".argocd-source-web.yaml")] = asYAML(map[string]any{"kustomize": options})
			if a.percent(50) {
				source["kustomize"] = a.kustomizeOptions()
			}
		} else {
			source["kustomize"] = options
		}
	}
	a.write(t)
	return a
}

// varyInstance changes the name of the Application and the settings of Argo CD.
func (a *randomApplication) varyInstance() {
	a.name = one(a, "web", "web", "prod.web")
	a.namespace = one(a, "shop", "shop", "kube-system")
	a.varyTracking()
	if a.percent(50) {
		a.settings["kustomize.buildOptions"] = one(a, "--enable-helm", "--load-restrictor LoadRestrictionsNone", "--load-restrictor=LoadRestrictionsRootOnly",
			"--enable-helm --load-restrictor=LoadRestrictionsNone", "--enable-alpha-plugins", "--reorder none", "--reorder=legacy --enable-helm")
		if a.percent(5) {
			a.settings["kustomize.buildOptions"] = "--no-such-option"
		}
	}
}

// baseObjects are objects of the base.
var baseObjects = map[string]string{
	"web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: init, image: "busybox:1.36"}]
      containers:
      - {name: web, image: "registry.example.com/web:1.0", envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: token}}]}
      - {name: side, image: "side@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3"}
`,
	"state.yaml": `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: postgres}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 5432}]}
`,
	"plain.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: plain, annotations: {note: "a: b", argocd.argoproj.io/sync-wave: "1"}}
data: {a: "0123", b: "two\nlines\n", c: "yes", d: ""}
`,
	"list.yaml": `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: first}, data: {n: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: elsewhere}, data: {n: "2"}}
`,
	"hook.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: busybox}]}}}
`,
	"roles.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: web}
subjects: [{kind: ServiceAccount, name: web, namespace: default}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: web}
rules: []
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
`,
	"crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: one}
spec: {size: 10, ratio: 1.5, on: true, image: "busybox:1"}
`,
}

// addBase adds the folder base, two components and files that generators read.
func (a *randomApplication) addBase() {
	base := map[string]any{}
	var resources []string
	for _, name := range slices.Sorted(maps.Keys(baseObjects)) {
		if name == "web.yaml" || a.percent(45) {
			a.files["base/"+name] = baseObjects[name]
			resources = append(resources, name)
		}
	}
	base["resources"] = resources
	base["configMapGenerator"] = []any{map[string]any{"name": "settings", "literals": []string{"A=1", "B=x=y"}}}
	base["secretGenerator"] = []any{map[string]any{"name": "token", "literals": []string{"token=abc"}}}
	if a.percent(25) {
		base["commonLabels"] = map[string]string{"team": "shop"}
	}
	if a.percent(20) {
		base["images"] = []any{map[string]any{"name": "busybox", "newTag": "1.37"}}
	}
	a.files["base/"+one(a, "kustomization.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization")] = asYAML(base)
	const component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	a.files["components/one/kustomization.yaml"] = component + "patches:\n- {patch: '- {op: add, path: /spec/paused, value: true}', target: {kind: Deployment}}\n"
	a.files["components/two/kustomization.yaml"] = component + "resources: [more.yaml]\nreplicas: [{name: web, count: 4}]\n"
	a.files["components/two/more.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {a: b}\n"
	a.files["shared/env.txt"] = "C=3\nD=four words\n"
	a.files["overlays/prod/env.txt"] = "# a comment\nE=5\n"
}

// addOverlay adds the kustomization of overlays/prod.
func (a *randomApplication) addOverlay() {
	const dir = "overlays/prod/"
	k := map[string]any{"resources": []string{"../../base"}}
	some := func(percent int, field string, values ...any) {
		if a.percent(percent) {
			k[field] = one(a, values...)
		}
	}
	some(30, "namePrefix", "prod-", "a.")
	some(25, "nameSuffix", "-v1")
	some(40, "namespace", "shop", "other")
	some(35, "images", []any{map[string]any{"name": "registry.example.com/web", "newTag": "2.0"}},
		[]any{map[string]any{"name": "busybox", "newName": "mirror.example.com/busybox", "digest": "sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3"},
			map[string]any{"name": "postgres", "newTag": "16"}},
		[]any{map[string]any{"name": "web2", "newTag": "z"}, map[string]any{"name": "registry.example.com/web", "newName": "web2"}})
	some(25, "replicas", []any{map[string]any{"name": "web", "count": 3}}, []any{map[string]any{"name": "web", "count": 0}})
	some(25, "commonLabels", map[string]string{"tier": "front"}, map[string]string{"team": "other", "tier": "back"})
	some(30, "labels", []any{map[string]any{"pairs": map[string]string{"team": "x"}}}, []any{map[string]any{"pairs": map[string]string{"own": "1"}, "includeTemplates": true}},
		[]any{map[string]any{"pairs": map[string]string{"own": "2"}, "includeSelectors": true}, map[string]any{"pairs": map[string]string{"f": "g"}, "fields": []any{map[string]any{"path": "spec/labels", "create": true}}}})
	some(25, "commonAnnotations", map[string]string{"note": "overlay"}, map[string]string{"owner": "me: you"})
	some(30, "patches", []any{map[string]any{"path": "patch.yaml"}}, []any{map[string]any{"patch": "- {op: replace, path: /spec/replicas, value: 7}\n", "target": map[string]any{"kind": "Deployment", "name": "web"}}})
	some(10, "patchesStrategicMerge", []string{"patch.yaml"})
	some(20, "components", []string{"../../components/one"}, []string{"../../components/two"})
	some(20, "configMapGenerator", []any{map[string]any{"name": "settings", "behavior": "merge", "literals": []string{"A=2"}}},
		[]any{map[string]any{"name": "files", "files": []string{"patch.yaml", "other.txt=patch.yaml"}}}, []any{map[string]any{"name": "envs", "envs": []string{one(a, "../../shared/env.txt", "env.txt", "env.txt")}}})
	some(10, "secretGenerator", []any{map[string]any{"name": "token", "behavior": "replace", "literals": []string{"token=new"}}})
	some(10, "generatorOptions", map[string]any{"disableNameSuffixHash": true}, map[string]any{"labels": map[string]string{"made": "yes"}})
	some(8, "replacements", []any{map[string]any{"source": map[string]any{"kind": "Deployment", "name": "web", "fieldPath": "spec.replicas"},
		"targets": []any{map[string]any{"select": map[string]any{"kind": "Deployment"}, "fieldPaths": []string{"spec.minReadySeconds"}, "options": map[string]any{"create": true}}}}})
	some(8, "buildMetadata", []string{"originAnnotations"}, []string{"transformerAnnotations"})
	some(5, "sortOptions", map[string]any{"order": "fifo"})
	some(1, "unknownField", 1)
	a.files[dir+"patch.yaml"] = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, resources: {limits: {cpu: 100m}}}]}}}\n"
	if a.percent(20) {
		k["resources"] = append([]string{"extra.yaml"}, "../../base")
		a.files[dir+"extra.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {a: b}\n"
	}
	if a.percent(5) {
		delete(k, "resources")
		k["bases"] = []string{"../../base"}
	}
	name := one(a, "kustomization.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization")
	a.files[dir+name] = asYAML(k)
	switch {
	case a.percent(4):
		a.files[dir+name] = one(a, "", "{}\n", "kind: Kustomization\n")
	case a.percent(3):
		a.files[dir+one(a, "kustomization.yaml", "kustomization.yml", "Kustomization")] = asYAML(k)
	case a.percent(4):
		a.files[dir+"Chart.yaml"] = "{apiVersion: v2, name: web, version: 1.0.0}\n"
	}
}

// kustomizeOptions returns what the Application changes in the kustomization.
func (a *randomApplication) kustomizeOptions() map[string]any {
	out := map[string]any{}
	some := func(percent int, field string, values ...any) {
		if a.percent(percent) {
			out[field] = one(a, values...)
		}
	}
	some(30, "namePrefix", "app-", "-x", "")
	some(25, "nameSuffix", "-blue")
	some(25, "namespace", "forced", "UPPER")
	some(50, "images", []string{"busybox:1.38"}, []string{"busybox=mirror.example.com/b:2"}, []string{"registry.example.com/web:$ARGOCD_APP_REVISION_SHORT", "side=side:3"},
		[]string{"busybox=*:9"}, []string{"busybox=mirror.example.com/b:*"}, []string{"postgres@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3"},
		[]string{"registry.example.com/web=web2", "web2:late"}, []string{"busybox:1", "busybox:2"}, []string{"localhost:5000/x=y:1"})
	some(25, "replicas", []any{map[string]any{"name": "web", "count": 5}}, []any{map[string]any{"name": "web", "count": "6"}})
	some(40, "commonLabels", map[string]string{"team": "argo"}, map[string]string{"env": "prod", "own": "argo"}, map[string]string{"app": "renamed"},
		map[string]string{"ref": "${ARGOCD_APP_NAME}-x", "quoted": `"q"`}, map[string]string{"colon": "a:b", "empty": ""})
	some(40, "forceCommonLabels", true, false)
	some(40, "labelWithoutSelector", true)
	if out["labelWithoutSelector"] == true || a.percent(5) {
		some(50, "labelIncludeTemplates", true)
	}
	some(40, "commonAnnotations", map[string]string{"note": "argo"}, map[string]string{"rev": "$ARGOCD_APP_REVISION", "path": "${ARGOCD_APP_SOURCE_PATH}$$x"}, map[string]string{"text": "two\nlines", "n": "1"})
	some(40, "forceCommonAnnotations", true)
	some(40, "commonAnnotationsEnvsubst", true)
	some(30, "patches", []any{map[string]any{"target": map[string]any{"kind": "Deployment"}, "patch": "- {op: add, path: /metadata/annotations, value: {patched: \"yes\"}}\n"}},
		[]any{map[string]any{"path": "patch.yaml", "target": map[string]any{"kind": "Deployment", "labelSelector": "app=web"}}},
		[]any{map[string]any{"patch": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {b: null, e: argo}\n"}},
		[]any{map[string]any{"target": map[string]any{"kind": "Deployment", "name": "web"}, "options": map[string]any{"allowNameChange": true}, "patch": "- {op: replace, path: /metadata/name, value: renamed}\n"}},
		[]any{map[string]any{"patch": "- {op: test, path: /kind, value: Deployment}\n", "target": map[string]any{"name": "w.*"}}})
	some(35, "components", []string{"../../components/one"}, []string{"../../components/*"}, []string{"../../components/t?o", "./../../components/one"})
	if a.percent(15) {
		out["components"] = one(a, []string{"../../components/one", "../../components/none", "https://example.com/x"},
			[]string{"../../components/none", "../../components/two", "../../components/one"}, []string{"../../shared", "../../components/*", "../../components/two"})
		out["ignoreMissingComponents"] = true
	}
	if a.percent(15) { // what Argo CD or kustomize refuses
		bad := map[string]any{"replicas": []any{map[string]any{"name": "web", "count": "many"}}, "images": one(a, []string{"-f"}, []string{"busybox"}, []string{""}), "version": "v4.5.7",
			"components": one(a, []string{"../../components/none"}, []string{"../../components/t?o/"}), "patches": []any{map[string]any{"path": "no.yaml"}},
			"commonLabels": one(a, map[string]string{"-a": "b"}, map[string]string{"": "b"})}
		field := one(a, slices.Sorted(maps.Keys(bad))...)
		out[field] = bad[field]
	}
	return out
}
