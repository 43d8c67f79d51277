package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is what all objects have in common that a controller deploys a release from, such as a HelmRelease: how they are named, which
// flags they exclude, and diff of all of them.

// controllers are the controllers that the program knows, and the flags that they share. Flags is nil if there are none.
type controllers struct {
	flags *cli.ControllerOptions
	known []controlled
}

func newControllers(all guest) controllers {
	if len(all.controllers) == 0 {
		return controllers{}
	}
	out := controllers{flags: &cli.ControllerOptions{}}
	for _, create := range all.controllers {
		out.known = append(out.known, create(out.flags))
	}
	return out
}

// controllerFlags returns the names of the flags that controllers share.
func controllerFlags() []string { return cli.NamesOf((&cli.ControllerOptions{}).AddFlags) }

// objectWords are the words for an object that a controller deploys a release from.
type objectWords struct {
	// kinds are the words in front of a slash, those of kubectl. The shortest is first.
	kinds []string
	// one is the kind, and controller the name of who deploys. lists is a command that lists the objects.
	one, controller, lists string
	// sync is a command that makes the controller write, if there is no release that helmdrift could fix. It is empty if there is one.
	sync string
}

// checkRelease returns an error if there is no release of Helm behind an object that fix, absorb or snapshot is called for.
func checkRelease(of controlled, args []string) error {
	words := of.words()
	if words.sync == "" {
		return nil
	}
	_, name, _ := strings.Cut(args[0], "/")
	return hint.New(fmt.Errorf("%s deploys an %s without a release of Helm, and helmdrift only compares it", words.controller, words.one),
		words.sync+" "+name+" puts back what helmdrift diff "+args[0]+" shows")
}

// named returns the controller of the object that the arguments name, or nil if they name none.
func (c controllers) named(args []string) controlled {
	if len(args) == 0 {
		return nil
	}
	kind, _, found := strings.Cut(args[0], "/")
	for _, of := range c.known {
		if found && slices.Contains(of.words().kinds, strings.ToLower(kind)) {
			return of
		}
	}
	return nil
}

// complete completes the release, or the object that a controller deploys it from, and the chart.
func (c controllers) complete(connection *cli.Connection) cobra.CompletionFunc {
	releases := cli.CompleteRelease(connection)
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if of := c.named([]string{word}); len(args) == 0 && of != nil {
			return of.complete(cmd.Context(), connection, word)
		}
		return releases(cmd, args, word)
	}
}

// errNothing is the error of a cluster or a working tree that has no object of a controller.
var errNothing = errors.New("there is no such object")

// all returns how to compare all objects that controllers deploy, or nil if the flags do not ask for that.
func (c controllers) all(s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) (compareAll, error) {
	if c.flags == nil {
		return nil, nil
	}
	flag, err := c.flags.CheckAll()
	if flag == "" {
		return nil, err
	}
	if len(args) > 0 {
		return nil, hint.New(fmt.Errorf("%s takes no release", flag), "for one HelmRelease: helmdrift diff hr/NAME -n NAMESPACE")
	}
	var each []compareAll
	for _, of := range c.known {
		err := refuseFlags(flags, append(refused(of, o.guests), withoutSnapshot(), refusal{[]string{"selector", "filter", "exclude", "status", "shard"},
			"it compares all HelmReleases"}), flag)
		if err != nil {
			return nil, err
		}
		all, err := of.all(s, o)
		if err != nil {
			return nil, err
		}
		if all != nil {
			each = append(each, all)
		}
	}
	return func(ctx context.Context, on scanned) ([]report.Release, error) {
		var out []report.Release
		isAny := false
		for _, all := range each {
			found, err := all(ctx, on)
			if err != nil && !errors.Is(err, errNothing) {
				return nil, err
			}
			isAny = isAny || err == nil
			out = append(out, found...)
		}
		if !isAny {
			return nil, c.nothing(on.namespace)
		}
		return out, nil
	}, nil
}

// nothing returns the error of a tree or a cluster in which controllers deploy nothing.
func (c controllers) nothing(namespace string) error {
	const advice = "-n chooses the namespace, -A all of them; without --next, helmdrift diff compares releases with what is deployed"
	var names []string
	for _, of := range c.known {
		names = append(names, of.words().one)
	}
	switch one := strings.Join(names, " and no "); {
	case c.flags.From != "":
		return hint.New(fmt.Errorf("%s makes no %s", c.flags.From, one), "--from names the folder that a Kustomization of Flux names in spec.path")
	case namespace != "":
		return hint.New(fmt.Errorf("there is no %s in namespace %s", one, namespace), advice)
	default:
		return hint.New(fmt.Errorf("there is no %s in any namespace", one), advice)
	}
}

// checkOne refuses what the object decides itself, and what needs a release. It returns the name of the object.
func checkOne(of controlled, o *cli.ControllerOptions, args []string, flags *pflag.FlagSet, refused []refusal) (name string, err error) {
	words := of.words()
	_, name, _ = strings.Cut(args[0], "/")
	switch {
	case o.Next:
		return "", fmt.Errorf("--next compares all of them, and %s is one %s", args[0], words.one)
	case o.Changed != "":
		return "", fmt.Errorf("--only-changed chooses from all HelmReleases of a tree, and %s is one", args[0])
	case o.CheckTree() != nil:
		return "", o.CheckTree()
	case o.From != "" && len(args) > 1:
		return "", hint.New(errors.New("--from takes no CHART"), "the chart is the one of the "+words.one+" in the tree")
	case name == "":
		return "", hint.New(fmt.Errorf("%s names no %s", args[0], words.one), words.lists+" lists them")
	case strings.Contains(name, ","):
		return "", fmt.Errorf("%s/NAME is one %s: name several one by one", words.kinds[0], words.one)
	case strings.Contains(name, "/"):
		return "", hint.New(fmt.Errorf("%s has two slashes", args[0]), "the namespace of the "+words.one+" is -n NAMESPACE")
	}
	if err := refuseFlags(flags, refused, args[0]); err != nil {
		return "", err
	}
	for _, flag := range []string{"version", "repo", "verify", "devel"} {
		if flags.Changed(flag) && len(args) < 2 {
			return "", hint.New(fmt.Errorf("--%s needs a CHART", flag), "without CHART, the chart is the one of the "+words.one)
		}
	}
	return name, nil
}

// refusal is why some flags cannot be used with the object of a controller.
type refusal struct {
	flags  []string
	advice string
}

// refuseFlags returns an error if one of the flags is set together with what is named.
func refuseFlags(flags *pflag.FlagSet, all []refusal, with string) error {
	for _, refused := range all {
		for _, flag := range refused.flags {
			if flags.Changed(flag) {
				return hint.New(fmt.Errorf("--%s cannot be used with %s", flag, with), refused.advice)
			}
		}
	}
	return nil
}

// refused returns the flags that diff refuses with one object of a controller or with all.
func refused(of controlled, all guest) []refusal {
	advice := "put back the drift of the release: helmdrift fix RELEASE"
	if sync := of.words().sync; sync != "" {
		advice = "a sync puts it back: " + sync + " NAME"
	}
	return append(decided(of), refusal{append([]string{"fix"}, fixFlags(all)...), advice})
}

// withoutSnapshot refuses a snapshot.
func withoutSnapshot() refusal {
	return refusal{[]string{"snapshot"}, "a snapshot has one HelmRelease: helmdrift diff hr/NAME --snapshot FILE compares it"}
}

// decided returns the flags about what the object decides itself.
func decided(of controlled) []refusal {
	words := of.words()
	revisions := "it shows what " + words.controller + " does next"
	if words.sync == "" {
		revisions += "; for a stored revision, name the release: helmdrift diff RELEASE"
	}
	return []refusal{
		{[]string{"revision", "to-revision"}, revisions},
		{[]string{"values", "set", "set-string", "set-json", "set-file", "set-literal", "reset-values", "reuse-values",
			"reset-then-reuse-values"}, "the values are those of the " + words.one},
		{[]string{"install", "skip-crds", "create-namespace", "helm-version", "server-side", "force-conflicts", "force", "force-replace",
			"take-ownership", "no-hooks", "enable-dns", "skip-schema-validation", "post-renderer", "post-renderer-args"},
			"the " + words.one + " says how " + words.controller + " installs and upgrades"},
	}
}
