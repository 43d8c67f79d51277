package gitops

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/sourceignore"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/tree"
)

// TestTrees builds random trees with internal/flux/tree and with the libraries of kustomize-controller and source-controller, in the order
// of steps of the controllers. The objects must be equal, or both must refuse the tree. testdata/seeds.txt has trees that once differed.
func TestTrees(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // a loader of kustomize that ran git would not find the user's settings
	const trees = 300
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	var seeds []uint64
	for _, word := range strings.Fields(string(text)) {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed)
	}
	for seed := range uint64(trees) {
		seeds = append(seeds, seed)
	}
	refused, objects := 0, 0
	for _, seed := range seeds {
		r := randomTree(seed)
		root := t.TempDir()
		r.write(t, root)
		theirs, theirErr := r.judge(t, root)
		ours, ourErr := r.ours(t, root)
		switch {
		case (theirErr == nil) != (ourErr == nil):
			t.Errorf("seed %d: Flux says %v, helmdrift says %v\n%s", seed, theirErr, ourErr, r)
		case theirErr != nil:
			refused++
			t.Logf("seed %d: %v\n  %v", seed, theirErr, ourErr)
		default:
			objects += len(ours)
			if d := cmp.Diff(theirs, ours); d != "" {
				t.Errorf("seed %d: (-Flux +helmdrift)\n%s\n%s", seed, d, r)
			}
		}
	}
	t.Logf("%d trees with %d objects, and %d trees that both refuse", len(seeds)-refused, objects, refused)
	if refused < trees/20 || refused > trees/2 || objects < 2*trees {
		t.Error("too few of the trees test anything")
	}
}

// ours builds the tree of a Kustomization with helmdrift.
func (r *random) ours(t *testing.T, root string) ([]map[string]any, error) {
	t.Helper()
	order := tree.Order{Dir: filepath.Join(root, "cluster"), Root: root, Remotes: []string{"git@example.com:org/fleet.git"}}
	answer, err := tree.Build(context.Background(), order, tree.Outside{Lookup: func(_ context.Context, kind, _, name string) (map[string]any, error) {
		o := map[string]any{"kind": kind}
		data := map[string]any{}
		for id, text := range r.texts {
			if id[0] == kind && id[1] == name {
				data[id[2]] = encoded(kind, text)
				o["data"] = data
			}
		}
		if len(data) == 0 {
			return nil, nil
		}
		return o, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range answer.Problems {
		if p.Where == "Kustomization flux-system/apps" {
			return nil, errors.New(p.Message)
		}
	}
	var out []map[string]any
	for _, o := range answer.Objects {
		if o.Maker.Name == "apps" {
			out = append(out, o.Map())
		}
	}
	return out, nil
}

// judge does what the controllers do (fluxcd/source-controller v1.9.3 internal/controller/gitrepository_controller.go reconcileArtifact,
// fluxcd/kustomize-controller v1.9.4 internal/controller/kustomization_controller.go reconcile, build, apply).
func (r *random) judge(t *testing.T, root string) ([]map[string]any, error) {
	t.Helper()
	artifact := t.TempDir()
	if err := archive(root, artifact, r.ignore); err != nil {
		t.Fatal(err)
	}
	var spec unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(r.kustomization()), &spec.Object); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(artifact, filepath.Join("/", r.path))
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if _, err := kustomize.NewGenerator(artifact, spec).WriteFile(dir); err != nil {
		return nil, err
	}
	resources, err := kustomize.SecureBuild(artifact, dir, false)
	if err != nil {
		return nil, err
	}
	for _, res := range resources.Resources() {
		if r.postBuild == "" {
			continue
		}
		if err := substitute(t.Context(), store{texts: r.texts}, spec, resources, res, strings.Contains(r.postBuild, "Always")); err != nil {
			return nil, err
		}
	}
	objects, err := objectsOf(resources)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, o := range objects {
		owner := map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
		ssautil.SetCommonMetadata([]*unstructured.Unstructured{o}, owner, nil)
		if labels, found, _ := unstructured.NestedStringMap(spec.Object, "spec", "commonMetadata", "labels"); found {
			ssautil.SetCommonMetadata([]*unstructured.Unstructured{o}, labels, nil)
		}
		out = append(out, o.Object)
	}
	return out, nil
}

// substitute replaces the variables of an object as kustomize-controller does.
func substitute(
	ctx context.Context, from client.Client, spec unstructured.Unstructured, resources resmap.ResMap, res *resource.Resource, always bool,
) error {
	changed, err := kustomize.SubstituteVariables(ctx, from, spec, res, kustomize.SubstituteWithStrict(true), kustomize.SubstituteWithAlways(always))
	if err == nil && changed != nil {
		_, err = resources.Replace(res)
	}
	return err
}

// objectsOf returns the objects of a build as kustomize-controller reads them.
func objectsOf(resources resmap.ResMap) ([]*unstructured.Unstructured, error) {
	text, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	return ssautil.ReadObjects(bytes.NewReader(text))
}

// archive copies what source-controller keeps of a tree (fluxcd/pkg/artifact v0.18.1 storage/archive.go Archive, SourceIgnoreFilter).
func archive(from, to, ignore string) error {
	domain := strings.Split(from, string(filepath.Separator))
	patterns, err := sourceignore.LoadIgnorePatterns(from, domain)
	if err != nil {
		return err
	}
	patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(ignore), domain)...)
	matcher := sourceignore.NewDefaultMatcher(nil, domain)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(domain), patterns...))
	}
	return filepath.Walk(from, func(p string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		switch {
		case info.IsDir():
			return os.MkdirAll(target, 0o700)
		case !info.Mode().IsRegular() || matcher.Match(strings.Split(p, string(filepath.Separator)), false):
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}

// random is a random tree, and the Kustomization of Flux that builds a folder of it.
type random struct {
	*rand.Rand
	files     map[string]string
	links     map[string]string
	names     int
	folders   []string
	path      string
	spec      string
	postBuild string
	ignore    string
	texts     texts
}

// String shows the tree.
func (r *random) String() string {
	var out strings.Builder
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range r.files {
			if !yield(name) {
				return
			}
		}
	}) {
		fmt.Fprintf(&out, "-- %s --\n%s", name, r.files[name])
	}
	return out.String() + "links: " + fmt.Sprint(r.links)
}

// maybe is true with a chance of one in n.
func (r *random) maybe(n int) bool { return r.IntN(n) == 0 }

// pick returns one of some texts.
func (r *random) pick(from ...string) string { return from[r.IntN(len(from))] }

// write writes the tree.
func (r *random) write(t *testing.T, root string) {
	t.Helper()
	for name, text := range r.files {
		name = filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range r.links {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// kustomization returns the Kustomization of Flux.
func (r *random) kustomization() string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec:\n" +
		"  interval: 1m\n  prune: true\n  path: " + r.path + "\n  sourceRef: {kind: GitRepository, name: fleet}\n" + r.spec + r.postBuild
}

// randomTree makes the tree of a seed.
func randomTree(seed uint64) *random {
	source := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	r := &random{Rand: source, files: map[string]string{}, links: map[string]string{}, texts: texts{}}
	for range 1 + r.IntN(3) {
		r.folder(r.pick("apps", "base", "infra"), 0)
	}
	r.file("components/c/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"+
		r.pick("namePrefix: c-\n",
			"patches: [{patch: '[{\"op\": \"add\", \"path\": \"/metadata/annotations\","+
				" \"value\": {\"c\": \"d\"}}]', target: {kind: HelmRelease}}]\n",
			"configMapGenerator: [{name: c, namespace: x, literals: [a=b]}]\n"))
	r.path = r.pick(r.pick(r.folders...), "./"+r.pick(r.folders...), "../"+r.folders[0]+"/")
	if r.maybe(20) {
		r.path = r.pick("no/such", ".", r.path+"/../..")
	}
	r.settings()
	r.variables()
	if r.maybe(4) {
		r.ignore = r.pick("*.yml", "/"+r.folders[0]+"/*", "**/b.yaml", "sub/", "!a.yaml", "*\n!*.yaml\n!*/", "# nothing", "base/**")
	}
	if r.maybe(4) {
		r.file(path.Join(r.pick(append(r.folders, ".")...), ".sourceignore"), r.pick("b.yaml\n", "/a.yaml\n", "sub/\n!sub/a.yaml\n",
			"*.yml \n", "a*/**/x\n"))
	}
	repository := "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\n" +
		"spec: {url: https://example.com/org/fleet, ignore: " + strconv.Quote(r.ignore) + "}\n"
	r.file("cluster/source.yaml", repository)
	r.file("cluster/apps.yaml", r.kustomization())
	return r
}

// file adds a file.
func (r *random) file(name, text string) { r.files[name] = text }

// folder adds a folder with objects, folders in it, and mostly a kustomization.
func (r *random) folder(name string, depth int) {
	if slices.Contains(r.folders, name) {
		return
	}
	r.folders = append(r.folders, name)
	var resources []string
	for range 1 + r.IntN(3) {
		base := r.pick("a.yaml", "b.yaml", "c.yml", "d.json", "e.YAML", ".hidden.yaml")
		r.file(path.Join(name, base), r.objects(path.Ext(base) == ".json"))
		resources = append(resources, base)
	}
	if r.maybe(4) {
		r.file(path.Join(name, r.pick("logo.png", "notes.txt", ".gitlab-ci.yml", ".sops.yaml")),
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: ci}\n")
	}
	if r.maybe(15) {
		r.links[path.Join(name, "link.yaml")] = r.pick("a.yaml", "../../etc/passwd", "b.yaml")
		if r.maybe(2) {
			resources = append(resources, "link.yaml")
		}
	}
	for depth < 2 && r.maybe(2) {
		sub := r.pick("sub", "deep", "x")
		r.folder(path.Join(name, sub), depth+1)
		if hasFile := func(base string) bool { return r.files[path.Join(name, sub, base)] != "" }; hasFile("kustomization.yaml") ||
			hasFile("kustomization.yml") || hasFile("Kustomization") || r.maybe(20) {
			resources = append(resources, sub)
		}
		depth++
	}
	if r.maybe(3) {
		return
	}
	slices.Sort(resources)
	resources = slices.Compact(resources)
	if r.maybe(20) {
		resources = append(resources, r.pick("missing.yaml", "../../outside.yaml", "../../../..", "/etc/hostname", "../"+path.Base(name)))
	}
	text := ""
	if !r.maybe(8) {
		text = "resources: [" + strings.Join(resources, ", ") + "]\n"
	}
	r.file(path.Join(name, r.pick("kustomization.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization")),
		text+r.customization(name))
}

// customization returns more of a kustomization.
func (r *random) customization(folder string) string {
	var out strings.Builder
	for _, one := range []string{
		"namePrefix: p-\n", "nameSuffix: -s\n", "namespace: over\n", "labels: [{pairs: {l: \"1\"}, includeSelectors: true}]\n",
		"commonAnnotations: {note: https://example.com/x}\n", "images: [{name: nginx, newName: reg/nginx, newTag: v1}]\n",
		"configMapGenerator: [{name: generated, literals: [a=1, 'url=https://example.com'], files: [f.txt]}]\n",
		"secretGenerator: [{name: generated, type: Opaque, envs: [e.env]}]\n", "generatorOptions: {disableNameSuffixHash: true}\n",
		"patches: [{path: patch.json, target: {kind: HelmRelease}}]\n", "sortOptions: {order: fifo}\n",
		"patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: all}, data: {more: \"${var}\"}}'," +
			" target: {kind: ConfigMap}}]\n",
		"replicas: [{name: web, count: 3}]\n", "buildMetadata: [managedByLabel]\n",
		"buildMetadata: [originAnnotations, transformerAnnotations]\n",
		"components: [" + strings.Repeat("../", strings.Count(folder, "/")+1) + "components/c]\n", "unknownField: 1\n",
		"metadata: {name: k}\n",
		"replacements: [{source: {kind: ConfigMap, fieldPath: metadata.name}, targets: [{select: {kind: HelmRelease}, " +
			"fieldPaths: [spec.values.name], options: {create: true}}]}]\n",
		"transformers: ['{apiVersion: builtin, kind: PrefixTransformer, metadata: {name: p}," +
			" prefix: t-, fieldSpecs: [{path: metadata/name}]}']\n",
		"helmCharts: [{name: x, repo: https://example.com}]\n",
		"generators: ['{apiVersion: v1, kind: Exec, metadata: {name: x, annotations: " +
			"{config.kubernetes.io/function: \"exec: {path: ./run}\"}}}']\n",
	} {
		chance := 9
		if strings.HasPrefix(one, "unknown") || strings.HasPrefix(one, "helm") || strings.HasPrefix(one, "generators") ||
			strings.HasPrefix(one, "replacements") {
			chance = 90
		}
		if key, _, _ := strings.Cut(one, ":"); r.maybe(chance) && !strings.Contains(out.String(), key+":") {
			out.WriteString(one)
		}
	}
	r.file(path.Join(folder, "f.txt"), "text\n*a &b\n")
	r.file(path.Join(folder, "e.env"), "K=v\n# no\nL=\n")
	r.file(path.Join(folder, "patch.json"), "- {op: add, path: /spec/timeout, value: 5m}\n")
	if r.maybe(10) {
		delete(r.files, path.Join(folder, "f.txt"))
	}
	return out.String()
}

// objects returns a file with objects.
func (r *random) objects(isJSON bool) string {
	r.names++
	name := fmt.Sprintf("n%d", r.names)
	if r.maybe(60) {
		name = "same"
	}
	if isJSON {
		return fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q, "namespace": "x"},`+
			` "data": {"a": "${var:=d}"}}`, name)
	}
	var out []string
	for i := range 1 + r.IntN(3) {
		meta := fmt.Sprintf("{name: %s-%d%s}", name, i, r.pick("", ", namespace: shop", ", namespace: \"${ns:=shop}\"", ", labels: {a: b}",
			", annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}",
			", labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}",
			", annotations: {config.kubernetes.io/origin: mine}", ", annotations: {internal.config.kubernetes.io/x: y}"))
		out = append(out, r.pick(
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: "+meta+"\nspec:\n  values:\n"+r.values(),
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: "+meta+"\nspec:\n  values:\n"+r.values(),
			"apiVersion: v1\nkind: ConfigMap\nmetadata: "+meta+
				"\ndata:\n  a: \"${var}\"\n  b: '${num:-5}'\n  c: |\n    x $${HOME}\n    y\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: "+meta+"\ndata:\n  a: ${var:=x}\n  b: \"$(shell) $1 $$\"\n",
			"apiVersion: v1\nkind: Secret\nmetadata: "+meta+"\nstringData: {p: \"${secret:-none}\"}\n",
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: "+name+strconv.Itoa(i)+
				"}\nspec:\n  replicas: 1\n  selector: {matchLabels: {a: b}}\n"+
				"  template:\n    metadata: {labels: {a: b}}\n"+
				"    spec: {containers: [{name: c, image: \"nginx:1\", envFrom: [{configMapRef: {name: generated}}]}]}\n",
			"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+strconv.Itoa(i)+
				"-l, namespace: x}, data: {a: \"1\"}}\n",
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+strconv.Itoa(i)+"-ns}\n",
		))
	}
	if r.maybe(40) {
		out = append(out, r.pick("kind: Broken\n", "a: [\n", "# only a comment\n", "", "",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
			"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: k}\n"))
	}
	return strings.Join(out, "---\n")
}

// values returns values of a HelmRelease.
func (r *random) values() string {
	var out strings.Builder
	for i := range 1 + r.IntN(6) {
		fmt.Fprintf(&out, "    k%d: %s\n", i, r.pick("1", "1.50", "1e3", "007", "0x1F", "9007199254740993", "yes", "~", "''",
			"2020-01-01", "\"${var}\"", "${var}",
			"${num}", "\"${num}\"", "'${num:=1}'", "${var:=a b}", "${var/e/E}", "${var^^}", "${var:1:2}", "${#var}", "${var#v}",
			"${var%e}", "\"a: ${var}\"",
			"${undefined}", "${undefined:-}", "$${kept}", "[a, \"${num}\"]", "{x: &a {y: 1}, z: *a}",
			"|\n      line ${var}\n      more\n", "\"\\u00e9 \\\"q\\\"\"",
			"${other:=${var}-x}", "\"${q}\"", "${colon}", "!!str 12", "\"#no\"", "1_000", "0b11", "12:30:45"))
	}
	return out.String()
}

// settings chooses what the Kustomization of Flux changes.
func (r *random) settings() {
	var out strings.Builder
	for _, one := range []string{
		"  targetNamespace: target\n", "  namePrefix: flux-\n", "  nameSuffix: -flux\n", "  images: [{name: nginx, newTag: v9}]\n",
		"  images: [{name: nginx, newName: other, digest: sha256:" + strings.Repeat("a", 64) + "}]\n",
		"  patches: [{patch: '[{\"op\": \"add\", \"path\": \"/spec/suspend\", \"value\": true}]'," +
			" target: {kind: HelmRelease, name: '.*1'}}]\n",
		"  patches:\n  - patch: |\n      apiVersion: v1\n      kind: ConfigMap\n" +
			"      metadata: {name: any}\n      data: {z: \"${num:=3}\"}\n    target: {kind: ConfigMap}\n",
		"  commonMetadata: {labels: {team: a, l: \"2\"}}\n", "  buildMetadata: [originAnnotations]\n",
		"  components: [" + strings.Repeat("../", strings.Count(path.Clean("/"+r.path), "/")) + "components/c]\n",
		"  components: [../none]\n  ignoreMissingComponents: true\n",
		"  components: [../none]\n",
	} {
		chance := 5
		if strings.Contains(one, "none]\n") && !strings.Contains(one, "ignore") {
			chance = 60
		}
		if key, _, _ := strings.Cut(one, ":"); r.maybe(chance) && !strings.Contains(out.String(), key+":") {
			out.WriteString(one)
		}
	}
	r.spec = out.String()
}

// variables chooses the variables.
func (r *random) variables() {
	if r.maybe(3) {
		return
	}
	r.postBuild = "  postBuild:\n    substituteStrategy: " + r.pick("Always", "WithVariables") + "\n"
	values := []string{"var: value", "num: \"5\"", "undefined: \"\"", "q: 'a\"b'", "colon: 'a: b'", "ns: other", "secret: s"}
	if r.maybe(40) {
		values = append(values, "bad-name: x")
	}
	r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	if !r.maybe(4) {
		r.postBuild += "    substitute: {" + strings.Join(values[:len(values)-r.IntN(3)], ", ") + "}\n"
	}
	if r.maybe(2) {
		return
	}
	r.postBuild += "    substituteFrom:\n"
	for i := range 1 + r.IntN(3) {
		kind, name := r.pick("ConfigMap", "Secret"), fmt.Sprintf("vars-%d", i)
		if !r.maybe(6) {
			for _, key := range []string{"var", "num", "undefined", "ns"} {
				r.texts[[3]string{kind, name, key}] = r.pick("one", "two\nlines\n", "7", "true", "x: y", "")
			}
			r.texts[[3]string{kind, name, "q"}] = "quote"
			r.texts[[3]string{kind, name, "colon"}] = "c"
		}
		r.postBuild += "    - {kind: " + kind + ", name: " + name + r.pick("", ", optional: true", ", optional: true") + "}\n"
	}
}

// encoded returns a text as the data of an object has it.
func encoded(kind, text string) string {
	if kind == "Secret" {
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}
