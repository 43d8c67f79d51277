package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

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
	// isNamed reports whether the flag is set, and each returns one for each file that it names.
	isNamed() bool
	each() []objectFile
	words() fileWords
	// refused returns the flags that the file decides, and takes those that only it has. check refuses a flag that names no file.
	refused() []cli.Refusal
	takes() []string
	check() error
	// open reads the file. The arguments and -n choose from what it has. If joined is set, the file is one of several sources: they share the
	// cluster and the namespaces of the user, and the file chooses neither.
	open(ctx context.Context, o *cli.CompareOptions, args []string, joined bool) (openFile, error)
	// addKeepFlags adds the flags of absorb. keep is for absorb: it makes a session that compares a release with what the tool deploys next.
	// If prints is set, absorb prints values that override all files, so nobody needs to know which files have the values.
	addKeepFlags(*pflag.FlagSet)
	keep(ctx context.Context, o *cli.CompareOptions, args []string, prints bool) (cli.Session, kept, error)
}

// fileWords are the flag that names a file, what it is, and how one of its releases is named.
type fileWords struct{ flag, one, release string }

// openFile is what a file says about the chosen releases.
type openFile struct {
	// isOne is set if one release is chosen. report compares it and prints its report.
	isOne  bool
	report func(ctx context.Context, o diffOptions) error
	// namespaces are those of the releases, in order. all compares the releases of a cluster or a namespace, and all calls together compare
	// each release once. finish then adds to the reports what only those of all namespaces show. It may be nil. There may be other reports.
	namespaces []string
	all        compareAll
	finish     func([]report.Release)
	close      func()
}

// openFiles are the open files of a comparison.
type openFiles []openFile

// finish calls finish of each.
func (all openFiles) finish(reports []report.Release) {
	for _, file := range all {
		if file.finish != nil {
			file.finish(reports)
		}
	}
}

func (all openFiles) close() {
	for _, file := range all {
		file.close()
	}
}

// namedFiles returns the files of tools that flags name.
func namedFiles(files []objectFile) (out []objectFile) {
	for _, f := range files {
		if f.isNamed() {
			out = append(out, f.each()...)
		}
	}
	return out
}

// eachFile returns one for each of the files that a flag of diff names, or itself for absorb, whose flag names one.
func eachFile(names []string, one func(name string) objectFile, itself objectFile) (out []objectFile) {
	for _, name := range names {
		out = append(out, one(name))
	}
	if out == nil {
		out = append(out, itself)
	}
	return out
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

// runDiffFile compares what a tool does next with the chosen releases of a file, which is the first one.
func runDiffFile(ctx context.Context, files []objectFile, c *cli.Connection, o diffOptions, args []string, flags *pflag.FlagSet) error {
	file := files[0]
	words := file.words()
	if len(files) > 1 && files[1].words() == words {
		return hint.New(fmt.Errorf("%s names several files", words.flag),
			fmt.Sprintf("diff -A --next %s FILE %s FILE has one report of all of them", words.flag, words.flag))
	}
	if err := cli.Refuse(flags, append(file.refused(), withoutFix(o.guests)), words.flag); err != nil {
		return err
	}
	if err := errors.Join(file.check(), o.check(flags, true)); err != nil {
		return err
	}
	if _, err := o.OptionsWithRules(); err != nil { // before a tool runs, which may take long
		return err
	}
	found, err := file.open(ctx, &o.CompareOptions, args, false)
	if err != nil {
		return err
	}
	o.opened = openFiles{found}
	defer o.opened.close()
	if len(args) == 1 && found.isOne {
		return found.report(ctx, o)
	}
	if o.scan == nil {
		return hint.New(errors.New("this program compares one release at a time"), "helmdrift diff "+words.flag+" FILE "+words.release)
	}
	if err := o.scan.check(flags, false); err != nil {
		return err
	}
	if len(found.namespaces) > 0 && !flags.Changed("all-namespaces") {
		c.Namespace = strings.Join(found.namespaces, ",")
	}
	o.all = found.all
	return o.scan.run(ctx, o, nil)
}

// joined returns how to compare what tools do next beside the controllers of a cluster, and the files. The others are compared if one file
// is wrong, which is the error of its own comparison.
func joined(ctx context.Context, files []objectFile, o *cli.CompareOptions) (sources []nextSource, opened openFiles, err error) {
	for _, file := range files {
		of := nextSource{Source: deployer.Source{One: "release of the " + file.words().one, IsFile: true}}
		found, err := file.open(ctx, o, nil, true)
		switch {
		case ctx.Err() != nil:
			opened.close()
			return nil, nil, ctx.Err()
		case err != nil:
			of.all = failsOnce(err)
		default:
			of.all = found.all
			opened = append(opened, found)
		}
		sources = append(sources, of)
	}
	return sources, opened, nil
}

// failsOnce returns a comparison that fails. It is called for each namespace, and says so once.
func failsOnce(err error) compareAll {
	var isSaid atomic.Bool
	return func(context.Context, deployer.Scanned, jobs.Limits) ([]report.Release, error) {
		if isSaid.Swap(true) {
			return nil, nil
		}
		return nil, err
	}
}
