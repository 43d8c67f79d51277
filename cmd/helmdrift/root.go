package main

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
)

// This file builds the command tree and decides what a command line means before any command runs: unknown commands, wrong flags, and the
// log that --debug asks for. A new command is a file of its own with a function newX that is added here.

// newRoot returns the command tree. The flags of the connection are flags of the root command, so that every command has them. Cobra
// prints neither errors nor usage by itself: run prints errors in the form that all of them have.
func newRoot(s streams) *cobra.Command {
	c := newConnection(s.env)
	c.known = s.known
	root := &cobra.Command{
		Use:   programName,
		Short: "Show what drifted in a Helm release, what helm upgrade will do about it, and put it back",
		Long: `  helmdrift diff web -n prod                          show what drifted, and what helm upgrade will do about it
  helmdrift diff web ./chart -n prod -f values.yaml   show what an upgrade to this chart will change
  helmdrift fix web -n prod                           put back what drifted, after showing it and asking

helmdrift compares what Helm deployed, what it would deploy and what the cluster holds, field by
field. It shows what drifted, who changed it, and whether the next helm upgrade adds, removes,
overwrites or ignores it. Only fix writes to the cluster: it shows its plan and asks first, and
puts back what drifted and nothing else.`,
		Args:          unknownCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked, _ := cmd.Flags().GetBool("version"); asked {
				return s.printVersion()
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// Flags are parsed by now. Until here, quiet has discarded every log.
			if c.debug {
				log.SetOutput(jobs.LogWriter(s.known, escape.Writer(s.err, !s.terminal().Unicode())))
			}
			if cmd.Name() == "diff" { // which accepts the flags of helm-diff
				return nil
			}
			return c.refuseLines(cmd.Flags())
		},
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(usageError)
	root.SetUsageFunc(func(cmd *cobra.Command) error { return writeUsage(s, cmd) })
	c.addFlags(root.PersistentFlags())
	root.Flags().Bool("version", false, "print the version")
	hideFlags(root.Flags(), "version")
	root.AddCommand(newDiff(s, c), newFix(s, c), newAbsorb(s, c), newList(s, c), newReport(s), newHistory(s, c), newSnapshot(s, c), newVersion(s))
	_ = root.RegisterFlagCompletionFunc("namespace", completeNamespace(c))
	_ = root.RegisterFlagCompletionFunc("kube-context", completeContext(c))
	completeFlags(root, s, c)
	if s.program != "" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: s.program}
	}
	for _, cmd := range append(root.Commands(), root) {
		cmd.Long = s.asTyped(cmd.Long)
	}
	return root
}

// unknownCommand refuses a word that is not a command, and suggests similar ones.
func unknownCommand(cmd *cobra.Command, args []string) error {
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

// usageError returns the error of a wrong flag with a hint: flags whose names are similar, or where the flags are listed.
func usageError(cmd *cobra.Command, err error) error {
	advice := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	ofUpgrade := append(chartFlags(), "to-revision", "f")
	switch {
	case !errors.As(err, &unknown):
	case cmd.Name() == "fix" && slices.Contains(ofUpgrade, unknown.GetSpecifiedName()):
		advice = outOfScope
	case unknown.GetSpecifiedShortnames() == "":
		if near := similarFlags(cmd, unknown.GetSpecifiedName()); len(near) > 0 && len(near) <= maxSimilar {
			advice = "did you mean --" + strings.Join(near, " or --") + "?"
		}
	}
	return hint.New(flagError(err), advice)
}

// maxSimilar is how many similar flags a hint names at most: more of them begin with the same word, such as kube, and help nobody.
const maxSimilar = 3

// similarFlags returns the flags of a command whose names are near an unknown one. Cobra suggests commands only, so each flag becomes one,
// and the distance is that of cobra. It is less for a short name, of which a change of two letters leaves nothing.
func similarFlags(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: min(2, len(name)/2)}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return flags.SuggestionsFor(name)
}
