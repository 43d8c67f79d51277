package tree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// Lookup reads an object of the cluster: a source, a ConfigMap or a Secret. It returns nil if there is none, and an error if it may not
// read it or if there is no cluster.
type Lookup func(ctx context.Context, kind, namespace, name string) (map[string]any, error)

// Outside is what a build asks its caller for. Each may be nil.
type Outside struct {
	Lookup Lookup
	// Makers returns the Kustomizations of the cluster that may build the folder of the user, which makes some objects. Without it, there are
	// none.
	Makers func(ctx context.Context, made []Asked) ([]Candidate, error)
	// Decrypt decrypts what SOPS encrypted. If it is nil, each encrypted value is unknown.Text.
	Decrypt func(context.Context, Encrypted) ([]byte, error)
	// Fetch fetches a base and returns the folder that has it. Without it, such bases are refused.
	Fetch func(context.Context, kustomize.Base) (string, error)
}

// builder carries out an order.
type builder struct {
	ctx       context.Context
	order     Order
	lookup    Lookup
	ofCluster func(ctx context.Context, made []Asked) ([]Candidate, error)
	decrypter *decrypter
	bases     kustomize.Bases
	// folder is that of the user, relative to the root.
	folder    string
	answer    Answer
	artifacts map[[3]string]*Artifact
	// objects are those that were made, with their makers, by kind, namespace and name.
	objects  map[objectKey]map[string]any
	makers   map[objectKey]Maker
	live     map[sourceRef]liveObject
	pending  []*kustomization
	count    int
	releases int
}

// Build builds a tree. An error means that nothing could be built; the problems of the answer say what else is missing.
func Build(ctx context.Context, order Order, from Outside) (Answer, error) {
	if from.Lookup == nil {
		from.Lookup = func(context.Context, string, string, string) (map[string]any, error) {
			return nil, errors.New("there is no cluster")
		}
	}
	b := &builder{ctx: ctx, order: order, lookup: from.Lookup, ofCluster: from.Makers, decrypter: newDecrypter(ctx, from.Decrypt),
		artifacts: map[[3]string]*Artifact{}, objects: map[objectKey]map[string]any{}, makers: map[objectKey]Maker{},
		live: map[sourceRef]liveObject{}}
	if from.Fetch != nil {
		b.bases.Fetch = func(base kustomize.Base) (string, error) { return from.Fetch(ctx, base) }
	}
	defer b.close()
	out, err := b.run()
	return b.decrypter.finish(out, err)
}

// run builds what the order asks for.
func (b *builder) run() (Answer, error) {
	if b.order.Rendered {
		b.readRendered()
		return b.answer, nil
	}
	if err := b.buildDir(); err != nil {
		return Answer{}, err
	}
	for len(b.pending) > 0 {
		if err := b.ctx.Err(); err != nil {
			return Answer{}, err
		}
		i := b.next()
		k := b.pending[i]
		b.pending = slices.Delete(b.pending, i, i+1)
		b.buildKustomization(k)
	}
	return b.answer, nil
}

// close closes the folders.
func (b *builder) close() {
	for _, a := range b.artifacts {
		_ = a.Close() // only read
	}
	b.bases.Close()
}

// report adds a problem.
func (b *builder) report(p Problem) {
	if !slices.Contains(b.answer.Problems, p) {
		b.answer.Problems = append(b.answer.Problems, p)
	}
}

// artifact opens a folder as a source of a kind with an ignore rule has it.
func (b *builder) artifact(dir, kind, ignore string) (*Artifact, error) {
	key := [3]string{dir, kind, ignore}
	if a := b.artifacts[key]; a != nil {
		return a, nil
	}
	a, err := OpenArtifact(dir, kind, ignore)
	if err != nil {
		return nil, err
	}
	if a.Dir == b.order.Root {
		a.Changed = b.order.Changed
	}
	b.artifacts[key] = a
	return a, nil
}

// buildDir builds the folder of the user. If a Kustomization in it builds this folder, only that one is built, and otherwise those of the
// cluster that build it.
func (b *builder) buildDir() error {
	a, err := b.artifact(b.order.Root, "GitRepository", "")
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(b.order.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	folder, err := a.Relative(dir)
	if err != nil {
		return err
	}
	b.folder = folder
	objects, err := b.build(a, folder, nil, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", b.order.Dir, err)
	}
	again := len(b.answer.Problems) // these come again if a root builds the folder
	var roots []*kustomization
	for _, o := range objects {
		if keyOf(o.value).group == sourceGroup {
			b.objects[keyOf(o.value)] = o.value
		}
	}
	for _, o := range objects {
		if k := fluxKustomization(o.value); k != nil && k.folder() == folder && k.Metadata.Namespace != "" {
			if from, _ := b.source(k); from != nil && from.Dir == a.Dir {
				roots = append(roots, k)
			}
		}
	}
	switch {
	case len(roots) == 0:
		if roots, err = b.liveRoots(dir, folder, objects); err != nil {
			return err
		}
	case len(roots) > 1: // they are among the objects
		roots = nil
	}
	if len(roots) == 0 {
		b.emit(objects, Maker{}, 0)
		return nil
	}
	// Their variables may come from the folder itself: the cluster has them from the last time.
	for _, o := range objects {
		b.objects[keyOf(o.value)] = o.value
	}
	b.answer.Problems = b.answer.Problems[again:]
	for _, k := range roots {
		b.enqueue(k, 1)
	}
	return nil
}

// fluxKustomization returns an object as a Kustomization of Flux, or nil if it is none or cannot be one.
func fluxKustomization(value map[string]any) *kustomization {
	if key := keyOf(value); key.group != fluxGroup || key.kind != "Kustomization" {
		return nil
	}
	k := &kustomization{}
	if decode(value, k) != nil {
		return nil
	}
	k.Spec.SourceRef.Namespace = cmp.Or(k.Spec.SourceRef.Namespace, k.Metadata.Namespace)
	k.maker = Maker{k.Metadata.Namespace, k.Metadata.Name}
	return k
}

// title names the Kustomization in messages.
func (k *kustomization) title() string { return k.maker.String() }

// variable matches a variable of Flux, and some that a shell replaces later.
var variable = regexp.MustCompile(`\$\{[_a-zA-Z][_a-zA-Z0-9]*`)

// adviceAbout returns advice for what a Kustomization may add to an object. Other names what to do if one has built it.
func adviceAbout(by Maker, other string) string {
	if by == (Maker{}) {
		return "if a Kustomization of Flux builds this folder, name the folder with this Kustomization instead"
	}
	return other
}

// emit adds objects to the answer, and the Kustomizations among them to those that are built.
func (b *builder) emit(objects []made, by Maker, depth int) {
	for _, o := range objects {
		key := keyOf(o.value)
		name := title(key.kind, key.namespace, key.name)
		if key.isRead() && key.namespace == "" {
			advice := adviceAbout(by, "set metadata.namespace, or spec.targetNamespace of "+by.String())
			b.report(Problem{Failed, name, "it has no namespace, and Flux does not add one", advice})
		}
		if other, isMade := b.makers[key]; isMade {
			b.report(Problem{Failed, name, "it is made twice: by " + other.String() + " and by " + by.String() + "; only the first is here",
				"the two overwrite each other in the cluster"})
			continue
		}
		if key.group == helmGroup && key.kind == "HelmRelease" {
			if b.releases++; b.releases > maxReleases {
				b.report(Problem{Failed, b.order.Dir, fmt.Sprintf("it makes more than %d HelmReleases, and helmdrift takes the first %d",
					maxReleases, maxReleases), "name a smaller folder"})
				b.answer.Left = append(b.answer.Left, by)
				continue
			}
		}
		text, err := json.Marshal(o.value)
		if err != nil {
			b.report(Problem{Failed, name, err.Error(), ""})
			continue
		}
		if key.group == helmGroup && by == (Maker{}) && !b.order.Rendered && variable.Match(text) {
			b.report(Problem{Note, name, "its variables, like " + string(variable.Find(text)) + "}, stay as they are", adviceAbout(by, "")})
		}
		b.makers[key], b.objects[key] = by, o.value
		b.answer.Objects = append(b.answer.Objects, Object{text, o.file, o.dir, by})
		if key.group == OperatorGroup && key.kind == "ResourceSet" {
			b.report(aboutSet(name, o.value))
		}
		if key.group != fluxGroup || key.kind != "Kustomization" || by.Namespace == key.namespace && by.Name == key.name {
			continue
		}
		if k := fluxKustomization(o.value); k != nil {
			b.enqueue(k, depth+1)
		} else {
			b.report(Problem{Failed, name, "a field of it has another type than Flux gives it", ""})
		}
	}
}

// enqueue adds a Kustomization to those that are built, or says why it is not.
func (b *builder) enqueue(k *kustomization, depth int) {
	b.count++
	switch k.depth = depth; {
	case k.Metadata.Namespace == "": // emit has said so
	case k.Spec.Suspend:
		b.report(Problem{Skipped, k.title(), "it is suspended, so Flux leaves what it made as it is", ""})
	case k.Spec.KubeConfig != nil:
		b.report(Problem{Skipped, k.title(), "it deploys to another cluster, which spec.kubeConfig names", ""})
	case depth > maxKustomizeDepth:
		b.report(Problem{Failed, k.title(), fmt.Sprintf("more than %d Kustomizations make each other", maxKustomizeDepth), ""})
	case b.count > maxKustomizations:
		b.report(Problem{Failed, b.order.Dir, fmt.Sprintf("it has more than %d Kustomizations, and helmdrift builds the first %d",
			maxKustomizations, maxKustomizations), "name a smaller folder"})
		b.answer.Left = append(b.answer.Left, k.maker)
	default:
		b.pending = append(b.pending, k)
	}
}

// next returns which pending Kustomization is built next: one whose source and variables the tree has made already, if there is one.
// Another may get them from a Kustomization that is still pending, so one that depends on none of these goes first.
func (b *builder) next() int {
	i := slices.IndexFunc(b.pending, func(k *kustomization) bool { return b.hasInputs(k) })
	if i < 0 {
		i = slices.IndexFunc(b.pending, func(k *kustomization) bool {
			return !slices.ContainsFunc(k.Spec.DependsOn, func(on sourceRef) bool {
				return slices.ContainsFunc(b.pending, func(other *kustomization) bool {
					return other.maker == Maker{cmp.Or(on.Namespace, k.Metadata.Namespace), on.Name}
				})
			})
		})
	}
	return max(i, 0)
}

// hasInputs reports whether the tree has made everything that a Kustomization names.
func (b *builder) hasInputs(k *kustomization) bool {
	if ref := k.Spec.SourceRef; b.order.localSource(ref) == "" && b.objects[objectKey{sourceGroup, ref.Kind, ref.Namespace, ref.Name}] == nil {
		return false
	}
	if k.Spec.PostBuild == nil {
		return true
	}
	return !slices.ContainsFunc(k.Spec.PostBuild.From, func(from substituteFrom) bool {
		return b.objects[objectKey{"", from.Kind, k.Metadata.Namespace, from.Name}] == nil
	})
}

// buildKustomization builds a Kustomization of Flux.
func (b *builder) buildKustomization(k *kustomization) {
	from, problem := b.source(k)
	if problem != nil {
		b.report(*problem)
	}
	if from == nil || problem != nil && problem.Severity == Skipped {
		return
	}
	objects, err := b.build(from, k.folder(), k, b.variablesOf(k))
	if err != nil {
		b.report(Problem{Failed, k.title(), err.Error(), ""})
		return
	}
	b.emit(objects, k.maker, k.depth)
}
