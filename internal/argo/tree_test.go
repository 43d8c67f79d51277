package argo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/appset"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/reread"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// readYAML decodes an object.
func readYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// head begins an Application in flow style.
const head = "{apiVersion: argoproj.io/v1alpha1, kind: Application, "

// TestMergedOver writes Applications of a tree over those of a cluster. Each has the spec as YAML.
func TestMergedOver(t *testing.T) {
	for name, c := range map[string]struct {
		// applied is the spec of the last client-side apply, and owned are the managed fields of spec.
		live, applied, owned, made, want string
	}{
		"the tree wins":               {live: "{a: 1, b: 2}", made: "{a: 3}", want: "{a: 3, b: 2}"},
		"what was applied is removed": {live: "{a: 1, b: 2, c: 3}", applied: "{a: 1, b: 2}", made: "{a: 1}", want: "{a: 1, c: 3}"},
		"lists are replaced":          {live: "{l: [1, 2]}", applied: "{l: [1]}", made: "{l: [3]}", want: "{l: [3]}"},
		"inside":                      {live: "{s: {a: 1, b: 2}}", applied: "{s: {a: 1}}", made: "{s: {c: 3}}", want: "{s: {b: 2, c: 3}}"},
		"what was applied by the server is removed": {live: "{a: 1, b: 2, c: 3}", owned: "{f:a: {}, f:b: {}}", made: "{a: 1}", want: "{a: 1, c: 3}"},
		"nothing changes":                 {live: "{a: 1}", applied: "{a: 1}", made: "{a: 1}", want: "{a: 1}"},
		"a source becomes several":        {live: "{source: {path: x}}", applied: "{source: {path: x}}", made: "{sources: [{path: x}]}", want: "{sources: [{path: x}]}"},
		"a large number keeps its digits": {live: "{a: 1}", made: "{a: 9007199254740993}", want: "{a: 9007199254740993}"},
	} {
		t.Run(name, func(t *testing.T) {
			live := readYAML(t, head+"metadata: {name: web, labels: {a: live, b: live}}, status: {x: 1}, operation: {sync: {}}, spec: "+c.live+"}")
			if c.applied != "" {
				text, _ := json.Marshal(readYAML(t, "{metadata: {name: web}, spec: "+c.applied+"}"))
				object.Child(live, "metadata")["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(text)}
			}
			if c.owned != "" {
				object.Child(live, "metadata")["managedFields"] = []any{readYAML(t,
					"{manager: argocd-controller, operation: Apply, apiVersion: argoproj.io/v1alpha1, fieldsType: FieldsV1, fieldsV1: {f:spec: "+c.owned+"}}")}
			}
			got, err := mergedOver(live, readYAML(t, head+"metadata: {name: web, labels: {a: tree}}, spec: "+c.made+"}"))
			if err != nil {
				t.Fatal(err)
			}
			want := readYAML(t, "{status: {x: 1}, operation: {sync: {}}, labels: {a: tree, b: live}, spec: "+c.want+"}")
			is := map[string]any{"status": got["status"], "operation": got["operation"], "labels": object.Child(object.Child(got, "metadata"), "labels"), "spec": got["spec"]}
			x, _ := json.Marshal(want)
			y, _ := json.Marshal(is)
			if diff := cmp.Diff(string(x), string(y)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fakeCluster has Applications.
type fakeCluster struct {
	drift.Cluster
	objects map[object.Ref]map[string]any
}

func (c fakeCluster) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Object: c.objects[ref]}
	}
	return out
}

func (c fakeCluster) List(_ context.Context, kind schema.GroupVersionKind, namespace string) (out []map[string]any, err error) {
	for ref, o := range c.objects {
		if ref.Kind == kind.Kind && ref.Namespace == namespace {
			out = append(out, o)
		}
	}
	return out, nil
}

func (c fakeCluster) Scope(schema.GroupVersionKind) (namespaced, known bool) { return true, true }

// clusterOf has objects of Argo CD.
func clusterOf(live []map[string]any) fakeCluster {
	c := fakeCluster{objects: map[object.Ref]map[string]any{}}
	for _, o := range live {
		c.objects[object.RefOf(o)] = o
	}
	return c
}

// appOf is an Application whose source is a folder of the tree.
func appOf(name, path, more string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec:\n  destination: {namespace: argocd}\n" +
		"  source: {repoURL: 'https://git.example.com/shop', path: " + path + more + "}\n"
}

// treeOf searches a tree of files.
func treeOf(t *testing.T, files map[string]string, links map[string]string, live ...map[string]any) *Tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		writeFile(t, filepath.Join(root, name), text)
	}
	for from, to := range links {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	c := clusterOf(live)
	q := Question{Namespace: "team", ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
		return render.ReadDocuments(r.Manifest), nil
	}}
	of := worktree.Tree{Root: root, Remotes: []string{"git@git.example.com:shop.git"}}
	tree, err := NewTree(context.Background(), drift.Connection{Cluster: c}, q, filepath.Join(root, "roots"), of,
		func(_ context.Context, o appset.Order) (appset.Answer, error) { return appset.Build(o) })
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// titles returns the Applications of a tree.
func titles(tree *Tree) (out []string) {
	for _, a := range tree.all() {
		out = append(out, a.Metadata.Namespace+"/"+a.Metadata.Name)
	}
	return out
}

// TestReplacedOver has an Application that a set makes, over one of the cluster: what the set says, what its controller may do, and what
// becomes of the annotations, labels and finalizers, of spec.project, and of what the report says.
func TestReplacedOver(t *testing.T) {
	const owned = "ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: set, controller: true}]"
	for name, c := range map[string]struct {
		policy, live, controller string
		preserved                api.Preserved
		want, kept               string
	}{
		"what the set does not say goes": {live: owned + ", labels: {a: live, b: live}, annotations: {c: live}, finalizers: [x]", want: "labels: {a: tree}, finalizers: [tree]"},
		"what the set preserves stays": {live: owned + ", labels: {a: live, b: live}, annotations: {c: live, d: live}", want: "labels: {a: live}, annotations: {c: live}, finalizers: [tree]",
			preserved: api.Preserved{Annotations: []string{"c", "e"}, Labels: []string{"a"}}},
		"what Argo CD itself keeps": {live: owned + ", annotations: {notified.notifications.argoproj.io: live, argocd.argoproj.io/refresh: live}, finalizers: [post-delete-finalizer.argocd.argoproj.io/cleanup]",
			want: "labels: {a: tree}, annotations: {argocd.argoproj.io/refresh: live, notified.notifications.argoproj.io: live}, finalizers: [tree, post-delete-finalizer.argocd.argoproj.io/cleanup]"},
		"what the controller preserves": {live: owned + ", labels: {b: live, c: live}, annotations: {b: live, c: live}", want: "labels: {a: tree, b: live}, annotations: {c: live}, finalizers: [tree]",
			controller: "data: {applicationsetcontroller.global.preserved.annotations: 'c, d', applicationsetcontroller.global.preserved.labels: b}"},
		"a set that updates nothing": {live: owned + ", labels: {a: live}", policy: "create-delete", want: "labels: {a: live}",
			kept: "ApplicationSet argocd/set changes no Application that exists (applicationsSync: create-delete), so what the tree says about this one does not count"},
		"a set that may update": {live: owned, policy: "create-update", want: "labels: {a: tree}, finalizers: [tree]"},
		"a controller that updates nothing": {live: owned, policy: "sync", controller: "data: {applicationsetcontroller.policy: create-only}",
			kept: "ApplicationSet argocd/set changes no Application that exists (the policy create-only of its controller), so what the tree says about this one does not count"},
		"a controller whose policy does not count": {live: owned, policy: "sync", want: "labels: {a: tree}, finalizers: [tree]",
			controller: "data: {applicationsetcontroller.policy: create-only, applicationsetcontroller.enable.policy.override: 'true'}"},
		"one that nobody owns is adopted": {live: "labels: {a: live}", policy: "create-only", want: "labels: {a: tree}, finalizers: [tree]"},
		"one of another set": {live: strings.Replace(owned, "name: set", "name: other", 1),
			kept: "ApplicationSet argocd/set makes this Application, but cannot change it: it belongs to ApplicationSet other"},
	} {
		t.Run(name, func(t *testing.T) {
			live := readYAML(t, head+"metadata: {name: web, namespace: argocd, "+c.live+"}, spec: {project: live}}")
			made := &madeApp{content: readYAML(t, head+"metadata: {name: web, namespace: argocd, labels: {a: tree}, finalizers: [tree]}, spec: {project: tree}}")}
			made.By, made.Set, made.Policy, made.Preserved = "ApplicationSet argocd/set", "set", c.policy, c.preserved
			var err error
			made.controller, err = api.ReadSetController(t.Context(), clusterOf([]map[string]any{
				readYAML(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cmd-params-cm, namespace: argocd}, "+c.controller+"}"),
			}), "argocd")
			if err != nil {
				t.Fatal(err)
			}
			content, kept, err := made.contentOver(live)
			if err != nil {
				t.Fatal(err)
			}
			is, _ := object.Copy(object.Child(content, "metadata")).(map[string]any)
			for _, field := range []string{"name", "namespace", "ownerReferences"} {
				delete(is, field)
			}
			project := map[bool]string{true: "live", false: "tree"}[c.kept != ""]
			want := readYAML(t, "{metadata: {"+c.want+"}, kept: '"+c.kept+"', spec: {project: "+project+"}}")
			if diff := cmp.Diff(want, map[string]any{"metadata": is, "kept": kept, "spec": content["spec"]}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestTree has trees whose Applications make others.
func TestTree(t *testing.T) {
	chain := map[string]string{}
	for i := range maxMakers + 3 {
		chain[fmt.Sprintf("d%d/x.yaml", i)] = appOf(fmt.Sprintf("a%02d", i), fmt.Sprintf("d%d", i+1), "")
	}
	chain["roots/x.yaml"] = appOf("root", "d0", "")
	for name, c := range map[string]struct {
		files, links map[string]string
		live         []map[string]any
		want         []string
		fails        string
	}{
		"a child": {files: map[string]string{"roots/x.yaml": appOf("root", "children", ""), "children/x.yaml": appOf("child", "apps", ""), "apps/x.yaml": "kind: ConfigMap"},
			want: []string{"argocd/child", "argocd/root"}},
		"a set of a child": {files: map[string]string{"roots/x.yaml": appOf("root", "children", ""), "children/x.yaml": "apiVersion: argoproj.io/v1alpha1\n" +
			"kind: ApplicationSet\nmetadata: {name: s}\nspec: {generators: [{list: {elements: [{a: b}]}}], template: {metadata: {name: 'x-{{a}}'}, spec: {destination: {name: in-cluster}}}}\n"},
			want: []string{"argocd/root", "argocd/x-b"}},
		"a cycle": {files: map[string]string{"roots/x.yaml": appOf("root", "children", ""), "children/x.yaml": appOf("child", "roots", "")},
			want: []string{"argocd/child", "argocd/root"}},
		"itself":    {files: map[string]string{"roots/x.yaml": appOf("root", "roots", "")}, want: []string{"argocd/root"}},
		"too deep":  {files: chain, want: []string{"argocd/a00", "argocd/a01", "argocd/a02", "argocd/a03", "argocd/a04", "argocd/a05", "argocd/a06", "argocd/a07", "argocd/root"}, fails: "more than 8 Applications make each other"},
		"only some": {files: map[string]string{"roots/x.yaml": appOf("root", "children", ", directory: {include: 'a*'}"), "children/a.yaml": appOf("a", "x", ""), "children/b.yaml": appOf("b", "x", "")}, want: []string{"argocd/a", "argocd/root"}},
		"in the namespace of the maker": {files: map[string]string{"roots/x.yaml": strings.Replace(appOf("root", "roots/children", ""), "namespace: argocd", "namespace: other", 1),
			"roots/children/x.yaml": appOf("child", "x", "")}, want: []string{"argocd/root", "other/child"}},
		"where the cluster has it": {files: map[string]string{"roots/x.yaml": appOf("root", "x", "")},
			live: []map[string]any{readYAML(t, "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: root, namespace: team}}")}, want: []string{"team/root"}},
		"twice": {files: map[string]string{"roots/x.yaml": appOf("root", "x", ""), "roots/y.yaml": appOf("root", "y", "")}, want: []string{"argocd/root"},
			fails: "roots/y.yaml: it makes Application argocd/root, and so does roots/x.yaml; only the first is compared"},
		"no name":                 {files: map[string]string{"roots/x.yaml": appOf(`"../x"`, "x", "")}, fails: `it makes an Application with the name "../x", which no object may have`},
		"a folder through a link": {files: map[string]string{"roots/x.yaml": appOf("root", "out", "")}, links: map[string]string{"out": "/etc"}, want: []string{"argocd/root"}},
		"outside":                 {files: map[string]string{"roots/x.yaml": appOf("root", "../..", "")}, want: []string{"argocd/root"}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := treeOf(t, c.files, c.links, c.live...)
			if diff := cmp.Diff(c.want, titles(tree)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, tree.Problems())
			}
			if all := strings.Join(tree.Problems(), "\n"); !strings.Contains(all, c.fails) || c.fails == "" && all != "" {
				t.Errorf("problems: %s, want %q", all, c.fails)
			}
		})
	}
}

// TestDoubts has trees, what of the cluster counts, the problems of the tree, and whether they keep the report of Application web from
// being complete.
func TestDoubts(t *testing.T) {
	const (
		template   = "  template: {metadata: {name: '{{.name}}'}, spec: {destination: {name: in-cluster}}}\n"
		list       = "  generators: [{list: {elements: [{name: web}]}}]\n"
		parameters = "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cmd-params-cm, namespace: argocd}, data: {"
		live       = head + "metadata: {name: web, namespace: argocd}, spec: {source: {targetRevision: v1, path: apps, repoURL: 'https://git.example.com/shop'}, destination: {namespace: argocd}}}"
	)
	set := func(more string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s, namespace: argocd}\nspec:\n  goTemplate: true\n" + template + more
	}
	files := func(pattern string) map[string]string {
		return map[string]string{"conf/x.json": `{"name": "web"}`, "roots/x.yaml": set("  generators: [{git: {repoURL: 'https://git.example.com/shop', files: [{path: '" + pattern + "'}]}}]\n")}
	}
	folders := map[string]string{"conf/web/x.json": "", "conf/.y/x.json": "",
		"roots/x.yaml": strings.Replace(set("  generators: [{git: {repoURL: 'https://git.example.com/shop', directories: [{path: 'conf/*'}]}}]\n"), ".name", ".path.basename", 1)}
	made := func(rule string) map[string]string {
		return map[string]string{"roots/x.yaml": appOf("root", "children", "") + "  ignoreDifferences: [{group: '*', kind: Application, " + rule + "}]\n",
			"children/x.yaml": appOf("web", "apps", ", targetRevision: v2"), "apps/x.yaml": "kind: ConfigMap"}
	}
	steps := set("  strategy: {type: RollingSync, rollingSync: {steps: [{}]}}\n" + list)
	for name, c := range map[string]struct {
		files map[string]string
		live  []string
		want  string
	}{
		"nothing":                {files: map[string]string{"roots/x.yaml": set(list)}},
		"differences of a set":   {files: map[string]string{"roots/x.yaml": set("  ignoreApplicationDifferences: [{jsonPointers: [/spec]}]\n" + list)}, want: "ignoreApplicationDifferences keeps fields"},
		"a kustomization":        {files: map[string]string{"roots/x.yaml": appOf("web", "x", ""), "roots/kustomization.yaml": ""}, want: "a kustomization is in its folder"},
		"twice":                  {files: map[string]string{"roots/x.yaml": appOf("web", "x", ""), "roots/y.yaml": appOf("web", "y", "")}, want: "only the first is compared"},
		"steps":                  {files: map[string]string{"roots/x.yaml": steps}, live: []string{parameters + "applicationsetcontroller.enable.progressive.syncs: 'true'}}"}, want: "Argo CD syncs its Applications step by step"},
		"steps without option":   {files: map[string]string{"roots/x.yaml": steps}},
		"option without steps":   {files: map[string]string{"roots/x.yaml": set(list)}, live: []string{parameters + "applicationsetcontroller.enable.progressive.syncs: 'true'}}"}},
		"other files":            {files: files("*.json"), live: []string{parameters + "applicationsetcontroller.enable.new.git.file.globbing: 'true'}}"}, want: "its patterns match other files"},
		"other files, no option": {files: files("*.json")},
		"the same files":         {files: files("conf/*.json"), live: []string{parameters + "applicationsetcontroller.enable.new.git.file.globbing: 'true'}}"}},
		"hidden folders":         {files: folders, live: []string{parameters + "reposerver.include.hidden.directories: 'true'}}"}, want: "its patterns match hidden folders"},
		"hidden, no option":      {files: folders},
		"the maker ignores":      {files: made("jsonPointers: [/spec/source/targetRevision]"), live: []string{live}, want: "it ignores differences of Application web"},
		"it ignores by jq":       {files: made("jqPathExpressions: [.spec.project]"), live: []string{live}, want: "it ignores differences of Application web"},
		"it ignores another":     {files: made("name: api, jsonPointers: [/spec/source/targetRevision]"), live: []string{live}},
		"it ignores what stays":  {files: made("jsonPointers: [/spec/source/path, /metadata/annotations/a~1b]"), live: []string{live}},
		"it makes a new one":     {files: made("jsonPointers: [/spec/source/targetRevision]")},
	} {
		t.Run(name, func(t *testing.T) {
			var live []map[string]any
			for _, text := range c.live {
				live = append(live, readYAML(t, text))
			}
			tree := treeOf(t, c.files, nil, live...)
			if all := strings.Join(tree.Problems(), "\n"); !strings.Contains(all, c.want) || c.want == "" && all != "" {
				t.Fatalf("problems: %s, want %q", all, c.want)
			}
			of := api.RefTo("Application", "argocd", "web").Key
			if tree.made[of] == nil {
				t.Fatal(titles(tree))
			}
			for _, problem := range tree.Problems() {
				if !tree.isInDoubt(of, problem) || tree.isInDoubt(api.RefTo("Application", "argocd", "root").Key, problem) {
					t.Errorf("whom is it about: %s", problem)
				}
			}
		})
	}
}

// TestManyApplications has sets that make more Applications than helmdrift takes.
func TestManyApplications(t *testing.T) {
	set := func(name string) string {
		elements := func(key string, n int) string {
			var out strings.Builder
			for i := range n {
				fmt.Fprintf(&out, "{%s: '%d'}, ", key, i)
			}
			return "{list: {elements: [" + strings.TrimSuffix(out.String(), ", ") + "]}}"
		}
		return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: " + name + "}\nspec:\n  generators: [{matrix: {generators: [" +
			elements("a", 100) + ", " + elements("b", 60) + "]}}]\n" +
			"  template: {metadata: {name: '" + name + "-{{a}}-{{b}}'}, spec: {destination: {name: in-cluster}, source: {repoURL: 'https://git.example.com/shop', path: x}}}\n"
	}
	tree := treeOf(t, map[string]string{"roots/a.yaml": set("a"), "roots/b.yaml": set("b"), "x/x.yaml": "kind: ConfigMap"}, nil)
	if all := strings.Join(tree.Problems(), "\n"); len(tree.all()) != maxApplications || !strings.Contains(all, "more than 10000 Applications") {
		t.Error(len(tree.all()), all)
	}
}

// failing is a cluster that does not answer the first times.
type failing struct {
	fakeCluster
	// calls counts the requests. Those before the number works fail.
	calls, works *int
}

func (c failing) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	if *c.calls++; *c.calls >= *c.works {
		return c.fakeCluster.Read(ctx, wanted)
	}
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Err: &report.ObjectError{Message: "the server is overloaded"}}
	}
	return out
}

// TestReadAgain reads what Argo CD is told once more if it could not be read: the next Application does not have the error of the first.
// After the third error, it sends no more requests.
func TestReadAgain(t *testing.T) {
	ofSettings := func(tree *Tree, from drift.Connection) error {
		_, err := tree.settingsOf(t.Context(), from, "argocd")
		return err
	}
	ofController := func(tree *Tree, from drift.Connection) error {
		_, err := tree.controllerOf(t.Context(), from, "argocd")
		return err
	}
	for i, read := range []func(*Tree, drift.Connection) error{ofSettings, ofController} {
		for works, want := range map[int]string{2: "failed, read, read, ", 100: "failed, failed, failed, failed, failed, "} {
			tree := &Tree{}
			calls, got := 0, ""
			for range strings.Count(want, ",") {
				if read(tree, drift.Connection{Cluster: failing{clusterOf(nil), &calls, &works}}) != nil {
					got += "failed, "
				} else {
					got += "read, "
				}
			}
			if got != want || works == 100 && calls != reread.Attempts {
				t.Errorf("%d: %s after %d requests, want %s", i, got, calls, want)
			}
		}
	}
}

// TestTreeFolder refuses folders that are not in the tree, and files of the repository itself.
func TestTreeFolder(t *testing.T) {
	tree := treeOf(t, map[string]string{"roots/x.yaml": "", "charts/web/values.yaml": "a: b", ".git/config": "secret"},
		map[string]string{"out": "/etc", "git": ".git", "charts/web/git.yaml": "../../.git/config", "in": "charts/web"})
	for path, fails := range map[string]string{
		"charts/web": "", "in": "", ".": "", "../x": "is outside of the repository", "out": "is a link that leads out of the working tree",
		".git": "is a link that leads out", "git": "is a link that leads out", "missing": "the working tree has no folder missing",
	} {
		_, err := source.In(tree.Root, api.Source{Path: path}, "the working tree")
		if got := fmt.Sprint(err); fails == "" && err != nil || !strings.Contains(got, fails) {
			t.Errorf("%s: %v, want %q", path, err, fails)
		}
	}
	for _, name := range []string{"charts/web/git.yaml", ".git/config", "out/hostname"} {
		if text, err := source.ReadWithin(tree.Root, filepath.Join(tree.Root, name)); err == nil {
			t.Errorf("%s is read: %s", name, text)
		}
	}
}

// TestIsForeign says which repositories get no credentials of the user.
func TestIsForeign(t *testing.T) {
	made := &madeApp{content: readYAML(t, appOf("web", "x", ""))}
	live := readYAML(t, appOf("web", "x", ""))
	if a := made.over(live); a.IsForeign("https://git.example.com/shop") || !a.IsForeign("https://evil.example.com") {
		t.Error("the cluster names one and not the other")
	}
	if a := made.over(nil); !a.IsForeign("https://git.example.com/shop") {
		t.Error("only the tree names it")
	}
	if a := api.Decoded(live); a.IsForeign("https://evil.example.com") {
		t.Error("there is no tree")
	}
}

// writeFile writes a file and its folders.
func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
