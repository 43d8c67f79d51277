// Command fleetbench fills a cluster with a fleet of releases.
//
//	fleetbench -fill -kubeconfig FILE [-releases N] [-objects N] [-seed N]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleetbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fleetbench", flag.ExitOnError)
	var options fleet.Options
	kubeconfig := flags.String("kubeconfig", "", "the cluster to fill")
	fill := flags.Bool("fill", false, "fill the cluster and do not measure")
	releases := flags.Int("releases", 20, "the number of releases")
	flags.IntVar(&options.Objects, "objects", 15, "the number of objects of each release")
	flags.Uint64Var(&options.Seed, "seed", 1, "the seed of the generator")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*fill {
		return errors.New("only -fill exists")
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	f, err := fleet.New(options)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := f.Fill(ctx, config, 0, *releases); err != nil {
		return err
	}
	fmt.Printf("%d releases in %.1f s\n", *releases, time.Since(start).Seconds())
	return nil
}
