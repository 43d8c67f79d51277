package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The oracle's size. One seed is one story; -oracle.seed is the first, so that -oracle.seed=17 -oracle.n=1 tells one again.
var (
	oracleN      = flag.Int("oracle.n", oracleDefault(), "how many seeds the oracle takes per engine")
	oracleSeed   = flag.Uint64("oracle.seed", 1, "the oracle's first seed")
	oracleBudget = flag.Duration("oracle.budget", time.Hour, "how long the oracle may take; it fails if seeds are left then")
	oracleKeep   = flag.String("oracle.keep", "", "folder where failing seeds are written as stories")
)

func oracleDefault() int {
	if os.Getenv("CI") == "true" {
		return 60
	}
	return 20
}

// TestOracle holds helmdrift against Helm: random charts, random edits, random changes. What was predicted is what the real
// upgrade or rollback does, and nothing else.
func TestOracle(t *testing.T) {
	pool, err := loadPool()
	must(t, err)
	for _, by4 := range []bool{false, true} {
		t.Run(fmt.Sprintf("helm%d", major(by4)), func(t *testing.T) {
			t.Parallel()
			runOracle(t, pool, by4)
		})
	}
}

// tally is what the oracle counts.
type tally struct {
	cases, void, left, edits, failures, retold, asked, certain, uncertain, misses int
	let                                                                           tolerances
	// unasked counts objects that the server was not asked about, by the reason.
	unasked map[string]int
}

// voided is the end of a story whose chart cannot even be installed.
type voided struct{ error }

func runOracle(t *testing.T, pool []poolKind, by4 bool) {
	base := newCase(t, suite.cluster)
	deadline := time.Now().Add(*oracleBudget)
	sum := tally{unasked: map[string]int{}, let: tolerances{}}
	for i := range *oracleN {
		if time.Now().After(deadline) {
			sum.left = *oracleN - i
			break
		}
		seed := *oracleSeed + uint64(i)
		told, err := newStory(pool, seed).tell(base, by4)
		if errors.As(err, &voided{}) {
			t.Logf("seed %d is void: %v", seed, err)
			sum.void++
			continue
		}
		if err != nil {
			t.Errorf("seed %d: the oracle itself failed: %v\n%s", seed, err, told.story())
			continue
		}
		sum.add(told)
		for _, told := range append([]*telling{told}, sum.reach(told, pool, base, by4)...) {
			if len(told.misses) > 0 {
				told = told.shrunk(pool, base, by4)
				t.Errorf("seed %d (-oracle.seed=%d -oracle.n=1):\n%s\n%s", seed, seed, strings.Join(told.misses, "\n"), told.story())
				keepStory(t, told)
			}
		}
	}
	sum.judge(t)
}

// judge prints what a run counted, and fails it where it did not see enough.
func (s *tally) judge(t testing.TB) {
	t.Helper()
	t.Logf("%d cases (%d void), %d edits, %d predicted failures, %d stories told again without what stopped Helm; fields: %d certain, %d not; %d dry runs; %d misses\n"+
		"objects that the server was not asked about: %v\n%s",
		s.cases, s.void, s.edits, s.failures, s.retold, s.certain, s.uncertain, s.asked, s.misses, s.unasked, s.let)
	if s.left > 0 {
		t.Errorf("out of time: %d seeds were not judged (-oracle.budget)", s.left)
	}
	if s.void*20 > s.cases+s.void {
		t.Errorf("%d of %d charts cannot be installed", s.void, s.cases+s.void)
	}
	if all := s.certain + s.uncertain; s.uncertain > max(15, all/50) {
		t.Errorf("%d of %d fields are not certain", s.uncertain, all)
	}
	for _, text := range s.let.exceeded(s.cases) {
		t.Errorf("the judge let too much through: %s", text)
	}
}

// reach tells a story again without the objects at which Helm stopped, until it has come to each predicted failure.
func (s *tally) reach(told *telling, pool []poolKind, base *Case, by4 bool) []*telling {
	var out []*telling
	for len(told.unreached) > 0 {
		var places []int
		for _, o := range told.of.objects {
			if !told.stoppers[o.name] {
				places = append(places, o.place)
			}
		}
		stuck := len(places) == len(told.of.objects) && told.of.extras == nil
		again, err := told.of.only(pool, places).tell(base, by4)
		if err != nil || stuck {
			s.let.let(tolerateUnreached)
			break
		}
		s.add(again)
		s.retold++
		out, told = append(out, again), again
	}
	return out
}

func (s *tally) add(told *telling) {
	s.cases++
	s.edits += told.edits
	s.failures += told.failures
	s.let.add(told.let)
	s.asked += told.asked
	for reason, n := range told.unasked {
		s.unasked[reason] += n
	}
	s.certain += told.certain
	s.uncertain += told.uncertain
	if len(told.misses) > 0 {
		s.misses++
	}
}

func keepStory(t *testing.T, told *telling) {
	if *oracleKeep == "" {
		return
	}
	name := fmt.Sprintf("oracle-%d-helm%d.txtar", told.of.seed, major(told.by4))
	must(t, os.WriteFile(filepath.Join(*oracleKeep, name), []byte(told.story()), 0o644))
}

// telling is one run of a case on a cluster.
type telling struct {
	of    *oracleCase
	by4   bool
	route route
	c     *Case
	// lines and files are the story as it went.
	lines []string
	files map[string]string
	order []string

	edits, failures, asked, certain, uncertain int
	// unreached are the objects that were said to fail, and to which Helm did not come; stoppers those at which it stopped.
	unreached []string
	stoppers  map[string]bool
	let       tolerances
	// unasked counts objects that the server was not asked about, by the reason.
	unasked map[string]int
	misses  []string
	// missed are the objects that the misses are about.
	missed map[string]bool
	// first are the objects as the first revision left them, pristine as the edits find them, now as helmdrift does; stumbled is set where
	// an upgrade failed before the edits.
	first, pristine, now map[string]map[string]any
	stumbled             bool
	// stumble is the error of that upgrade.
	stumble string
}

// tell runs the case: install, edits, prediction, and what Helm really does.
func (o *oracleCase) tell(base *Case, by4 bool) (*telling, error) {
	told := newTelling(o, base, by4)
	if o.installs && !by4 && told.route.goes4 {
		told.route.serverSide = "false"
	}
	defer told.clean()
	if err := told.deploy(); err != nil {
		return told, err
	}
	var err error
	if told.pristine, err = told.snapshot(); err != nil {
		return told, err
	}
	told.establish()
	if err := told.edit(); err != nil {
		return told, err
	}
	first, err := told.snapshot()
	if err != nil {
		return told, err
	}
	asked, err := told.predict("--dry-run=server")
	if err != nil {
		return told, err
	}
	told.lines = told.lines[:len(told.lines)-1] // the story goes on with the prediction that comes without asking
	said, err := told.predict()
	if err != nil {
		return told, err
	}
	before, err := told.snapshot()
	if err != nil {
		return told, err
	}
	told.now = before
	plain, err := told.plain()
	if err != nil {
		return told, err
	}
	failed := told.really()
	after, err := told.snapshot()
	if err != nil {
		return told, err
	}
	told.judgeDryRun(asked)
	told.judgeAgreement(said, asked, func(name string) bool {
		return equalJSON(managersOf(first[name]), managersOf(before[name]))
	})
	told.judgeDrift(said, before, o.same)
	if plain != nil {
		known := len(told.misses)
		if told.judgeDrift(plain, before, true); len(told.misses) > known {
			told.misses = append(told.misses, "helmdrift, without the chart:\n  "+strings.Join(plain.lines(), "\n  "))
		}
	}
	told.judge(said, before, after, failed)
	return told, nil
}

func newTelling(o *oracleCase, base *Case, by4 bool) *telling {
	return &telling{of: o, by4: by4, route: routes(by4)[o.route], c: base.child(o.seed), files: map[string]string{}, missed: map[string]bool{},
		unasked: map[string]int{}, let: tolerances{}}
}

// plain is what helmdrift says without the chart that comes, where one does.
func (t *telling) plain() (*driftReport, error) {
	if t.of.same || t.of.installs || t.of.rollback {
		return nil, nil
	}
	out, err := t.c.diff(append([]string{"--show-secrets", "--show-controllers", "--fail-on", "none"}, t.route.flagsFor("again")...)...)
	if err != nil || out.exit != 0 || out.report == nil {
		return nil, fmt.Errorf("helmdrift ended with %d: %w\n%s%s", out.exit, err, out.stdout, out.stderr)
	}
	return out.report, nil
}

// tellings numbers the runs: each has objects and a release of its own.
var tellings atomic.Int64

// child is another release in the same namespace.
func (c *Case) child(seed uint64) *Case {
	out := *c
	out.release = fmt.Sprintf("o%d-%d", seed, tellings.Add(1))
	out.dir = filepath.Join(c.dir, out.release)
	return &out
}

func (t *telling) file(name, text string) error {
	t.files[name], t.order = text, append(t.order, name)
	return errors.Join(os.MkdirAll(t.c.dir, 0o755), os.WriteFile(filepath.Join(t.c.dir, name), []byte(text), 0o644))
}

// helm calls one of the Helms, and writes the line for it. It may fail where the story wants that.
func (t *telling) helm(by4, mayFail bool, args ...string) error {
	line := "helm " + strings.Join(args, " ")
	if by4 {
		line = "helm4 " + strings.Join(args, " ")
	}
	err := t.c.helm(by4, args...)
	if err != nil && mayFail {
		line, t.stumbled, t.stumble, err = "! "+line, true, err.Error(), nil
	}
	t.lines = append(t.lines, line)
	return err
}

// deploy brings the release to where the edits begin, and waits for what Helm deleted: a definition of custom resources takes its time
// to go, and would be gone for one question and be going for another.
func (t *telling) deploy() error {
	if err := t.release(); err != nil {
		return err
	}
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(100 * time.Millisecond) {
		if going, err := t.going(); err != nil || !going {
			return err
		}
	}
	return errors.New("an object that Helm deleted does not go")
}

// going tells whether an object is on its way out that nobody holds.
func (t *telling) going() (bool, error) {
	for _, o := range t.of.objects {
		client, _, err := t.c.cluster.of(o.gvk(t.of.rollback), o.home(t.c.ns))
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

// release lets Helm make the release as the edits find it.
func (t *telling) release() error {
	if err := t.makeOther(); err != nil {
		return err
	}
	for _, name := range []string{"old.yaml", "failed.yaml", "new.yaml"} {
		text, err := t.of.chart(name)
		if err != nil {
			return err
		}
		if text == "" && (name == "failed.yaml" || t.of.installs) || name == "new.yaml" && t.of.same {
			continue
		}
		if err := t.file(name, text); err != nil {
			return err
		}
	}
	if t.of.installs {
		return nil
	}
	first := t.route.installs4
	if err := t.helm(first, false, append(append([]string{"install"}, t.route.install...), "old.yaml")...); err != nil {
		return voided{err}
	}
	var err error
	if t.first, err = t.snapshot(); err != nil {
		return err
	}
	second := first != t.route.switches
	switch {
	case t.of.rollback:
		return t.helm(second, true, "upgrade", "new.yaml") // if it fails, the rollback starts from a failed revision
	case t.of.failed:
		return t.helm(second, true, "upgrade", "failed.yaml")
	case t.route.switches:
		return t.helm(second, true, "upgrade", "old.yaml")
	}
	return nil
}

// aim is what Helm is to do: a verb, again where it upgrades to the chart that is there, and a chart or a revision.
func (c *oracleCase) aim() (verb, target string) {
	switch {
	case c.rollback:
		return "rollback", "1"
	case c.installs:
		return "install", "new.yaml"
	case c.same:
		return "again", "old.yaml"
	}
	return "upgrade", "new.yaml"
}

// makeOther makes the second namespace where an object is in it. It goes with the first, which owns it.
func (t *telling) makeOther() error {
	if !slices.ContainsFunc(t.of.objects, func(o *oracleObject) bool { return o.where.suffix != "" }) {
		return nil
	}
	t.lines = append(t.lines, "namespace $NS"+otherNamespace)
	ctx := context.Background()
	home, err := t.c.cluster.get(ctx, ref{resource: "namespace", name: t.c.ns})
	if err != nil {
		return err
	}
	other := &unstructured.Unstructured{}
	other.SetAPIVersion("v1")
	other.SetKind("Namespace")
	other.SetName(t.c.ns + otherNamespace)
	other.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: t.c.ns, UID: home.GetUID()}})
	_, err = t.c.cluster.client.Resource(namespaces).Create(ctx, other, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// edit lets the others at the objects. What the API refuses did not happen.
func (t *telling) edit() error {
	for i, e := range t.of.edits {
		made, err := e.make(t.c, i, e.object.now(t.of.rollback))
		var refused apierrors.APIStatus
		switch {
		case errors.As(err, &refused):
			continue
		case err != nil:
			return fmt.Errorf("%s %s: %w", e.how, e.object.name, err)
		case made.line == "":
			continue
		}
		t.lines, t.edits = append(t.lines, made.line), t.edits+1
		e.done = true
		if made.file != "" {
			if err := t.file(made.file, made.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// predict asks helmdrift.
func (t *telling) predict(more ...string) (*driftReport, error) {
	verb, _ := t.of.aim()
	flags := append(t.route.flagsFor(verb), more...)
	args := append([]string{"--show-secrets", "--show-controllers", "--fail-on", "none"}, flags...)
	words := " " + strings.Join(flags, " ")
	switch {
	case t.of.rollback:
		t.lines = append(t.lines, "diff --to-revision 1"+words)
		args = append(args, "--to-revision", "1")
	case t.of.same:
		t.lines = append(t.lines, "diff"+words)
	default:
		if t.of.installs {
			words, args = " --install"+words, append(args, "--install")
		}
		t.lines = append(t.lines, "diff new.yaml"+words)
		chart, err := t.c.chart("new.yaml")
		if err != nil {
			return nil, err
		}
		args = append([]string{t.c.release, chart}, args...)
	}
	out, err := t.c.diff(args...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out.stdout)
	}
	disagrees := len(more) > 0 && out.exit == 1 // the server says otherwise: it is judged with the rest
	if out.exit != 0 && !disagrees || out.report == nil || len(out.report.Releases) != 1 {
		return nil, fmt.Errorf("helmdrift ended with %d\n%s%s", out.exit, out.stdout, out.stderr)
	}
	return out.report, nil
}

// really lets Helm do it.
func (t *telling) really() error {
	t.lines = append(t.lines, "proves")
	verb, target := t.of.aim()
	words := t.route.words(verb)
	if verb == "again" {
		verb = "upgrade"
	}
	return t.c.helm(t.route.goes4, append(append([]string{verb}, words...), target)...)
}

// snapshot reads the objects of both charts; those that are not there are nil. One that is going is gone.
func (t *telling) snapshot() (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, o := range t.of.objects {
		client, _, err := t.c.cluster.of(o.gvk(t.of.rollback), o.home(t.c.ns))
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

// establish waits until the definitions that were deployed are established, since only then the server forbids some of their changes: on a
// busy machine that could come between the prediction and the upgrade. One that never gets there is so for both.
func (t *telling) establish() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, o := range t.of.objects {
		if t.pristine[o.name]["kind"] == "CustomResourceDefinition" {
			_ = t.c.cluster.until(ctx, ref{resource: o.kind.name, name: o.name}, "Established", isEstablished)
		}
	}
}

// clean takes the objects and the records away, without waiting. Nobody holds them any longer.
func (t *telling) clean() {
	background := metav1.DeletePropagationBackground
	ctx, options := context.Background(), metav1.DeleteOptions{PropagationPolicy: &background}
	for _, o := range t.of.objects {
		at := ref{resource: o.kind.name, namespace: o.home(t.c.ns), name: o.name}
		if obj, err := t.c.cluster.get(ctx, at); err == nil && slices.Contains(obj.GetFinalizers(), holdingFinalizer) {
			_ = t.c.cluster.patch(ctx, at, "oracle", `[{"op": "remove", "path": "/metadata/finalizers"}]`)
		}
		_ = t.c.cluster.delete(ctx, at)
	}
	for _, name := range t.of.hookNames("new.yaml") {
		_ = t.c.cluster.delete(ctx, ref{resource: "configmap", namespace: t.c.ns, name: name})
	}
	secrets := t.c.cluster.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(t.c.ns)
	_ = secrets.DeleteCollection(ctx, options, metav1.ListOptions{LabelSelector: "owner=helm,name=" + t.c.release})
}

// holdingFinalizer is the pool's finalizer that nobody takes away.
const holdingFinalizer = "example.com/hold"

// shrunk tells the case once more with only the objects that were missed; if those alone miss again, that is the better story.
func (t *telling) shrunk(pool []poolKind, base *Case, by4 bool) *telling {
	var places []int
	for _, o := range t.of.objects {
		if t.missed[o.name] {
			places = append(places, o.place)
		}
	}
	if len(places) == 0 || len(places) == len(t.of.objects) {
		return t
	}
	again, err := t.of.only(pool, places).tell(base, by4)
	if err != nil || len(again.misses) == 0 || again.stumbled != t.stumbled {
		return t // an upgrade that was to fail, and does not without the object that failed, is another story
	}
	return again
}

// story is the run as a script of testdata/stories.
func (t *telling) story() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Seed %d of the oracle, %s.\n%s\n", t.of.seed, t.route.name, strings.Join(t.lines, "\n"))
	for _, name := range t.order {
		fmt.Fprintf(&out, "-- %s --\n%s", name, t.files[name])
	}
	return out.String()
}
