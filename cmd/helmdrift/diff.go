package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	format      output.Format
	failOn      failOn
	color       colorMode
	revision    int
	values      render.ValueOptions
	showSecrets bool
}

func newDiff(s streams, c *connection) *cobra.Command {
	o := diffOptions{format: output.Text, failOn: failOn{"drift": true, "conflict": true, "fail": true}, color: "auto"}
	cmd := &cobra.Command{
		Use:   "diff [RELEASE [CHART]]",
		Short: "Compare a release with the cluster, field by field",
		Long: `diff compares what Helm stored for a release with what the cluster holds, and says of
every field that differs what the next helm upgrade will do to it.

Without CHART it shows drift: the next upgrade is taken to send the stored manifest again.
With CHART (a directory or a .tgz) it renders the chart as helm upgrade would, and shows
what that upgrade changes over the drift that is there. Without RELEASE it takes the only
release of the namespace.

Signs: + add   - remove   ± overwrite   ∅ ignore   ! conflict

` + exitHelp,
		Example: `  helmdrift diff web -n prod
  helmdrift diff web ./chart -n prod -f values.yaml --set image.tag=1.27
  helmdrift diff web -n prod -o json --fail-on drift,unmanaged`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: completeRelease(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiff(cmd.Context(), s, c, o, args)
		},
	}
	fs := cmd.Flags()
	fs.VarP(&o.format, "output", "o", "format of the report: "+strings.Join(output.Formats(), ", "))
	fs.Var(&o.failOn, "fail-on", "what makes the exit code 2, of: "+strings.Join(failOnWords(), ", "))
	fs.Var(&o.color, "color", "colour: auto, always or never [NO_COLOR, FORCE_COLOR, HELM_COLOR]")
	fs.IntVar(&o.revision, "revision", 0, "compare with this stored revision instead of the one helm upgrade would take")
	fs.StringArrayVarP(&o.values.Files, "values", "f", nil, "values file for CHART, may be repeated")
	fs.StringArrayVar(&o.values.Set, "set", nil, "value for CHART, such as a.b=c, may be repeated")
	fs.BoolVar(&o.showSecrets, "show-secrets", false, "show values that are masked otherwise")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(failOnWords(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// runDiff is the wiring of diff, straight down.
func runDiff(ctx context.Context, s streams, c *connection, o diffOptions, args []string) error {
	if err := o.check(args); err != nil {
		return err
	}
	at, err := c.resolve()
	if err != nil {
		return err
	}
	cluster, err := live.Connect(ctx, at.config, c.options())
	if err != nil {
		return err
	}
	store, err := release.Open(c.driver, at.namespace, cluster.Metadata(), cluster.Dynamic())
	if err != nil {
		return err
	}
	d := diff{options: o, at: at, cluster: cluster, store: store}
	if len(args) > 0 {
		d.name = args[0]
	} else if d.name, err = onlyRelease(ctx, store, at.namespace); err != nil {
		return err
	}
	if len(args) > 1 {
		d.chart = args[1]
	}
	comparison, err := d.settled(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	report := threeway.NewReport(version, now, []threeway.ReleaseReport{comparison.Report(threeway.Mask{Show: o.showSecrets})})
	if err := output.Write(s.out, o.format, report, s.display(o.color, now)); err != nil {
		return err
	}
	return o.failOn.status(report)
}

// check refuses flags that would have no effect.
func (o diffOptions) check(args []string) error {
	if len(args) < 2 && len(o.values.Files)+len(o.values.Set) > 0 {
		return hinted{error: fmt.Errorf("--values and --set need a CHART"), hint: "without a chart, the stored manifest is compared as it is"}
	}
	if o.revision < 0 {
		return fmt.Errorf("--revision %d: revisions begin at 1", o.revision)
	}
	return nil
}

// onlyRelease finds the release to take where none is named.
func onlyRelease(ctx context.Context, store *release.Store, namespace string) (string, error) {
	found, err := store.Names(ctx)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 0:
		return "", hinted{error: fmt.Errorf("no releases in namespace %q", namespace), hint: "-n chooses the namespace, HELM_DRIVER the storage"}
	case 1:
		return found[0].Name, nil
	}
	names := make([]string, len(found))
	for i, r := range found {
		names[i] = fmt.Sprintf("\n  %s (revision %d, %s)", r.Name, r.Revision, r.Status)
	}
	return "", hinted{error: fmt.Errorf("namespace %q has %d releases:%s", namespace, len(found), strings.Join(names, "")), hint: "name one: helmdrift diff RELEASE"}
}

// diff is one comparison of one release.
type diff struct {
	options diffOptions
	at      target
	cluster *live.Cluster
	store   *release.Store
	// name of the release, and path of the chart; empty for the stored manifest.
	name, chart string
}

// settled compares the release. Drift that is found while somebody deploys would be a lie, so the release's revisions are
// listed again before it is reported, and if they moved, the comparison is made again, once.
func (d diff) settled(ctx context.Context) (*threeway.Comparison, error) {
	for range 2 {
		loaded, err := d.store.Load(ctx, d.name, d.options.revision, release.Options{Values: d.chart != ""})
		if err != nil {
			return nil, err
		}
		comparison, err := d.compare(ctx, loaded)
		if err != nil {
			return nil, err
		}
		if comparison.Quiet() {
			return comparison, nil
		}
		after, err := d.store.History(ctx, d.name)
		if err != nil {
			return nil, fmt.Errorf("looking whether the release moved meanwhile: %w", err)
		}
		if slices.Equal(after.Entries, loaded.History.Entries) {
			return comparison, nil
		}
	}
	return nil, hinted{error: fmt.Errorf("release %q changed while reading, twice", d.name), hint: "somebody is deploying it; try again when that is done"}
}

// compare reads the cluster and compares; what the comparison says it needs is read after that, once.
func (d diff) compare(ctx context.Context, loaded *release.Loaded) (*threeway.Comparison, error) {
	in, err := d.input(ctx, loaded)
	if err != nil {
		return nil, err
	}
	in.Live = d.cluster.Read(ctx, refs(in))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	comparison := threeway.Compare(in)
	needs := comparison.Needs()
	if needs.Empty() {
		return comparison, nil
	}
	d.fetch(ctx, needs, &in)
	return threeway.Compare(in), nil
}

// fetch reads what a comparison asked for.
func (d diff) fetch(ctx context.Context, needs threeway.Needs, in *threeway.Input) {
	crds, warnings := d.cluster.CRDs(ctx, needs.CRDs)
	in.Warnings = append(in.Warnings, warnings...)
	in.Schemas = map[schema.GroupKind]*threeway.CustomSchema{}
	for kind, crd := range crds {
		known, err := threeway.NewCustomSchema(crd)
		if err != nil {
			in.Warnings = append(in.Warnings, threeway.Message{Code: "schema", Message: err.Error(), Object: kind.String()})
			continue
		}
		in.Schemas[kind] = known
	}
	if len(needs.Autoscalers) > 0 {
		scaled, warnings := d.cluster.Autoscalers(ctx, needs.Autoscalers)
		in.Autoscaled, in.Warnings = scaled, append(in.Warnings, warnings...)
	}
}

// refs lists what is to be read: every object of old and desired, at the versions they name.
func refs(in threeway.Input) []threeway.Ref {
	seen := map[threeway.Ref]bool{}
	var out []threeway.Ref
	for _, o := range slices.Concat(in.DesiredObjects, in.OldObjects) {
		if o.Name != "" && o.Problem == "" && !seen[o.Ref] {
			seen[o.Ref] = true
			out = append(out, o.Ref)
		}
	}
	return out
}

// input puts together what the records and the chart say.
func (d diff) input(ctx context.Context, loaded *release.Loaded) (threeway.Input, error) {
	old, last := loaded.Old, loaded.Last
	in := threeway.Input{
		Name: old.Name, Namespace: old.Namespace, StorageNamespace: d.at.namespace, Cluster: d.at.cluster,
		Operation: threeway.OperationDrift, Old: revisionOf(old), Last: revisionOf(last), ApplyMethod: "client-side",
		Desired: &threeway.Desired{Source: "record", Revision: old.Revision, Chart: chartOf(old), Helm: helmOf(last)},
	}
	if last.ApplyMethod == release.ApplyServerSide {
		in.ApplyMethod = "server-side"
	}
	parse := func(manifest string) []threeway.Object { return d.parse(manifest, old.Namespace, &in) }
	in.OldObjects = parse(old.Manifest)
	in.DesiredObjects = in.OldObjects
	for _, h := range old.Hooks {
		in.NotCompared = append(in.NotCompared, threeway.NotCompared{Kind: h.Kind, Name: h.Name, Reason: "hook"})
	}
	if last.Revision != old.Revision && d.options.revision == 0 {
		in.Warnings = append(in.Warnings, threeway.Message{Code: "last-not-old", Message: fmt.Sprintf(
			"the last revision, %d, is %s; helm upgrade would start from revision %d, so that is compared", last.Revision, last.Status, old.Revision)})
		in.LastObjects = render.Parse(last.Manifest, render.ParseOptions{Namespace: last.Namespace, Scope: d.cluster.Scope}).Objects
	}
	if d.chart == "" {
		return in, nil
	}
	return d.withChart(ctx, loaded, in)
}

// parse adds what the text says besides objects to the input.
func (d diff) parse(manifest, namespace string, in *threeway.Input) []threeway.Object {
	m := render.Parse(manifest, render.ParseOptions{Namespace: namespace, Scope: d.cluster.Scope})
	in.NotCompared = append(in.NotCompared, m.NotCompared...)
	in.Warnings = append(in.Warnings, m.Warnings...)
	in.Errors = append(in.Errors, m.Errors...)
	return m.Objects
}

// withChart makes the chart the desired state. A chart that does not render is an error of the report; the drift is still told.
func (d diff) withChart(ctx context.Context, loaded *release.Loaded, in threeway.Input) (threeway.Input, error) {
	caps, err := d.cluster.Capabilities(ctx)
	if err != nil {
		return in, err
	}
	rendered, err := render.Chart(ctx, render.ChartOptions{
		Path: d.chart, ReleaseName: loaded.Old.Name, Namespace: loaded.Old.Namespace, LastRevision: loaded.Last.Revision,
		Config: loaded.Old.Config, Values: d.options.values, Capabilities: caps, Engine: engine.New(d.at.config),
	})
	if err != nil {
		in.Errors = append(in.Errors, threeway.Message{Code: "render", Message: err.Error()})
		return in, nil
	}
	in.Operation = threeway.OperationUpgrade
	in.Desired = &threeway.Desired{Source: "chart", Chart: rendered.ChartName + "-" + rendered.ChartVersion, Helm: in.Desired.Helm}
	in.NotCompared = nil
	for _, h := range rendered.Hooks {
		in.NotCompared = append(in.NotCompared, threeway.NotCompared{Kind: h.Kind, Name: h.Name, Reason: "hook"})
	}
	in.Warnings = slices.Concat(in.Warnings, d.cluster.Incomplete(), rendered.Warnings)
	in.DesiredObjects = d.parse(rendered.Manifest, loaded.Old.Namespace, &in)
	return in, nil
}

func revisionOf(r *release.Record) *threeway.Revision {
	return &threeway.Revision{Revision: r.Revision, Status: r.Status, Chart: chartOf(r)}
}

func chartOf(r *release.Record) string {
	if r.ChartName == "" {
		return ""
	}
	return r.ChartName + "-" + r.ChartVersion
}

// helmOf is the Helm that is predicted: the one that wrote the last record, Helm 3 where that does not tell.
func helmOf(last *release.Record) string {
	if last.Writer == release.WriterHelm4 {
		return "4"
	}
	return "3"
}
