package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/ignored"
	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file finds out what is left of objects once Argo CD has removed what it ignores, and which places it has removed.

// ignore finds out what Argo CD ignores of each object that is in the sources and in the cluster.
func (p *Plan) ignore(ctx context.Context, q Question) {
	differences := p.ignores()
	order := ignored.Order{Time: ignored.Time}
	for _, d := range differences {
		order.Expressions = append(order.Expressions, d.JQPathExpressions...)
	}
	pairs := p.pairs(ctx, differences)
	for _, one := range pairs {
		order.Objects = append(order.Objects, one.Object)
	}
	run := q.Ignore
	if len(order.Expressions) == 0 {
		run = func(ctx context.Context, order ignored.Order) (ignored.Answer, error) { return order.Run(ctx) }
	}
	answer, err := run(ctx, order)
	switch {
	case ctx.Err() != nil:
		return // the comparison says so
	case err != nil:
		p.lacks("what Argo CD ignores is not known: " + err.Error())
		return
	case len(answer.Broken) > 0:
		p.breaks(answer.Broken, differences)
		return
	}
	p.left = map[object.Key]argocd.Left{}
	for i, found := range answer.Objects {
		p.take(pairs[i], found)
	}
}

// pair is an object that is in the sources and in the cluster, with what Argo CD ignores of it.
type pair struct {
	ignored.Object
	of   object.Object
	live map[string]any
	// result is live after the server-side apply that Argo CD compares with it, or nil.
	result map[string]any
	// tracked is live without what another way of tracking makes different, or nil if nothing does.
	tracked map[string]any
	// from names the differences with expressions or managers, and managers are those whose fields are ignored.
	from, managers []string
}

// pairs returns the objects that Argo CD ignores something of.
func (p *Plan) pairs(ctx context.Context, differences []api.IgnoreDifference) []pair {
	var all []pair
	var refs []object.Ref
	for _, o := range p.made.objects {
		one := pair{of: o}
		for _, d := range differences {
			switch isAbout := d.IsAbout(o.Key); {
			case isAbout && d.IsOverwritten && p.options().Has("RespectIgnoreDifferences=true"):
				if p.options().Has("ApplyOutOfSyncOnly=true") {
					p.lacks(fmt.Sprintf("%s ignores %s of %s together with RespectIgnoreDifferences and ApplyOutOfSyncOnly; "+
						"what a sync writes there is not known", d.From, strings.Join(d.JSONPointers, " "), o.Key))
				}
			case isAbout:
				one.add(d)
			}
		}
		if o.Problem == "" {
			all, refs = append(all, one), append(refs, o.Ref)
		}
	}
	live := p.cluster.Read(ctx, refs) // which the comparison reads, too
	var out []pair
	for _, one := range all {
		if one.live = live[one.of.Ref].Object; one.live == nil {
			continue // it is created, or the comparison says why it could not be read
		}
		one.tracked = p.tracked(one.of.Content, one.live)
		if one.tracked == nil && len(one.Steps) == 0 && len(one.managers) == 0 {
			continue
		}
		if one.tracked != nil {
			one.from = append(one.from, "tracking of Argo CD")
		}
		desired, live := p.trust(ctx, one)
		var errs [3]error
		one.Desired, errs[0] = json.Marshal(desired)
		one.Live, errs[1] = json.Marshal(live)
		if p.comparesServerSide() {
			if one.result = argocd.ServerSideResult(one.of.Ref, desired, live); one.result != nil {
				one.Result, errs[2] = json.Marshal(one.result)
			}
		}
		if errors.Join(errs[:]...) == nil {
			out = append(out, one)
		}
	}
	return out
}

// comparesServerSide reports whether Argo CD compares live objects with what a server-side apply would make of them (argo-cd v3.6.1
// controller/state.go shouldUseServerSideDiff). That an object itself says ServerSideApply=true decides only how it is written.
func (p *Plan) comparesServerSide() bool {
	own := api.Listed(p.app.Metadata.Annotations[compareAnnotation])
	return !slices.Contains(own, "ServerSideDiff=false") &&
		(p.settings.ComparesServerSide || slices.Contains(own, "ServerSideDiff=true") || optionsOf(p.app).Has("ServerSideApply=true"))
}

// compareAnnotation says how Argo CD compares an Application, or an object.
const compareAnnotation = "argocd.argoproj.io/compare-options"

// tracked returns live as Argo CD compares it if live has the label that marks objects, which Helm or an older Argo CD may have set. A
// missing annotation then counts as that of the sources. If the sources lack the label, Argo CD ignores it. It returns nil if that changes
// nothing (argo-cd v3.6.1 util/argo/resource_tracking.go Normalize).
func (p *Plan) tracked(desired, live map[string]any) map[string]any {
	is, will := &unstructured.Unstructured{Object: live}, &unstructured.Unstructured{Object: desired}
	if p.settings.Tracking == "" || p.settings.Tracking == "label" ||
		is.GetLabels()[p.settings.Label] == "" || is.GetKind() == "CustomResourceDefinition" {
		return nil
	}
	lacksMark, dropsLabel := is.GetAnnotations()[trackingID] == "", will.GetLabels()[p.settings.Label] == ""
	if !lacksMark && !dropsLabel {
		return nil
	}
	out := is.DeepCopy()
	if lacksMark {
		annotations := nonNil(out.GetAnnotations())
		annotations[trackingID] = will.GetAnnotations()[trackingID]
		out.SetAnnotations(annotations)
	}
	if dropsLabel {
		labels := out.GetLabels()
		delete(labels, p.settings.Label)
		out.SetLabels(labels)
	}
	return out.Object
}

// trust returns desired and live without the fields that differ and that one of the managers owns (argo-cd v3.6.1
// util/argo/managedfields/managed_fields.go Normalize).
func (p *Plan) trust(ctx context.Context, one pair) (desired, live map[string]any) {
	if desired, live = one.of.Content, one.live; one.tracked != nil {
		live = one.tracked
	}
	owned := one.owned()
	if len(owned) == 0 {
		return desired, live
	}
	types := p.typesOf(ctx, one.of.GVK())
	if types == nil {
		if sync := p.options(); sync.Has("RespectIgnoreDifferences=true") || sync.Has("ApplyOutOfSyncOnly=true") {
			p.lacks(fmt.Sprintf("ignoreDifferences names field managers of %s together with RespectIgnoreDifferences or ApplyOutOfSyncOnly, whose "+
				"fields helmdrift cannot leave out of what it predicts, since the cluster does not say which types they have", one.of.Key))
		}
		return desired, live
	}
	var sides [2]*typed.TypedValue
	for i, content := range []map[string]any{desired, live} {
		var err error
		if sides[i], err = types.ObjectToTyped(&unstructured.Unstructured{Object: content}); err != nil {
			return desired, live // Argo CD leaves out nothing either
		}
	}
	differing, err := sides[1].Compare(sides[0])
	if err != nil {
		return desired, live
	}
	for _, e := range owned {
		ignored := e.Fields.Intersection(differing.Modified)
		sides[0], sides[1] = sides[0].RemoveItems(ignored), sides[1].RemoveItems(ignored)
	}
	without := func(side *typed.TypedValue) map[string]any {
		content, _ := side.AsValue().Unstructured().(map[string]any)
		return content
	}
	return without(sides[0]), without(sides[1])
}

// typesOf returns the types of a kind, or nil if the cluster does not say them.
func (p *Plan) typesOf(ctx context.Context, kind schema.GroupVersionKind) managedfields.TypeConverter {
	if kinds.NativeApply().Scheme.Recognizes(kind) {
		return kinds.NativeApply().Types
	}
	found, _ := p.types.Get(kind.GroupVersion(), func() (managedfields.TypeConverter, error) {
		documents, _ := p.from.Cluster.OpenAPI(ctx, []schema.GroupVersion{kind.GroupVersion()})
		types, err := engine.NewApplyTypes(documents[kind.GroupVersion()])
		if err != nil {
			return nil, err
		}
		return types.Converter, nil
	})
	return found
}

// add adds a difference that is about the object.
func (o *pair) add(d api.IgnoreDifference) {
	o.managers = append(o.managers, d.ManagedFieldsManagers...)
	for _, pointer := range d.JSONPointers {
		o.Steps = append(o.Steps, ignored.Step{Pointer: pointer})
	}
	for _, expression := range d.JQPathExpressions {
		o.Steps = append(o.Steps, ignored.Step{Expression: expression})
	}
	if len(d.JQPathExpressions) > 0 || len(d.ManagedFieldsManagers) > 0 {
		o.from = append(o.from, d.From)
	}
}

// take takes what is left of an object.
func (p *Plan) take(one pair, found ignored.Left) {
	for _, expression := range found.Slow {
		p.lacks(fmt.Sprintf("%s: the expression %q takes longer than %s on %s, and Argo CD then compares without it; "+
			"whether it does so is not known", strings.Join(one.from, ", "), expression, ignored.Time, one.of.Key))
	}
	var is argocd.Left
	isRead := !found.IsNone && utiljson.Unmarshal(found.Desired, &is.Desired) == nil && utiljson.Unmarshal(found.Live, &is.Live) == nil
	if isRead && one.result != nil {
		isRead = utiljson.Unmarshal(found.Result, &is.Result) == nil
	}
	if !isRead {
		p.lacks(fmt.Sprintf("%s: Argo CD ignores so much of %s that no object is left, and does not compare it as helmdrift does",
			strings.Join(one.from, ", "), one.of.Key))
		return
	}
	p.left[one.of.Key] = is
	if len(one.from) == 0 {
		return // the jsonPointers are rules
	}
	rule := report.RuleText{
		Name: strings.Join(one.from, ", "), Origin: report.ControllerArgo, Reason: ignoreReason,
		Target: &report.TargetText{
			Group: globExpression(one.of.Group), Kind: globExpression(one.of.Kind), Name: exactExpression(one.of.Name),
			Namespace: exactExpression(one.of.Namespace),
		},
	}
	for _, e := range one.owned() {
		if !slices.Contains(rule.Managers, e.Manager) {
			rule.Managers = append(rule.Managers, e.Manager)
		}
	}
	if len(rule.Managers) > 0 {
		p.selected = append(p.selected, rule)
		rule.Managers = nil
	}
	between := sides{one.live, one.of.Content, is.Live, is.Desired}
	if one.result != nil {
		between.desired, between.leftDesired = one.result, is.Result
	}
	if rule.Paths = between.selected(nil, kinds.ShapeOf(one.of.Ref, nil, false)); len(rule.Paths) > 0 {
		p.selected = append(p.selected, rule)
	}
}

// owned returns what the managers whose fields are ignored own of the object.
func (o *pair) owned() []owners.Entry {
	if len(o.managers) == 0 {
		return nil
	}
	return object.Filter(owners.Entries(o.live, nil), func(e owners.Entry) bool { return slices.Contains(o.managers, e.Manager) })
}

// breaks names the expressions that do not compile. Argo CD then compares no object of the Application (argo-cd v3.6.1 controller/state.go
// CompareAppState), and does not sync it (controller/sync.go SyncAppState).
func (p *Plan) breaks(broken []ignored.Broken, differences []api.IgnoreDifference) {
	for _, b := range broken {
		from := ""
		for _, d := range differences {
			if slices.Contains(d.JQPathExpressions, b.Expression) {
				from = d.From
			}
		}
		p.broken = fmt.Sprintf("%s: the expression %q does not compile: %s", from, b.Expression, b.Reason)
		p.lacks(p.broken + "; Argo CD compares no object of the Application, and a sync fails")
	}
}

// sides are the values of one place: before and after the removal. Desired is the result of the apply if Argo CD compares that. A value
// that is not there is nil, and so is null.
type sides struct{ live, desired, leftLive, leftDesired any }

// at returns the sides of the place that a step leads to.
func (s sides) at(step object.Step) sides {
	of := func(v any) any {
		_, next, _ := step.Find(v)
		return next
	}
	return sides{of(s.live), of(s.desired), of(s.leftLive), of(s.leftDesired)}
}

// selected returns the places below a path where desired and live are the same once something has been removed.
func (s sides) selected(path object.Path, shape *kinds.Shape) (out []string) {
	seen := map[string]bool{}
	for _, step := range slices.Concat(stepsInto(s.live, shape), stepsInto(s.desired, shape)) {
		at, next, below := path.With(step), s.at(step), shape.Item()
		if step.Form == object.FieldStep {
			below = shape.Field(step.Name)
		}
		pattern := ignore.PatternOf(at)
		switch isSame := object.Equal(next.live, next.leftLive) && object.Equal(next.desired, next.leftDesired); {
		case seen[pattern], isSame:
		case object.Equal(next.leftLive, next.leftDesired) && !next.haveNames(below):
			out = append(out, pattern)
		default:
			out = append(out, next.selected(at, below)...)
		}
		seen[pattern] = true
	}
	return out
}

// haveNames reports whether something is left, and each field or item of it has a name.
func (s sides) haveNames(shape *kinds.Shape) bool {
	switch left := s.leftLive.(type) {
	case map[string]any:
		return true
	case []any:
		return len(stepsInto(left, shape)) == len(left) && len(left) > 0
	}
	return false
}

// stepsInto returns the steps to the fields of a value, and to its items if they have names.
func stepsInto(v any, shape *kinds.Shape) []object.Step {
	var out []object.Step
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			out = append(out, object.Step{Form: object.FieldStep, Name: name})
		}
	case []any:
		for _, item := range v {
			if step, named := kinds.StepTo(item, shape.ListRule()); named {
				out = append(out, step)
			}
		}
	}
	return out
}
