package applied

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/flux/api"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file predicts how kustomize-controller applies an object of a working tree.

// after returns an object as it is after kustomize-controller has applied it (fluxcd/pkg/ssa v0.76.1 manager_apply.go ApplyAll). It is nil
// for one that the cluster does not have and does not get, or whose content is not known.
func (t *Tree) after(ctx context.Context, one laid, rules []ignore.Rule) (map[string]any, error) {
	one.content = kinds.FoldStringData(one.content)
	now, title := t.live[one.ref], deployer.TitleOf(one.ref.Kind, one.ref.Namespace, one.ref.Name)
	switch {
	case now.Err != nil && one.ref.Kind != "Secret":
		return nil, fmt.Errorf("reading %s: %s", title, now.Err.Message)
	case isSkipped(one.content, now):
		return now.Object, nil
	case now.Err != nil:
		t.Note(tree.Note, title, "what others added to it is not known: "+now.Err.Message)
		return one.content, nil
	case now.Object == nil:
		(&unstructured.Unstructured{Object: one.content}).SetGeneration(1) // so no controller has looked at it
		return t.withoutLogin(one.ref, one.content, nil), nil
	}
	out, err := t.types.apply(ctx, one, now.Object, rules)
	if cannot := (*cannotPredict)(nil); errors.As(err, &cannot) {
		t.Note(tree.Failed, title, err.Error())
		return now.Object, nil
	}
	if err != nil {
		return nil, &cannotApply{title, err}
	}
	return t.withoutLogin(one.ref, out, now.Object), nil
}

// isSkipped reports whether kustomize-controller leaves an object as it is, or does not create it (fluxcd/pkg/ssa v0.76.1 manager_apply.go
// shouldSkipApply). IfNotPresent counts only in Git, and a Secret that cannot be read may be there.
func isSkipped(content map[string]any, now cluster.Live) bool {
	return isExcluded(content) || isExcluded(now.Object) ||
		(now.Object != nil || now.Err != nil) && isMarked(content, "ssa", "IfNotPresent")
}

// isExcluded reports whether a label or an annotation keeps kustomize-controller from both applying and deleting an object
// (fluxcd/kustomize-controller v1.9.4 internal/controller/kustomization_controller.go apply, deleteObjects).
func isExcluded(item map[string]any) bool {
	return isMarked(item, "reconcile", "disabled") || isMarked(item, "ssa", "Ignore")
}

// isMarked reports whether a label or an annotation of an object tells kustomize-controller something. Upper and lower case are the same
// to it (fluxcd/pkg/ssa v0.76.1 utils/meta.go AnyInMetadata).
func isMarked(item map[string]any, name, value string) bool {
	o, key := &unstructured.Unstructured{Object: item}, kustomizeGroup+"/"+name
	return strings.EqualFold(o.GetLabels()[key], value) || strings.EqualFold(o.GetAnnotations()[key], value)
}

// cannotApply is the error of an object that the API server refuses. Then Flux applies nothing of its Kustomization (fluxcd/pkg/ssa v0.76.1
// manager_apply.go ApplyAll).
type cannotApply struct {
	title string
	err   error
}

// Error implements error.
func (c *cannotApply) Error() string { return "Flux cannot apply " + c.title + ": " + c.err.Error() }

// withoutLogin removes the credentials of a source, unless the cluster has them for the same server. Whoever proposes a tree could name any
// Secret for a server of their own.
func (t *Tree) withoutLogin(ref object.Ref, o, now map[string]any) map[string]any {
	login, _, _ := unstructured.NestedString(o, "spec", "secretRef", "name")
	has, _, _ := unstructured.NestedString(now, "spec", "secretRef", "name")
	if ref.Group != api.SourceGroup || login == "" || login == has && isSameServer(urlOf(ref.Kind, o), urlOf(ref.Kind, now)) {
		return o
	}
	unstructured.RemoveNestedField(o, "spec", "secretRef")
	t.Note(tree.Note, deployer.TitleOf(ref.Kind, ref.Namespace, ref.Name),
		"the cluster does not have it with this server and this secretRef, so its credentials are not used")
	return o
}

// urlOf returns the address of a source of a kind. That of a Bucket is its endpoint.
func urlOf(kind string, o map[string]any) string {
	if kind == tree.KindBucket {
		endpoint, _, _ := unstructured.NestedString(o, "spec", "endpoint")
		isInsecure, _, _ := unstructured.NestedBool(o, "spec", "insecure")
		return api.EndpointURL(endpoint, isInsecure)
	}
	address, _, _ := unstructured.NestedString(o, "spec", "url")
	return address
}

// isSameServer reports whether two addresses have the same scheme, host and port.
func isSameServer(a, b string) bool {
	one, errA := url.Parse(a)
	other, errB := url.Parse(b)
	return errA == nil && errB == nil && one.Host != "" && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
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

// applier is the field manager of kustomize-controller.
const applier = "kustomize-controller"

// isTakenOver reports whether kustomize-controller takes the fields of a manager for its own, and so removes those that Git does not name
// (fluxcd/kustomize-controller v1.9.4 internal/controller/kustomization_controller.go apply, fluxcd/pkg/ssa v0.76.1 patch.go
// matchFieldManager). The names are prefixes, so it also takes those of kubectl edit and kubectl patch.
func isTakenOver(entry metav1.ManagedFieldsEntry) bool {
	isUpdate := entry.Operation == metav1.ManagedFieldsOperationUpdate
	return entry.Subresource == "" && (strings.HasPrefix(entry.Manager, "kubectl") ||
		isUpdate && (strings.HasPrefix(entry.Manager, "before-first-apply") || strings.HasPrefix(entry.Manager, applier)))
}

// takeOver gives the fields of some managers to kustomize-controller.
func takeOver(o *unstructured.Unstructured) error {
	fields, names := o.GetManagedFields(), sets.New[string]()
	for i, entry := range fields {
		if isTakenOver(entry) {
			// A client-side apply of a name of its own, which the library joins with those of the controller.
			fields[i].Manager, fields[i].Operation = fmt.Sprintf("taken over %d", i), metav1.ManagedFieldsOperationUpdate
			names.Insert(fields[i].Manager)
		}
	}
	o.SetManagedFields(fields)
	return csaupgrade.UpgradeManagedFields(o, names, applier)
}

// isCleaned reports whether kustomize-controller changes the metadata of an object before it applies it: it takes over fields, and removes
// what kubectl apply and earlier versions of Flux left (fluxcd/kustomize-controller v1.9.4
// internal/controller/kustomization_controller.go apply, fluxcd/pkg/ssa v0.76.1 manager_apply.go cleanupMetadata).
func isCleaned(o *unstructured.Unstructured) bool {
	annotations := o.GetAnnotations()
	for _, key := range []string{"kubectl.kubernetes.io/last-applied-configuration", kustomizeGroup + "/checksum", "fluxcd.io/sync-checksum"} {
		if _, found := annotations[key]; found {
			return true
		}
	}
	_, isGarbage := o.GetLabels()["fluxcd.io/sync-gc-mark"]
	return isGarbage || slices.ContainsFunc(o.GetManagedFields(), isTakenOver)
}

// apply returns an object after kustomize-controller has applied it over what the cluster has now. A changed spec has a new generation.
func (a *applyTypes) apply(ctx context.Context, one laid, now map[string]any, rules []ignore.Rule) (map[string]any, error) {
	before := (&unstructured.Unstructured{Object: now}).DeepCopy()
	cleans := !isMarked(now, "ssa", "Merge") && !isMarked(one.content, "ssa", "Merge") && isCleaned(before)
	if cleans {
		if err := takeOver(before); err != nil {
			return nil, err
		}
	}
	w, content := a.writer(ctx, one.ref), one.content
	if len(rules) > 0 {
		would, err := w.Write(one.ref, nil, content, now) // the controller tries this before it cleans the metadata
		if err != nil {
			return nil, err
		}
		ignored := ignoredOf(rules, one, would.Result)
		if len(ignored) > 0 && !cleans && isSame(ignored, now, would.Result) {
			return now, nil
		}
		if content, err = withIgnored(ignored, content, would.Result, before); err != nil {
			return nil, err
		}
	}
	done, err := w.Write(one.ref, nil, content, before.Object)
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

// writer returns what predicts applies of kustomize-controller to a kind.
func (a *applyTypes) writer(ctx context.Context, ref object.Ref) engine.Writer {
	gv := ref.GVK().GroupVersion()
	types := map[schema.GroupVersion]*engine.ApplyTypes{}
	if gv.Group != "" { // the engine knows the types of ConfigMaps and Secrets
		if found := a.of(ctx, gv); found != nil {
			types[gv] = found
		}
	}
	return engine.Writer{ServerSide: true, ForceConflicts: true, ApplyTypes: types,
		Deployer: func() owners.Deployer { return owners.Deployer{Manager: applier, Known: true} }}
}
