package fixing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/repair"
)

// This file holds the flags of fix and diff --fix. They select from the drift and say how to write; none of them changes what counts as
// drift.

// Flags say what a fix puts back and how. diff --fix has those of AddFlags too, but its own format, colour and masking.
type Flags struct {
	Format      output.Format
	Color       cli.OneOf
	ShowSecrets bool
	// DryRun is "client" or "server", or empty to write.
	DryRun cli.OneOf
	// Choose are --only and --skip, which diff has too.
	Choose cli.ChoiceFlags
	// Backup is the directory for saving objects before they are written; empty means no backup.
	Backup string
	// Waiter waits after the writes until the objects come up. It is nil if this program cannot wait.
	Waiter Waiter
	// Forecast predicts what writes mean for pods and data. It may be nil.
	Forecast effect.Forecast

	// yes asks nothing, and patch asks for each field or object.
	yes, patch bool
	prune      bool
	// noRestart leaves out writes that would restart pods.
	noRestart bool
	// manager is the field manager of the release, in case the cluster does not show it.
	manager string
	// targetNamespace is the namespace that the user allows fix to write to; see checkNamespace.
	targetNamespace string
	// allow lists the namespaces where --yes creates objects, besides the release's own; see repair.Options.
	allow []string
	// timeout limits the retries for one object.
	timeout time.Duration
}

// NewFlags returns the defaults: text, and a question before the writes.
func NewFlags() Flags {
	return Flags{
		Format: output.Text, Color: cli.NewColor(), DryRun: cli.OneOf{Words: []string{"client", "server"}}, timeout: repair.DefaultTimeout,
	}
}

// AddFlags adds the flags that fix and diff --fix share.
func (o *Flags) AddFlags(fs *pflag.FlagSet) {
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
	fs.StringVar(&o.Backup, "backup", "",
		"before the first write, save each object to this `directory`, without Secrets and secret fields")
	if o.Waiter != nil {
		o.Waiter.AddFlags(fs)
	}
}

// Check refuses flags that contradict each other or would have no effect. It refuses an empty value too: in a script that is usually
// a variable that was not set, and without the requested backup, a fix cannot be undone.
func (o *Flags) Check(flags *pflag.FlagSet) error {
	switch {
	case !slices.Contains(output.FixFormats(), string(o.Format)):
		return fmt.Errorf("-o %s: fix has the formats %s", o.Format, strings.Join(output.FixFormats(), ", "))
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s: must be more than 0", o.timeout)
	case o.yes && o.DryRun.Word != "":
		return errors.New("--yes and --dry-run exclude each other: a dry run asks nothing and writes nothing")
	case o.patch && (o.yes || o.DryRun.Word != ""):
		return errors.New("--patch excludes --yes and --dry-run: it asks for each field or object, and they ask nothing")
	case o.DryRun.Word != "" && flags.Changed("backup"):
		return errors.New("--backup and --dry-run exclude each other: a dry run writes nothing")
	case flags.Changed("backup") && o.Backup == "":
		return errors.New("--backup needs a directory")
	case flags.Changed("field-manager") && o.manager == "":
		return errors.New("--field-manager needs a name")
	case flags.Changed("target-namespace") && o.targetNamespace == "":
		return errors.New("--target-namespace needs a namespace")
	case slices.Contains(o.allow, ""):
		return errors.New("--allow-namespace needs a namespace, or the word " + repair.Cluster)
	}
	if o.Waiter != nil {
		if err := o.Waiter.Check(flags, o.DryRun.Word != ""); err != nil {
			return err
		}
	}
	_, err := o.Choose.Choice()
	return err
}
