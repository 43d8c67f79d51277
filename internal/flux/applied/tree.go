package applied

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file lays the objects of a working tree over those of the cluster, as they are after kustomize-controller has applied them.

// Tree is what a working tree makes of the objects of Flux.
type Tree struct {
	order  tree.Order
	answer tree.Answer
	Over   Overlay
	// about are the HelmReleases that the comparison is about.
	about []object.Ref
	// types has the types for applying objects.
	types applyTypes
	// live is what the cluster has now of the objects that the tree makes, and of others that were asked for.
	live map[object.Ref]cluster.Live
	// built are the Kustomizations whose objects the tree has.
	built map[tree.Maker]bool
	// deleted are Kustomizations of the cluster. They are nil unless the tree drops them, and they delete what they made.
	deleted struct {
		sync.Mutex
		makers map[tree.Maker]map[string]any
	}
	// problems are what the tree lacks, besides those of its build.
	problems []tree.Problem
	// Done removes the files of the tree, if they are only for this comparison.
	Done func()
	// SecretLookups lets charts look up Secrets of the cluster.
	SecretLookups bool
	// secrets are the Secrets of the tree, and those of the cluster that its variables come from.
	secrets []map[string]any
}

// LookupOrder names an object of the cluster that a tree asks for.
type LookupOrder struct{ Kind, Namespace, Name string }

// ref returns the object by the version that predictions read.
func (o LookupOrder) ref() object.Ref {
	ref := object.Ref{Key: object.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, Version: "v1"}
	switch o.Kind {
	case "ConfigMap", "Secret":
	case "HelmRelease":
		return api.HelmReleaseRef(o.Namespace, o.Name)
	case "Kustomization":
		ref.Group = kustomizeGroup
	default:
		ref.Group = api.SourceGroup
	}
	return ref
}

// lookup returns the JSON of an object of the cluster. It is null if there is none.
func (t *Tree) lookup(ctx context.Context, o LookupOrder) ([]byte, error) {
	ref := o.ref()
	t.see(ctx, []object.Ref{ref})
	found := t.live[ref]
	if found.Err != nil {
		return nil, errors.New(found.Err.Message)
	}
	if o.Kind == "Secret" && found.Object != nil {
		t.secrets = append(t.secrets, found.Object)
	}
	return json.Marshal(found.Object)
}

// Questions are what the build of a tree asks the parent process.
type Questions struct {
	Lookup  func(context.Context, LookupOrder) ([]byte, error)
	Makers  func(context.Context, []tree.Asked) ([]tree.Candidate, error)
	Decrypt func(context.Context, tree.Encrypted) ([]byte, error)
	Fetch   func(context.Context, kustomize.Base) (string, error)
}

// Build builds a tree in a child process.
func Build(ctx context.Context, order tree.Order, ask Questions) (tree.Answer, error) {
	from := tree.Outside{Makers: ask.Makers, Lookup: func(ctx context.Context, kind, namespace, name string) (out map[string]any, err error) {
		text, err := ask.Lookup(ctx, LookupOrder{kind, namespace, name})
		if err != nil {
			return nil, err
		}
		return out, json.Unmarshal(text, &out)
	}}
	if order.Decrypts {
		from.Decrypt = ask.Decrypt
	}
	if order.FetchesBases {
		from.Fetch = ask.Fetch
	}
	return tree.Build(ctx, order, from)
}

// New builds a tree and lays what it makes over the cluster. About are the HelmReleases that the comparison is about. The function build
// calls Build in a child process, with questions about the cluster.
func New(
	ctx context.Context, from drift.Connection, order tree.Order, about []object.Ref,
	build func(context.Context, Questions) (tree.Answer, error),
) (*Tree, error) {
	t := &Tree{order: order, about: about, types: applyTypes{from: from.Cluster}, Over: NewOverlay(from.Cluster)}
	t.live = map[object.Ref]cluster.Live{}
	var err error
	if t.answer, err = build(ctx, Questions{Lookup: t.lookup, Makers: t.makers}); err != nil {
		return nil, err
	}
	for _, m := range t.answer.Roots {
		t.Over.objects[kustomizationRef(m)] = t.live[kustomizationRef(m)]
	}
	return t, t.lay(ctx)
}

// Seen returns the connection that the tree was laid over, without reading again what the tree has read. It is for another tree of the same
// objects.
func (t *Tree) Seen(from drift.Connection) drift.Connection {
	from.Cluster = Overlay{Cluster: from.Cluster, objects: t.live}
	return from
}

// Problems returns what the tree lacks. A nil tree lacks nothing.
func (t *Tree) Problems() []tree.Problem {
	if t == nil {
		return nil
	}
	return slices.Concat(t.answer.Problems, t.problems)
}

// Secrets returns the texts that were decrypted. A report masks each field that has one, as it does with the values of a Secret. A nil tree
// has none.
func (t *Tree) Secrets() *secret.Known {
	out := &secret.Known{}
	if t == nil {
		return out
	}
	out.Add(t.answer.Secrets...)
	for _, text := range t.answer.Secrets {
		out.AddMembers(map[string]any{"stringData": map[string]any{"decrypted": text}})
	}
	return out
}

// SecretObjects returns the Secrets of the tree, and those of the cluster that its variables come from. Their texts are also there without
// line breaks, as variables have them. A nil tree has none.
func (t *Tree) SecretObjects() (out []map[string]any) {
	if t == nil {
		return nil
	}
	for _, s := range t.secrets {
		out = append(out, s, joined(s))
	}
	return out
}

// joined returns a Secret with the texts of another one that have line breaks, without these.
func joined(s map[string]any) map[string]any {
	texts := map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		values, _ := s[field].(map[string]any)
		for name, value := range values {
			text, _ := value.(string)
			if raw, err := base64.StdEncoding.DecodeString(text); field == "data" && err == nil {
				text = string(raw)
			}
			if line := strings.ReplaceAll(text, "\n", ""); line != text {
				texts[name] = line
			}
		}
	}
	return map[string]any{"kind": "Secret", "stringData": texts}
}

// Explain adds to an error what could not be built of the tree, which may be the reason.
func (t *Tree) Explain(err error) error {
	for _, p := range t.Problems() {
		if p.Severity == tree.Failed || p.Severity == tree.Unbuilt {
			return hint.New(fmt.Errorf("%w; %s", err, p), hint.Of(err))
		}
	}
	return err
}

// Close removes the files of the tree. A nil tree has none.
func (t *Tree) Close() {
	if t != nil && t.Done != nil {
		t.Done()
	}
}

// Note adds a problem.
func (t *Tree) Note(severity tree.Severity, where, message string) {
	t.problems = append(t.problems, tree.Problem{Severity: severity, Where: where, Message: message})
}

// HelmReleases returns the HelmReleases that the tree makes, as they are after Flux has applied them.
func (t *Tree) HelmReleases() (out []map[string]any) {
	for _, o := range t.answer.Objects {
		ref := RefOf(o.Map())
		if made := t.Over.Made(ref); made != nil && ref.GVK() == api.Kind() {
			out = append(out, made)
		}
	}
	return out
}

// kustomizeGroup is the group of Flux's Kustomizations.
const kustomizeGroup = "kustomize.toolkit.fluxcd.io"

// readAs returns the version of a kind that predictions read, and reports whether they read the kind. The controllers have one version of
// each kind, and the fields that matter are the same in all versions.
func readAs(kind schema.GroupVersionKind) (schema.GroupVersionKind, bool) {
	switch kind.Group {
	case "":
		return kind, kind.Kind == "ConfigMap" || kind.Kind == "Secret"
	case api.HelmGroup:
		return api.Kind(), kind.Kind == api.Kind().Kind
	case kustomizeGroup:
		kind.Version = "v1"
		return kind, kind.Kind == "Kustomization"
	}
	kind.Version = "v1"
	return kind, kind.Group == api.SourceGroup
}

// RefOf names an object of a tree by the version that predictions read.
func RefOf(content map[string]any) object.Ref {
	kind := api.KindOf(content)
	if read, isRead := readAs(kind); isRead {
		kind = read
	}
	return api.RefOf(kind, content)
}

// laid is an object of the tree that predictions read, with the version that it has there, and as it is after it has been applied.
type laid struct {
	tree.Object
	content, after map[string]any
	ref            object.Ref
	version        string
}

// lay applies the objects of the tree that predictions read.
func (t *Tree) lay(ctx context.Context) error {
	var all []laid
	var refs []object.Ref
	for _, o := range t.answer.Objects {
		content := o.Map()
		kind, isRead := readAs(api.KindOf(content))
		if !isRead {
			continue
		}
		ref := api.RefOf(kind, content)
		if ref.Namespace == "" {
			t.Note(tree.Failed, ref.Kind+" "+ref.Name+" in "+o.File, "it has no namespace, so Flux cannot apply it")
			continue
		}
		one := laid{o, content, nil, ref, api.KindOf(content).Version}
		content["apiVersion"] = kind.GroupVersion().String()
		all, refs = append(all, one), append(refs, ref)
	}
	t.see(ctx, refs)
	refused, suspended := t.refused(ctx, all, t.live), map[tree.Maker]bool{}
	suspends := func(m tree.Maker) {
		suspended[m] = true
		t.Note(tree.Skipped, m.String(), "somebody suspended it in the cluster, so Flux leaves what it made as it is")
	}
	for _, one := range all {
		// One that makes itself does not even apply that.
		if made := madeKustomization(one.ref); made == one.Maker && made != (tree.Maker{}) && isSuspended(t.live[one.ref].Object) {
			suspends(made)
		}
	}
	rules := map[tree.Maker][]ignore.Rule{}
	for i, one := range all {
		var err error
		if _, known := rules[one.Maker]; !known {
			rules[one.Maker] = t.ignoreRules(ctx, all, one.Maker)
		}
		all[i].after, err = t.after(ctx, one, rules[one.Maker])
		if cannot := (*cannotApply)(nil); errors.As(err, &cannot) {
			refused[one.Maker] = true
			t.Note(tree.Failed, one.Maker.String(), err.Error())
		} else if err != nil {
			return err
		}
	}
	for _, one := range all {
		if refused[one.Maker] || suspended[one.Maker] {
			continue
		}
		t.Over.objects[one.ref], t.Over.tree[one.ref] = cluster.Live{Object: one.after}, true
		if one.after == nil {
			t.Over.objects[one.ref] = t.live[one.ref] // with what kept it from being read
		} else if one.ref.Group == "" && one.ref.Kind == "Secret" {
			t.secrets = append(t.secrets, one.after)
		}
		switch made := madeKustomization(one.ref); {
		case made == (tree.Maker{}):
		case made != one.Maker && one.after == nil:
			suspended[made] = true
			t.Note(tree.Skipped, made.String(), "its labels or annotations keep Flux from creating it")
		case made != one.Maker && isSuspended(one.after) && !isSuspended(one.content):
			suspends(made)
		case t.lags(ctx, one):
			t.Note(tree.Failed, made.String(), "its labels or annotations keep Flux from changing it, and its spec in the cluster is another one: "+
				"what it makes is predicted with the spec of the tree")
		}
	}
	for _, said := range t.types.unread {
		t.Note(tree.Note, "the API server", said)
	}
	t.findBuilt()
	t.Over.deletes = t.Deletes
	t.noteSets(ctx)
	return nil
}

// lags reports whether an object that Flux leaves as it is has another spec than Flux would give it.
func (t *Tree) lags(ctx context.Context, one laid) bool {
	now := t.live[one.ref]
	if now.Object == nil || !isSkipped(one.content, now) {
		return false
	}
	would, err := t.types.apply(ctx, one, now.Object, nil)
	return err != nil || !object.Equal(would["spec"], now.Object["spec"])
}

// refused returns the Kustomizations with an object of a version that the cluster does not serve, so Flux cannot apply them
// (fluxcd/pkg/ssa v0.76.1 manager_apply.go ApplyAllStaged). Found is what the cluster has at the versions of the controllers.
func (t *Tree) refused(ctx context.Context, all []laid, found map[object.Ref]cluster.Live) map[tree.Maker]bool {
	out, asked := map[tree.Maker]bool{}, map[schema.GroupVersionKind]bool{}
	for _, one := range all {
		old := one.ref
		if old.Version = one.version; old == one.ref || out[one.Maker] || found[one.ref].Absence == cluster.AbsentKind {
			continue
		}
		isAbsent, known := asked[old.GVK()]
		if !known {
			isAbsent = t.Over.Cluster.Read(ctx, []object.Ref{old})[old].Absence == cluster.AbsentKind
			asked[old.GVK()] = isAbsent
		}
		if isAbsent {
			out[one.Maker] = true
			t.Note(tree.Failed, one.Maker.String(), fmt.Sprintf("Flux cannot apply it: the cluster does not serve %s of %s/%s, and %s has this "+
				"version", old.Kind, old.Group, old.Version, deployer.TitleOf(old.Kind, old.Namespace, old.Name)))
		}
	}
	return out
}

// Folder returns the folder of the tree with the content of a source, or "". A nil tree has none.
func (t *Tree) Folder(kind, namespace, name, url string, at tree.GitRef) string {
	if t == nil || t.order.Rendered {
		return ""
	}
	return t.order.Folder(kind, namespace, name, url, at)
}

// Order returns what the tree was built for.
func (t *Tree) Order() tree.Order { return t.order }

// Objects returns the objects that the tree makes, as Git has them.
func (t *Tree) Objects() []tree.Object { return t.answer.Objects }

// Live returns an object that the tree makes, or that its build asked for, as the cluster has it now, or nil.
func (t *Tree) Live(ref object.Ref) map[string]any { return t.live[ref].Object }
