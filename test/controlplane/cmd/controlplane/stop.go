package main

import (
	"errors"
	"flag"
	"io/fs"

	"github.com/helmdrift/helmdrift/test/controlplane"
)

// runStop stops a detached plane. It returns no error if there is none.
func runStop(args []string) error {
	flags := flag.NewFlagSet("stop", flag.ContinueOnError)
	dir := flags.String("dir", "", "the plane's folder, as given to start")
	if err := parse(flags, args); err != nil {
		return err
	}
	at, err := planeDir(*dir)
	if err != nil {
		return err
	}
	plane, err := controlplane.Load(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return plane.Stop()
}
