package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file lays out the help. diff has some fifty flags, most of them Helm's, so they stand below headings by topic, and the flags that
// people need most come first. The texts of the flags are where the flags are added.

// flagGroup is a heading of the help and the names of the flags below it, the most used first. TestHelpGroups checks that every flag has
// exactly one heading.
type flagGroup struct {
	title string
	flags []string
}

// flagGroups returns the headings of the help of a command, in the order in which a reader needs them: first what the command does, and
// last how it connects, which is the same for all.
func flagGroups(command string) []flagGroup {
	switch command {
	case "diff":
		states := []string{"to-revision", "revision", "install", "skip-crds", "create-namespace", "dry-run"}
		return slices.Concat(selectionGroups(), desiredGroups(states...), diffGroups(), commonGroups())
	case "fix":
		return slices.Concat(fixGroups(), commonGroups())
	case "absorb":
		return slices.Concat(absorbGroups(), desiredGroups("revision", "install", "skip-crds", "create-namespace"), commonGroups())
	case "list":
		return slices.Concat(selectionGroups(), []flagGroup{{"Output", []string{"output", "color"}}}, commonGroups())
	case "snapshot":
		return slices.Concat(snapshotGroups(), desiredGroups("to-revision", "revision"), commonGroups())
	case "history":
		return slices.Concat(historyGroups(), commonGroups())
	case "report":
		return slices.Concat(reportGroups(), commonGroups())
	}
	return commonGroups()
}

// absorbGroups returns the flags of absorb alone.
func absorbGroups() []flagGroup {
	return []flagGroup{
		{"What to absorb", []string{"write", "unmanaged", "max-side-effects", "snapshot"}},
		{"What to ignore", ignoreFlags()},
		{"Output", []string{"output", "color"}},
	}
}

// snapshotGroups returns the flags of snapshot alone.
func snapshotGroups() []flagGroup {
	return []flagGroup{{"What to write", []string{"output", "include-secrets", "overwrite"}}}
}

// reportGroups returns the flags of report.
func reportGroups() []flagGroup {
	return []flagGroup{{"What counts", []string{"fail-on"}}, {"What to ignore", savedIgnoreFlags()},
		{"Output", []string{"output", "report", "quiet", "verbose", "show-ignored", "no-pager", "color"}}}
}

// historyGroups returns the flags of history.
func historyGroups() []flagGroup {
	return []flagGroup{{"Which releases", []string{"filter", "exclude"}}, {"Output", []string{"output", "verbose", "no-pager", "color"}}}
}

// selectionGroups returns the flags that select releases.
func selectionGroups() []flagGroup { return []flagGroup{{"Which releases", selectionFlags()}} }

// desiredGroups returns the flags that choose what the release is compared with. Those that choose a state differ between the commands.
func desiredGroups(states ...string) []flagGroup {
	return []flagGroup{
		{"What to compare with", states},
		{"How Helm would write", []string{"helm-version", "server-side", "force-conflicts", "force", "take-ownership", "no-hooks"}},
		{"Values", []string{
			"values", "set", "set-string", "set-json", "set-file", "set-literal", "reuse-values", "reset-values", "reset-then-reuse-values",
		}},
		{"Where the chart comes from", []string{
			"version", "repo", "devel", "username", "password", "pass-credentials", "ca-file", "cert-file", "key-file", "insecure-skip-tls-verify",
			"plain-http", "verify", "keyring", "registry-config", "repository-config", "repository-cache",
			"no-plugins",
		}},
		{"How the chart is rendered", []string{
			"post-renderer", "post-renderer-args", "kube-version", "api-versions", "no-lookup", "enable-dns", "skip-schema-validation",
			"allow-outside-links",
		}},
	}
}

// diffGroups returns the other flags of diff.
func diffGroups() []flagGroup {
	return []flagGroup{
		{"Without a cluster", []string{"snapshot"}},
		{"What counts", []string{"fail-on", "baseline"}},
		{"What to ignore", ignoreFlags()},
		{"Output", []string{"output", "report", "quiet", "verbose", "show-ignored", "show-controllers", "show-secrets", "no-pager", "color"}},
		{"Repair", []string{"fix"}},
	}
}

// fixGroups returns the flags of fix.
func fixGroups() []flagGroup {
	return []flagGroup{
		{"What to put back", []string{"only", "skip", "prune", "no-restart", "revision", "target-namespace", "allow-namespace"}},
		{"How to put it back", []string{"yes", "dry-run", "backup", "wait", "wait-timeout", "timeout", "field-manager"}},
		{"What to ignore", ignoreFlags()},
		{"Output", []string{"output", "show-secrets", "color"}},
	}
}

// commonGroups returns the flags of every command. Only diff and fix have limits; names that a command does not have are skipped.
func commonGroups() []flagGroup {
	return []flagGroup{
		{"Connection", []string{
			"namespace", "kube-context", "kubeconfig", "cluster-name", "request-timeout", "kube-as-user", "kube-as-group", "kube-token", "kube-apiserver",
			"kube-ca-file", "kube-tls-server-name", "kube-insecure-skip-tls-verify", "qps", "burst-limit",
		}},
		{"Limits", limitFlags()},
		{"Other", []string{"help", "debug"}},
	}
}

// writeUsage writes the usage of a command: how it is called, its subcommands, examples, and its flags by topic. It replaces the template
// of cobra, which lists some fifty flags in alphabetical order.
func writeUsage(s streams, cmd *cobra.Command) error {
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
	writeFlags(&b, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help describes a command and its flags.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), s.asTyped(b.String()))
	return err
}

// writeFlags writes the visible flags of a command by topic. Flags without a topic come first; the commands that cobra adds have some.
func writeFlags(w io.Writer, cmd *cobra.Command) {
	// left holds all flags of the command: its own, and those of the root command.
	left := pflag.NewFlagSet("", pflag.ContinueOnError)
	left.AddFlagSet(cmd.LocalFlags())
	left.AddFlagSet(cmd.InheritedFlags())
	var sections []string
	grouped := map[string]bool{}
	for _, group := range flagGroups(cmd.Name()) {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for _, name := range group.flags {
			if f := left.Lookup(name); f != nil {
				flags.AddFlag(f)
				grouped[name] = true
			}
		}
		sections = append(sections, flagSection(group.title, flags))
	}
	// What has no heading is collected last, when the headings are known, and printed first.
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	left.VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] {
			rest.AddFlag(f)
		}
	})
	// Empty sections print nothing.
	fmt.Fprint(w, flagSection("Flags", rest), strings.Join(sections, ""))
}

// flagSection returns one heading with its flags; empty if none of them is visible.
func flagSection(title string, flags *pflag.FlagSet) string {
	if !flags.HasAvailableFlags() {
		return ""
	}
	return "\n" + title + ":\n" + flags.FlagUsages()
}
