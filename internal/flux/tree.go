package flux

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file lays the objects of a working tree over those of the cluster, as they are after kustomize-controller has applied them.

// Tree is what a working tree makes of the objects of Flux.
type Tree struct {
	order  tree.Order
	answer tree.Answer
	over   overlay
	// kinds has the types for applying objects.
	types applyTypes
	// problems are what the tree lacks, besides those of its build.
	problems []tree.Problem
	// Done removes the files of the tree, if they are only for this comparison.
	Done func()
	// secrets are the Secrets of the tree, and those of the cluster that its variables come from.
	secrets []map[string]any
}

// LookupOrder names an object of the cluster that a tree asks for.
type LookupOrder struct{ Kind, Namespace, Name string }

// lookup returns the JSON of an object of the cluster. It is null if there is none.
func (t *Tree) lookup(ctx context.Context, o LookupOrder) ([]byte, error) {
	ref := object.Ref{Key: object.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, Version: "v1"}
	switch o.Kind {
	case "ConfigMap", "Secret":
	case "Kustomization":
		ref.Group = kustomizeGroup
	default:
		ref.Group = sourceGroup
	}
	found := t.over.Cluster.Read(ctx, []object.Ref{ref})[ref]
	if found.Err != nil {
		return nil, errors.New(found.Err.Message)
	}
	if o.Kind == "Secret" && found.Object != nil {
		t.secrets = append(t.secrets, found.Object)
	}
	return json.Marshal(found.Object)
}

// BuildTree builds a tree in a child process. Ask asks the parent, which calls Lookup.
func BuildTree(ctx context.Context, order tree.Order, ask func(LookupOrder) ([]byte, error)) (tree.Answer, error) {
	return tree.Build(ctx, order, func(_ context.Context, kind, namespace, name string) (out map[string]any, err error) {
		text, err := ask(LookupOrder{kind, namespace, name})
		if err != nil {
			return nil, err
		}
		return out, json.Unmarshal(text, &out)
	})
}

// NewTree builds a tree and lays what it makes over the cluster. Build calls BuildTree in a child process, and ask is for that.
func NewTree(
	ctx context.Context, from drift.Connection, order tree.Order,
	build func(ctx context.Context, ask func(context.Context, LookupOrder) ([]byte, error)) (tree.Answer, error),
) (*Tree, error) {
	t := &Tree{
		order: order, types: applyTypes{from: from.Cluster},
		over: overlay{Cluster: from.Cluster, objects: map[object.Ref]cluster.Live{}, tree: map[object.Ref]bool{}},
	}
	var err error
	if t.answer, err = build(ctx, t.lookup); err != nil {
		return nil, err
	}
	return t, t.lay(ctx)
}

// TreeOrder returns the order for a folder of a working tree, or for rendered objects from stdin if it is "-". Sources are of the form
// KIND/NAMESPACE/NAME=FOLDER.
func TreeOrder(dir string, sources []string, stdin io.Reader) (tree.Order, error) {
	out := tree.Order{Dir: dir}
	for _, text := range sources {
		name, folder, found := strings.Cut(text, "=")
		parts := strings.Split(name, "/")
		if !found || folder == "" || len(parts) != 3 || slices.Contains(parts, "") {
			return out, hint.New(fmt.Errorf("--local-source %s is not KIND/NAMESPACE/NAME=FOLDER", text),
				"for example: --local-source GitRepository/flux-system/apps=../apps")
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return out, fmt.Errorf("--local-source %s: %s is not a folder", text, folder)
		}
		out.Sources = append(out.Sources, tree.LocalSource{Kind: parts[0], Namespace: parts[1], Name: parts[2], Dir: folder})
	}
	if dir == "-" {
		text, err := io.ReadAll(io.LimitReader(stdin, maxRendered+1))
		if err == nil && len(text) > maxRendered {
			err = fmt.Errorf("it has more than %d MiB", maxRendered>>20)
		}
		if err != nil {
			return out, fmt.Errorf("reading the objects from stdin: %w", err)
		}
		out.Rendered, out.Text = true, text
		return out, nil
	}
	root, remotes, err := tree.FindRoot(dir)
	out.Root, out.Remotes = root, remotes
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = hint.New(fmt.Errorf("--from %s: there is no such folder", dir), "it is the folder that a Kustomization of Flux names in spec.path")
	case err != nil:
		err = fmt.Errorf("--from %s: %w", dir, err)
	}
	return out, err
}

// maxRendered bounds what is read from stdin, in bytes.
const maxRendered = 64 << 20

// Problems returns what the tree lacks. A nil tree lacks nothing.
func (t *Tree) Problems() []tree.Problem {
	if t == nil {
		return nil
	}
	return slices.Concat(t.answer.Problems, t.problems)
}

// Close removes the files of the tree. A nil tree has none.
func (t *Tree) Close() {
	if t != nil && t.Done != nil {
		t.Done()
	}
}

// note adds a problem.
func (t *Tree) note(severity tree.Severity, where, message string) {
	t.problems = append(t.problems, tree.Problem{Severity: severity, Where: where, Message: message})
}

// releases returns the HelmReleases that the tree makes, as they are after Flux has applied them.
func (t *Tree) releases() (out []map[string]any) {
	for _, o := range t.answer.Objects {
		content := o.Map()
		if kind := kindOf(content); kind.Group == helmGroup && kind.Kind == Kind().Kind && t.over.tree[refOf(Kind(), content)] {
			out = append(out, t.over.objects[refOf(Kind(), content)].Object)
		}
	}
	return out
}

// dropped returns those of the HelmReleases of the cluster that a Kustomization of the tree made and makes no longer.
func (t *Tree) dropped(items []map[string]any) (out []*HelmRelease) {
	built := map[tree.Maker]bool{}
	for _, o := range t.answer.Objects {
		built[o.Maker] = true
	}
	for _, p := range t.Problems() {
		maps.DeleteFunc(built, func(m tree.Maker, _ bool) bool { return p.Severity == tree.Failed && p.Where == m.String() })
	}
	for _, item := range items {
		labels := (&unstructured.Unstructured{Object: item}).GetLabels()
		maker := tree.Maker{Namespace: labels[kustomizeGroup+"/namespace"], Name: labels[kustomizeGroup+"/name"]}
		ref := refOf(Kind(), item)
		if maker == (tree.Maker{}) || !built[maker] || t.over.tree[ref] || !t.prunes(maker) {
			continue
		}
		h := newHelmRelease(item)
		h.dropped = "the tree drops the HelmRelease, and " + maker.String() + " prunes it"
		out = append(out, h)
	}
	return out
}

// prunes reports whether a Kustomization deletes what it makes no longer (fluxcd/kustomize-controller v1.9.4
// internal/controller/kustomization_controller.go prune).
func (t *Tree) prunes(m tree.Maker) bool {
	for ref, found := range t.over.objects {
		if ref.Group == kustomizeGroup && ref.Namespace == m.Namespace && ref.Name == m.Name {
			prunes, _, _ := unstructured.NestedBool(found.Object, "spec", "prune")
			return prunes
		}
	}
	return false
}

// withoutSecrets returns lookups that find no Secrets. A chart of a tree could print them, and whoever proposes a change writes the chart.
func withoutSecrets(
	lookups func(...func(map[string]any)) (string, drift.LookupFunc, error),
) func(...func(map[string]any)) (string, drift.LookupFunc, error) {
	if lookups == nil {
		return nil
	}
	return func(learn ...func(map[string]any)) (string, drift.LookupFunc, error) {
		server, answer, err := lookups(learn...)
		if err != nil {
			return server, nil, err
		}
		return server, func(ctx context.Context, q live.LookupRequest) (live.LookupAnswer, error) {
			if isSecrets(q.Path) {
				return live.SavedAnswer(404, "404 Not Found", "application/json",
					[]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)), nil
			}
			return answer(ctx, q)
		}, nil
	}
}

// isSecrets reports whether a path of the API names Secrets.
func isSecrets(name string) bool {
	name, _, _ = strings.Cut(name, "?")
	steps := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	if len(steps) > 3 && steps[2] == "namespaces" {
		steps = slices.Delete(steps, 2, 4)
	}
	return len(steps) > 2 && steps[0] == "api" && strings.EqualFold(steps[2], "secrets")
}

// kustomizeGroup is the group of Flux's Kustomizations.
const kustomizeGroup = "kustomize.toolkit.fluxcd.io"

// readAs returns the version of a kind that predictions read, and reports whether they read the kind. The controllers have one version of
// each kind, and the fields that matter are the same in all versions.
func readAs(kind schema.GroupVersionKind) (schema.GroupVersionKind, bool) {
	switch kind.Group {
	case "":
		return kind, kind.Kind == "ConfigMap" || kind.Kind == "Secret"
	case helmGroup:
		return Kind(), kind.Kind == Kind().Kind
	case kustomizeGroup:
		kind.Version = "v1"
		return kind, kind.Kind == "Kustomization"
	}
	kind.Version = "v1"
	return kind, kind.Group == sourceGroup
}

// laid is an object of the tree that predictions read, with the version that it has there.
type laid struct {
	tree.Object
	content map[string]any
	ref     object.Ref
	version string
}

// lay applies the objects of the tree that predictions read.
func (t *Tree) lay(ctx context.Context) error {
	var all []laid
	var refs []object.Ref
	for _, o := range t.answer.Objects {
		content := o.Map()
		kind, isRead := readAs(kindOf(content))
		if !isRead {
			continue
		}
		ref := refOf(kind, content)
		if ref.Namespace == "" {
			t.note(tree.Failed, ref.Kind+" "+ref.Name+" in "+o.File, "it has no namespace, so Flux cannot apply it")
			continue
		}
		one := laid{o, content, ref, kindOf(content).Version}
		content["apiVersion"] = kind.GroupVersion().String()
		all, refs = append(all, one), append(refs, ref)
	}
	found := t.over.Cluster.Read(ctx, refs)
	refused := t.refused(ctx, all, found)
	for _, one := range all {
		if refused[one.Maker] {
			continue
		}
		after, err := t.after(ctx, one.ref, one.content, found[one.ref])
		if err != nil {
			return err
		}
		if t.over.objects[one.ref] = (cluster.Live{Object: after}); one.ref.Group == "" && one.ref.Kind == "Secret" {
			t.secrets = append(t.secrets, after)
		}
		t.over.tree[one.ref] = true
	}
	for _, said := range t.types.unread {
		t.note(tree.Note, "the API server", said)
	}
	return nil
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
			isAbsent = t.over.Cluster.Read(ctx, []object.Ref{old})[old].Absence == cluster.AbsentKind
			asked[old.GVK()] = isAbsent
		}
		if isAbsent {
			out[one.Maker] = true
			t.note(tree.Failed, one.Maker.String(), fmt.Sprintf("Flux cannot apply it: the cluster does not serve %s of %s/%s, and %s has this "+
				"version", old.Kind, old.Group, old.Version, titleOf(old.Kind, old.Namespace, old.Name)))
		}
	}
	return out
}

// after returns an object as it is after kustomize-controller has applied it (fluxcd/pkg/ssa v0.76.1 manager_apply.go ApplyAll).
func (t *Tree) after(ctx context.Context, ref object.Ref, content map[string]any, now cluster.Live) (map[string]any, error) {
	if ref.Kind == "Secret" {
		content = withData(content)
	}
	settings := (&unstructured.Unstructured{Object: content}).GetAnnotations()
	isKept := settings[kustomizeGroup+"/reconcile"] == "disabled" || settings[kustomizeGroup+"/ssa"] == "Ignore" ||
		settings[kustomizeGroup+"/ssa"] == "IfNotPresent"
	switch {
	case now.Err != nil && ref.Kind == "Secret":
		t.note(tree.Note, titleOf(ref.Kind, ref.Namespace, ref.Name), "what others added to it is not known: "+now.Err.Message)
		return content, nil
	case now.Err != nil:
		return nil, fmt.Errorf("reading %s: %s", titleOf(ref.Kind, ref.Namespace, ref.Name), now.Err.Message)
	case now.Object == nil:
		return t.withoutLogin(ref, content, nil), nil
	case isKept:
		return now.Object, nil
	}
	out, err := t.types.apply(ctx, ref, content, now.Object)
	if err != nil {
		return nil, fmt.Errorf("predicting how Flux applies %s: %w", titleOf(ref.Kind, ref.Namespace, ref.Name), err)
	}
	return t.withoutLogin(ref, out, now.Object), nil
}

// withoutLogin removes the credentials of a source, unless the cluster has them for the same server. Whoever proposes a tree could name any
// Secret for a server of their own.
func (t *Tree) withoutLogin(ref object.Ref, o, now map[string]any) map[string]any {
	login, _, _ := unstructured.NestedString(o, "spec", "secretRef", "name")
	has, _, _ := unstructured.NestedString(now, "spec", "secretRef", "name")
	if ref.Group != sourceGroup || login == "" || login == has && isSameServer(urlOf(o), urlOf(now)) {
		return o
	}
	unstructured.RemoveNestedField(o, "spec", "secretRef")
	t.note(tree.Note, titleOf(ref.Kind, ref.Namespace, ref.Name),
		"the cluster does not have it with this server and this secretRef, so its credentials are not used")
	return o
}

// urlOf returns the address of a source.
func urlOf(o map[string]any) string {
	address, _, _ := unstructured.NestedString(o, "spec", "url")
	return address
}

// isSameServer reports whether two addresses have the same scheme, host and port.
func isSameServer(a, b string) bool {
	one, errA := url.Parse(a)
	other, errB := url.Parse(b)
	return errA == nil && errB == nil && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
}

// withData returns a Secret whose stringData is in its data, as the API server stores it.
func withData(content map[string]any) map[string]any {
	texts, _ := content["stringData"].(map[string]any)
	if len(texts) == 0 {
		return content
	}
	out := maps.Clone(content)
	delete(out, "stringData")
	data, _ := content["data"].(map[string]any)
	if data = maps.Clone(data); data == nil {
		data = map[string]any{}
	}
	for key, value := range texts {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text(value)))
	}
	out["data"] = data
	return out
}

// applyTypes has what the API server says about the types of Flux.
type applyTypes struct {
	from drift.Cluster
	read map[schema.GroupVersion]*engine.ApplyTypes
	// unread says what could not be read.
	unread []string
}

// of returns the types of a version of an API, or nil if they cannot be read. Then types are guessed, which is right for the fields that
// decide what Flux does.
func (a *applyTypes) of(ctx context.Context, gv schema.GroupVersion) *engine.ApplyTypes {
	if out, known := a.read[gv]; known {
		return out
	}
	if a.read == nil {
		a.read = map[schema.GroupVersion]*engine.ApplyTypes{}
	}
	documents, unread := a.from.OpenAPI(ctx, []schema.GroupVersion{gv})
	var out *engine.ApplyTypes
	var err error
	if document := documents[gv]; document != nil {
		out, err = engine.NewApplyTypes(document)
	} else if len(unread) > 0 {
		err = errors.New(unread[0].Message)
	}
	a.read[gv] = out
	if err != nil {
		a.unread = append(a.unread, fmt.Sprintf("the types of %s could not be read, so they are guessed: %s", gv, err))
	}
	return out
}

// applier is the field manager of kustomize-controller. It takes over what these others wrote (fluxcd/kustomize-controller v1.9.4
// internal/controller/kustomization_controller.go apply, ssa.ApplyCleanupOptions).
const applier = "kustomize-controller"

// takenOver returns the field managers whose fields kustomize-controller takes for its own.
func takenOver() sets.Set[string] { return sets.New("kubectl", "before-first-apply") }

// apply returns an object after kustomize-controller has applied it over what the cluster has now. A changed spec has a new generation.
func (a *applyTypes) apply(ctx context.Context, ref object.Ref, content, now map[string]any) (map[string]any, error) {
	before := (&unstructured.Unstructured{Object: now}).DeepCopy()
	fields := before.GetManagedFields()
	for i := range fields {
		if takenOver().Has(fields[i].Manager) {
			fields[i].Operation = metav1.ManagedFieldsOperationUpdate
		}
	}
	before.SetManagedFields(fields)
	if err := csaupgrade.UpgradeManagedFields(before, takenOver(), applier); err != nil {
		return nil, err
	}
	gv := ref.GVK().GroupVersion()
	types := map[schema.GroupVersion]*engine.ApplyTypes{}
	if found := a.of(ctx, gv); found != nil {
		types[gv] = found
	}
	w := engine.Writer{ServerSide: true, ForceConflicts: true, ApplyTypes: types,
		Deployer: func() owners.Deployer { return owners.Deployer{Manager: applier, Known: true} }}
	done, err := w.Write(ref, nil, content, before.Object)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{Object: done.Result}
	if status, found := now["status"]; found {
		out.Object["status"] = status
	}
	if !object.Equal(out.Object["spec"], now["spec"]) {
		out.SetGeneration(before.GetGeneration() + 1)
	}
	return out.Object, nil
}

// kindOf returns the kind of an object.
func kindOf(o map[string]any) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(text(o["apiVersion"]), text(o["kind"]))
}

// text returns a text, or "" for anything else.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// folder returns the folder of the tree with the content of a source, or "". A nil tree has none.
func (t *Tree) folder(s *source) string {
	if t == nil || s == nil || t.order.Rendered {
		return ""
	}
	return t.order.Folder(s.kind, s.Metadata.Namespace, s.Metadata.Name, s.Spec.URL)
}

// has reports whether the tree has the content of a source. Neither the tree nor the source need be there.
func (t *Tree) has(s *source) bool { return t.folder(s) != "" }

// artifact returns the content of a source that the tree has.
func (t *Tree) artifact(s *source) *ArtifactOrder {
	return &ArtifactOrder{Dir: t.folder(s), Ignore: s.Spec.Ignore}
}
