package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// proves runs the upgrade that the last diff predicted and compares the cluster with the report: what the report says happens, and nothing
// else.
func (c *Case) proves() error {
	if c.last.report == nil {
		return errors.New("proves: there is no report")
	}
	call, err := c.predictedCall()
	if err != nil {
		return err
	}
	return c.provesBy(func() error {
		_, err := c.run(call)
		return err
	})
}

// provesBy is proves for an upgrade that a function makes.
func (c *Case) provesBy(upgrade func() error) error {
	predictions, err := c.foreseen()
	if err != nil {
		return err
	}
	tolerated := tolerances{}
	defer storyTolerances.add(tolerated)
	for range 3 {
		if err = upgrade(); !isStaleWrite(err) {
			break
		}
		tolerated.count(tolerateStaleWrite)
	}
	return c.judgeUpgrade(predictions, err, tolerated)
}

// foreseen returns the predictions of the last report, with the objects as they are before the upgrade.
func (c *Case) foreseen() ([]*objectPrediction, error) {
	predictions, err := c.predictions()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(eachPrediction(predictions, (*objectPrediction).checkBefore)...); err != nil {
		return nil, err
	}
	for _, p := range predictions {
		p.willBeDeleted = slices.ContainsFunc(predictions, func(other *objectPrediction) bool {
			deletes := other.report.Action == "delete" || other.report.Action != "skip" && strings.Contains(other.report.Note, "so it goes at once")
			return deletes && other.before != nil && p.uid() == other.uid()
		})
	}
	return predictions, nil
}

// judgeUpgrade compares the predictions with an upgrade that has ended with err.
func (c *Case) judgeUpgrade(predictions []*objectPrediction, err error, tolerated tolerances) error {
	if fault := checkFailures(c.last.report.failing(), err, tolerated); fault != nil {
		return fault
	}
	return errors.Join(eachPrediction(predictions, func(p *objectPrediction) error { return p.checkAfter(tolerated) })...)
}

// isStaleWrite reports whether Helm's replacement of an object failed because a controller had written to it since Helm read it. Nobody
// can predict that, and repeating the upgrade does what was predicted.
func isStaleWrite(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed to replace object") &&
		strings.Contains(err.Error(), "the object has been modified; please apply your changes to the latest version and try again")
}

// checkFailures compares the predicted failures with the error of the upgrade. Helm must fail on each object that it reaches, for the
// predicted reason. Objects that it does not reach are counted.
func checkFailures(failing []objectReport, err error, tolerated tolerances) error {
	if (err != nil) != (len(failing) > 0) {
		return fmt.Errorf("the report predicts the failures %v, the upgrade ends with %w", reasonsOf(failing), orNothing(err))
	}
	if err == nil {
		return nil
	}
	named := 0
	for _, o := range failing {
		switch {
		case isNamed(err.Error(), o):
			named++
			if fault := reasonFault(o, err.Error(), tolerated); fault != "" {
				return fmt.Errorf("%s %s: %s: %w", o.Kind, o.Name, fault, err)
			}
		case stopsBeforeWriting(err.Error()) || stopsAtFirstError(err.Error()):
			tolerated.count(tolerateUnreached)
		default:
			return fmt.Errorf("%s %s is predicted to fail (%s), the upgrade does not fail on it: %w", o.Kind, o.Name, o.Reason, err)
		}
	}
	if named == 0 {
		return fmt.Errorf("the report predicts the failures %v, the upgrade fails on none of them: %w", reasonsOf(failing), err)
	}
	return nil
}

// orNothing returns err, or an error to print in place of nil.
func orNothing(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

func reasonsOf(objects []objectReport) []string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Reason)
	}
	return out
}

// lockedTolerances counts what the judge of the stories excuses; stories run in parallel.
type lockedTolerances struct {
	mutex sync.Mutex
	sum   tolerances
}

var storyTolerances = &lockedTolerances{sum: tolerances{}}

func (l *lockedTolerances) add(tolerated tolerances) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.sum.add(tolerated)
}

func eachPrediction(predictions []*objectPrediction, do func(*objectPrediction) error) []error {
	var out []error
	for _, p := range predictions {
		if err := do(p); err != nil {
			out = append(out, fmt.Errorf("%s %s: %w", p.kind.Kind, p.name, err))
		}
	}
	return out
}

// predictedCall returns what the last diff predicted: an upgrade or an installation with its chart and values, a rollback, or else the
// last deployment again.
func (c *Case) predictedCall() (helmCall, error) {
	call, err := c.parseDiff(c.last.args[1:])
	if err != nil {
		return call, err
	}
	release := c.last.report.Releases[0]
	call.as = c.call.as
	switch {
	case call.verb == "rollback" && call.revision < 0:
		call.revision += release.Last.Revision
	case call.verb == "rollback":
	case call.chart == "":
		call.chart, call.values, call.skipSchema = c.call.chart, c.call.values, c.call.skipSchema
		call.postRenderer, call.postArgs = c.call.postRenderer, c.call.postArgs
	case release.Operation == "install":
		call.verb = "install"
	}
	return call, nil
}

// objectPrediction is what a report says about one object. It says nothing about most objects.
type objectPrediction struct {
	cluster   *cluster
	kind      schema.GroupVersionKind
	namespace string
	name      string
	report    objectReport
	before    map[string]any
	// willBeDeleted says that the report predicts a deletion, under this kind or under another one that is the same object. A write that
	// leaves no finalizer on an object that is being deleted removes it too.
	willBeDeleted bool
}

// predictions returns the predictions for every object of the stored manifest, and for every other object in the report.
func (c *Case) predictions() ([]*objectPrediction, error) {
	byID := map[string]*objectPrediction{}
	var out []*objectPrediction
	add := func(apiVersion, kind, namespace, name string) *objectPrediction {
		gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
		made := &objectPrediction{cluster: c.cluster, kind: gvk, namespace: orElse(namespace, c.ns), name: name}
		id := gvk.GroupKind().String() + "/" + name + "/" + made.namespace
		if byID[id] == nil {
			byID[id] = made
			out = append(out, made)
		}
		return byID[id]
	}
	stored, err := c.stored()
	if err != nil {
		return nil, err
	}
	for _, obj := range stored {
		if obj.GetName() != "" {
			add(obj.GetAPIVersion(), obj.GetKind(), obj.GetNamespace(), obj.GetName())
		}
	}
	for _, o := range c.last.report.Releases[0].Objects {
		if o.Name != "" {
			prediction := add(o.APIVersion, o.Kind, o.Namespace, o.Name)
			prediction.report, prediction.kind.Version = o, schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).Version
		}
	}
	return out, nil
}

// stored returns the objects of the last revision. There are none before an installation.
func (c *Case) stored() ([]*unstructured.Unstructured, error) {
	manifest, err := c.manifest()
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	objects, err := decodeObjects(manifest)
	return flatten(objects), err
}

// flatten takes the items out of Lists, as Helm does.
func flatten(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, obj := range objects {
		list, err := obj.ToList()
		if !obj.IsList() || err != nil {
			out = append(out, obj)
			continue
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
	}
	return out
}

// read returns the object; nil if it, or its kind, does not exist.
func (p *objectPrediction) read() (map[string]any, error) {
	client, _, err := p.cluster.OfKind(p.kind, p.namespace)
	if meta.IsNoMatchError(err) {
		p.cluster.Mapper.Reset()
		client, _, err = p.cluster.OfKind(p.kind, p.namespace)
	}
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	obj, err := client.Get(context.Background(), p.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.Object, nil
}

// checkBefore records the object and checks what the report says about the present.
func (p *objectPrediction) checkBefore() error {
	var err error
	if p.before, err = p.read(); err != nil {
		return err
	}
	if p.report.Kind == "" {
		return nil // not in the report: it must stay as it is, or stay absent
	}
	held := p.report.Action == "skip" || p.report.Action == "fail" // Helm may not reach its creation
	if absent := p.before == nil; absent != (p.report.Missing || p.report.Action == "create") && !(absent && held) {
		return fmt.Errorf("live is absent: %v, the report says %q, missing: %v", absent, p.report.Action, p.report.Missing)
	}
	for _, f := range p.report.Fields {
		if err := f.checkPointer(p.before); err != nil {
			return err
		}
	}
	return nil
}

// checkPointer checks that the pointer and the path lead to the same live value.
func (f fieldReport) checkPointer(live map[string]any) error {
	if f.Pointer == "" {
		return nil
	}
	path, err := parsePath(f.Path)
	if err != nil {
		return err
	}
	want, ok := path.lookup(live)
	got, found := follow(live, f.Pointer)
	if twins, several := want.([]any); several && path[len(path)-1].keys != nil {
		want = twins[0] // of several items of one name, the pointer leads to the first
	}
	if !ok || !found || !equalValues(want, got) {
		return fmt.Errorf("%s leads to %v, the pointer %s to %v", f.Path, want, f.Pointer, got)
	}
	return nil
}

// checkAfter compares the object with its state before and with the report.
func (p *objectPrediction) checkAfter(tolerated tolerances) error {
	after, err := p.read()
	if err != nil {
		return err
	}
	switch {
	case p.willBeDeleted || p.report.Action == "delete":
		return p.waitUntilDeleted()
	case after == nil && p.before == nil && (p.report.Kind == "" || p.report.Action == "skip" || p.report.Action == "fail"):
		return nil
	case after == nil:
		return errors.New("the object does not exist after the upgrade")
	case p.before == nil && p.report.Kind == "":
		return errors.New("the upgrade created it, and the report lacks it")
	case p.before == nil:
		return nil
	}
	if p.kind.Kind == "PersistentVolume" && p.report.Action == "replace" {
		if after, err = p.protected(); err != nil {
			return err
		}
	}
	return p.checkFields(after, tolerated)
}

// protected waits until a controller has given a replaced volume its finalizers again, and returns the volume.
func (p *objectPrediction) protected() (after map[string]any, err error) {
	err = poll(context.Background(), "the finalizers of the object", func() (bool, error) {
		var err error
		after, err = p.read()
		now := (&unstructured.Unstructured{Object: after}).GetFinalizers()
		isMissing := func(finalizer string) bool { return !slices.Contains(now, finalizer) }
		return !slices.ContainsFunc((&unstructured.Unstructured{Object: p.before}).GetFinalizers(), isMissing), err
	})
	return after, err
}

// checkFields checks that the reported fields changed as predicted, and nothing else.
func (p *objectPrediction) checkFields(after map[string]any, tolerated tolerances) error {
	was, now := withoutServerFields(p.before), withoutServerFields(after)
	judge := fieldJudge{tolerated: tolerated, dryRun: func(obj map[string]any) (map[string]any, error) {
		return p.cluster.dryRunUpdate(p.kind, p.namespace, obj)
	}}
	var changed []fieldPath
	for _, f := range p.report.Fields {
		if !f.acts() {
			continue
		}
		path, err := parsePath(f.Path)
		if err != nil {
			return err
		}
		switch err := f.checkEffect(path, was, now); {
		case err == nil:
		case f.Class == "autoscaled": // the autoscaler may have acted since
			tolerated.count(tolerateAutoscaled)
		default:
			return err
		}
		if !f.Masked && f.Class == "" { // masked values and values of a class are not comparable
			if err := judge.judgeBelow(f, path, was, now, after); err != nil {
				return err
			}
		}
		changed = append(changed, path)
	}
	for _, path := range changed {
		path.remove(was)
		path.remove(now)
	}
	if diff := cmp.Diff(withoutEmpty(was), withoutEmpty(now)); diff != "" {
		return fmt.Errorf("the upgrade changed more than the report predicts (-before +after):\n%s", diff)
	}
	return nil
}

// uid identifies an object across groups of the API.
func (p *objectPrediction) uid() any {
	uid, _, _ := unstructured.NestedFieldNoCopy(p.before, "metadata", "uid")
	return uid
}

// waitUntilDeleted waits for a deletion, which continues in the background.
func (p *objectPrediction) waitUntilDeleted() error {
	return poll(context.Background(), "the deletion of the object", func() (bool, error) {
		now, err := p.read()
		return now == nil, err
	})
}

// checkEffect compares one verdict with what happened.
func (f fieldReport) checkEffect(path fieldPath, was, now map[string]any) error {
	before, had := path.lookup(was)
	after, has := path.lookup(now)
	isSame, isText := equalValues, was["kind"] == "ConfigMap" || was["kind"] == "Secret"
	if f.Equivalent || !isNative(was) || isText { // only the spelling changes, or another spelling may be another value; a text is no quantity
		isSame = equalJSON
	}
	if had == has && isSame(before, after) {
		return fmt.Errorf("%s: the report predicts %s, nothing changed", f.Path, f.Verdict)
	}
	want := f.valueAfterWrite()
	switch f.Class {
	case "order":
		return f.checkOrder(path, now)
	case "volatile", "unknown":
		return nil // each rendering makes other values, or the report does not know them
	}
	if f.Masked || f.Verdict == "remove" && f.After == nil {
		if has && !f.Masked && !isEmpty(after) {
			return fmt.Errorf("%s: the report predicts its removal, live has %v", f.Path, after)
		}
		return nil
	}
	value, err := decodeValue(want)
	if err != nil {
		return err
	}
	if !containsAll(value, after) {
		return fmt.Errorf("%s: the report predicts %v, live has %v", f.Path, value, after)
	}
	return nil
}

// acts reports whether the report predicts that Helm changes the field.
func (f fieldReport) acts() bool {
	return !f.Blocked && f.Verdict != "ignore" && f.Verdict != "conflict"
}

// valueAfterWrite returns the value that the report predicts after the write.
func (f fieldReport) valueAfterWrite() json.RawMessage {
	if f.After != nil {
		return f.After
	}
	return f.Desired
}
