// Command fleetbench measures how long helmdrift takes for a fleet of releases, and prints ratios to other ways of getting an answer. It
// starts a control plane, fills it with generated releases, and measures everything in one run, in turns:
//
//   - helmdrift, once for the whole fleet, and once for each release of a sample
//   - bare paged lists of the same objects and records: what reading alone costs with the same client
//   - helm get manifest | kubectl diff, for each release of the sample
//   - helm diff upgrade --three-way-merge, for each release of the sample, if HELM_DIFF names its binary
//
// Usage:
//
//	fleetbench -controlplane FILE -module DIR -helmdrift FILE -helm FILE -kubectl FILE [-releases 20,200,2000] [-objects 15] [-seed 1]
//	fleetbench -kubeconfig FILE …                           measures on a cluster that runs already and has nothing else in it
//	fleetbench -charts … CHART…                             measures public charts instead, which it installs as they are
//	fleetbench -flux …                                      measures diff --from with a working tree of Flux that has the fleet
//	fleetbench -fill -kubeconfig FILE [-releases 200]       only fills the cluster
//
// Make bench and make bench-charts call it, and docs/dev/performance.md explains the numbers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// options are the flags.
type options struct {
	controlplane, module, kubeconfig string
	fill, flux                       bool
	// charts are installed and measured instead of a generated fleet.
	charts         []string
	sizes          sizes
	fleet          fleet.Options
	rounds, sample int
	tools          tools
}

func parseOptions(args []string) (options, error) {
	o := options{sizes: sizes{20, 200}}
	flags := flag.NewFlagSet("fleetbench", flag.ContinueOnError)
	flags.StringVar(&o.controlplane, "controlplane", "", "the control plane's launcher")
	flags.StringVar(&o.module, "module", "", "the control plane's module")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "a cluster to use instead of a new control plane")
	flags.BoolVar(&o.fill, "fill", false, "fill the cluster and measure nothing")
	flags.BoolVar(&o.flux, "flux", false, "measure diff --from with HelmReleases of the fleet instead")
	fromCharts := flags.Bool("charts", false, "measure the charts that the arguments name")
	flags.Var(&o.sizes, "releases", "the sizes of the fleet, in ascending order")
	flags.IntVar(&o.fleet.Objects, "objects", 15, "the number of objects of each release")
	flags.Uint64Var(&o.fleet.Seed, "seed", 1, "the seed of the generator")
	flags.BoolVar(&o.fleet.Dependency, "dependency", false, "give each chart a dependency, so that -flux cannot take it from its record")
	flags.IntVar(&o.rounds, "rounds", 3, "how often everything is measured; the median counts")
	flags.IntVar(&o.sample, "sample", 10, "how many releases are compared one by one")
	flags.StringVar(&o.tools.helmdrift, "helmdrift", "", "the helmdrift binary")
	flags.StringVar(&o.tools.helm, "helm", "helm", "the helm binary")
	flags.StringVar(&o.tools.kubectl, "kubectl", "kubectl", "the kubectl binary")
	o.tools.helmDiff = os.Getenv("HELM_DIFF")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case *fromCharts:
		o.charts = flags.Args()
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleetbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	if o.kubeconfig == "" {
		plane, err := harness.Launcher{Path: o.controlplane, Module: o.module, Log: os.Stderr}.Start(ctx)
		if err != nil {
			return err
		}
		defer plane.Stop()
		o.kubeconfig = plane.Kubeconfig
		say("control plane: export KUBECONFIG=%s", o.kubeconfig)
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "helmdrift-fleetbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.charts != nil {
		return (&chartBench{options: o, config: config, dir: dir}).run(ctx, os.Stdout)
	}
	if o.flux {
		o.fleet.PostRender = addFluxLabels
	}
	f, err := fleet.New(o.fleet)
	if err != nil {
		return err
	}
	if o.fill {
		return fill(ctx, f, config, 0, slices.Max(o.sizes))
	}
	b := bench{options: o, fleet: f, config: config, dir: dir}
	if o.flux {
		return (&fluxBench{bench: b}).run(ctx, os.Stdout)
	}
	rows, err := b.run(ctx)
	printTable(os.Stdout, o, rows)
	return err
}

// fill writes a part of the fleet.
func fill(ctx context.Context, f *fleet.Fleet, config *rest.Config, first, end int) error {
	start := time.Now()
	err := f.Fill(ctx, config, first, end)
	say("%d releases written in %.1f s", end-first, time.Since(start).Seconds())
	return err
}

// say reports progress on standard error.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "# "+format+"\n", args...) }

// sizes is the value of -releases.
type sizes []int

func (s *sizes) String() string {
	var texts []string
	for _, n := range *s {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}

// Set parses numbers that are separated by commas.
func (s *sizes) Set(text string) error {
	*s = nil
	for _, field := range strings.Split(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of releases", field)
		}
		*s = append(*s, n)
	}
	if !slices.IsSorted(*s) {
		return fmt.Errorf("%s is not in ascending order", text)
	}
	return nil
}
