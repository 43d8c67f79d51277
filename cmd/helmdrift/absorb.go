package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file is the command absorb: it finds the changes of values that make the chart render what the cluster holds. With --write it
// writes them into the values file. It writes nothing to the cluster.

// absorbOptions are the flags of absorb, besides those that say what to compare.
type absorbOptions struct {
	cli.CompareOptions
	format    cli.FormatOf
	color     cli.OneOf
	unmanaged bool
	write     bool
	choose    cli.ChoiceFlags
	// patch asks for each field whether to keep it.
	patch          bool
	maxSideEffects int
	snapshot       string
	// open opens the file of --snapshot. It is nil if this program cannot.
	open func(name string) (*cli.SavedCluster, error)
	// controllers answer for a first argument such as hr/web.
	controllers controllers
	// files are files that say what a tool does next.
	files []objectFile
}

// newAbsorb returns the command absorb.
func newAbsorb(s cli.Streams, c *cli.Connection, all guest) *cobra.Command {
	o := absorbOptions{
		CompareOptions: cli.NewCompareOptions(s, c, all.forecast), format: cli.NewFormatOf(output.AbsorbFormats()), color: cli.NewColor(),
		open: all.open, controllers: newControllers(all),
	}
	for _, create := range all.files {
		o.files = append(o.files, create(s, c))
	}
	cmd := &cobra.Command{
		Use:   "absorb RELEASE CHART",
		Short: "Find the values that make the chart agree with the cluster",
		Long: `absorb takes over what somebody changed in the cluster: for each field that drifted, it finds the
smallest change of values that makes CHART render what the cluster holds. Each change is proved by
rendering, and what else it would move is shown. The result is a patch of the last values file.

Give CHART and the values as for helm upgrade. Without -f, the values that the release stores are
the file. --write changes the file in place and keeps comments, order and anchors; a change that
moves more than --max-side-effects fields of other objects is shown and not written.

What no value controls is left, with the template that writes it; -o kustomize prints patches of it
for a post-renderer, which are proved too.

With hr/NAME, chart and values are those that Flux deploys from the HelmRelease of this name in -n.
With --from, they are those of a working tree, and --write changes each value where it lives there: in
the HelmRelease, or in the ConfigMap that spec.valuesFrom names. app/NAME --from does the same for an
Application of Argo CD: in its values, or in a value file of the tree.

With --helmfile, they are those of a release of a helmfile, and --write changes its values files: those
that are plain YAML and that nothing else of the helmfile reads.

With --plan ADDRESS, they are those of a helm_release in a plan of Terraform or OpenTofu. -o hcl prints
the changed values for its configuration, which absorb does not write.

With --install, objects that no release records, such as those of an application of Argo CD, are
compared with the chart, and every field that differs is absorbed.

A secret is never written into values or patches. absorb reads the cluster and writes nothing to it.

Exit codes:
  0  everything that drifted is absorbed, or there is nothing to absorb
  1  usage error or failure; the chart does not render, or something could not be compared
  2  something is left; the result says why`,
		Example: `  helmdrift absorb web ./chart -n prod -f values.yaml
  helmdrift absorb web ./chart -n prod -f values.yaml --write
  helmdrift absorb web ./chart -n prod -f values.yaml --write --only deploy/web:spec.replicas
  helmdrift absorb web ./chart -n prod -f values.yaml --write -p
  helmdrift absorb web ./chart -n prod -f values.yaml --unmanaged
  helmdrift absorb web oci://registry.example.com/charts/web --version 1.8.1 -n prod -o values > absorbed.yaml
  helmdrift absorb web ./chart -n prod -f values.yaml -o kustomize > kustomization.yaml
  helmdrift absorb web ./chart -n shop -f values.yaml --install -o argocd > patch.yaml
  helmdrift absorb --snapshot web.json.gz ./chart -f values.yaml
  helmdrift absorb hr/web -n shop -o flux
  helmdrift absorb hr/web -n shop --from clusters/prod --write
  helmdrift absorb app/web -n argocd --from clusters/prod --write
  helmdrift absorb web --helmfile helmfile.yaml -e prod --write
  helmdrift absorb --plan plan.json helm_release.web -o hcl`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: o.controllers.complete(c),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAbsorb(cmd.Context(), s, o, args, cmd.Flags())
		},
	}
	fs := cmd.Flags()
	cli.AddOutputFlag(cmd, &o.format, "format of the result", output.AbsorbFormats())
	cli.AddColorFlag(fs, &o.color)
	fs.BoolVar(&o.unmanaged, "unmanaged", false, "also absorb fields that no manifest names and that somebody added")
	o.choose.AddFlags(fs, "keep")
	cli.AddPatchFlag(fs, &o.patch, "keep it")
	fs.BoolVar(&o.write, "write", false,
		"write the changes into the last values file, or with --from or --helmfile into the files that have the values")
	fs.IntVar(&o.maxSideEffects, "max-side-effects", 0,
		"absorb a field only if no more than `N` fields of other objects move with it")
	if o.open != nil {
		fs.StringVar(&o.snapshot, "snapshot", "", "read what helmdrift snapshot saved in this `file`, without a cluster")
	}
	if o.controllers.flags != nil {
		o.controllers.flags.AddKeepFlags(fs)
	}
	for _, file := range o.files {
		file.addKeepFlags(fs)
	}
	fs.IntVar(&o.Revision, "revision", 0, "start from stored revision `N` instead of the one helm upgrade would start from")
	o.IgnoreOptions.AddFlags(fs)
	o.DesiredOptions.AddFlags(fs)
	fs.Lookup("install").Usage = "if no release records the objects, compare the live ones with CHART, and absorb every field that differs"
	cli.HideFlags(fs, "to-revision", "dry-run")
	return cmd
}

// checkAlways refuses what is wrong for every release.
func (o *absorbOptions) checkAlways() error {
	if err := o.CheckRevision(); err != nil {
		return err
	}
	if _, err := o.choose.Choice(); err != nil {
		return err
	}
	switch {
	case o.ToRevision != 0 || o.DryRun.Word != "":
		return errors.New("--to-revision and --dry-run have no effect on absorb")
	case o.maxSideEffects < 0:
		return fmt.Errorf("--max-side-effects %d: the least is 0", o.maxSideEffects)
	}
	return nil
}

// check refuses flags that contradict each other or have no effect.
func (o *absorbOptions) check(flags *pflag.FlagSet, hasChart bool) error {
	if err := o.checkAlways(); err != nil {
		return err
	}
	if o.controllers.flags != nil {
		for _, flag := range cli.NamesOf(o.controllers.flags.AddKeepFlags) {
			if flags.Changed(flag) {
				of := "a HelmRelease of Flux"
				if flag == "from" {
					of += " or an Application of Argo CD"
				}
				return hint.New(fmt.Errorf("--%s needs %s", flag, of), "helmdrift absorb hr/NAME -n NAMESPACE")
			}
		}
	}
	shown := fetch.WithoutLogin(o.valuesFile())
	switch {
	case !hasChart:
		return hint.New(errors.New("absorb needs a CHART, whose values it changes"), "helmdrift absorb RELEASE CHART -f values.yaml")
	case o.Install && o.unmanaged:
		return errors.New("--install and --unmanaged exclude each other: without a release, what only the cluster has need not be an edit")
	case o.write && len(o.Values.Files) == 0:
		return hint.New(errors.New("--write needs a values file to change"),
			"-f FILE names it; without one, -o values prints the changes as a file of their own")
	case fetch.IsPluginURL(o.valuesFile()):
		return hint.New(fmt.Errorf("absorb cannot change %s, which a plugin makes", shown),
			"give a file of plain values last: -f "+shown+" -f FILE")
	case o.write && !files.IsRegular(o.valuesFile()):
		return fmt.Errorf("--write cannot change %s, which is no file on this machine", shown)
	}
	return o.DesiredOptions.Check(flags, hasChart)
}

// valuesFile returns the file to change: the last one, or "" if none is given.
func (o *absorbOptions) valuesFile() string {
	if n := len(o.Values.Files); n > 0 {
		return o.Values.Files[n-1]
	}
	return ""
}

// absorbed is where the changes of values go: a values file, the values that the release stores, or a working tree.
type absorbed interface {
	// Rewrite is absorb.Options.Rewrite. Describe adds the file or the files to a result, and Write writes them.
	Rewrite(edits []absorb.Edit, edited map[string]any) ([]byte, error)
	Describe(r *absorption.Result, a *absorb.Absorption) error
	Write(a *absorb.Absorption) error
}

// runAbsorb searches, prints the result, and with --write changes the file or the working tree.
func runAbsorb(ctx context.Context, s cli.Streams, o absorbOptions, args []string, flags *pflag.FlagSet) error {
	d, in, err := o.session(ctx, s, args, flags)
	if err != nil {
		return err
	}
	if in.close != nil {
		defer in.close()
	}
	if o.patch && !s.Terminal().CanAsk() {
		return cli.ErrNoPicks
	}
	options := absorb.Options{
		Options: d.Options, Unmanaged: o.unmanaged, MaxSideEffects: o.maxSideEffects, RenderVariants: o.Jobs().RenderVariants,
		RenderTime: o.Jobs().Time,
		Choose: func(c *threeway.Comparison, fields []absorb.Field) ([]string, error) {
			d.Quiet()
			return o.chosen(ctx, s, c, fields)
		},
	}
	if in.request != nil {
		render := options.RenderVariants
		options.NoPatches = true
		options.RenderVariants = func(ctx context.Context, q drift.ChartRequest, next absorb.NextVariants) error {
			return render(ctx, in.request(q), next)
		}
	}
	var values absorbed
	if in.tree != nil {
		values, options.Tree, options.Prove = absorb.TreeFiles{Tree: in.tree}, true, in.tree.Prove
	} else if values, err = absorb.ReadFile(ctx, o.valuesFile(), fetch.WithoutLogin(o.valuesFile()), d.Target.Chart); err != nil {
		return err
	}
	options.Rewrite = values.Rewrite
	began := time.Now()
	a, err := absorb.Run(ctx, d.Connection, d.Target, options)
	d.Quiet()
	if err != nil {
		return cli.WithFlagHint(err, d.Target.Chart)
	}
	now := time.Now()
	result := a.Report(version, now)
	if a.Result.Comparison.Interrupted() {
		return ctx.Err()
	}
	result.Seconds = now.Sub(began).Round(time.Millisecond).Seconds()
	if in.check != nil {
		var paths [][]any
		for _, edit := range result.Edits {
			paths = append(paths, edit.Path)
		}
		in.warnings = append(in.warnings, in.check(paths)...)
	}
	in.addRemarks(result, a.Result.Comparison.Scrub)
	if in.of != (report.ObjectKey{}) {
		result.ValuesOf = &in.of
	}
	if err := values.Describe(result, a); err != nil {
		return err
	}
	if o.write && len(result.Edits) > 0 {
		if err := values.Write(a); err != nil {
			return err
		}
		result.Written = true
	}
	if err := output.WriteAbsorb(s.Out, o.format.Format, result, s.Display(s.Out, o.color, now)); err != nil {
		return err
	}
	return absorbStatus(result)
}

// addRemarks adds the warnings and the errors to a result, without secrets: they quote controllers and programs.
func (k kept) addRemarks(result *absorption.Result, scrub func(string) string) {
	for _, m := range k.warnings {
		m.Message = scrub(m.Message)
		result.Warnings = append(result.Warnings, m)
	}
	for _, m := range k.errors {
		m.Message = scrub(m.Message)
		result.Errors = append(result.Errors, m)
	}
}

// chosen returns for each field why it is left, or an empty text. --only and --skip decide first, and then the answers of the user.
func (o *absorbOptions) chosen(ctx context.Context, s cli.Streams, c *threeway.Comparison, fields []absorb.Field) ([]string, error) {
	choice, err := o.choose.Choice()
	if err != nil {
		return nil, err
	}
	found := choice.In(c)
	if err := found.Err(); err != nil {
		return nil, err
	}
	reasons, p := make([]string, len(fields)), cli.Picker{Streams: s}
	in := c.Input
	about := absorption.Result{Name: in.Name, Namespace: in.Namespace, Versions: c.CustomVersions()}
	for i, f := range fields {
		switch {
		case len(f.Path) == 0 && !found.Object(f.Key), len(f.Path) > 0 && !found.Field(f.Key, f.Path):
			reasons[i] = o.choose.LeftOut()
		case o.patch:
			wants, err := p.Wants(ctx, func(w io.Writer) error {
				return output.WriteAbsorbPick(w, &about, f.Shown, s.Display(w, o.color, time.Now()))
			})
			if err != nil {
				return nil, err
			}
			if !wants {
				reasons[i] = cli.PickedOut
			}
		}
	}
	return reasons, nil
}

// session connects to the cluster, or opens the snapshot. If a controller composes the values, it also says where they are.
func (o *absorbOptions) session(
	ctx context.Context, s cli.Streams, args []string, flags *pflag.FlagSet,
) (d cli.Session, in kept, err error) {
	if files := namedFiles(o.files); len(files) > 0 {
		if err := o.checkAlways(); err != nil {
			return d, in, err
		}
		prints := !o.write && (o.format.Format == output.Values || o.format.Format == output.Helmfile)
		return files[0].keep(ctx, &o.CompareOptions, args, prints)
	}
	controlled := o.controllers.named(args)
	if controlled == nil {
		d, err = o.ofRelease(ctx, args, flags)
		return d, in, err
	}
	if len(args) > 2 {
		return d, in, errors.New("absorb takes a HelmRelease or an Application, and a chart, and nothing else")
	}
	if err := o.checkAlways(); err != nil {
		return d, in, err
	}
	return controlled.keep(ctx, s, &o.CompareOptions, args, flags)
}

// ofRelease returns the session for a release by its name.
func (o *absorbOptions) ofRelease(ctx context.Context, args []string, flags *pflag.FlagSet) (cli.Session, error) {
	if !flags.Changed("snapshot") {
		if len(args) > 2 {
			return cli.Session{}, errors.New("absorb takes a release and a chart and nothing else")
		}
		if err := o.check(flags, len(args) == 2); err != nil {
			return cli.Session{}, err
		}
		return o.Begin(ctx, args, "absorb")
	}
	saved, err := o.open(o.snapshot)
	if err != nil {
		return cli.Session{}, err
	}
	chart, hasChart, err := saved.Chart(args, o.Source.RepoURL)
	if err != nil {
		return cli.Session{}, err
	}
	if err := o.check(flags, hasChart); err != nil {
		return cli.Session{}, err
	}
	target := drift.Target{Namespace: saved.Namespace, Release: saved.Release, Revision: o.Revision, Chart: o.Chart(chart)}
	return o.SavedSession(ctx, saved, target)
}

// absorbStatus returns the exit code of a result as an error; nil is exit code 0.
func absorbStatus(r *absorption.Result) error {
	if _, left := r.Counts(); len(r.Errors) > 0 {
		return cli.ExitStatus(cli.ExitFailure)
	} else if left > 0 {
		return cli.ExitStatus(cli.ExitSelected)
	}
	return nil
}

// absorbHelp returns the headings of the help of absorb.
func absorbHelp() []cli.FlagGroup {
	return slices.Concat([]cli.FlagGroup{
		cli.Group("What to absorb", "write", "only", "skip", "patch", "unmanaged", "max-side-effects", "snapshot"),
		cli.Group("What Flux and Argo CD deploy", "from", "local-source", "sops", "allow-remote-bases", "with-source-credentials"),
		cli.Group("What Terraform deploys", "plan"),
		cli.Group("What helmfile deploys", "helmfile", "environment", "state-values-file", "state-values-set", "state-values-set-string"),
		cli.Group("What to ignore", cli.IgnoreFlags()...),
		cli.Group("Output", "output", "color"),
	}, cli.DesiredGroups("revision", "install", "skip-crds", "create-namespace"), cli.CommonGroups())
}

// absorbGuest returns absorb as a guest.
func absorbGuest() guest {
	return guest{commands: []guestCommand{{"absorb", newAbsorb, absorbHelp}}, jobs: jobs.Variants()}
}
