package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff of a file that says what a tool does next with releases, such as a plan of Terraform. A flag names the file.

// objectFile is such a file.
type objectFile interface {
	addFlags(*pflag.FlagSet)
	// isNamed reports whether the flag is set.
	isNamed() bool
	words() fileWords
	// refused returns the flags that the file decides.
	refused() []cli.Refusal
	// open reads the file. The arguments and -n choose from what it has.
	open(ctx context.Context, o *cli.CompareOptions, args []string) (openFile, error)
	// addKeepFlags adds the flags of absorb. keep is for absorb: it makes a session that compares a release with what the tool deploys next.
	addKeepFlags(*pflag.FlagSet)
	keep(ctx context.Context, o *cli.CompareOptions, args []string) (cli.Session, kept, error)
}

// fileWords are the flag that names a file, what it is, and how one of its releases is named.
type fileWords struct{ flag, one, release string }

// openFile is what a file says about the chosen releases.
type openFile interface {
	// isOne reports whether one release is chosen. report compares it and prints its report.
	isOne() bool
	report(ctx context.Context, o diffOptions) error
	// namespaces are those of the releases, in order. all compares the releases of a cluster or a namespace, and all calls together compare each
	// release once.
	namespaces() []string
	all(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error)
	close()
}

// namedFile returns the file of a tool that a flag names, or nil if none does.
func namedFile(files []objectFile) objectFile {
	if i := slices.IndexFunc(files, objectFile.isNamed); i >= 0 {
		return files[i]
	}
	return nil
}

// fileFlags returns the names of the flags that name files of tools.
func fileFlags(all guest) (out []string) {
	for _, create := range all.files {
		out = append(out, cli.NamesOf(create(cli.Streams{}, nil).addFlags)...)
	}
	return out
}

// withoutFix refuses the flags of a fix.
func withoutFix(all guest) cli.Refusal {
	return cli.Refusal{Flags: append([]string{"fix"}, fixFlags(all)...), Advice: "put back the drift of a release: helmdrift fix RELEASE"}
}

// runDiffFile compares what a tool does next with the chosen releases of a file.
func runDiffFile(ctx context.Context, file objectFile, c *cli.Connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	words := file.words()
	if err := cli.Refuse(flags, append(file.refused(), withoutFix(o.guests)), words.flag); err != nil {
		return err
	}
	if err := o.check(flags, true); err != nil {
		return err
	}
	if _, err := o.OptionsWithRules(); err != nil { // before a tool runs, which may take long
		return err
	}
	found, err := file.open(ctx, &o.CompareOptions, args)
	if err != nil {
		return err
	}
	defer found.close()
	if len(args) == 1 && found.isOne() {
		if err := o.ReadBaseline(); err != nil {
			return err
		}
		return found.report(ctx, o)
	}
	if o.scan == nil {
		return hint.New(errors.New("this program compares one release at a time"), "helmdrift diff "+words.flag+" FILE "+words.release)
	}
	if err := o.scan.check(flags, false); err != nil {
		return err
	}
	if namespaces := found.namespaces(); len(namespaces) > 0 && !flags.Changed("all-namespaces") {
		c.Namespace = strings.Join(namespaces, ",")
	}
	o.all = found.all
	return o.scan.run(ctx, o, nil)
}
