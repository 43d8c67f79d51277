package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// helmfilePrediction is what diff --helmfile says about one release.
type helmfilePrediction struct {
	// Case is the case of the release, whose last report is the prediction.
	*Case
	said    releaseReport
	objects []*objectPrediction
}

// predict runs diff --helmfile.
func (r *helmfileRun) predict(ctx context.Context) error {
	out, err := r.diff(ctx)
	if err != nil {
		return err
	}
	r.last, r.predicted = out, nil
	for _, said := range out.report.Releases {
		one := *r.Case
		one.ns, one.storage, one.release = said.Namespace, said.StorageNamespace, said.Name
		one.last.report = &driftReport{Releases: []releaseReport{said}}
		p := &helmfilePrediction{Case: &one, said: said}
		if said.Deployer == nil {
			return fmt.Errorf("the report does not say what helmfile does with %s/%s", said.Namespace, said.Name)
		}
		if p.isComplete() {
			if p.objects, err = one.foreseen(); err != nil {
				return fmt.Errorf("%s/%s: %w", said.Namespace, said.Name, err)
			}
		}
		r.predicted = append(r.predicted, p)
	}
	return nil
}

// isComplete reports whether the report says all that helmfile does with the release.
func (p *helmfilePrediction) isComplete() bool {
	return len(p.said.Errors) == 0 && p.said.Deployer.Action != "unknown"
}

// judge compares what helmfile sync did with what was predicted:
//
//   - helm upgrade is called for each release but those that helmfile uninstalls, and nothing else is called.
//   - Helm fails where the report says so, and on the objects that the report names.
//   - Each field of each object is as predicted, and nothing else changed. Helm undoes an upgrade that fails if atomic is set, so its objects
//     are not looked at.
//   - A release that shares an object with another one of the helmfile, as the report says, is counted and not judged.
//
// If helmfile stops before it calls helm for a release, because another one failed, the release is counted. One whose report has an error
// must fail or not be reached.
func (r *helmfileRun) judge(failed error) (faults []error) {
	calls, err := r.recordedCalls()
	if err != nil {
		return []error{err}
	}
	done := map[string]helmfileCall{}
	isExplained := slices.ContainsFunc(calls, func(c helmfileCall) bool { return c.err != nil })
	for _, p := range r.predicted {
		isExplained = isExplained || !p.isComplete() || p.sharesObjects()
		own := slices.DeleteFunc(slices.Clone(calls), func(c helmfileCall) bool { return c.namespace != p.storage || c.release != p.release })
		fault, isDone := p.judge(own, failed)
		if fault != nil {
			faults = append(faults, fmt.Errorf("%s/%s: %w", p.storage, p.release, fault))
		}
		if isDone {
			done[p.storage+"/"+p.release] = own[len(own)-1]
		}
	}
	for _, c := range calls {
		if !slices.ContainsFunc(r.predicted, func(p *helmfilePrediction) bool { return c.namespace == p.storage && c.release == p.release }) {
			faults = append(faults, fmt.Errorf("%s/%s: helmfile calls helm %s, and the report has no such release", c.namespace, c.release, c.verb))
		}
	}
	if failed != nil && !isExplained {
		faults = append(faults, errors.New("helmfile sync fails, and no release does"))
	}
	r.done = done
	return faults
}

// judge compares the prediction for one release with the calls of helm for it. It reports whether helm upgraded or installed the release.
func (p *helmfilePrediction) judge(calls []helmfileCall, failed error) (fault error, isDone bool) {
	action := p.said.Deployer.Action
	tolerated := tolerances{}
	defer helmfileCounts.tolerate(tolerated)
	switch {
	case p.sharesObjects():
		helmfileCounts.add("shares an object with another release of the helmfile", p, false)
		return nil, false
	case !p.isComplete():
		helmfileCounts.add("incomplete: "+p.reason(), p, false)
		if len(calls) > 0 && calls[0].err == nil {
			return fmt.Errorf("the report has the error %q, and helm %s succeeds", p.reason(), calls[0].verb), false
		}
		return nil, false
	case len(calls) == 0 && failed == nil:
		return errors.New("helmfile calls no helm for it"), false
	case len(calls) == 0:
		helmfileCounts.add("not reached", p, false)
		return nil, false
	}
	helmfileCounts.add(action, p, true)
	var verbs []string
	for _, c := range calls {
		verbs = append(verbs, c.verb)
	}
	want := map[string]string{"uninstall": "uninstall", "reinstall": "upgrade uninstall upgrade"}[action]
	if did := strings.Join(verbs, " "); did != orElse(want, "upgrade") {
		return fmt.Errorf("the report says %s, and helmfile calls helm %s: %w", action, did, orNothing(calls[0].err)), false
	}
	last := calls[len(calls)-1].err
	switch {
	case action == "uninstall":
		return p.judgeUninstall(last), false
	case action == "reinstall":
		return errors.Join(last, checkFailures(p.last.report.failing(), calls[0].err, tolerated)), last == nil
	case last != nil && p.isUndone():
		helmfileCounts.add("undone", p, false)
		return checkFailures(p.last.report.failing(), last, tolerated), false
	}
	return p.judgeUpgrade(p.objects, last, tolerated), last == nil
}

// reason returns the first error of the report without names.
func (p *helmfilePrediction) reason() string {
	for _, e := range p.said.Errors {
		return strings.NewReplacer(p.dir, "DIR", p.release, "NAME", p.ns, "NS").Replace(e.Message)
	}
	return p.said.Deployer.Reason
}

// isUndone reports whether the report says that Helm goes back if it fails.
func (p *helmfilePrediction) isUndone() bool {
	return slices.ContainsFunc(p.said.Warnings, func(m message) bool { return strings.HasPrefix(m.Message, "atomic is set") })
}

// sharesObjects reports whether the report says that another release of the helmfile has an object of this one. Which of them gets it
// depends on the order of the calls.
func (p *helmfilePrediction) sharesObjects() bool {
	return slices.ContainsFunc(slices.Concat(p.said.Errors, p.said.Warnings), func(m message) bool {
		return strings.HasPrefix(m.Message, "the helmfile deploys it with ")
	})
}

// judgeUninstall checks that the release and its objects are gone.
func (p *helmfilePrediction) judgeUninstall(failed error) error {
	if failed != nil {
		return fmt.Errorf("the uninstall fails: %w", failed)
	}
	if _, err := p.manifest(); !errors.Is(err, driver.ErrReleaseNotFound) {
		return fmt.Errorf("the release is still there: %w", orNothing(err))
	}
	return errors.Join(eachPrediction(p.objects, (*objectPrediction).waitUntilDeleted)...)
}

// judgeAfter checks that diff finds nothing left to do with the releases that were upgraded, and exits with 0 if these are all. With
// --reuse-values, Helm 3 removes a value that is null at one upgrade and adds it at the next (helm v3.22.0 pkg/action/upgrade.go
// reuseValues), so the next upgrade may change something. The next round judges that one too.
func (r *helmfileRun) judgeAfter(ctx context.Context) (faults []error) {
	done := r.done
	now, err := r.diff(ctx)
	if err != nil {
		return []error{err}
	}
	if len(done) == len(now.report.Releases) && now.exit != 0 {
		faults = append(faults, fmt.Errorf("after helmfile sync, diff exits with %d", now.exit))
	}
	for _, said := range now.report.Releases {
		call, isDone := done[said.StorageNamespace+"/"+said.Name]
		if call.reuses && said.Deployer.Action == "upgrade" && len(said.Errors) == 0 {
			helmfileCounts.add("upgrades again, with --reuse-values", nil, false)
			continue
		}
		if isDone && (said.Deployer.Action != "none" || len(said.Errors) > 0) {
			faults = append(faults, fmt.Errorf("%s/%s: after helmfile sync, diff says %s: %s %v", said.StorageNamespace, said.Name,
				said.Deployer.Action, said.Deployer.Reason, said.Errors))
		}
	}
	return faults
}

// helmfileEdits edits live objects at random.
type helmfileEdits struct {
	*rand.Rand
	run *helmfileRun
}

// some makes some edits and returns them.
func (e helmfileEdits) some(t *testing.T) (made []string) {
	t.Helper()
	var all []*objectPrediction
	for _, p := range e.run.predicted {
		for _, o := range p.objects {
			if now, err := o.read(); err == nil && now != nil && slices.Contains([]string{"ConfigMap", "Secret", "Deployment", "Service"}, o.kind.Kind) {
				all = append(all, o)
			}
		}
	}
	for range e.IntN(4) {
		if len(all) == 0 {
			return made
		}
		o := all[e.IntN(len(all))]
		name := fmt.Sprintf("%s/%s=%s", strings.ToLower(o.kind.Kind), o.namespace, o.name)
		manager := []string{"kubectl-edit", "kubectl-patch", "kubectl"}[e.IntN(3)]
		body := fmt.Sprintf(`{metadata: {labels: {edited: "%d"}}}`, e.IntN(9))
		switch n := e.IntN(7); {
		case n == 0:
			body = "deletion"
		case n > 4:
		case o.kind.Kind == "Secret":
			body = "{data: {" + o.someKey() + ": ZWRpdGVk}}"
		case o.kind.Kind == "ConfigMap":
			key := o.someKey()
			body = []string{"{data: {" + key + ": edited}}", "{data: {added: edited}}", "{data: {" + key + ": null}}"}[e.IntN(3)]
		case o.kind.Kind == "Service":
			body = []string{"{spec: {ports: [{port: 80, name: web}]}}", "{spec: {type: NodePort}}", "{spec: {selector: {app: other}}}"}[e.IntN(3)]
		case n == 1:
			body = "scale"
		default:
			body = []string{"{spec: {template: {spec: {containers: [{name: web, image: 'nginx:1.28'}]}}}}", "{spec: {paused: true}}",
				"{spec: {template: {spec: {containers: [{name: web, env: [{name: COLOR, value: edited}]}]}}}}"}[e.IntN(3)]
		}
		var err error
		switch body {
		case "deletion":
			var r ref
			if r, err = e.run.ref(name); err == nil {
				err = e.run.cluster.delete(t.Context(), r)
			}
			all = slices.DeleteFunc(all, func(other *objectPrediction) bool { return other == o })
		case "scale":
			err = e.run.scale(name, fmt.Sprint(e.IntN(5)))
		default:
			err = e.run.patch(manager, name, body)
		}
		if apierrors.IsInvalid(err) { // such as a second container without an image
			continue
		}
		must(t, err)
		made = append(made, manager+" "+name+" "+body)
	}
	return made
}

// someKey returns the first key of the data of a ConfigMap or a Secret in quotes, or a new one.
func (p *objectPrediction) someKey() string {
	now, err := p.read()
	if err == nil && now != nil {
		data, _, _ := unstructured.NestedMap(now, "data")
		for _, key := range slices.Sorted(maps.Keys(data)) {
			return strconv.Quote(key)
		}
	}
	return "all"
}

// helmfileTally counts predictions.
type helmfileTally struct {
	mutex sync.Mutex
	// kinds counts predictions by what they say. Judged is the number of those that were judged, with their objects and fields.
	kinds                   map[string]int
	judged, objects, fields int
	tolerated               tolerances
}

var helmfileCounts = &helmfileTally{kinds: map[string]int{}, tolerated: tolerances{}}

// add counts a prediction, or something else that is not judged.
func (c *helmfileTally) add(kind string, p *helmfilePrediction, isJudged bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.kinds[kind]++; !isJudged {
		return
	}
	c.judged++
	c.objects += len(p.objects)
	for _, o := range p.said.Objects {
		c.fields += len(o.Fields)
	}
}

// tolerate adds what the judge excused.
func (c *helmfileTally) tolerate(t tolerances) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.tolerated.add(t)
}

// log prints the counts.
func (c *helmfileTally) log(t *testing.T) {
	t.Helper()
	t.Logf("judged %d predictions with %d objects and %d fields; excused: %v", c.judged, c.objects, c.fields, c.tolerated)
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		t.Logf("%5d %s", c.kinds[kind], kind)
	}
}
