package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is for the commands that ask no cluster: the flags of the connection, which they do not have, and the flags that select the
// releases of saved reports.

// WithoutConnection takes the flags of the connection from a command that asks no cluster, except --debug. Why says what it does instead.
// The flags belong to the root command, so that they may stand before any command. Here they are hidden and refuse every value.
func WithoutConnection(cmd *cobra.Command, why string) {
	fs, all := cmd.Flags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	(&Connection{}).AddFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if f.Name == "debug" || fs.Lookup(f.Name) != nil {
			return
		}
		refusing := fs.VarPF(refusedFlag{cmd, f.Name, why}, f.Name, f.Shorthand, f.Usage)
		refusing.NoOptDefVal, refusing.Hidden = f.NoOptDefVal, true
	})
}

// refusedFlag is the value of a flag that a command does not have, and the error of setting it.
type refusedFlag struct {
	cmd       *cobra.Command
	name, why string
}

// String returns no value, because the flag never has one.
func (refusedFlag) String() string { return "" }

// Type returns the placeholder in help texts.
func (refusedFlag) Type() string { return "string" }

// Set refuses the value without quoting it: it may be a token.
func (f refusedFlag) Set(string) error { return f }

// Error says which command does not have the flag, and why.
func (f refusedFlag) Error() string {
	return fmt.Sprintf("%s has no --%s: it %s", f.cmd.CommandPath(), f.name, f.why)
}

// ReadsFiles is why a command that reads saved reports has no flags of the connection.
const ReadsFiles = "reads files only, and asks no cluster"

// NeedsNoCluster is why the other commands that ask no cluster have no flags of the connection.
const NeedsNoCluster = "asks no cluster"

// SavedFilter is the value of -n, --filter and --exclude for releases of saved reports.
type SavedFilter struct {
	namespace string
	names     NameFilter
}

// AddFlags adds the flags. The environment has no say: it chooses the namespace of a cluster.
func (f *SavedFilter) AddFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "releases whose record is in this `namespace`")
	_ = cmd.RegisterFlagCompletionFunc("namespace", cobra.NoFileCompletions)
	f.names.AddFlags(cmd.Flags())
}

// SavedFilterFlags returns the names of the flags of AddFlags.
func SavedFilterFlags() []string { return []string{"namespace", "filter", "exclude"} }

// Selects returns the condition that the flags set for a release. A release whose name is not known until Terraform applies its plan may be
// any of them, so it is selected. Its address stands for the name, and no release has an underscore in its name (helm v3.22.0
// pkg/chartutil/validate_name.go).
func (f *SavedFilter) Selects() (func(report.Release) bool, error) {
	filter, exclude, err := f.names.Compile()
	if err != nil {
		return nil, err
	}
	return func(r report.Release) bool {
		if strings.Contains(r.Name, "_") {
			return true
		}
		return (f.namespace == "" || r.StorageNamespace == f.namespace) && (filter == nil || filter.MatchString(r.Name)) &&
			(exclude == nil || !exclude.MatchString(r.Name))
	}, nil
}

// Apply leaves only the selected releases in a report. What could not be searched stays, except another namespace: a release that the
// flags select may be there. It is an error if nothing is left, because a typing error must not look like a clean fleet.
func (f *SavedFilter) Apply(r *report.Report) error {
	selects, err := f.Selects()
	if err != nil || *f == (SavedFilter{}) {
		return err
	}
	all := slices.Clone(r.Releases)
	r.Releases = slices.DeleteFunc(r.Releases, func(one report.Release) bool { return !selects(one) })
	r.Errors = slices.DeleteFunc(r.Errors, func(e report.ScanError) bool {
		return f.namespace != "" && e.Namespace != "" && e.Namespace != f.namespace
	})
	if len(r.Releases)+len(r.Errors) == 0 {
		return hint.New(fmt.Errorf("the flags select 0 of %d releases in the report", len(all)), "check --namespace, --filter and --exclude")
	}
	if r.Scan != nil {
		chooseClaims(r.Scan, all, selects)
	}
	r.Recount()
	return nil
}

// chooseClaims leaves only the orphans and the overlaps of the selected releases. A claim names the namespace of the objects, and Flux may
// keep the record in another one, so the releases of the report decide. Of a release that is gone, only the claim says anything.
func chooseClaims(scan *report.Scan, all []report.Release, selects func(report.Release) bool) {
	known := map[[3]string]bool{} // the value says whether a release of the key is selected
	for _, r := range all {
		for _, namespace := range []string{r.Namespace, r.StorageNamespace} {
			key := [3]string{r.Cluster, namespace, r.Name}
			known[key] = known[key] || selects(r)
		}
	}
	of := func(cluster, namespace, name string) bool {
		if isSelected, isKnown := known[[3]string{cluster, namespace, name}]; isKnown {
			return isSelected
		}
		return selects(report.Release{Name: name, StorageNamespace: namespace})
	}
	scan.Orphans = slices.DeleteFunc(scan.Orphans, func(o report.Orphan) bool { return !of(o.Cluster, o.ReleaseNamespace, o.Release) })
	scan.Overlaps = slices.DeleteFunc(scan.Overlaps, func(o report.Overlap) bool {
		return !slices.ContainsFunc(o.Claims, func(c report.Claim) bool {
			return c.Kind == report.ClaimRelease && of(o.Cluster, c.Namespace, c.Name)
		})
	})
}
