package drift

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/ignore"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// Comparer compares releases of one cluster, all with the same [Options]. It is safe for concurrent use if the functions of its
// Connection and Options are; those of [LiveConnection] and the defaults are. It keeps parsed definitions of custom resources, and
// the secrets that it has seen: it removes a secret of one release from the errors of all.
type Comparer struct {
	connection Connection
	options    Options
	parsed     parsed
	// rules come from Options.Ignore, and ruleWarnings say which of them have no effect.
	rules        []ignore.Rule
	ruleWarnings []report.Message
}

// New returns a Comparer that reads from a connection. It sends no request. The Comparer keeps c and o, so the caller must not
// change what they refer to.
func New(c Connection, o Options) *Comparer {
	if o.ReadManifest == nil {
		o.ReadManifest = c.ReadManifest
	}
	out := &Comparer{connection: c, options: o.withDefaults()}
	out.rules, out.ruleWarnings = ignore.ReadRules("Options", o.Ignore, time.Now())
	return out
}

// Result is the comparison of one release. It is not safe for concurrent use.
type Result struct {
	// Comparison and Loaded hold values in clear, must not be changed, and are never nil. pkg/repair plans a fix from the Comparison.
	// For a release that is not installed, Loaded has no records, only its History.
	Comparison *threeway.Comparison
	Loaded     *release.Loaded

	run     run
	request *ChartRequest
	effects effect.Effects
}

// Masked returns what a report says about the release, without secret values: it is Report with the zero Mask.
func (r *Result) Masked() report.Release { return r.Report(threeway.Mask{}) }

// Report returns what a report says about the release, with secret values masked unless mask shows them. [report.New] makes a report of
// it. The values in it are those of Comparison: put others in their places, but do not change their contents.
func (r *Result) Report(mask threeway.Mask) report.Release {
	out := r.Comparison.Report(mask)
	if masking := r.run.connection.Masking; masking != nil {
		masking.Mark(&out)
	}
	scrub := r.Comparison.Scrub
	for i := range out.Objects {
		out.Objects[i].Effect = r.effects.Objects[out.Objects[i].Key()].Map(scrub)
	}
	out.Effect = r.effects.Release.Map(scrub)
	for _, what := range r.effects.Unread {
		out.Warnings = append(out.Warnings, report.Message{Code: report.CodeEffects,
			Message: scrub(what) + "; what the operation means for pods and data is not exact"})
	}
	if r.Comparison.Interrupted() && !mask.Show {
		return r.Comparison.Report(mask)
	}
	return out
}

// Compare compares one release. If the release changes meanwhile, it compares once more; if the release changes again, that is an error.
// If an object or a chart cannot be read, the report has the error, so that the rest can be shown: check [report.Release.HasError] before
// anything else.
//
// The errors of Compare are about the records: errors.Is finds [release.ErrNotFound] and [release.ErrPending], and errors of the API
// server are wrapped, so that apierrors.IsForbidden works. [ErrForceConflicts], [ErrForceReplace] and [FluxError] are about options. If
// ctx ends, the error wraps the error of ctx. [Hint] returns the advice of each.
func (c *Comparer) Compare(ctx context.Context, t Target) (*Result, error) {
	defer c.options.Doing("")
	result, err := c.compare(ctx, t)
	if err != nil {
		return nil, c.options.Known.known().ScrubError(err)
	}
	return result, nil
}

func (c *Comparer) compare(ctx context.Context, t Target) (*Result, error) {
	switch {
	case c.options.DryRun && c.connection.DryRun == nil:
		return nil, errors.New("a dry run needs an API server, and this connection has none")
	case t.RollbackTo != 0 && t.Chart != nil:
		return nil, errors.New("a release is compared with a chart or with the target of a rollback, not with both")
	}
	records, err := c.connection.Records(t.Namespace)
	if err != nil {
		return nil, err
	}
	r := run{Comparer: c, target: t, records: records}
	for range 2 {
		result, err := r.compareOnce(ctx)
		if err != nil {
			return nil, err
		}
		unchanged, err := result.unchanged(ctx)
		if err != nil {
			return nil, err
		}
		if unchanged {
			result.Comparison = r.verify(ctx, result.Comparison)
			r.options.Doing("reading what the writes mean for pods")
			result.effects = r.forecast(ctx, result.Comparison)
			return result, nil
		}
	}
	err = report.About(fmt.Errorf("release %q changed twice while it was compared", t.Release), report.Subject{
		Verb: "compare", Resource: "releases", Namespace: t.Namespace, Name: t.Release, Reason: "it changed twice meanwhile",
	})
	return nil, hint.New(err, "somebody is deploying it; try again later")
}

// verify returns the comparison after the API server has tried the predicted writes, if the options ask for that.
func (c *Comparer) verify(ctx context.Context, comparison *threeway.Comparison) *threeway.Comparison {
	if !c.options.DryRun {
		return comparison
	}
	requests := comparison.Requests()
	c.options.Doing("asking the API server to try " + english.Count(len(requests), "write"))
	return comparison.Verify(c.connection.DryRun(ctx, requests, comparison.Deployer().Manager))
}

// unchanged reports whether the release still has the revisions that were compared. If the comparison found nothing, it does not
// ask, because only findings can be wrong when somebody deploys meanwhile.
func (r *Result) unchanged(ctx context.Context) (bool, error) {
	if r.Comparison.Quiet() {
		return true, nil
	}
	now, err := r.history(ctx)
	return slices.Equal(now.Entries, r.Loaded.History.Entries), err
}

// history reads the list of revisions as it is now.
func (r *Result) history(ctx context.Context) (release.History, error) {
	now, err := r.run.records.History(ctx, r.run.target.Release)
	if err != nil {
		err = fmt.Errorf("checking whether the release has changed: %w", err)
	}
	return now, err
}

// CheckUnchanged returns an error if the release was uninstalled or has changed since it was compared, or if that could not be read. It
// lists the records once. Call it before writing anything that depends on the comparison; it fits repair.RunOptions.Before.
func (r *Result) CheckUnchanged(ctx context.Context) error {
	now, err := r.history(ctx)
	switch {
	case err != nil:
		return err
	case slices.Equal(now.Entries, r.Loaded.History.Entries):
		return nil
	case len(now.Entries) == 0:
		return errors.New("the release was uninstalled meanwhile")
	}
	last := now.Entries[len(now.Entries)-1]
	return fmt.Errorf("the release changed meanwhile: revision %d is %s now", last.Revision, last.Status)
}

// ChartRequest returns the request that rendered the chart of the target, or nil if there was no chart, or if it was not rendered. The
// files of the chart exist until somebody calls the function that Chart.Fetch has returned.
func (r *Result) ChartRequest() *ChartRequest { return r.request }

// Scope reports whether objects of a kind live in namespaces, as the comparison takes it: if the cluster does not serve the kind, the
// definitions count that the operation writes before the manifest.
func (r *Result) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	return r.run.scope(kind)
}

// WithDesired compares the release again, with other objects as the desired state. It reads the live objects that the comparison lacks. The
// result is in clear; the Result does not change.
func (r *Result) WithDesired(ctx context.Context, desired []object.Object) (*threeway.Comparison, error) {
	in := r.Comparison.Input
	in.DesiredObjects = desired
	return r.run.compareInput(ctx, in)
}

// WithChart compares the release again, as Compare does with a chart, but reads no record and no live object again. If the chart renders
// the objects that are deployed, the result is r itself. Which template an object comes from does not count, because a post-renderer does
// not say it.
func (r *Result) WithChart(ctx context.Context, t Target) (*Result, error) {
	if r.Loaded.Old == nil || r.Loaded.Old.Values == nil {
		return r.run.Compare(ctx, t)
	}
	defer r.run.options.Doing("")
	again := r.run
	again.target = t
	fetched := again.fetchChart(ctx)
	defer fetched.close()
	in, err := again.withChartOrError(ctx, r.Loaded, fetched, r.Comparison.Input)
	isSame := func(desired, old object.Object) bool {
		desired.Source = old.Source
		return reflect.DeepEqual(desired, old)
	}
	switch old := r.Comparison.Input; {
	case err != nil:
		return nil, err
	case len(in.Errors) == len(old.Errors) && slices.EqualFunc(in.DesiredObjects, old.OldObjects, isSame):
		return r, nil
	}
	comparison, err := again.compareInput(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Result{Comparison: comparison, Loaded: r.Loaded, run: again, request: fetched.request}, nil
}

// run is the comparison of one target.
type run struct {
	*Comparer
	target  Target
	records Records
	// defined are the custom kinds that the operation defines before it writes the manifest.
	defined []render.Definition
}

// compareOnce reads the records and the cluster, and compares. With a chart, everything that shows drift is read before the chart is
// rendered, so that the drift is reported even if the chart cannot be rendered.
func (r run) compareOnce(ctx context.Context) (*Result, error) {
	r.options.Doing("reading the release")
	loaded, err := r.load(ctx)
	if err != nil {
		return nil, err
	}
	fetched := r.fetchChart(ctx)
	defer fetched.close()
	in, err := r.storedInput(ctx, loaded)
	if err != nil {
		return nil, err
	}
	if err := r.addIgnoreRules(ctx, &in); err != nil {
		return nil, err
	}
	if err := checkForce(in); err != nil {
		return nil, err
	}
	if in.Live, err = r.readLive(ctx, in); err != nil {
		return nil, err
	}
	in.Warnings = append(in.Warnings, r.recordElsewhere(ctx, in)...)
	r.addOthers(ctx, &in)
	if r.target.Chart != nil {
		if in, err = r.withChartOrError(ctx, loaded, fetched, in); err != nil {
			return nil, err
		}
	}
	comparison, err := r.compareInput(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Result{Comparison: comparison, Loaded: loaded, run: r, request: fetched.request}, nil
}

// load reads the release records. Old is nil if the release is not installed and helm upgrade --install would install it.
func (r run) load(ctx context.Context) (*release.Loaded, error) {
	t, options := r.target, release.Options{Values: r.target.Chart != nil || r.options.GivenValues}
	if t.RollbackTo != 0 {
		return r.records.LoadRollback(ctx, t.Release, t.RollbackTo, options)
	}
	loaded, err := r.records.Load(ctx, t.Release, t.Revision, options)
	if t.Chart == nil || !t.Chart.Install {
		return loaded, err
	}
	_, installs := release.Installs(err)
	if err == nil && !loaded.History.Installs() || err != nil && !installs {
		return loaded, err
	}
	history, err := r.records.History(ctx, t.Release)
	return &release.Loaded{History: history}, err
}

// checkForce refuses options that Helm refuses for the release's apply method (helm v4.3.1 pkg/kube/client.go Update).
func checkForce(in threeway.Input) error {
	switch {
	case in.ForceConflicts && in.ApplyMethod == report.ApplyClientSide:
		return ErrForceConflicts
	case in.ForceReplace && in.ServerSide() && in.Operation != report.OperationInstall:
		return ErrForceReplace
	}
	return nil
}

// compareInput reads the live objects that the input still lacks, and compares. If the comparison needs more, it reads that once and
// compares again.
func (r run) compareInput(ctx context.Context, in threeway.Input) (*threeway.Comparison, error) {
	var err error
	if in.Live, err = r.readLive(ctx, in); err != nil {
		return nil, err
	}
	if masking := r.connection.Masking; masking != nil && in.Desired.Source == "chart" {
		masking.LeaveOut(&in)
	}
	in.Terminating, in.NamespacesUnread = r.connection.Cluster.Terminating(ctx, namespacesOf(in))
	comparison := threeway.Compare(in)
	if needs := comparison.Needs(); !needs.Empty() {
		r.options.Doing("reading schemas and autoscalers")
		r.readNeeds(ctx, needs, &in)
		comparison = threeway.Compare(in)
	}
	return comparison, nil
}

// readLive returns the live objects for the input: those that it has, and the others of old and desired.
func (r run) readLive(ctx context.Context, in threeway.Input) (map[object.Ref]cluster.Live, error) {
	missing := slices.DeleteFunc(r.refs(in), func(ref object.Ref) bool { _, found := in.Live[ref]; return found })
	var found map[object.Ref]cluster.Live
	if len(missing) > 0 {
		r.options.Doing("reading " + english.Count(len(missing), "object"))
		found = r.connection.Cluster.Read(ctx, missing)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	return merged(in.Live, found), nil
}

// refs returns every object of old and desired, at the versions that they name, and the namespaces that matter: the one that an
// installation needs, and those of objects of kinds that are not served yet. Other objects are looked for, which shows their namespaces.
func (r run) refs(in threeway.Input) []object.Ref {
	seen := map[object.Ref]bool{}
	var out []object.Ref
	add := func(ref object.Ref) {
		if !seen[ref] {
			seen[ref] = true
			out = append(out, ref)
		}
	}
	if in.NeedsNamespace() {
		add(object.NamespaceRef(in.StorageNamespace))
	}
	for _, o := range slices.Concat(in.DesiredObjects, in.OldObjects, in.Definitions) {
		if o.Name != "" && o.Problem == "" {
			add(o.Ref)
		}
		_, served := r.connection.Cluster.Scope(o.GVK())
		if !served && slices.Contains(in.Brings, o.GroupKind()) && o.Namespace != "" && o.Namespace != in.StorageNamespace {
			add(object.NamespaceRef(o.Namespace))
		}
	}
	return out
}

// namespacesOf returns the namespaces of the records and of the live objects. Namespaces may occur several times.
func namespacesOf(in threeway.Input) []string {
	out := []string{in.StorageNamespace}
	for ref := range in.Live {
		if ref.Namespace != "" {
			out = append(out, ref.Namespace)
		}
	}
	return out
}

// merged returns a new map with the entries of both. If both have a key, the entry of b counts.
func merged[K comparable, V any](a, b map[K]V) map[K]V {
	out := make(map[K]V, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// addSecrets adds the secrets of the release to the known secrets: a chart may print any of them, and Helm may log them.
func addSecrets(in threeway.Input, known *secret.Known) {
	for _, o := range in.OldObjects {
		known.AddObject(o.Group, o.Kind, o.Content)
	}
	for ref, l := range in.Live {
		known.AddObject(ref.Group, ref.Kind, l.Object)
	}
}
