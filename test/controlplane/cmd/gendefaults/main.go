// Gendefaults writes down the defaults that Kubernetes sets for fields that a
// manifest omits. It runs Kubernetes' own defaulting on many generated objects
// of every kind: the built-in ones, CustomResourceDefinition and APIService.
//
//	gendefaults -table internal/kinds/defaults.json -report siblings.md
//	gendefaults -pairs pairs.ndjson -seed 1 -per-kind 200
//
// The table has the defaults that have the same value wherever their Go type
// occurs. Its keys are the type that declares the field (even if it is inlined)
// and the field's JSON name. The report lists the other defaults: their values,
// how often each occurred, and where. The pairs are objects before and after
// defaulting, one JSON object per line. A test uses them to check that the
// table and the rules in code together have the same effect.
//
// The output depends only on the flags and the Kubernetes version.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// options are the flags.
type options struct {
	table, report, pairs string
	seed                 uint64
	perKind, variants    int
}

func main() {
	var o options
	flag.StringVar(&o.table, "table", "", "write the table of defaults to this file")
	flag.StringVar(&o.report, "report", "", "write what depends on siblings or the kind to this file")
	flag.StringVar(&o.pairs, "pairs", "", "write objects before and after defaulting to this file")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the pairs")
	flag.IntVar(&o.perKind, "per-kind", 200, "pairs of each kind")
	flag.IntVar(&o.variants, "variants", 600, "objects of each kind that the table is measured on")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "gendefaults:", err)
		os.Exit(1)
	}
}

// run writes the files that the flags name.
func run(o options) error {
	if o.table == "" && o.report == "" && o.pairs == "" {
		return errors.New("nothing to do: give -table, -report or -pairs")
	}
	scheme := newScheme()
	kinds := listKinds(scheme)
	seen, err := measure(scheme, kinds, o.variants)
	if err != nil {
		return err
	}
	if err := writeTo(o.table, seen.writeTable); err != nil {
		return err
	}
	if err := writeTo(o.report, seen.writeReport); err != nil {
		return err
	}
	return writeTo(o.pairs, func(out io.Writer) error {
		return writePairs(out, scheme, seen.defaulted(kinds), o.seed, o.perKind)
	})
}

// writeTo writes one file; without a path it does nothing.
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	buffer := bufio.NewWriter(file)
	if err := errors.Join(write(buffer), buffer.Flush(), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
