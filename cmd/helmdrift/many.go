package main

import (
	"runtime"

	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/saved"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is what diff of many releases of a deployer has in common, whoever deploys them.

// many has the flags of diff, read once for many releases.
type many struct {
	o       diffOptions
	known   *report.Report
	options drift.Options
}

// newMany reads the files that flags name.
func newMany(o diffOptions) (out many, err error) {
	out.o = o
	if out.known, err = saved.Baseline(o.baseline); err == nil {
		out.options, err = o.OptionsWithRules()
	}
	return out, err
}

// jobs returns the limits and the options of comparisons whose jobs share child processes. Done ends these.
func (m many) jobs() (limits jobs.Limits, options drift.Options, done func()) {
	limits, options = m.o.Jobs(), m.options
	limits.Program.Pool = confine.NewPool(runtime.GOMAXPROCS(0))
	options.ReadManifest, options.Render = limits.ReadManifest, limits.RenderChart
	return limits, options, limits.Program.Pool.Close
}

// release returns the report of a comparison. Learned has secrets besides those of the objects, and may be nil; finish adds to the report.
func (m many) release(result *drift.Result, learned *secret.Known, finish func(*drift.Result, *report.Release)) report.Release {
	m.o.learned, m.o.finish = learned, finish
	return m.o.release(result, m.known)
}
