package main

import (
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
)

// This file builds the command tree and decides what a command line means before any command runs: unknown commands, wrong flags, and the
// log of --debug. A new command is a file of its own, with a function newX that newRoot calls.

// newRoot returns the command tree. The flags of the connection are flags of the root command, so that every command has them. Cobra
// prints neither errors nor usage itself: run prints all errors in the same form.
func newRoot(s cli.Streams) *cobra.Command {
	c := cli.NewConnection(s, version)
	all := allGuests()
	root := &cobra.Command{
		Use:   cli.ProgramName,
		Short: "Show what drifted in a Helm release, what helm upgrade will do about it, and put it back",
		Long: `  helmdrift diff web -n prod                          show what drifted, and what helm upgrade will do about it
  helmdrift diff web ./chart -n prod -f values.yaml   show what an upgrade to this chart will change
  helmdrift fix web -n prod                           put back what drifted, after showing it and asking

helmdrift compares what Helm deployed, what it would deploy and what the cluster holds, field by
field. It shows what drifted, who changed it, and whether the next helm upgrade adds, removes,
overwrites or ignores it. Only fix writes to the cluster: it shows its plan and asks first, and
puts back what drifted and nothing else. helmdrift help verdicts says what to do about each line
of a report.`,
		Args:          unknownCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked, _ := cmd.Flags().GetBool("version"); asked {
				return printVersion(s)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			// Flags are parsed by now. Until here, cli.Quiet has discarded every log.
			if c.Debug {
				log.SetOutput(jobs.LogWriter(s.Known, escape.Writer(s.Err, !s.Terminal().Unicode())))
			}
			if cmd.Name() == "diff" { // it accepts the flags of helm-diff
				return nil
			}
			return c.RefuseLines(cmd.Flags())
		},
	}
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(usageError)
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		if cli.WantsShortHelp(cmd) {
			return cli.WriteUsage(s, cmd, diffShortHelp())
		}
		return cli.WriteUsage(s, cmd, flagGroups(cmd.Name(), all))
	})
	c.AddFlags(root.PersistentFlags())
	root.Flags().Bool("version", false, "print the version")
	cli.HideFlags(root.Flags(), "version")
	root.AddCommand(newDiff(s, c, all), newFix(s, c, all), newReport(s), newVersion(s), cli.NewVerdicts())
	for _, g := range all.commands {
		root.AddCommand(g.new(s, c, all))
	}
	cli.CompleteFlags(root, s, c)
	if s.Program != "" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: s.Program}
	}
	for _, cmd := range append(root.Commands(), root) {
		cmd.Long = s.AsTyped(cmd.Long)
	}
	return root
}

// flagGroups returns the headings of the help of a command, in the order that readers need: first what the command does, and last how
// it connects, which is the same for all.
func flagGroups(command string, all guest) []cli.FlagGroup {
	switch command {
	case "diff":
		return diffHelp(all)
	case "fix":
		return fixHelp()
	case "report":
		return reportHelp()
	case "version", "completion", "bash", "fish", "powershell", "zsh":
		return []cli.FlagGroup{cli.OfflineGroup()}
	}
	for _, g := range all.commands {
		if g.name == command {
			return g.help()
		}
	}
	return cli.CommonGroups()
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

// usageError returns the error of a wrong flag with a hint: flags with similar names, or where to find the flags.
func usageError(cmd *cobra.Command, err error) error {
	advice := cmd.CommandPath() + " --help lists the flags"
	var unknown *pflag.NotExistError
	ofUpgrade := append(cli.ChartFlags(), "to-revision", "f")
	switch {
	case !errors.As(err, &unknown):
	case cmd.Name() == "fix" && slices.Contains(ofUpgrade, unknown.GetSpecifiedName()):
		advice = outOfScope
	case unknown.GetSpecifiedShortnames() == "":
		if near := similarFlags(cmd, unknown.GetSpecifiedName()); len(near) > 0 {
			advice = "did you mean --" + strings.Join(near, " or --") + "?"
		}
	}
	return hint.New(cli.FlagError(err), advice)
}

// refuseOneDash returns the error of a long flag with one dash. The shell's completion passes on unfinished words.
func refuseOneDash(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil // Execute reports it
	}
	return cli.OneDash(cmd, rest)
}

// similarFlags returns the flags of a command with names near an unknown one.
func similarFlags(cmd *cobra.Command, name string) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return cli.Similar(name, names)
}

// refuseUnknown turns an unknown shell of completion and an unknown topic of help into errors. Otherwise Cobra prints its help for them
// and exits with 0, and a shell that sources the completion script would run that help.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Short = "Print a script that makes a shell complete commands, flags, releases and namespaces"
			cmd.Long = cmd.Short + ". The help of each shell says how to load it."
			cmd.Args, cmd.RunE = unknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, one := range append(cmd.Commands(), cmd) {
				cli.WithoutConnection(one, cli.NeedsNoCluster)
			}
		case "help":
			cmd.Short = "Describe a command and its flags"
			cmd.Args = func(_ *cobra.Command, topic []string) error {
				found, rest, _ := root.Find(topic)
				return unknownCommand(found, rest)
			}
		}
	}
}
