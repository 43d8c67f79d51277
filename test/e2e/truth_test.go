package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// proves runs the upgrade that the last diff spoke of and holds the cluster
// against the report: what it said happens, and nothing else.
func (c *Case) proves() error {
	if c.last.report == nil {
		return errors.New("proves: there is no report")
	}
	call, err := c.announced()
	if err != nil {
		return err
	}
	claims, err := c.claims()
	if err != nil {
		return err
	}
	if err := errors.Join(each(claims, (*claim).before)...); err != nil {
		return err
	}
	for _, gone := range claims {
		for _, c := range claims {
			c.goes = c.goes || gone.said.Action == "delete" && gone.was != nil && c.uid() == gone.uid()
		}
	}
	var failing []objectReport
	for _, o := range c.last.report.Releases[0].Objects {
		if o.Action == "fail" {
			failing = append(failing, o)
		}
	}
	_, err = c.run(call)
	let := tolerances{}
	defer storyLet.add(let)
	if fault := failureFault(failing, err, let); fault != nil {
		return fault
	}
	return errors.Join(each(claims, func(c *claim) error { return c.after(let) })...)
}

// failureFault holds the objects that a report lets fail against the error of the upgrade: Helm fails on each that it comes to, for the
// reason that was given. Those to which it does not come are counted.
func failureFault(failing []objectReport, err error, let tolerances) error {
	if (err != nil) != (len(failing) > 0) {
		return fmt.Errorf("the report says failures %v, the upgrade says %w", reasonsOf(failing), orNil(err))
	}
	if err == nil {
		return nil
	}
	named := 0
	for _, o := range failing {
		switch {
		case isNamed(err.Error(), o):
			named++
			if fault := reasonFault(o, err.Error(), let); fault != "" {
				return fmt.Errorf("%s %s: %s: %w", o.Kind, o.Name, fault, err)
			}
		case stopsBefore(err.Error()) || stopsThere(err.Error()):
			let.let(tolerateUnreached)
		default:
			return fmt.Errorf("%s %s is said to fail (%s), the upgrade does not fail on it: %w", o.Kind, o.Name, o.Reason, err)
		}
	}
	if named == 0 {
		return fmt.Errorf("the report says failures %v, the upgrade fails on none of them: %w", reasonsOf(failing), err)
	}
	return nil
}

// orNil makes an error of none that can be printed.
func orNil(err error) error {
	if err == nil {
		return errors.New("nothing")
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

// storyLedger counts what the stories' judge lets through; stories run side by side.
type storyLedger struct {
	mutex sync.Mutex
	sum   tolerances
}

var storyLet = &storyLedger{sum: tolerances{}}

func (l *storyLedger) add(let tolerances) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.sum.add(let)
}

func each(claims []*claim, do func(*claim) error) []error {
	var out []error
	for _, c := range claims {
		if err := do(c); err != nil {
			out = append(out, fmt.Errorf("%s %s: %w", c.kind.Kind, c.name, err))
		}
	}
	return out
}

// announced is what the last diff predicted: an upgrade or an install with its
// chart and values, a rollback, or else the last deployment over again.
func (c *Case) announced() (helmCall, error) {
	call, err := c.parseDiff(c.last.args[1:])
	if err != nil {
		return call, err
	}
	said := c.last.report.Releases[0]
	call.as = c.call.as
	switch {
	case call.verb == "rollback" && call.revision < 0:
		call.revision += said.Last.Revision
	case call.verb == "rollback":
	case call.chart == "":
		call.chart, call.values, call.skipSchema = c.call.chart, c.call.values, c.call.skipSchema
		call.postRenderer, call.postArgs = c.call.postRenderer, c.call.postArgs
	case said.Operation == "install":
		call.verb = "install"
	}
	return call, nil
}

// claim is what a report says of one object; of most it says nothing.
type claim struct {
	cluster   *cluster
	kind      schema.GroupVersionKind
	namespace string
	name      string
	said      objectReport
	was       map[string]any
	// goes tells that the report announces a deletion, under this kind or another that is the same object.
	goes bool
}

// claims are those on every object of the stored manifest, and on every other
// object that the report mentions.
func (c *Case) claims() ([]*claim, error) {
	byID := map[string]*claim{}
	var out []*claim
	add := func(apiVersion, kind, namespace, name string) *claim {
		gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
		made := &claim{cluster: c.cluster, kind: gvk, namespace: orElse(namespace, c.ns), name: name}
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
			spoken := add(o.APIVersion, o.Kind, o.Namespace, o.Name)
			spoken.said, spoken.kind.Version = o, schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).Version
		}
	}
	return out, nil
}

// stored are the objects of the last revision; there are none before an install.
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

// read gives the object, nil where it is not there, or not even its kind.
func (c *claim) read() (map[string]any, error) {
	client, _, err := c.cluster.of(c.kind, c.namespace)
	if meta.IsNoMatchError(err) {
		c.cluster.mapper.Reset()
		client, _, err = c.cluster.of(c.kind, c.namespace)
	}
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	obj, err := client.Get(context.Background(), c.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.Object, nil
}

// before remembers the object and checks what the report says of the present.
func (c *claim) before() error {
	var err error
	if c.was, err = c.read(); err != nil {
		return err
	}
	if c.said.Kind == "" {
		return nil // not spoken of: it must only stay as it is, or stay away
	}
	held := c.said.Action == "skip" || c.said.Action == "fail" // creating it may be what is not reached
	if absent := c.was == nil; absent != (c.said.Missing || c.said.Action == "create") && !(absent && held) {
		return fmt.Errorf("live is absent: %v, the report says %q, missing: %v", absent, c.said.Action, c.said.Missing)
	}
	for _, f := range c.said.Fields {
		if err := f.checkPointer(c.was); err != nil {
			return err
		}
	}
	return nil
}

// checkPointer holds the pointer against the path: both lead to live's value.
func (f fieldReport) checkPointer(live map[string]any) error {
	if f.Pointer == "" {
		return nil
	}
	path, err := parsePath(f.Path)
	if err != nil {
		return err
	}
	want, ok := path.in(live)
	got, found := follow(live, f.Pointer)
	if twins, several := want.([]any); several && path[len(path)-1].keys != nil {
		want = twins[0] // of several items of one name, the pointer leads to the first
	}
	if !ok || !found || !same(want, got) {
		return fmt.Errorf("%s leads to %v, the pointer %s to %v", f.Path, want, f.Pointer, got)
	}
	return nil
}

// after compares the object with what was and with what was said.
func (c *claim) after(let tolerances) error {
	is, err := c.read()
	if err != nil {
		return err
	}
	switch {
	case c.goes || c.said.Action == "delete":
		return c.gone()
	case is == nil && c.was == nil && (c.said.Kind == "" || c.said.Action == "skip" || c.said.Action == "fail"):
		return nil
	case is == nil:
		return errors.New("the upgrade left no such object")
	case c.was == nil && c.said.Kind == "":
		return errors.New("the upgrade made it, and the report says nothing of it")
	case c.was == nil:
		return nil
	}
	was, now := quiet(c.was), quiet(is)
	judge := fieldJudge{let: let, ask: func(obj map[string]any) (map[string]any, error) { return c.cluster.tried(c.kind, c.namespace, obj) }}
	var changed []steps
	for _, f := range c.said.Fields {
		if f.Blocked || f.Verdict == "ignore" || f.Verdict == "conflict" {
			continue
		}
		path, err := parsePath(f.Path)
		if err != nil {
			return err
		}
		switch err := f.checkEffect(path, was, now); {
		case err == nil:
		case f.Class == "autoscaled": // an autoscaler may have been there since
			let.let(tolerateAutoscaled)
		default:
			return err
		}
		if !f.Masked && f.Class == "" { // the values of the others are no values, or others each time
			if err := judge.below(f, path, was, now, is); err != nil {
				return err
			}
		}
		changed = append(changed, path)
	}
	for _, path := range changed {
		path.drop(was)
		path.drop(now)
	}
	if diff := cmp.Diff(prune(was), prune(now)); diff != "" {
		return fmt.Errorf("the upgrade did more than the report says (-before +after):\n%s", diff)
	}
	return nil
}

// uid is what an object has in common with itself in another group of the API.
func (c *claim) uid() any {
	uid, _, _ := unstructured.NestedFieldNoCopy(c.was, "metadata", "uid")
	return uid
}

// gone waits for a deletion, which goes on in the background.
func (c *claim) gone() error {
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(100 * time.Millisecond) {
		if is, err := c.read(); err != nil || is == nil {
			return err
		}
	}
	return errors.New("the upgrade did not delete it")
}

// checkEffect holds one verdict against what happened.
func (f fieldReport) checkEffect(path steps, was, now map[string]any) error {
	before, had := path.in(was)
	after, has := path.in(now)
	isSame := same
	if f.Equivalent { // only the spelling changes
		isSame = equalJSON
	}
	if had == has && isSame(before, after) {
		return fmt.Errorf("%s: the report says %s, nothing happened", f.Path, f.Verdict)
	}
	want := f.written()
	switch f.Class {
	case "order":
		return f.checkOrder(path, now)
	case "volatile":
		return nil // the values are others each time
	}
	if f.Masked || f.Verdict == "remove" && f.After == nil {
		if has && !f.Masked && !empty(after) {
			return fmt.Errorf("%s: the report says it goes, live has %v", f.Path, after)
		}
		return nil
	}
	value, err := decodeValue(want)
	if err != nil {
		return err
	}
	if !within(value, after) {
		return fmt.Errorf("%s: the report says it becomes %v, live has %v", f.Path, value, after)
	}
	return nil
}

// written is what the report says a write leaves.
func (f fieldReport) written() json.RawMessage {
	if f.After != nil {
		return f.After
	}
	return f.Desired
}
