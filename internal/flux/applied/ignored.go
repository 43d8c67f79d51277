package applied

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file predicts spec.ignore of a Kustomization, which names fields that kustomize-controller leaves to others
// (fluxcd/kustomize-controller v1.9.4 internal/controller/kustomization_controller.go apply).

// ignoreRules returns the rules of spec.ignore of a Kustomization: that of the tree or, because "flux build" does not print it, that of the
// cluster.
func (t *Tree) ignoreRules(ctx context.Context, all []laid, m tree.Maker) []ignore.Rule {
	if m == (tree.Maker{}) {
		return nil
	}
	var by struct {
		Spec struct {
			Ignore []struct {
				Paths  []string           `json:"paths"`
				Target *report.TargetText `json:"target"`
			} `json:"ignore"`
		} `json:"spec"`
	}
	fails := func(why string) {
		t.Note(tree.Failed, m.String(), "what its spec.ignore leaves to others is not known: "+why)
	}
	content, err := t.kustomization(ctx, all, m)
	if err == nil {
		err = api.Flux.Decode(content, m.String(), &by)
	}
	if err != nil {
		fails(err.Error())
	}
	var texts []report.RuleText
	for _, rule := range by.Spec.Ignore {
		texts = append(texts, report.RuleText{Paths: rule.Paths, Target: rule.Target, Literal: true})
	}
	rules, unread := ignore.ReadRules("spec", texts, time.Now())
	for _, said := range unread {
		fails(said.Message)
	}
	return rules
}

// kustomization returns a Kustomization of the tree, or else that of the cluster. It fails if the Kustomization makes itself and changes
// spec.ignore: it is reconciled twice, and first with the old one.
func (t *Tree) kustomization(ctx context.Context, all []laid, m tree.Maker) (map[string]any, error) {
	ref := kustomizationRef(m)
	if i := slices.IndexFunc(all, func(one laid) bool { return one.ref == ref }); i >= 0 {
		has, gets := object.Child(t.live[ref].Object, "spec"), object.Child(all[i].content, "spec")
		if all[i].Maker == m && has != nil && !object.Equal(has["ignore"], gets["ignore"]) {
			return nil, errors.New("it changes, and because the Kustomization makes itself, both the old and the new one count")
		}
		return all[i].content, nil
	}
	t.see(ctx, []object.Ref{ref})
	found := t.live[ref]
	if found.Err != nil {
		return nil, errors.New(found.Err.Message)
	}
	return found.Object, nil
}

// cannotPredict is the error of an object with an ignored field whose fate is not predicted.
type cannotPredict struct {
	at  object.Pointer
	why string
}

// Error implements error.
func (c *cannotPredict) Error() string {
	return fmt.Sprintf("what Flux makes of it cannot be predicted: spec.ignore of its Kustomization names %q, which %s", c.at, c.why)
}

// ignoredOf returns the places of an object that rules ignore. Would is the object after an apply of all that Git names.
func ignoredOf(rules []ignore.Rule, one laid, would map[string]any) (out []object.Pointer) {
	ref := one.ref
	ref.Version = one.version
	for _, rule := range rules {
		if !rule.Selects(ref, []map[string]any{object.Child(would, "metadata")}) {
			continue
		}
		for _, path := range rule.Paths {
			var at object.Pointer
			for _, token := range path.Tokens {
				at = append(at, token.Name)
			}
			out = append(out, at)
		}
	}
	return out
}

// isSame reports whether an apply would change ignored places alone, so that kustomize-controller does not make it
// (fluxcd/pkg/ssa v0.76.1 manager_apply.go hasDriftedWithIgnore).
func isSame(ignored []object.Pointer, now, would map[string]any) bool {
	without := func(o map[string]any) *unstructured.Unstructured {
		o = runtime.DeepCopyJSON(o)
		for _, at := range ignored {
			if _, found := at.Lookup(o); found && len(at) > 0 {
				at.Remove(o)
			}
		}
		return &unstructured.Unstructured{Object: o}
	}
	a, b := without(now), without(would)
	isSameMeta := maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations())
	for _, o := range []*unstructured.Unstructured{a, b} {
		delete(o.Object, "metadata")
		delete(o.Object, "status")
	}
	return isSameMeta && object.Equal(a.Object, b.Object)
}

// withIgnored returns what kustomize-controller applies of an object. An ignored place that would change is left out if somebody else
// applies it too, and otherwise gets the value that it has (fluxcd/pkg/ssa v0.76.1 manager_apply.go computeDriftedPaths, applyDriftResult).
func withIgnored(ignored []object.Pointer, content, would map[string]any, now *unstructured.Unstructured) (map[string]any, error) {
	out := runtime.DeepCopyJSON(content)
	var adopted []object.Pointer
	for _, at := range ignored {
		has, isThere := at.Lookup(now.Object)
		gets, stays := at.Lookup(would)
		_, isInGit := at.Lookup(out)
		switch {
		case isThere == stays && object.Equal(has, gets):
		case len(at) == 0:
			return nil, &cannotPredict{at, "is the whole object"}
		case leadsIntoList(at, now.Object) || leadsIntoList(at, content):
			return nil, &cannotPredict{at, "is in a list"}
		case !isAppliedByOthers(now, at):
			adopted = append(adopted, at)
		case isInGit:
			at.Remove(out)
		}
	}
	for _, at := range adopted {
		has, isThere := at.Lookup(now.Object)
		if !isThere {
			return nil, &cannotPredict{at, "the cluster does not have"} // a null is applied
		}
		if _, isInGit := at.Lookup(out); !isInGit {
			// The JSON patch that replaces it fails (evanphx/json-patch v5.9.11 patch.go replace).
			return nil, fmt.Errorf("spec.ignore names %s, which the cluster has and the tree does not", at)
		}
		at.Edit(out, func(any) any { return runtime.DeepCopyJSONValue(has) })
	}
	return out, nil
}

// leadsIntoList reports whether a place is an item of a list or below one.
func leadsIntoList(at object.Pointer, o map[string]any) bool {
	for i := range at {
		holder, _ := at[:i].Lookup(o)
		if _, isList := holder.([]any); isList {
			return true
		}
	}
	return false
}

// isAppliedByOthers reports whether another manager than kustomize-controller has applied a place. A number is taken for the index of a
// list item (fluxcd/pkg/ssa v0.76.1 manager_apply.go isFieldOwnedByOtherApplyManager, pointerToFieldsV1Segments).
func isAppliedByOthers(o *unstructured.Unstructured, at object.Pointer) bool {
	var fields object.Pointer
	for _, name := range at {
		if _, err := strconv.Atoi(name); err == nil {
			return false
		}
		fields = append(fields, "f:"+name)
	}
	return slices.ContainsFunc(o.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		var owned any
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
			return false
		}
		_, found := fields.Lookup(owned)
		return found && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.Manager != applier
	})
}
