package cli

import "github.com/spf13/cobra"

// This file is the topic of the help that says what to do about each line of a report, for a reader without a browser. It is short;
// docs/what-to-do.md has the whole of it.

// NewVerdicts returns the topic. It is a command that does nothing, so cobra shows it only where somebody asks for it.
func NewVerdicts() *cobra.Command {
	return &cobra.Command{Use: "verdicts", Short: "What each line of a report means, and what to do about it", Long: verdictsText}
}

// verdictsText is the topic. Its lines fit in a terminal of 80 columns.
const verdictsText = `What each line of a report means, and what to do about it

Should the cluster be as Helm deployed it?  helmdrift fix RELEASE -n NAMESPACE
  It shows its plan and asks. --dry-run only shows it, -p asks for each field.
Should the edit stay?                       helmdrift absorb RELEASE CHART
  It writes the edit into the values, and the next upgrade deploys it.
Keep one edit and put back the rest:        fix --skip deploy/web:spec.replicas

Fields: what the next upgrade does with the live value
  ± puts back    it writes the deployed value again: do nothing if an upgrade
                 comes soon and the edit may go; else fix, or absorb to keep it
  ± overwrites   the value drifted, and the upgrade writes a third one
  + adds back    somebody removed the field, and the upgrade writes it again
  - removes      Helm deployed no value there, and the upgrade takes it away
  ∅ leaves       no upgrade puts it back: fix is the only way back
  ! conflicts    another program owns the field, and a server-side upgrade
                 fails on it: fix gives it back to Helm, absorb keeps it, and
                 helm upgrade --force-conflicts takes over all such fields
  blocked        the object fails or is not reached: resolve that first
  keeps          only the owner of the field changes, not its value

Objects
  missing        somebody deleted it: fix creates it now; the audit log of the
                 API server says who deleted it
  being deleted  a finalizer holds it: wait until it is gone, then fix; if it
                 stays, look at metadata.finalizers
  fails          remove the reason in its line before an upgrade, which would
                 leave the release failed; --dry-run=server asks the server
  does not reach another object makes the upgrade fail before it
  could not be compared   nothing is known of it, and the exit code is 1: read
                 the message, then compare again
  not compared   hooks, and objects whose name the server generates: nothing

No drift, and no exit code unless --fail-on says so
  unmanaged      no manifest names it: fix --prune removes what persons added
  volatile       each rendering makes another value: give it in the values
  unknown        the chart has a value here that could not be read
  autoscaled     an autoscaler decides: leave replicas out of the chart
  ignored by     a rule accepts it: --show-ignored lists it with its rule
  left out by    --only or --skip of this command left it out
  known          the report of --baseline has it, and it is still there

All of it: https://github.com/helmdrift/helmdrift/blob/main/docs/what-to-do.md`
