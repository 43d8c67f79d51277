package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// oracleRun is one run of a case on a cluster.
type oracleRun struct {
	testCase *oracleCase
	by4      bool
	route    route
	story    *Case
	// commands, files and fileNames are the script of the run.
	commands  []string
	files     map[string]string
	fileNames []string

	edits, failures, dryRuns, certain, uncertain int
	// unreached are the predicted failures that Helm did not reach, and stoppedAt are the objects where it stopped.
	unreached []string
	stoppedAt map[string]bool
	tolerated tolerances
	// notAsked counts objects that the server was not asked about, by reason.
	notAsked       map[string]int
	mispredictions []string
	// mispredicted are the objects of the mispredictions.
	mispredicted map[string]bool
	// installed are the objects as the first revision left them, unedited are the objects before the edits, and predictedOn are the
	// objects when helmdrift reads them. upgradeFailed says that an upgrade failed before the edits.
	installed, unedited, predictedOn map[string]map[string]any
	upgradeFailed                    bool
	// upgradeError is the error of that upgrade.
	upgradeError string
}

// run runs the case: install, edit, predict, and compare with what Helm does.
func (o *oracleCase) run(base *Case, by4 bool) (*oracleRun, error) {
	run := newOracleRun(o, base, by4)
	if o.installs && !by4 && run.route.upgrades4 {
		run.route.serverSide = "false"
	}
	defer run.clean()
	if err := run.deployAndEdit(); err != nil {
		return run, err
	}
	predicted, err := run.predictions()
	if err != nil {
		return run, err
	}
	failed := run.runHelm()
	if err := run.fillInValues(); err != nil {
		return run, err
	}
	after, err := run.snapshot()
	if err != nil {
		return run, err
	}
	run.judgeDryRun(predicted.dryRun)
	run.judgeDryRunAgreement(predicted.plain, predicted.dryRun, predicted.sameManagers)
	run.judgeDrift(predicted.plain, run.predictedOn, o.unchanged)
	if predicted.stored != nil {
		known := len(run.mispredictions)
		if run.judgeDrift(predicted.stored, run.predictedOn, true); len(run.mispredictions) > known {
			run.mispredictions = append(run.mispredictions, "helmdrift, without the chart:\n  "+strings.Join(predicted.stored.lines(), "\n  "))
		}
	}
	run.judgeDefinition()
	run.judge(predicted.plain, run.predictedOn, after, failed)
	return run, nil
}

// deployAndEdit brings the objects to the state that helmdrift predicts from.
func (r *oracleRun) deployAndEdit() error {
	if err := r.deploy(); err != nil {
		return err
	}
	var err error
	if r.unedited, err = r.snapshot(); err != nil {
		return err
	}
	r.waitForDefinitions()
	return r.applyEdits()
}

// oraclePredictions are the reports about the same objects: with a dry run, without one, and against the stored manifest.
type oraclePredictions struct {
	dryRun, plain, stored *driftReport
	// sameManagers reports whether an object had the same managers during both of the first two.
	sameManagers func(name string) bool
}

// predictions runs helmdrift and reads the objects before and after its first two runs.
func (r *oracleRun) predictions() (out oraclePredictions, err error) {
	first, err := r.snapshot()
	if err != nil {
		return out, err
	}
	if out.dryRun, err = r.predict("--dry-run=server"); err != nil {
		return out, err
	}
	r.commands = r.commands[:len(r.commands)-1] // the script contains only the prediction without a dry run
	if out.plain, err = r.predict(); err != nil {
		return out, err
	}
	if r.predictedOn, err = r.snapshot(); err != nil {
		return out, err
	}
	out.sameManagers = func(name string) bool { return equalJSON(managersOf(first[name]), managersOf(r.predictedOn[name])) }
	out.stored, err = r.diffStored()
	return out, err
}

func newOracleRun(o *oracleCase, base *Case, by4 bool) *oracleRun {
	return &oracleRun{testCase: o, by4: by4, route: routes(by4)[o.route], story: base.otherRelease(o.seed), files: map[string]string{}, mispredicted: map[string]bool{},
		notAsked: map[string]int{}, tolerated: tolerances{}}
}

// diffStored returns the report without the new chart, if there is a new chart.
func (r *oracleRun) diffStored() (*driftReport, error) {
	if r.testCase.unchanged || r.testCase.installs || r.testCase.rollback {
		return nil, nil
	}
	out, err := r.story.diff(append([]string{"--show-secrets", "--show-controllers", "--fail-on", "none"}, r.route.flagsFor("again")...)...)
	if err != nil || out.exit != 0 || out.report == nil {
		return nil, fmt.Errorf("helmdrift ended with %d: %w\n%s%s", out.exit, err, out.stdout, out.stderr)
	}
	return out.report, nil
}

// runCounter numbers the runs: each has its own objects and its own release.
var runCounter atomic.Int64

// otherRelease returns a case for another release in the same namespace.
func (c *Case) otherRelease(seed uint64) *Case {
	out := *c
	out.release = fmt.Sprintf("o%d-%d", seed, runCounter.Add(1))
	out.dir = filepath.Join(c.dir, out.release)
	return &out
}

func (r *oracleRun) writeFile(name, text string) error {
	r.files[name], r.fileNames = text, append(r.fileNames, name)
	path, mode := filepath.Join(r.story.dir, name), os.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o755
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode))
}

// helm calls one of the Helms and adds the line for it. The call may fail if mayFail is set.
func (r *oracleRun) helm(by4, mayFail bool, args ...string) error {
	line := "helm " + scriptWords(args)
	if by4 {
		line = "helm4 " + scriptWords(args)
	}
	err := r.story.helm(by4, r.withWork(args)...)
	if err != nil && mayFail {
		line, r.upgradeFailed, r.upgradeError, err = "! "+line, true, err.Error(), nil
	}
	r.commands = append(r.commands, line)
	return err
}

// deploy brings the release to the state that the edits begin with. It waits until the objects that Helm deleted are gone: the deletion
// of a definition takes time, and one read could find it gone and the next one terminating.
func (r *oracleRun) deploy() error {
	if err := r.deployRelease(); err != nil {
		return err
	}
	return poll(context.Background(), "the deletion of objects by Helm", func() (bool, error) {
		terminating, err := r.isTerminating()
		return !terminating, err
	})
}

// isTerminating reports whether an object is being deleted that no finalizer of the pool holds.
func (r *oracleRun) isTerminating() (bool, error) {
	for _, o := range r.testCase.objects {
		client, _, err := r.story.cluster.OfKind(o.gvk(r.testCase.rollback), o.namespaceIn(r.story.ns))
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		obj, err := client.Get(context.Background(), o.name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		if err == nil && obj.GetDeletionTimestamp() != nil && !slices.Contains(obj.GetFinalizers(), holdingFinalizer) {
			return true, nil
		}
	}
	return false, nil
}

// deployRelease lets Helm deploy the revisions before the edits.
func (r *oracleRun) deployRelease() error {
	if err := errors.Join(r.writeFlagFiles(), r.createOtherNamespace()); err != nil {
		return err
	}
	for _, name := range []string{"old.yaml", "failed.yaml", "new.yaml"} {
		text, err := r.testCase.chart(name)
		if err != nil {
			return err
		}
		if text == "" && (name == "failed.yaml" || r.testCase.installs) || name == "new.yaml" && r.testCase.unchanged {
			continue
		}
		if err := r.writeFile(name, text); err != nil {
			return err
		}
	}
	if r.testCase.installs {
		return nil
	}
	first := r.route.installs4
	if err := r.helm(first, false, slices.Concat([]string{"install"}, r.route.install, r.testCase.flags.first, []string{"old.yaml"})...); err != nil {
		return installError{err}
	}
	var err error
	if r.installed, err = r.snapshot(); err != nil {
		return err
	}
	second := first != r.route.otherHelmBetween
	switch {
	case r.testCase.rollback:
		return r.helm(second, true, "upgrade", "new.yaml") // if this fails, the rollback starts from a failed revision
	case r.testCase.failed:
		return r.helm(second, true, "upgrade", "failed.yaml")
	case r.route.otherHelmBetween:
		return r.helm(second, true, "upgrade", "old.yaml")
	}
	return nil
}

// createOtherNamespace creates the second namespace if an object is in it. The first namespace owns it, so both are deleted together.
func (r *oracleRun) createOtherNamespace() error {
	if !slices.ContainsFunc(r.testCase.objects, func(o *oracleObject) bool { return o.namespace.suffix != "" }) {
		return nil
	}
	r.commands = append(r.commands, "namespace $NS"+otherNamespace)
	ctx := context.Background()
	home, err := r.story.cluster.get(ctx, ref{resource: "namespace", name: r.story.ns})
	if err != nil {
		return err
	}
	other := &unstructured.Unstructured{}
	other.SetAPIVersion("v1")
	other.SetKind("Namespace")
	other.SetName(r.story.ns + otherNamespace)
	other.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: r.story.ns, UID: home.GetUID()}})
	_, err = r.story.cluster.Client.Resource(namespaces).Create(ctx, other, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// applyEdits performs the edits. It ignores an edit that the API refuses.
func (r *oracleRun) applyEdits() error {
	for i, e := range r.testCase.edits {
		made, err := e.perform(r.story, i, e.object.deployed(r.testCase.rollback))
		var refused apierrors.APIStatus
		switch {
		case errors.As(err, &refused):
			continue
		case err != nil:
			return fmt.Errorf("%s %s: %w", e.way, e.object.name, err)
		case made.line == "":
			continue
		}
		r.commands, r.edits = append(r.commands, made.line), r.edits+1
		e.applied = true
		if made.file != "" {
			if err := r.writeFile(made.file, made.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// predict runs helmdrift diff.
func (r *oracleRun) predict(more ...string) (*driftReport, error) {
	verb, _ := r.testCase.operation()
	flags := slices.Concat(r.route.flagsFor(verb), r.testCase.flags.given, more)
	args := append([]string{"--show-secrets", "--show-controllers", "--fail-on", "none"}, r.withWork(flags)...)
	flagText := " " + scriptWords(flags)
	switch {
	case r.testCase.rollback:
		r.commands = append(r.commands, "diff --to-revision 1"+flagText)
		args = append(args, "--to-revision", "1")
	case r.testCase.unchanged:
		r.commands = append(r.commands, "diff"+flagText)
	default:
		if r.testCase.installs {
			flagText, args = " --install"+flagText, append(args, "--install")
		}
		r.commands = append(r.commands, "diff new.yaml"+flagText)
		chart, err := r.story.chart("new.yaml")
		if err != nil {
			return nil, err
		}
		args = append([]string{r.story.release, chart}, args...)
	}
	out, err := r.story.diff(args...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out.stdout)
	}
	disagrees := len(more) > 0 && out.exit == 1 // the server disagrees, which is judged later
	if out.exit != 0 && !disagrees || out.report == nil || len(out.report.Releases) != 1 {
		return nil, fmt.Errorf("helmdrift ended with %d\n%s%s", out.exit, out.stdout, out.stderr)
	}
	return out.report, nil
}

// runHelm lets Helm do what was predicted.
func (r *oracleRun) runHelm() error {
	r.commands = append(r.commands, "proves")
	verb, target := r.testCase.operation()
	flags := append(r.route.helmFlags(verb), r.withWork(r.testCase.flags.given)...)
	if verb == "again" {
		verb = "upgrade"
	}
	return r.story.helm(r.route.upgrades4, append(append([]string{verb}, flags...), target)...)
}

// snapshot reads the objects of both charts; missing and terminating ones are absent.
func (r *oracleRun) snapshot() (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, o := range r.testCase.objects {
		client, _, err := r.story.cluster.OfKind(o.gvk(r.testCase.rollback), o.namespaceIn(r.story.ns))
		if meta.IsNoMatchError(err) { // an instance of what the folder crds/ defines
			continue
		}
		if err != nil {
			return nil, err
		}
		obj, err := client.Get(context.Background(), o.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		case obj.GetDeletionTimestamp() == nil:
			out[o.name] = obj.Object
		}
	}
	return out, nil
}

// waitForDefinitions waits until the deployed definitions are established, because the server forbids some of their changes only then. On
// a busy machine that could happen between the prediction and the upgrade. A definition that is never established is the same for both.
func (r *oracleRun) waitForDefinitions() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, o := range r.testCase.objects {
		if r.unedited[o.name]["kind"] == "CustomResourceDefinition" {
			_ = r.story.cluster.waitFor(ctx, ref{resource: o.kind.name, name: o.name}, "Established", isEstablished)
		}
	}
}

// holdingFinalizer is the pool's finalizer that no controller removes.
const holdingFinalizer = "example.com/hold"
