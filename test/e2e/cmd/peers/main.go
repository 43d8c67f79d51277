// Command peers measures how often helmdrift and other tools are right. It installs releases on a control plane of its own, asks each
// command, lets the real helm upgrade, and compares the answers with what the API server then has:
//
//	charts ─► helm install ───────────────────────► ask ─► helm upgrade ─► judge: silence
//	testdata/charts/demo ─► helm install ─► edit ──► ask ─► helm upgrade ─► judge: the edit is shown, the upgrade is predicted
//	testdata/conformance ─► helm install ─► live ──► ask ─► helm upgrade ─► judge: the upgrade is predicted
//
// Usage:
//
//	peers -controlplane FILE -module DIR -repository DIR [-v] [-run REGEXP] [-edits=false] [-conformance N] [-helm 3,4] [CHART ...]
//
// judge.go has the rules for right answers, which are the same for all commands. HELM_DIFF and HELM_DRIFT name the binaries of the plugins
// helm-diff and helm-drift, which are not built here; a tool without a binary is left out. Make peers calls it, and docs/comparison.md has
// the result.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// options are the flags.
type options struct {
	controlplane, module, repository string
	verbose                          bool
	// conformance is the number of cases of testdata/conformance that are tried; edits says whether the edits are.
	conformance int
	edits       bool
	majors      []string
	// only selects situations by name.
	only   *regexp.Regexp
	charts []string
	paths  paths
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.StringVar(&o.controlplane, "controlplane", "bin/controlplane", "the control plane's launcher")
	flags.StringVar(&o.module, "module", "test/controlplane", "the control plane's module")
	flags.StringVar(&o.repository, "repository", ".", "this repository, in whose folder bin helmdrift, helm, helm4 and kubectl are")
	flags.BoolVar(&o.verbose, "v", false, "list the wrong answers of each command")
	flags.IntVar(&o.conformance, "conformance", 1000, "the largest number of cases of testdata/conformance")
	flags.BoolVar(&o.edits, "edits", true, "ask about edits of testdata/charts/demo")
	only := flags.String("run", "", "ask only about situations whose name matches this regular expression")
	majors := flags.String("helm", "3,4", "the major versions of Helm")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, err
	}
	o.charts = flags.Args()
	o.majors = strings.Split(*majors, ",")
	for _, major := range o.majors {
		if major != "3" && major != "4" {
			return o, fmt.Errorf("there is no Helm %q", major)
		}
	}
	o.repository, _ = filepath.Abs(o.repository)
	o.paths = paths{helmDiff: os.Getenv("HELM_DIFF"), helmDrift: os.Getenv("HELM_DRIFT")}
	for name, path := range map[string]*string{
		"helmdrift": &o.paths.helmdrift, "helm": &o.paths.helm3, "helm4": &o.paths.helm4, "kubectl": &o.paths.kubectl,
	} {
		*path = filepath.Join(o.repository, "bin", name)
	}
	return o, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "helmdrift-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	situations, err := o.situations(dir)
	if err != nil {
		return err
	}
	plane, err := harness.Launcher{Path: o.controlplane, Module: o.module, Log: os.Stderr}.Start(ctx, "--controllers")
	if err != nil {
		return err
	}
	defer plane.Stop()
	m, err := newMeasurement(o.paths, plane.Kubeconfig, dir)
	if err != nil {
		return err
	}
	situations = slices.DeleteFunc(situations, func(s situation) bool { return !o.only.MatchString(s.name) })
	for number, s := range situations {
		if ctx.Err() != nil {
			break // what was measured so far is printed
		}
		fmt.Fprintf(os.Stderr, "# %d of %d: %s\n", number+1, len(situations), s.name)
		m.measure(ctx, s)
	}
	return m.print(os.Stdout, o.verbose)
}
