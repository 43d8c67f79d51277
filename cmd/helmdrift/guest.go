package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says what a guest may add to the program. guests.go has the guests.

// guest is what a guest adds to the program. Every field may be empty.
type guest struct {
	commands []guestCommand
	// jobs are its jobs for a child process.
	jobs map[string]confine.Job
	// as are the main functions of the program under other names, by these names. They get the whole command line and return the exit code.
	as map[string]func(args []string) int
	// forecast predicts what writes mean for pods and data.
	forecast effect.Forecast
	// open opens a file that stands in for a cluster, for --snapshot.
	open func(name string) (*cli.SavedCluster, error)
	// scan makes diff compare several releases, and waiter makes fix wait.
	scan   func(cli.Streams, *cli.Connection) scan
	waiter func() fixing.Waiter
	// controllers make diff answer for objects that a controller deploys a release from, and files for files that say what a tool does next.
	controllers []func(*cli.ControllerOptions) controlled
	files       []func(cli.Streams, *cli.Connection) objectFile
}

// controlled is diff of an object that a controller deploys a release from.
type controlled interface {
	words() cli.ObjectWords
	// run is diff of one such object.
	run(ctx context.Context, s cli.Streams, o diffOptions, args []string, flags *pflag.FlagSet) error
	// all returns how to compare all such objects of a cluster or of a working tree. What it returns fails with deployer.ErrNoObject if there
	// are none.
	all(s cli.Streams, o diffOptions) (compareAll, error)
	// release makes a session for such an object one for the release that the controller deploys from it, and returns a note about what the
	// controller makes of a fix.
	release(ctx context.Context, s cli.Streams, o *cli.CompareOptions, d *cli.Session) (note string, err error)
	// keep is for absorb: it makes a session that compares the release with what the controller deploys next, and says where the values of
	// that are.
	keep(ctx context.Context, s cli.Streams, o *cli.CompareOptions, args []string, flags *pflag.FlagSet) (cli.Session, kept, error)
	// capture returns what to compare so that a snapshot has everything that diff of such an object reads from a connection.
	capture(ctx context.Context, s cli.Streams, o *cli.CompareOptions, from drift.Connection, namespace string, args []string,
		flags *pflag.FlagSet) (captured, error)
}

// kept is where a controller has the values of a release.
type kept struct {
	// of is the object that the controller composes the values from.
	of report.ObjectKey
	// tree changes the values in a working tree. It is nil if there is none.
	tree valuesTree
	// request changes how the chart is rendered for the search of values, if that is not what a comparison asks for and nothing is
	// post-rendered. It may be nil.
	request func(drift.ChartRequest) drift.ChartRequest
	// remarks are warnings, and errors for what is not known.
	warnings, errors []report.Message
	// check returns warnings about changes of the values at these paths. It may be nil.
	check func(paths [][]any) []report.Message
	close func()
}

// captured are the comparisons for a snapshot of the release that a controller deploys.
type captured struct {
	targets []drift.Target
	adapt   func(drift.Options) drift.Options
	close   func()
}

// valuesTree changes values in a working tree, as absorb.Tree.
type valuesTree interface {
	Root() string
	Rewrite(edits []valuesfile.Edit) ([]byte, error)
	Prove() ([]string, error)
	Changes() []files.Change
}

// compareAll compares what a deployer does next with all releases that it deploys. Their jobs have the limits, and share child processes.
type compareAll func(context.Context, deployer.Scanned, jobs.Limits) ([]report.Release, error)

// guestCommand is a command of a guest, with the headings of its flags in the help. The command gets what all guests add.
type guestCommand struct {
	name string
	new  func(cli.Streams, *cli.Connection, guest) *cobra.Command
	help func() []cli.FlagGroup
}
