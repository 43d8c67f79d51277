package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file says what is wrong with a command line before any command runs: unknown commands and wrong flags.

// OutOfScope is the hint of arguments of fix that belong to helm upgrade or helm rollback.
const OutOfScope = "for charts, values and other revisions, use helm upgrade and helm rollback"

// UnknownCommand refuses a word that is not a command, and suggests similar ones.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	advice := cmd.CommandPath() + " --help lists the commands"
	cmd.SuggestionsMinimumDistance = 1
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		advice = "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "?"
	}
	return hint.New(fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()), advice)
}

// UsageError returns the error of a wrong flag with a hint: flags with similar names, or where to find the flags.
func UsageError(cmd *cobra.Command, err error) error {
	advice := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	ofUpgrade := append(ChartFlags(), "to-revision", "f")
	switch {
	case !errors.As(err, &unknown):
	case cmd.Name() == "fix" && slices.Contains(ofUpgrade, unknown.GetSpecifiedName()):
		advice = OutOfScope
	case isAllNamespaces(unknown) && (cmd.Name() == "fix" || cmd.Name() == "absorb"):
		advice = cmd.CommandPath() + " takes one release; " + cmd.Root().CommandPath() + " diff -A shows which releases drifted"
	case unknown.GetSpecifiedShortnames() == "":
		if near := similarFlags(cmd, unknown.GetSpecifiedName()); len(near) > 0 {
			advice = "did you mean --" + strings.Join(near, " or --") + "?"
		}
	}
	return hint.New(flagError(err), advice)
}

// isAllNamespaces reports whether a flag that a command lacks is -A or --all-namespaces.
func isAllNamespaces(unknown *pflag.NotExistError) bool {
	return unknown.GetSpecifiedName() == "all-namespaces" || unknown.GetSpecifiedName() == "A" && unknown.GetSpecifiedShortnames() != ""
}

// RefuseOneDash returns the error of a long flag with one dash. The shell's completion passes on unfinished words.
func RefuseOneDash(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil // Execute reports it
	}
	return oneDash(cmd, rest)
}

// similarFlags returns the flags of a command with names near an unknown one. If there are none, the flag may be one of kubectl, such as
// --as, and Helm's own are returned, such as --kube-as-user.
func similarFlags(cmd *cobra.Command, name string) []string {
	var names, ofHelm []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names = append(names, f.Name)
		if strings.HasPrefix(f.Name+"-", "kube-"+name+"-") {
			ofHelm = append(ofHelm, f.Name)
		}
	})
	if near := similar(name, names); len(near) > 0 {
		return near
	}
	return ofHelm
}

// RefuseUnknown turns an unknown shell of completion and an unknown topic of help into errors. Otherwise Cobra prints its help for them
// and exits with 0, and a shell that sources the completion script would run that help.
func RefuseUnknown(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Short = "Print a script that makes a shell complete commands, flags, releases and namespaces"
			cmd.Long = cmd.Short + ". The help of each shell says how to load it."
			cmd.Args, cmd.RunE = UnknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, one := range append(cmd.Commands(), cmd) {
				WithoutConnection(one, NeedsNoCluster)
			}
		case "help":
			cmd.Short = "Describe a command and its flags"
			cmd.Args = func(_ *cobra.Command, topic []string) error {
				found, rest, _ := root.Find(topic)
				return UnknownCommand(found, rest)
			}
		}
	}
}

// NoArguments refuses arguments. The check of cobra calls them unknown commands.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return hint.New(fmt.Errorf("%s takes no arguments", cmd.Name()), cmd.CommandPath()+" --help describes it")
}
