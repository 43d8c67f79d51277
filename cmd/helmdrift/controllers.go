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
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
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

// isAll reports whether --next or --from is set, which compare all objects of controllers.
func (c controllers) isAll() bool { return c.flags != nil && (c.flags.Next || c.flags.From != "") }

// controllerFlags returns the names of the flags that controllers share.
func controllerFlags() []string { return cli.NamesOf((&cli.ControllerOptions{}).AddFlags) }

// named returns the controller of the object that the arguments name, or nil if they name none.
func (c controllers) named(args []string) controlled {
	if len(args) == 0 {
		return nil
	}
	kind, _, found := strings.Cut(args[0], "/")
	for _, of := range c.known {
		if found && slices.Contains(of.words().Kinds, strings.ToLower(kind)) {
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
			kind, _, _ := strings.Cut(word, "/")
			return cli.CompleteKind(cmd.Context(), connection, of.words().GVK, kind+"/")
		}
		return releases(cmd, args, word)
	}
}

// nextSource is a source of releases whose comparison needs the limits of a scan.
type nextSource struct {
	deployer.Source
	all compareAll
}

// all returns how to compare all objects that controllers deploy, and the files of tools that are named beside --next. It is nil if the
// flags do not ask for that. The files are open then.
func (c controllers) all(
	ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet,
) (all compareAll, opened openFiles, err error) {
	if c.flags == nil {
		return nil, nil, nil
	}
	flag, err := c.flags.CheckAll(flags)
	if flag == "" {
		return nil, nil, err
	}
	if len(args) > 0 {
		return nil, nil, hint.New(fmt.Errorf("%s takes no release", flag), "for one HelmRelease: helmdrift diff hr/NAME -n NAMESPACE")
	}
	if namespace, err := flags.GetString("namespace"); err == nil && c.flags.From != "" && strings.Contains(namespace, ",") {
		return nil, nil, hint.New(errors.New("--from takes one namespace with -n"),
			"the tree says which namespaces its objects are in: leave out -n")
	}
	files := namedFiles(o.files)
	if err := c.refuse(files, o, flags, flag); err != nil {
		return nil, nil, err
	}
	var sources []nextSource
	for _, of := range c.known {
		all, err := of.all(s, o)
		if err != nil {
			return nil, nil, err
		}
		if all == nil {
			continue
		}
		one := nextSource{Source: deployer.Source{One: of.words().One}, all: all}
		one.Alone = func() error {
			return cli.Refuse(flags, of.words().NotOfTree, "a tree that has only objects of the kind "+one.One)
		}
		sources = append(sources, one)
	}
	if len(files) > 0 {
		_, err := o.OptionsWithRules()
		if err := errors.Join(o.check(flags, true), o.scan.check(flags, false), err); err != nil { // before a tool runs, which may take long
			return nil, nil, err
		}
		more, found, err := joined(ctx, files, &o.CompareOptions)
		if err != nil {
			return nil, nil, err
		}
		sources, opened = append(sources, more...), found
	}
	return func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
		var all []deployer.Source
		for _, one := range sources {
			one.Compare = func(ctx context.Context, on deployer.Scanned) ([]report.Release, error) {
				if one.IsFile && c.flags.From != "" && !flags.Changed("namespace") { // a tree has all namespaces, so a file has them too
					on.Namespace = ""
				}
				return one.all(ctx, on, limits)
			}
			all = append(all, one.Source)
		}
		return deployer.CompareAll(ctx, on, all, c.nothing(sources, on.Namespace))
	}, opened, nil
}

// refuse refuses what a controller or a file decides, but what only a file takes.
func (c controllers) refuse(files []objectFile, o diffOptions, flags *pflag.FlagSet, flag string) error {
	var taken []string
	for _, file := range files {
		taken = append(taken, file.takes()...)
	}
	for _, of := range c.known {
		all := append(refused(of, o.guests), withoutSnapshot(), cli.OwnPassword(),
			cli.Refusal{Flags: []string{"selector", "filter", "exclude", "status", "shard"}, Advice: "it compares all HelmReleases"})
		if err := cli.Refuse(flags, cli.Without(all, taken), flag); err != nil {
			return err
		}
	}
	for _, file := range files {
		ofCharts := []string{"insecure-skip-tls-verify", "plain-http"} // they are for the charts of the controllers
		all := cli.Without(file.refused(), slices.Concat(controllerFlags(), taken, ofCharts))
		if err := errors.Join(cli.Refuse(flags, all, file.words().flag), file.check()); err != nil {
			return err
		}
	}
	return nil
}

// nothing returns the error of a tree or a cluster where controllers deploy nothing.
func (c controllers) nothing(sources []nextSource, namespace string) error {
	const advice = "-n chooses the namespace, -A all of them; without --next, helmdrift diff compares releases with what is deployed"
	var names []string
	for _, of := range c.known {
		names = append(names, of.words().One)
	}
	for _, one := range sources {
		if one.IsFile {
			names = append(names, one.One)
		}
	}
	switch one := strings.Join(names, " and no "); {
	case c.flags.From != "":
		return hint.New(fmt.Errorf("%s makes no %s", c.flags.From, one),
			"--from names the folder that a Kustomization of Flux names in spec.path, or one with Applications of Argo CD")
	case namespace != "":
		return hint.New(fmt.Errorf("there is no %s in namespace %s", one, namespace), advice)
	default:
		return hint.New(fmt.Errorf("there is no %s in any namespace", one), advice)
	}
}

// refused returns the flags that diff refuses with one object of a controller or with all.
func refused(of controlled, all guest) []cli.Refusal {
	advice := "put back the drift of the release: helmdrift fix RELEASE"
	if sync := of.words().Sync; sync != "" {
		advice = "a sync puts it back: " + sync + " NAME"
	}
	return append(of.words().Decides(), cli.Refusal{Flags: append([]string{"fix"}, fixFlags(all)...), Advice: advice},
		cli.Refusal{Flags: fileFlags(all), Advice: "diff -A --next with --plan or --helmfile has one report of all"})
}

// withoutSnapshot refuses a snapshot.
func withoutSnapshot() cli.Refusal {
	return cli.Refusal{
		Flags: []string{"snapshot"}, Advice: "a snapshot has one HelmRelease: helmdrift diff hr/NAME --snapshot FILE compares it",
	}
}
