package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/rollout"
)

// This file holds the flags of fix and diff --fix. They choose among the drift that was found and say how to write; none of them changes
// what counts as drift.

// fixOptions are the flags that say what a fix puts back and how. diff --fix has those of addFlags too, and brings its own format, colour
// and masking.
type fixOptions struct {
	format      output.Format
	color       oneOf
	showSecrets bool
	dryRun      oneOf
	yes         bool
	// only and skip are selectors: KIND/NAME or KIND/NAME:PATH.
	only, skip []string
	prune      bool
	// noRestart leaves out what would restart pods.
	noRestart bool
	// manager is the field manager of the release if the cluster does not show it.
	manager string
	// targetNamespace is the namespace that the user allows fix to write to; see checkNamespace.
	targetNamespace string
	// allow lists the namespaces where --yes creates objects, besides that of the release; see repair.Options.
	allow []string
	// timeout limits the retries for one object.
	timeout time.Duration
	// backup is the directory to save objects in before they are written; empty means no backup.
	backup string
	// wait says to wait after the writes until what was put back is as it should be, each object for at most waitTimeout.
	wait        bool
	waitTimeout time.Duration
}

// newFixOptions returns the defaults: text, and a plan that is confirmed before it is written.
func newFixOptions() fixOptions {
	return fixOptions{
		format: output.Text, color: newColor(), dryRun: oneOf{words: []string{"client", "server"}}, timeout: repair.DefaultTimeout,
		waitTimeout: rollout.DefaultTimeout,
	}
}

// addFlags adds the flags that fix and diff --fix share.
func (o *fixOptions) addFlags(fs *pflag.FlagSet) {
	fs.BoolVarP(&o.yes, "yes", "y", false, "write without asking")
	fs.StringArrayVar(&o.only, "only", nil, "put back only this object or field: `KIND/NAME[:PATH]`; may be repeated")
	fs.StringArrayVar(&o.skip, "skip", nil, "do not put back this object or field: `KIND/NAME[:PATH]`; may be repeated")
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
	fs.BoolVar(&o.wait, "wait", false, "wait until what was put back is ready; if it is not, say why, with exit code 1")
	fs.DurationVar(&o.waitTimeout, "wait-timeout", o.waitTimeout, "how long --wait waits for each object")
}

// fixFlags returns the names of the flags of addFlags.
func fixFlags() []string {
	o := newFixOptions()
	return namesOf(o.addFlags)
}

// completeFixFlags sets what the shell completes after the flags of addFlags.
func completeFixFlags(cmd *cobra.Command) {
	for _, name := range []string{"field-manager", "timeout", "wait-timeout"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	_ = cmd.MarkFlagDirname("backup")
}

// check refuses flags that contradict each other or would have no effect. An empty value is refused too: in a script it is usually a
// variable that was not set, and a fix without the backup that somebody asked for cannot be undone.
func (o *fixOptions) check(flags *pflag.FlagSet) error {
	switch {
	case !slices.Contains(output.FixFormats(), string(o.format)):
		return fmt.Errorf("-o %s: fix has the formats %s", o.format, strings.Join(output.FixFormats(), ", "))
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s: must be more than 0", o.timeout)
	case o.yes && o.dryRun.word != "":
		return errors.New("--yes and --dry-run exclude each other: a dry run asks nothing and writes nothing")
	case o.waitTimeout <= 0:
		return fmt.Errorf("--wait-timeout %s: must be more than 0", o.waitTimeout)
	case flags.Changed("wait-timeout") && !o.wait:
		return errors.New("--wait-timeout needs --wait")
	case o.dryRun.word != "" && o.wait:
		return errors.New("--wait and --dry-run exclude each other: a dry run writes nothing")
	case o.dryRun.word != "" && flags.Changed("backup"):
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
	_, err := o.selection()
	return err
}

// selection returns what the flags select from the drift.
func (o *fixOptions) selection() (repair.Options, error) {
	chosen := repair.Options{
		Manager: o.manager, Prune: o.prune, NoRestart: o.noRestart, Allow: o.allow, Asks: !o.yes && o.dryRun.word == "",
	}
	var errs []error
	parse := func(flag string, words []string) (parsed []repair.Selector) {
		for _, word := range words {
			selector, err := repair.ParseSelector(word)
			if err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
			}
			parsed = append(parsed, selector)
		}
		return parsed
	}
	chosen.Only, chosen.Skip = parse("only", o.only), parse("skip", o.skip)
	return chosen, errors.Join(errs...)
}

// outOfScope is the hint printed when fix is given arguments that belong to helm upgrade or helm rollback.
const outOfScope = "for charts, values and other revisions, use helm upgrade and helm rollback"
