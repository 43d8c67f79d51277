package gitops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/fluxcd/pkg/kustomize"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	"github.com/go-logr/logr"
	gocmp "github.com/google/go-cmp/cmp"
	godigest "github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/resource"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/unknown"
)

// treesFlag names a folder whose folders are working trees.
var treesFlag = flag.String("trees", "", "a `folder` with working trees of Flux for TestPublicTrees")

// TestPublicTrees builds working trees that others wrote, with internal/flux/tree and with the libraries of the controllers. For each
// Kustomization, the objects must be equal, or both must refuse it. The values of each HelmRelease must be those that helm-controller
// composes of these objects, with the same digest. It needs a folder of trees, and is skipped without one:
//
//	git clone --depth 1 https://github.com/fluxcd/flux2-kustomize-helm-example /tmp/trees/example    # and more
//	go test -run TestPublicTrees -v . -args -trees /tmp/trees
//
// A tree starts where its Kustomizations say: at each folder with one that no other Kustomization builds, or at the folder above it whose
// kustomization.yaml includes it. Variables of ConfigMaps and Secrets that the tree does not have, and what SOPS encrypted, are unknown to
// both. PATH is empty meanwhile, so that no program runs. The GitRepository flux-system, and each one whose address ends in the name of
// the folder, is the tree; a folder OWNER+NAME has the name NAME.
func TestPublicTrees(t *testing.T) {
	if *treesFlag == "" {
		t.Skip("-trees names no folder")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	folders, err := filepath.Glob(filepath.Join(*treesFlag, "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%s has no trees: %v", *treesFlag, err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			root, err := filepath.Abs(folder)
			if err != nil {
				t.Fatal(err)
			}
			found := startsOf(t, root)
			sum := tally{problems: map[string]int{}}
			for _, start := range found.starts {
				found.compare(t, start, &sum)
			}
			t.Logf("TABLE %s | %d starts | %d Kustomizations | %d refused by both | %d objects | %d HelmReleases | %d without values | %s | "+
				"%.1f s", filepath.Base(folder), len(found.starts), sum.kustomizations, sum.refused, sum.objects, sum.releases, sum.without,
				sum, sum.seconds.Seconds())
		})
	}
}

// tally counts what was compared.
type tally struct {
	kustomizations, refused, objects, releases, without int
	problems                                            map[string]int
	seconds                                             time.Duration
}

// String lists the kinds of problems.
func (s tally) String() string {
	var out []string
	for kind, n := range s.problems {
		out = append(out, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(out)
	return cmp.Or(strings.Join(out, ", "), "no problems")
}

// publicTree is a working tree.
type publicTree struct {
	root   string
	starts []string
	// remotes are the addresses of the GitRepositories that are the tree.
	remotes []string
	// sources are the folders of sources that are not the whole tree.
	sources map[[3]string]string
	// names are all variables that its files name.
	names map[string]bool
	// artifacts are copies as source-controller keeps them, by folder and spec.ignore.
	artifacts map[[2]string]string
}

// kustomizationNames are the names of a file for kustomize.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

var (
	isKustomization = regexp.MustCompile(`(?m)^apiVersion:\s*"?kustomize\.toolkit\.fluxcd\.io/`)
	namedVariable   = regexp.MustCompile(`\$\{([_a-zA-Z][_a-zA-Z0-9]*)`)
)

// startsOf reads the files of a tree.
func startsOf(t *testing.T, root string) *publicTree {
	t.Helper()
	out := &publicTree{root: root, names: map[string]bool{}, artifacts: map[[2]string]string{}, sources: map[[3]string]string{}}
	has, built := map[string]bool{}, map[string][]string{} // folders with Kustomizations; folders that are built, and who builds them
	includers := map[string]string{}                       // folders that a kustomization.yaml includes, and the folder of that file
	repository := root[strings.LastIndexAny(root, "+/")+1:]
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == ".git" {
			return cmp.Or(err, fs.SkipDir)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, one := range namedVariable.FindAllSubmatch(text, -1) { // those of files that a ConfigMap is made of, too
			out.names[string(one[1])] = true
		}
		if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" && e.Name() != "Kustomization" {
			return nil
		}
		dir, _ := filepath.Rel(root, filepath.Dir(name))
		for _, document := range regexp.MustCompile(`(?m)^---.*$`).Split(string(text), -1) {
			var o struct {
				Kind     string                           `json:"kind"`
				Metadata struct{ Name, Namespace string } `json:"metadata"`
				Spec     struct {
					Path string `json:"path"`
					URL  string `json:"url"`
				} `json:"spec"`
				Resources []string `json:"resources"`
			}
			if yaml.Unmarshal([]byte(document), &o) != nil {
				continue
			}
			isTree := o.Metadata.Name == "flux-system" || path.Base(strings.TrimSuffix(o.Spec.URL, ".git")) == repository
			if o.Kind == "GitRepository" && isTree && o.Spec.URL != "" {
				out.remotes = append(out.remotes, o.Spec.URL)
			}
			if slices.Contains(kustomizationNames, e.Name()) {
				for _, one := range o.Resources {
					included := path.Join(dir, one)
					if ext := path.Ext(one); ext == ".yaml" || ext == ".yml" {
						included = path.Dir(included)
					}
					if included != dir {
						includers[included] = dir
					}
				}
			}
			if o.Kind == "Kustomization" && isKustomization.MatchString(document) && !strings.Contains(o.Spec.Path, "$") {
				has[dir] = true
				if to := strings.TrimPrefix(path.Clean("/"+o.Spec.Path), "/"); to != "" { // most often the root of another repository
					built[to] = append(built[to], dir)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.remotes) == 0 {
		out.remotes = []string{"https://example.com/org/tree"}
	}
	within := func(dir, of string) bool { return of == "" || dir == of || strings.HasPrefix(dir, of+"/") }
	starts := map[string]bool{}
	for dir := range has {
		start := dir
		for to, from := range built {
			if !within(dir, to) {
				continue
			}
			if slices.ContainsFunc(from, func(one string) bool { return !within(one, to) }) {
				start = "-"
				break
			}
			if len(to) < len(start) {
				start = to // it builds itself, as "flux bootstrap" writes it
			}
		}
		for by := start; start != "-" && by != ""; by = includers[by] {
			start = by
		}
		if start != "-" {
			starts[start] = true
		}
	}
	for start := range starts {
		out.starts = append(out.starts, start)
	}
	slices.Sort(out.starts)
	return out
}

// cluster answers what the tree does not have. A GitRepository that the tree does not make is what "flux bootstrap" makes of the tree.
// Secrets and ConfigMaps may not be read.
func (p *publicTree) cluster(_ context.Context, kind, namespace, name string) (map[string]any, error) {
	switch {
	case kind == "ConfigMap" || kind == "Secret":
		return nil, errors.New("the account may not read it")
	case kind == "GitRepository":
		return map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind, "metadata": map[string]any{"name": name,
			"namespace": namespace}, "spec": map[string]any{"url": p.remotes[0]}}, nil
	}
	return nil, nil
}

// addSources adds the folders of sources that are the tree too: those of an ArtifactGenerator that copies one folder, and those of an
// OCIRepository. It reports whether there are more than before.
func (p *publicTree) addSources(order *tree.Order, answer tree.Answer) bool {
	folders := map[string]string{}
	for _, o := range answer.Objects {
		u := unstructured.Unstructured{Object: o.Map()}
		if u.GetKind() != "ArtifactGenerator" {
			continue
		}
		artifacts, _, _ := unstructured.NestedSlice(u.Object, "spec", "artifacts")
		for _, a := range artifacts {
			a, _ := a.(map[string]any)
			copied, _, _ := unstructured.NestedSlice(a, "copy")
			if len(copied) != 1 {
				continue
			}
			one, _ := copied[0].(map[string]any)
			_, from, _ := strings.Cut(fmt.Sprint(one["from"]), "/")
			folder, isAll := strings.CutSuffix(from, "/**")
			switch inside, _ := strings.CutPrefix(fmt.Sprint(one["to"]), "@artifact/"); {
			case isAll && inside == "":
				folders[u.GetNamespace()+"/"+fmt.Sprint(a["name"])] = filepath.Join(p.root, folder)
			case inside == from: // a part of the tree, where it is in the tree
				folders[u.GetNamespace()+"/"+fmt.Sprint(a["name"])] = p.root
			}
		}
	}
	before := len(order.Sources)
	for _, problem := range answer.Problems {
		name, found := strings.CutPrefix(problem.Message, "its source is the ")
		name, isOther := strings.CutSuffix(name, ", which is not the tree")
		kind, name, _ := strings.Cut(name, " ")
		namespace, name, _ := strings.Cut(name, "/")
		dir := folders[namespace+"/"+name]
		if kind == "OCIRepository" {
			dir = p.root
		}
		if id := objectID(kind, namespace, name); found && isOther && dir != "" && p.sources[id] == "" {
			p.sources[id] = dir
		}
		if id := objectID(kind, namespace, name); p.sources[id] != "" && !slices.ContainsFunc(order.Sources, func(s tree.LocalSource) bool {
			return objectID(s.Kind, s.Namespace, s.Name) == id
		}) {
			order.Sources = append(order.Sources, tree.LocalSource{Kind: kind, Namespace: namespace, Name: name, Dir: p.sources[id]})
		}
	}
	return len(order.Sources) > before
}

// objectID is a kind, a namespace and a name.
func objectID(kind, namespace, name string) [3]string { return [3]string{kind, namespace, name} }

// idOf returns the identity of an object without its group.
func idOf(o map[string]any) [3]string {
	u := unstructured.Unstructured{Object: o}
	return objectID(u.GetKind(), u.GetNamespace(), u.GetName())
}

// compare builds a folder and compares everything that comes out.
func (p *publicTree) compare(t *testing.T, start string, sum *tally) {
	t.Helper()
	order := tree.Order{Dir: filepath.Join(p.root, start), Root: p.root, Remotes: p.remotes}
	var answer tree.Answer
	var err error
	for more := true; more; { // until all sources are known that the objects tell
		began := time.Now()
		answer, err = tree.Build(t.Context(), order, tree.Outside{Lookup: p.cluster})
		sum.seconds += time.Since(began)
		more = p.addSources(&order, answer)
	}
	if err != nil {
		if _, theirErr := p.judge(t, start, nil, nil); theirErr == nil {
			t.Errorf("%s: helmdrift refuses it: %v", start, err)
		}
		sum.refused++
		t.Logf("%s: %v", start, err)
		return
	}
	byMaker, failed, objects := map[tree.Maker][]map[string]any{}, map[string]string{}, map[[3]string]map[string]any{}
	for _, o := range answer.Objects {
		byMaker[o.Maker] = append(byMaker[o.Maker], o.Map())
		objects[idOf(o.Map())] = o.Map()
	}
	twice := map[string]bool{}
	for _, problem := range answer.Problems {
		sum.problems[kindOfProblem(problem)]++
		t.Logf("%s: %s | %s | %s", start, problem.Severity, problem.Where, problem.Message)
		if problem.Severity == tree.Failed || problem.Severity == tree.Skipped {
			failed[problem.Where] = problem.Message
		}
		if strings.Contains(problem.Message, "it is made twice") {
			twice[problem.Where] = true
		}
	}
	if made, isMade := byMaker[tree.Maker{}]; isMade {
		p.compareMaker(t, start, start, nil, made, objects, twice, sum)
	}
	for _, o := range answer.Objects {
		value := o.Map()
		if version, _ := value["apiVersion"].(string); !strings.HasPrefix(version, "kustomize.toolkit.fluxcd.io/") {
			continue
		}
		u := unstructured.Unstructured{Object: value}
		maker := tree.Maker{Namespace: u.GetNamespace(), Name: u.GetName()}
		folder, _, _ := unstructured.NestedString(value, "spec", "path")
		folder = strings.TrimPrefix(path.Clean("/"+folder), "/")
		made, isMade := byMaker[maker]
		switch said, isFailed := failed[maker.String()]; {
		case isMade:
			p.compareMaker(t, start+": "+maker.String(), folder, value, made, objects, twice, sum)
		case isFailed && (strings.HasPrefix(said, "its source") || strings.HasPrefix(said, "it is suspended") ||
			strings.HasPrefix(said, "it deploys to another cluster") ||
			strings.HasPrefix(said, "it has no namespace")): // not looked at, or not there because the API server refuses it
		case isFailed:
			sum.refused++
			if _, theirErr := p.judge(t, folder, value, objects); theirErr == nil {
				t.Errorf("%s: %s: helmdrift refuses it: %s", start, maker, said)
			} else {
				t.Logf("%s: %s: Flux: %s", start, maker, strings.Join(strings.Fields(theirErr.Error()), " "))
			}
		default: // it makes nothing, or nothing that others do not make too
			p.compareMaker(t, start+": "+maker.String(), folder, value, nil, objects, twice, sum)
		}
	}
	for _, o := range answer.Objects {
		if version, _ := o.Map()["apiVersion"].(string); strings.HasPrefix(version, "helm.toolkit.fluxcd.io/") && o.Map()["kind"] == "HelmRelease" {
			compareValues(t, start, o.Map(), objects, sum)
		}
	}
}

// kindOfProblem returns what a problem is about, without names.
func kindOfProblem(p tree.Problem) string {
	text := regexp.MustCompile(`"[^"]*"|\S*/\S*|[0-9]+|\S+\.\S+`).ReplaceAllString(p.Message, "…")
	words := strings.Fields(text)
	return string(p.Severity) + ": " + strings.Join(words[:min(9, len(words))], " ")
}

// compareMaker compares the objects of one Kustomization.
func (p *publicTree) compareMaker(
	t *testing.T, title, folder string, by map[string]any, ours []map[string]any, objects map[[3]string]map[string]any, twice map[string]bool,
	sum *tally,
) {
	t.Helper()
	sum.kustomizations++
	sum.objects += len(ours)
	theirs, err := p.judge(t, folder, by, objects)
	if err != nil {
		t.Errorf("%s: Flux refuses it: %v", title, err)
		return
	}
	// What another Kustomization makes too is here once.
	theirs = slices.DeleteFunc(theirs, func(o map[string]any) bool {
		id := idOf(o)
		name := id[0] + " " + id[1] + "/" + id[2]
		if id[1] == "" {
			name = id[0] + " " + id[2]
		}
		return twice[name] && !slices.ContainsFunc(ours, func(mine map[string]any) bool { return idOf(mine) == id })
	})
	if d := gocmp.Diff(theirs, ours); d != "" && len(theirs)+len(ours) > 0 {
		t.Errorf("%s: (-Flux +helmdrift)\n%.6000s", title, d)
	}
}

// judge does what the controllers do with a folder and a Kustomization, which may be nil. What SOPS encrypted becomes unknown before the
// variables are replaced.
func (p *publicTree) judge(t *testing.T, folder string, by map[string]any, objects map[[3]string]map[string]any) ([]map[string]any, error) {
	t.Helper()
	root, ignore := p.root, ""
	if by != nil {
		ref, _, _ := unstructured.NestedStringMap(by, "spec", "sourceRef")
		id := objectID(ref["kind"], cmp.Or(ref["namespace"], (&unstructured.Unstructured{Object: by}).GetNamespace()), ref["name"])
		ignore, _, _ = unstructured.NestedString(objects[id], "spec", "ignore")
		root = cmp.Or(p.sources[id], p.root)
	}
	at := [2]string{root, ignore}
	if p.artifacts[at] == "" {
		p.artifacts[at] = t.TempDir()
		if err := archive(root, p.artifacts[at], ignore); err != nil {
			t.Fatal(err)
		}
	}
	artifact := p.artifacts[at]
	dir := filepath.Join(artifact, folder)
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	spec := unstructured.Unstructured{Object: by}
	if by == nil {
		spec.Object = map[string]any{"spec": map[string]any{}}
	}
	restore := keep(t, dir)
	defer restore()
	if _, err := kustomize.NewGenerator(artifact, spec).WriteFile(dir); err != nil {
		return nil, err
	}
	provider, _, _ := unstructured.NestedString(spec.Object, "spec", "decryption", "provider")
	isDecrypted := by == nil || provider == "sops"
	if isDecrypted {
		defer standInFiles(t, artifact, folder)()
	}
	resources, err := kustomize.SecureBuild(artifact, dir, false)
	if err != nil {
		return nil, err
	}
	_, hasVariables, _ := unstructured.NestedMap(spec.Object, "spec", "postBuild")
	for _, res := range resources.Resources() {
		if err := standIn(res, isDecrypted); err != nil {
			return nil, err
		}
		if !hasVariables {
			continue
		}
		strategy, _, _ := unstructured.NestedString(spec.Object, "spec", "postBuild", "substituteStrategy")
		if err := substitute(t.Context(), p.variables(spec, objects), spec, resources, res, strategy == "Always"); err != nil {
			return nil, err
		}
	}
	made, err := objectsOf(resources)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, o := range made {
		if by != nil {
			owner := map[string]string{"kustomize.toolkit.fluxcd.io/name": spec.GetName(),
				"kustomize.toolkit.fluxcd.io/namespace": spec.GetNamespace()}
			ssautil.SetCommonMetadata([]*unstructured.Unstructured{o}, owner, nil)
			labels, _, _ := unstructured.NestedStringMap(spec.Object, "spec", "commonMetadata", "labels")
			annotations, _, _ := unstructured.NestedStringMap(spec.Object, "spec", "commonMetadata", "annotations")
			ssautil.SetCommonMetadata([]*unstructured.Unstructured{o}, labels, annotations)
		}
		out = append(out, o.Object)
	}
	return out, nil
}

// keep returns a function that gives a folder back its kustomization.
func keep(t *testing.T, dir string) func() {
	t.Helper()
	had := map[string][]byte{}
	for _, name := range kustomizationNames {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			had[name] = text
		}
	}
	return func() {
		for _, name := range kustomizationNames {
			name, text := filepath.Join(dir, name), had[name]
			_ = os.Remove(name)
			if text != nil {
				if err := os.WriteFile(name, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// variables returns the variables of the objects that a Kustomization names. Those that the tree does not have define every variable, as
// unknown.
func (p *publicTree) variables(spec unstructured.Unstructured, objects map[[3]string]map[string]any) store {
	out := store{texts: texts{}}
	from, _, _ := unstructured.NestedSlice(spec.Object, "spec", "postBuild", "substituteFrom")
	known := map[string]bool{}
	for _, item := range from {
		item, _ := item.(map[string]any)
		kind, _ := item["kind"].(string)
		name, _ := item["name"].(string)
		for key, text := range dataOf(objects[objectID(kind, spec.GetNamespace(), name)]) {
			known[key] = true
			out.texts[[3]string{kind, name, key}] = text
		}
	}
	for _, item := range from {
		item, _ := item.(map[string]any)
		kind, _ := item["kind"].(string)
		name, _ := item["name"].(string)
		if objects[objectID(kind, spec.GetNamespace(), name)] != nil {
			continue
		}
		for key := range p.names {
			if !known[key] {
				out.texts[[3]string{kind, name, key}] = unknown.Any
			}
		}
	}
	return out
}

// dataOf returns the texts of a ConfigMap or a Secret.
func dataOf(o map[string]any) map[string]string {
	out := map[string]string{}
	data, _ := o["data"].(map[string]any)
	for key, value := range data {
		text, _ := value.(string)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && o["kind"] == "Secret" {
			text = string(raw)
		}
		out[key] = text
	}
	more, _ := o["stringData"].(map[string]any)
	for key, value := range more {
		out[key] = fmt.Sprint(value)
	}
	return out
}

// standInFiles replaces the files of secretGenerators that SOPS encrypted: kustomize-controller decrypts them before kustomize reads them
// (fluxcd/kustomize-controller v1.9.4 internal/decryptor/decryptor.go DecryptSources). It returns a function that gives them back.
func standInFiles(t *testing.T, root, folder string) (restore func()) {
	t.Helper()
	had, seen := map[string][]byte{}, map[string]bool{}
	replace := func(name, format string) {
		text, err := os.ReadFile(name)
		mark := map[string]string{".yaml": "mac: ENC[", ".yml": "mac: ENC[", ".env": "sops_mac=ENC[", ".ini": "[sops]"}[format]
		if err != nil || had[name] != nil || !bytes.Contains(text, []byte(cmp.Or(mark, `"mac": "ENC[`))) {
			return
		}
		had[name] = text
		by := unknown.Any
		if format == ".env" {
			by = ""
			for _, found := range regexp.MustCompile(`(?m)^([^#=]+)=(.*)$`).FindAllStringSubmatch(string(text), -1) {
				if !strings.HasPrefix(found[1], "sops_") {
					by += found[1] + "=" + regexp.MustCompile(`^ENC\[AES256_GCM,.*`).ReplaceAllStringFunc(found[2], unknownFor) + "\n"
				}
			}
		}
		if err := os.WriteFile(name, []byte(by), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var walk func(string)
	walk = func(dir string) {
		for _, name := range kustomizationNames {
			text, err := os.ReadFile(filepath.Join(dir, name))
			var k kustomizetypes.Kustomization
			if err != nil || seen[dir] || yaml.Unmarshal(text, &k) != nil {
				continue
			}
			seen[dir] = true
			for _, generator := range k.SecretGenerator {
				for _, source := range generator.FileSources {
					key, file, hasKey := strings.Cut(source, "=")
					if !hasKey {
						file = key
					}
					replace(filepath.Join(dir, file), filepath.Ext(key))
				}
				for _, file := range generator.EnvSources {
					replace(filepath.Join(dir, file), ".env")
				}
			}
			for _, below := range slices.Concat(k.Resources, k.Components) {
				walk(filepath.Join(dir, below))
			}
		}
	}
	walk(filepath.Join(root, folder))
	return func() {
		for name, text := range had {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
}

// standIn replaces what SOPS encrypted in an object. If nothing is decrypted, an encrypted file in a Secret stays as it is.
func standIn(res *resource.Resource, isDecrypted bool) error {
	text, err := res.MarshalJSON()
	if err != nil || !bytes.Contains(text, []byte("sops")) && res.GetKind() != "Secret" {
		return err
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	_, isSealed := o["sops"].(map[string]any)
	if !isSealed && !isDecrypted {
		return nil
	}
	if data, isMap := o["data"].(map[string]any); isMap && o["kind"] == "Secret" {
		for key, value := range data {
			raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
			switch {
			case strings.HasPrefix(fmt.Sprint(value), "ENC[AES256_GCM,"):
				data[key], isSealed = base64.StdEncoding.EncodeToString([]byte(unknownFor(fmt.Sprint(value)))), true
			case err != nil:
			case bytes.Contains(raw, []byte("mac: ENC[")), bytes.Contains(raw, []byte(`"mac": "ENC[`)), bytes.Contains(raw,
				[]byte("sops_mac=ENC[")):
				data[key], isSealed = base64.StdEncoding.EncodeToString([]byte(unknownFor(string(raw)))), true
			}
		}
	}
	if !isSealed {
		return nil
	}
	delete(o, "sops")
	if text, err = json.Marshal(o); err != nil {
		return err
	}
	text = regexp.MustCompile(`"ENC\[AES256_GCM,[^"]*"`).ReplaceAllFunc(text, func(sealed []byte) []byte {
		return []byte(`"` + unknownFor(strings.Trim(string(sealed), `"`)) + `"`)
	})
	return res.UnmarshalJSON(text)
}

// unknownFor returns what stands for something that SOPS encrypted. An encrypted text is never empty. Anything else, such as a number or a
// whole file, may be empty or false.
func unknownFor(sealed string) string {
	if strings.HasSuffix(sealed, ",type:str]") {
		return unknown.Text
	}
	return unknown.Any
}

// namesUnknown reports whether a document of the values is not known.
func namesUnknown(h *helmv2.HelmRelease, all texts) bool {
	return slices.ContainsFunc(h.Spec.ValuesFrom, func(ref helmv2.ValuesReference) bool {
		return ref.TargetPath == "" && strings.HasPrefix(all[[3]string{ref.Kind, ref.Name, ref.GetValuesKey()}], unknown.Text)
	})
}

// compareValues compares the values of a HelmRelease with those that helm-controller composes.
func compareValues(t *testing.T, start string, o map[string]any, objects map[[3]string]map[string]any, sum *tally) {
	t.Helper()
	sum.releases++
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	id := idOf(o)
	ours, theirs := &api.HelmRelease{}, &helmv2.HelmRelease{}
	if oursErr, theirErr := json.Unmarshal(text, ours), json.Unmarshal(text, theirs); theirErr != nil {
		// The definition of the kind has a pattern for this field, so the API server refuses the object.
		t.Logf("%s: %v: helmdrift reads it with %v, Flux with %v", start, id, oursErr, theirErr)
		sum.without++
		return
	} else if oursErr != nil {
		t.Errorf("%s: %v: helmdrift cannot read it: %v", start, id, oursErr)
		return
	}
	all := texts{}
	for at, object := range objects {
		if at[1] == id[1] && (at[0] == "ConfigMap" || at[0] == "Secret") {
			for key, text := range dataOf(object) {
				all[[3]string{at[0], at[2], key}] = text
			}
		}
	}
	want, wantErr := chartutil.ChartValuesFromReferences(t.Context(), logr.Discard(), store{texts: all}, id[1], theirs.GetValues(),
		theirs.Spec.ValuesFrom...)
	got, err := ours.Compose(t.Context(), all)
	switch {
	case wantErr != nil && err == nil && strings.Contains(wantErr.Error(), "cannot unmarshal string") && namesUnknown(theirs, all):
		sum.without++
		t.Logf("%s: the values of %v: a document of them is not known", start, id)
	case (err == nil) != (wantErr == nil):
		t.Errorf("%s: the values of %v: helmdrift says %v, Flux says %v", start, id, err, wantErr)
	case err != nil:
		sum.without++
		t.Logf("%s: the values of %v: %v", start, id, err)
	case !reflect.DeepEqual(got.Values, map[string]any(want)):
		t.Errorf("%s: the values of %v: (-Flux +helmdrift)\n%s", start, id, gocmp.Diff(map[string]any(want), got.Values))
	case chartutil.DigestValues(godigest.SHA256, want).String() != api.Digest(got.Values):
		t.Errorf("%s: the digest of %v is another one", start, id)
	}
}
