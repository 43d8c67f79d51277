package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fluxPrediction is what diff says about one HelmRelease before a merge.
type fluxPrediction struct {
	// Case is the case of the release, whose last report is the prediction.
	*Case
	name string
	// from are the flags that name the tree.
	from   []string
	r      ref
	before fluxRevision
	// stored are the objects of the release as they are before.
	stored []*objectPrediction
}

// report returns the report about the release.
func (p *fluxPrediction) report() *releaseReport { return &p.last.report.Releases[0] }

// isComplete reports whether the report says that it has everything that Flux does.
func (p *fluxPrediction) isComplete() bool { return p.lacks() == "" }

// lacks returns what the report says that it lacks, or "".
func (p *fluxPrediction) lacks() string {
	for _, e := range p.report().Errors {
		return e.Message
	}
	for _, w := range p.report().Warnings {
		if strings.HasPrefix(w.Message, "whether the chart has changed under the same version is not known") {
			return w.Message
		}
	}
	return ""
}

// fails reports whether Helm cannot render the chart, so that Flux fails before it makes a revision.
func (p *fluxPrediction) fails() bool {
	return slices.ContainsFunc(p.report().Errors, func(m message) bool { return m.Code == "render" })
}

// treeFault returns what a report says a Kustomization lacks, or "".
func (p *fluxPrediction) treeFault() string {
	for _, e := range p.report().Errors {
		if strings.HasPrefix(e.Message, "Kustomization "+p.ns+"/") {
			return e.Message
		}
	}
	return ""
}

// unknownText is what a reason says instead of the commit to come in the version of a chart with reconcileStrategy: Revision.
const unknownText = "(not known yet)"

const treeDir = "repo/clusters/prod"

// predict asks what Flux does with HelmReleases once the tree is merged. For a single HelmRelease and for all of them the answer must be
// the same. Flags come before the names.
func (f *fluxTree) predict(names []string) (string, error) {
	flags := 0
	for flags < len(names) && strings.HasPrefix(names[flags], "-") {
		flags++
	}
	from := append([]string{"--from", treeDir}, names[:flags]...)
	names, f.predicted = names[flags:], nil
	if err := f.awaitKustomizations(); err != nil {
		return "", err
	}
	text := strings.Builder{}
	single := map[string]string{}
	for _, name := range names {
		p := &fluxPrediction{Case: f.forRelease(), name: name, from: from}
		var err error
		if p.r, err = f.ref("helmreleases.helm.toolkit.fluxcd.io/" + name); err != nil {
			return "", err
		}
		out, err := p.diff(append([]string{"hr/" + name}, from...)...)
		if err != nil {
			return out.stderr, err
		}
		fmt.Fprint(&text, name, ":\n", out.stderr)
		if _, err := f.cluster.get(context.Background(), p.r); apierrors.IsNotFound(err) &&
			strings.Contains(out.stderr, "there is no HelmRelease "+name) {
			continue
		}
		if out.report == nil || len(out.report.Releases) == 0 || out.report.Releases[0].Deployer == nil {
			return text.String(), fmt.Errorf("predict: diff hr/%s says nothing of what Flux does; exit %d\n%s", name, out.exit, out.stderr)
		}
		fmt.Fprintf(&text, "%s\nexit %d\n", strings.Join(out.report.lines(), "\n"), out.exit)
		for _, m := range slices.Concat(p.report().Warnings, p.report().Errors) {
			fmt.Fprintln(&text, "said:", m.Message)
		}
		p.release, p.storage = p.report().Name, cmp.Or(p.report().StorageNamespace, f.ns)
		single[name] = p.report().Deployer.Action + ": " + p.report().Deployer.Reason
		f.predicted = append(f.predicted, p)
	}
	all, err := f.binary(append([]string{"diff", "-o", "json"}, from...)...)
	if err != nil {
		return text.String(), err
	}
	if strings.Contains(all.stderr, treeDir+" makes no HelmRelease") {
		return text.String(), nil
	}
	report, err := decodeReport(all.stdout)
	if err != nil {
		return text.String(), fmt.Errorf("%w\n%s", err, all.stderr)
	}
	inAll := map[string]string{}
	for _, r := range report.Releases {
		if d := r.Deployer; d != nil {
			inAll[d.Name] = d.Action + ": " + d.Reason
		}
	}
	for name, said := range single {
		if other, found := inAll[name]; found && other != said {
			return text.String(), fmt.Errorf("diff hr/%s says %q, and diff of the tree says %q", name, said, other)
		}
	}
	return text.String(), nil
}

// awaitKustomizations waits until kustomize-controller has looked at each Kustomization as it is. One that somebody has just resumed
// applies what it missed.
func (f *fluxTree) awaitKustomizations() error {
	const resource = "kustomizations.kustomize.toolkit.fluxcd.io"
	all, err := f.list(resource)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fluxTimeout)
	defer cancel()
	for _, o := range all {
		r, err := f.ref(resource + "/" + o.GetName())
		if err != nil {
			return err
		}
		err = f.cluster.waitFor(ctx, r, "its reconciliation", func(now *unstructured.Unstructured) bool {
			isSuspended, _, _ := unstructured.NestedBool(now.Object, "spec", "suspend")
			_, reason := conditionOf(now, "Ready")
			return isSuspended || now.GetDeletionTimestamp() != nil || isSettled(now) && reason != "DependencyNotReady" &&
				observedBy(now, "Ready") == now.GetGeneration()
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// forRelease returns a copy of the case, for another release.
func (f *fluxTree) forRelease() *Case {
	out := *f.Case
	return &out
}

// judge merges the tree and compares what Flux does with what was predicted:
//
//   - A Kustomization that cannot be built is an error of the reports, and no other error says so.
//   - The decision is that of the history of the HelmRelease. A HelmRelease that is to be uninstalled is gone, and so is its release.
//   - An upgrade, an installation and a correction do to the objects what the report says, and helm-controller owns what was written. If
//     Flux does nothing, the objects stay as they are.
//   - If Helm cannot render the chart, Flux fails without a revision.
//   - Then there is nothing left to do, and the composed values and the version of the chart are those that helm-controller attempted.
//
// An incomplete report, with exit code 1, is judged by its decision alone. Such reports are counted, and so are the others.
func (f *fluxTree) judge() error {
	fault := ""
	acts := func() error {
		commit, err := f.push()
		if err == nil {
			fault, err = f.settleTree(commit)
		}
		if err == nil {
			f.start()
		}
		for _, p := range f.predicted {
			if err == nil {
				err = p.awaitFlux()
			}
		}
		return err
	}
	for _, p := range f.predicted {
		var err error
		if p.before, err = p.revision(); err != nil {
			return err
		}
		acts = p.around(acts)
	}
	if err := acts(); err != nil {
		return fmt.Errorf("%w%s", err, fault)
	}
	var faults []error
	for _, p := range f.predicted {
		faults = append(faults, p.judgeTree(fault), p.judgeDecision(), p.judgeManagers(), p.judgeAfter())
		fluxTreeCounts.add(p)
		if after, err := p.revision(); p.name == "web" && err == nil && after.name != "" {
			f.release = after.name // helm upgrades it by hand
		}
	}
	return errors.Join(faults...)
}

// around returns what Flux does with a check of what it does to the objects of the release around it.
func (p *fluxPrediction) around(acts func() error) func() error {
	return func() error {
		wrap := func(err error) error {
			if err != nil {
				return fmt.Errorf("HelmRelease %s: %w", p.name, err)
			}
			return nil
		}
		switch action := p.report().Deployer.Action; {
		case action == "none" || action == "blocked":
			return p.leaves(acts)
		case p.isComplete() && (action == "upgrade" || action == "install" || action == "correct"):
			var inner error
			err := p.provesBy(func() error { inner = acts(); return inner })
			if inner != nil {
				return inner
			}
			return wrap(err)
		}
		return acts()
	}
}

// leaves checks that Flux leaves the objects of a release as they are.
func (p *fluxPrediction) leaves(acts func() error) error {
	stored, err := p.Case.stored()
	if err != nil {
		return err
	}
	for _, o := range stored {
		one := &objectPrediction{cluster: p.cluster, kind: o.GroupVersionKind(), namespace: orElse(o.GetNamespace(), p.ns), name: o.GetName()}
		if one.before, err = one.read(); err != nil {
			return err
		}
		p.stored = append(p.stored, one)
	}
	if err := acts(); err != nil {
		return err
	}
	for _, one := range p.stored {
		after, err := one.read()
		if err != nil {
			return err
		}
		if (one.before == nil) != (after == nil) {
			return fmt.Errorf("HelmRelease %s: Flux is said to do nothing; %s %s was there: %t, is there: %t", p.name, one.kind.Kind, one.name,
				one.before != nil, after != nil)
		}
		if one.before == nil {
			continue
		}
		if diff := gocmp.Diff(withoutServerFields(one.before), withoutServerFields(after)); diff != "" {
			return fmt.Errorf("HelmRelease %s: Flux is said to do nothing, and %s %s changed:\n%s", p.name, one.kind.Kind, one.name, diff)
		}
	}
	return nil
}

// awaitFlux waits until helm-controller has handled the HelmRelease. One that is being deleted goes.
func (p *fluxPrediction) awaitFlux() error {
	hr, err := p.cluster.get(context.Background(), p.r)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case hr.GetDeletionTimestamp() != nil:
		return p.cluster.waitUntilGone(context.Background(), p.r)
	}
	isSuspended, _, _ := unstructured.NestedBool(hr.Object, "spec", "suspend")
	mayFail := p.fails() || p.report().Deployer.Action == "blocked"
	tree := &fluxTree{Case: p.Case}
	return tree.asked("helmreleases.helm.toolkit.fluxcd.io/"+p.name, func(o *unstructured.Unstructured) bool {
		observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		ready, _ := conditionOf(o, "Ready")
		return isSuspended || observed == o.GetGeneration() && ready == "True" || mayFail && ready == "False"
	})
}

// revision returns the last revision of the HelmRelease, or the zero value if there is none.
func (p *fluxPrediction) revision() (fluxRevision, error) {
	out, err := p.fluxRevisionOf(p.r)
	if apierrors.IsNotFound(err) {
		return fluxRevision{}, nil
	}
	return out, err
}

// isStored reports whether Helm has the release.
func (p *fluxPrediction) isStored() bool {
	_, err := p.manifest()
	return err == nil
}

// judgeTree compares what the reports say of the tree with what kustomize-controller says of it.
func (p *fluxPrediction) judgeTree(fault string) error {
	if said := p.treeFault(); (said != "") != (fault != "") {
		return fmt.Errorf("HelmRelease %s: diff says of the tree: %q; Flux says: %q", p.name, said, fault)
	}
	return nil
}

// judgeDecision compares the decision with the history.
func (p *fluxPrediction) judgeDecision() error {
	after, err := p.revision()
	if err != nil {
		return err
	}
	_, err = p.cluster.get(context.Background(), p.r)
	done := "none"
	switch {
	case apierrors.IsNotFound(err):
		// The release of a HelmRelease that is deleted while it is suspended stays.
		if _, err := p.manifest(); errors.Is(err, driver.ErrReleaseNotFound) && p.before != (fluxRevision{}) {
			done = "uninstall"
		}
	case err != nil:
		return err
	case p.before == (fluxRevision{}) && after.version == 1:
		done = "install"
	case p.before == (fluxRevision{}) && after.version > 1:
		done = "upgrade" // of a release that was there
	case after == (fluxRevision{}) && p.fails() && p.isStored():
		// Flux forgets its revisions before it upgrades what somebody else upgraded, and makes none if the chart cannot be rendered.
	case p.before.target != after.target || p.before.chart != after.chart && after.version == 1:
		done = "reinstall"
	case p.before.version != after.version:
		done = "upgrade"
	}
	predicted := p.report().Deployer
	said := predicted.Action
	if said == "blocked" || said == "correct" || p.fails() {
		said = "none"
	}
	if said != done {
		return fmt.Errorf("HelmRelease %s: diff says %s (%s), and Flux did: %s; revision %+v became %+v", p.name, predicted.Action,
			predicted.Reason, done, p.before, after)
	}
	isOwn := p.before != (fluxRevision{}) && !strings.Contains(predicted.Reason, "somebody else made")
	if done == "upgrade" && isOwn && after.version != p.before.version+1 {
		return fmt.Errorf("HelmRelease %s: Flux made %d revisions at once", p.name, after.version-p.before.version)
	}
	return nil
}

// judgeManagers checks that helm-controller owns every field that it was to write, with the operation of the method that was predicted.
func (p *fluxPrediction) judgeManagers() error {
	action := p.report().Deployer.Action
	if !p.isComplete() || action != "upgrade" && action != "install" {
		return nil
	}
	operation := metav1.ManagedFieldsOperationApply
	if p.report().ApplyMethod == "client-side" {
		operation = metav1.ManagedFieldsOperationUpdate
	}
	for _, o := range p.report().Objects {
		one := &objectPrediction{cluster: p.cluster, kind: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), name: o.Name,
			namespace: orElse(o.Namespace, p.ns)}
		now, err := one.read()
		if err != nil {
			return err
		}
		if now == nil || o.Action == "delete" {
			continue
		}
		if o.Action == "create" && entryOf(now, "helm-controller", string(operation)) == nil {
			return fmt.Errorf("HelmRelease %s: helm-controller does not own %s %s by %s: %v", p.name, o.Kind, o.Name, operation, managersOf(now))
		}
		for _, f := range o.Fields {
			if !f.acts() || f.Verdict != "overwrite" && f.Verdict != "add" {
				continue
			}
			path, err := parsePath(f.Path)
			if err != nil {
				return err
			}
			text, _ := entryOf(now, "helm-controller", string(operation)).(string)
			var owned map[string]any
			if text != "" {
				if err := json.Unmarshal([]byte(text), &owned); err != nil {
					return err
				}
			}
			if !path.isOwned(owned) {
				return fmt.Errorf("HelmRelease %s: helm-controller does not own %s of %s %s by %s; it owns %v, and the managers are %v", p.name, f.Path,
					o.Kind, o.Name, operation, owned, managersOf(now))
			}
		}
	}
	return nil
}

// isOwned reports whether the fields of a manager have a path, or something above or below it.
func (p fieldPath) isOwned(fields map[string]any) bool {
	if len(p) == 0 || len(fields) == 0 && fields != nil {
		return true
	}
	for key, below := range fields {
		kind, text, _ := strings.Cut(key, ":")
		next, _ := below.(map[string]any)
		switch kind {
		case "f":
			if text == p[0].field && p[0].keys == nil && p[0].index < 0 {
				return p[1:].isOwned(orEmpty(next))
			}
		case "k":
			var keys map[string]any
			if json.Unmarshal([]byte(text), &keys) == nil && p[0].indexInKeys(keys) {
				return p[1:].isOwned(orEmpty(next))
			}
		case "v":
			if text == fmt.Sprintf("%q", p[0].value) {
				return true
			}
		}
	}
	return false
}

// orEmpty returns the map, or an empty one instead of none.
func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// indexInKeys reports whether the step names the list item with these keys.
func (s pathStep) indexInKeys(keys map[string]any) bool {
	return s.keys != nil && s.indexIn([]any{keys}) == 0
}

// judgeAfter checks that nothing is left to do, and that what helmdrift composes is what helm-controller attempted.
func (p *fluxPrediction) judgeAfter() error {
	if _, err := p.cluster.get(context.Background(), p.r); apierrors.IsNotFound(err) {
		return nil
	}
	said := p.report().Deployer.Action
	for _, args := range [][]string{{"hr/" + p.name}, append([]string{"hr/" + p.name}, p.from...)} {
		one := *p.Case
		out, err := one.diff(args...)
		if err != nil {
			return err
		}
		if strings.Contains(out.stderr, "which helmdrift does not fetch") {
			continue // without the tree there is no chart for an installation that failed
		}
		if out.report == nil || len(out.report.Releases) == 0 || out.report.Releases[0].Deployer == nil {
			return fmt.Errorf("diff %s says nothing of what Flux does; exit %d\n%s", strings.Join(args, " "), out.exit, out.stderr)
		}
		r := out.report.Releases[0]
		for _, w := range r.Warnings {
			if w.Code == "flux-differs" {
				return fmt.Errorf("HelmRelease %s: after the merge, diff %s warns: %s", p.name, strings.Join(args, " "), w.Message)
			}
		}
		if strings.Contains(r.Deployer.Reason, unknownText) {
			continue // the next commit is another revision
		}
		if now := r.Deployer; len(r.Errors) == 0 && now.Action != "none" && now.Action != "blocked" {
			return fmt.Errorf("HelmRelease %s: diff said %s, and after the merge diff %s says %s: %s", p.name, said, strings.Join(args, " "),
				now.Action, now.Reason)
		}
	}
	return nil
}

// fluxCounts counts predictions.
type fluxCounts struct {
	mutex      sync.Mutex
	actions    map[string]int
	incomplete map[string]int
	all        int
}

var fluxTreeCounts = &fluxCounts{actions: map[string]int{}, incomplete: map[string]int{}}

// add counts a prediction that was judged.
func (c *fluxCounts) add(p *fluxPrediction) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.all++
	c.actions[p.report().Deployer.Action]++
	if !p.isComplete() {
		reason := p.lacks()
		for _, name := range []string{p.ns, "1.", "2."} {
			reason, _, _ = strings.Cut(reason, name)
		}
		c.incomplete[reason]++
	}
}

// log prints the counts. At most a quarter of the predictions may be incomplete: some edits are there to make them so.
func (c *fluxCounts) log(t *testing.T) {
	t.Helper()
	incomplete := 0
	for _, n := range c.incomplete {
		incomplete += n
	}
	if incomplete > c.all/4 {
		t.Errorf("%d of %d predictions are incomplete", incomplete, c.all)
	}
	t.Logf("judged %d predictions: %v; incomplete: %v", c.all, c.actions, c.incomplete)
}
