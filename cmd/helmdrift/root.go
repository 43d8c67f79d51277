package main

import (
	"log"

	"github.com/spf13/cobra"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/jobs"
)

// This file builds the command tree. A new command is a file of its own, with a function newX that newRoot calls.

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
		Args:          cli.UnknownCommand,
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
	root.SetFlagErrorFunc(cli.UsageError)
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
