package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file holds the flags of fix and diff --fix. They select from the drift and say how to write; none of them changes what counts as
// drift.

// fixOptions are the flags that say what a fix puts back and how. diff --fix also has the flags of addFlags, but its own format, colour
// and masking.
type fixOptions struct {
	format      output.Format
	color       cli.OneOf
	showSecrets bool
	dryRun      cli.OneOf
	// yes asks nothing, and patch asks for each field or object.
	yes, patch bool
	// choose are --only and --skip, which diff has too.
	choose cli.ChoiceFlags
	prune  bool
	// noRestart leaves out writes that would restart pods.
	noRestart bool
	// manager is the field manager of the release, in case the cluster does not show it.
	manager string
	// targetNamespace is the namespace that the user allows fix to write to.
	targetNamespace string
	// allow lists the namespaces where --yes creates objects, besides the release's own; see repair.Options.
	allow []string
	// timeout limits the retries for one object.
	timeout time.Duration
	// backup is the directory for saving objects before they are written; empty means no backup.
	backup string
	// waiter waits after the writes until the objects come up. It is nil if this program cannot wait.
	waiter waiter
	// forecast predicts what writes mean for pods and data. It may be nil.
	forecast effect.Forecast
	// controllers find the release of a first argument such as hr/web.
	controllers controllers
}

// waiter waits for the objects that a fix has written.
type waiter interface {
	fixing.Waiter
	addFlags(*pflag.FlagSet)
	check(flags *pflag.FlagSet, isDryRun bool) error
}

// newFixOptions returns the defaults: text, and a question before the writes.
func newFixOptions(all guest) fixOptions {
	o := fixOptions{
		format: output.Text, color: cli.NewColor(), dryRun: cli.OneOf{Words: []string{"client", "server"}}, timeout: repair.DefaultTimeout,
		forecast: all.forecast,
	}
	if all.waiter != nil {
		o.waiter = all.waiter()
	}
	o.controllers = newControllers(all)
	return o
}

// addFlags adds the flags that fix and diff --fix share.
func (o *fixOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.yes, "yes", "y", false, "write without asking")
	cli.AddPatchFlag(fs, &o.patch, "put it back")
	fs.BoolVar(&o.prune, "prune", false, "also remove what a person added and no manifest names; the plan lists it separately")
	fs.BoolVar(&o.noRestart, "no-restart", false, "leave the fields that would restart pods if they were put back")
	fs.StringVar(&o.manager, "field-manager", "",
		"field manager `name` under which Helm writes the release, if the cluster does not show it or Helm applies client-side")
	fs.StringVar(&o.targetNamespace, "target-namespace", "",
		"allow writing to this `namespace`, which the release record names although it is stored in another one")
	fs.StringArrayVar(&o.allow, "allow-namespace", nil,
		"with --yes, also create missing objects in this `namespace`, which is not the release's own; the word cluster allows it for "+
			"cluster-scoped objects; may be repeated")
	fs.DurationVar(&o.timeout, "timeout", o.timeout, "how long to retry one object while others write to it or the server is busy")
	fs.StringVar(&o.backup, "backup", "",
		"before the first write, save each object to this `directory`, without Secrets and secret fields")
	if o.waiter != nil {
		o.waiter.addFlags(fs)
	}
}

// fixFlags returns the names of the flags of addFlags.
func fixFlags(all guest) []string {
	o := newFixOptions(all)
	return cli.NamesOf(o.addFlags)
}

// completeFixFlags sets the completion for the flags of addFlags.
func completeFixFlags(cmd *cobra.Command) {
	for _, name := range []string{"field-manager", "timeout", "wait-timeout"} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
		}
	}
	_ = cmd.MarkFlagDirname("backup")
}

// check refuses flags that contradict each other or would have no effect. It refuses an empty value too: in a script that is usually
// a variable that was not set, and without the requested backup, a fix cannot be undone.
func (o *fixOptions) check(flags *pflag.FlagSet) error {
	switch {
	case !slices.Contains(output.FixFormats(), string(o.format)):
		return fmt.Errorf("-o %s: fix has the formats %s", o.format, strings.Join(output.FixFormats(), ", "))
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s: must be more than 0", o.timeout)
	case o.yes && o.dryRun.Word != "":
		return errors.New("--yes and --dry-run exclude each other: a dry run asks nothing and writes nothing")
	case o.patch && (o.yes || o.dryRun.Word != ""):
		return errors.New("--patch asks, and --yes and --dry-run do not")
	case o.dryRun.Word != "" && flags.Changed("backup"):
		return errors.New("--backup and --dry-run exclude each other: a dry run writes nothing")
	case flags.Changed("backup") && o.backup == "":
		return errors.New("--backup needs a directory")
	case flags.Changed("field-manager") && o.manager == "":
		return errors.New("--field-manager needs a name")
	case flags.Changed("target-namespace") && o.targetNamespace == "":
		return errors.New("--target-namespace needs a namespace")
	case slices.Contains(o.allow, ""):
		return errors.New("--allow-namespace needs a namespace, or the word " + repair.Cluster)
	}
	if o.waiter != nil {
		if err := o.waiter.check(flags, o.dryRun.Word != ""); err != nil {
			return err
		}
	}
	_, err := o.choose.Choice()
	return err
}

// selection returns what the flags select from the drift that a comparison found.
func (o *fixOptions) selection(c *threeway.Comparison) (repair.Options, error) {
	chosen := repair.Options{
		Manager: o.manager, Prune: o.prune, NoRestart: o.noRestart, Forecast: o.forecast, Allow: o.allow, Asks: !o.yes && o.dryRun.Word == "",
	}
	choice, err := o.choose.Choice()
	if err != nil {
		return chosen, err
	}
	found := choice.In(c)
	if err := found.Err(); err != nil {
		return chosen, err
	}
	chosen.Only, chosen.Skip, err = cli.Selectors(found)
	return chosen, err
}

// fixRun is one run of fix after its comparison: what the user asked for, and what the comparison found.
type fixRun struct {
	cli.Session
	// flags are the flags of fix or of diff --fix.
	flags   fixOptions
	streams cli.Streams
	before  *drift.Result
}

// run puts back what the comparison found; fix and diff --fix both end here.
func (f fixRun) run(ctx context.Context) error {
	o := f.flags
	return fixing.Run{Session: f.Session, Streams: f.streams, Before: f.before, Version: version, Flags: fixing.Flags{
		Format: o.format, Color: o.color, ShowSecrets: o.showSecrets, Yes: o.yes, Patch: o.patch, DryRun: o.dryRun.Word,
		Select: o.selection, LeftOut: o.choose.LeftOut(), TargetNamespace: o.targetNamespace, Timeout: o.timeout, Backup: o.backup,
		Waiter: o.waiter,
	}}.Do(ctx)
}

// outOfScope is the hint printed when fix is given arguments that belong to helm upgrade or helm rollback.
const outOfScope = "for charts, values and other revisions, use helm upgrade and helm rollback"

// fixHelp returns the headings of the help of fix.
func fixHelp() []cli.FlagGroup {
	return slices.Concat([]cli.FlagGroup{
		cli.Group("What to put back", "only", "skip", "prune", "no-restart", "revision", "target-namespace", "allow-namespace"),
		cli.Group("How to put it back", "yes", "patch", "dry-run", "backup", "wait", "wait-timeout", "timeout", "field-manager"),
		cli.Group("What to ignore", cli.IgnoreFlags()...),
		cli.Group("Output", "output", "show-secrets", "color"),
	}, cli.CommonGroups())
}
