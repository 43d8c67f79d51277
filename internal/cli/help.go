package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file lays out the help. diff has more than a hundred flags, most of them Helm's, so the help groups them below headings by topic,
// and the flags that people need most come first. The code that adds a flag has its text.

// FlagGroup is a heading of the help and the names of the flags below it, the most used first. TestHelpGroups checks that every flag has
// exactly one heading.
type FlagGroup struct {
	title string
	Flags []string
}

// Group returns a heading with the flags below it.
func Group(title string, flags ...string) FlagGroup { return FlagGroup{title, flags} }

// DesiredGroups returns the flags that choose what to compare the release with. The commands differ in the flags that choose a state.
func DesiredGroups(states ...string) []FlagGroup {
	return []FlagGroup{
		Group("What to compare with", states...),
		Group("How Helm would write", "helm-version", "server-side", "force-conflicts", "force", "take-ownership", "no-hooks"),
		Group("Values",
			"values", "set", "set-string", "set-json", "set-file", "set-literal", "reuse-values", "reset-values", "reset-then-reuse-values",
		),
		Group("Where the chart comes from",
			"version", "repo", "devel", "username", "password", "pass-credentials", "ca-file", "cert-file", "key-file", "insecure-skip-tls-verify",
			"plain-http", "verify", "keyring", "registry-config", "repository-config", "repository-cache", "no-plugins",
		),
		Group("How the chart is rendered",
			"post-renderer", "post-renderer-args", "kube-version", "api-versions", "no-lookup", "enable-dns", "skip-schema-validation",
			"allow-outside-links",
		),
	}
}

// CommonGroups returns the flags of every command. Not every command has limits; the help skips names that a command does not have.
func CommonGroups() []FlagGroup {
	return []FlagGroup{
		Group("Connection",
			"namespace", "kube-context", "kubeconfig", "cluster-name", "request-timeout", "kube-as-user", "kube-as-group", "kube-token",
			"kube-apiserver", "kube-ca-file", "kube-tls-server-name", "kube-insecure-skip-tls-verify", "qps", "burst-limit",
		),
		Group("Limits", LimitFlags()...),
		Group("Other", "help", "debug"),
	}
}

// OfflineGroup returns the flags of every command that asks no cluster.
func OfflineGroup() FlagGroup { return Group("Other", "help", "debug") }

// AddShortHelp makes -h of a command with many flags describe those that people use, and --help all of them.
func AddShortHelp(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Bool("help", false, "describe "+cmd.Name()+" with all of its flags; -h describes those that people use")
	fs.VarPF(shortHelp{fs}, shortHelpFlag, "h", "").NoOptDefVal = "true"
	HideFlags(fs, shortHelpFlag)
}

// shortHelpFlag is the name that pflag needs for the flag -h.
const shortHelpFlag = "short-help"

// shortHelp is the value of -h. It also sets --help, for which cobra looks.
type shortHelp struct{ flags *pflag.FlagSet }

// String returns nothing, because the flag has no value.
func (shortHelp) String() string { return "" }

// Type returns the placeholder in help texts.
func (shortHelp) Type() string { return "bool" }

// Set sets --help.
func (h shortHelp) Set(text string) error { return h.flags.Set("help", text) }

// WantsShortHelp reports whether -h was given to a command that has AddShortHelp.
func WantsShortHelp(cmd *cobra.Command) bool { return cmd.Flags().Changed(shortHelpFlag) }

// WriteUsage writes the usage of a command: how to call it, its subcommands, examples, and its flags by topic. It replaces the template
// of cobra, which lists all flags in alphabetical order.
func WriteUsage(s Streams, cmd *cobra.Command, groups []FlagGroup) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	} else {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeFlags(&b, cmd, groups)
	if WantsShortHelp(cmd) {
		fmt.Fprintf(&b, "\n%s --help describes all flags, and helmdrift help verdicts each line of a report.\n", cmd.CommandPath())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help describes a command and its flags.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), s.AsTyped(b.String()))
	return err
}

// writeFlags writes the visible flags of a command by topic. Flags without a topic come first; the commands that cobra adds have some.
func writeFlags(w io.Writer, cmd *cobra.Command, groups []FlagGroup) {
	// left holds all flags of the command: its own, and those of the root command.
	left := pflag.NewFlagSet("", pflag.ContinueOnError)
	left.AddFlagSet(cmd.LocalFlags())
	left.AddFlagSet(cmd.InheritedFlags())
	var sections []string
	grouped := map[string]bool{}
	for _, group := range groups {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for _, name := range group.Flags {
			if f := left.Lookup(name); f != nil {
				flags.AddFlag(f)
				grouped[name] = true
			}
		}
		sections = append(sections, flagSection(group.title, flags))
	}
	// Flags without a heading are collected last, when the headings are known, and printed first.
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	left.VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] && !WantsShortHelp(cmd) {
			rest.AddFlag(f)
		}
	})
	// Empty sections print nothing.
	fmt.Fprint(w, flagSection("Flags", rest), strings.Join(sections, ""))
}

// flagSection returns one heading with its flags, or "" if none of them is visible.
func flagSection(title string, flags *pflag.FlagSet) string {
	if !flags.HasAvailableFlags() {
		return ""
	}
	return "\n" + title + ":\n" + flags.FlagUsages()
}
