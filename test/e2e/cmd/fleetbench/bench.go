package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

// bench measures fleets of ascending size on one cluster.
type bench struct {
	options
	fleet  *fleet.Fleet
	config *rest.Config
	// dir is a folder that exists as long as the program runs.
	dir string
}

// row is what was measured of one size.
type row struct {
	releases int
	// lists and scan are for the whole fleet; the others are for one release, on average over the sample.
	lists, scan, one, kubectl, helmDiff time.Duration
	// peak is the memory of the scan in bytes, and processor its time on processors.
	peak                     int
	processor                time.Duration
	listTraffic, scanTraffic traffic
}

// run returns a row for each size. After an error it returns the rows of the sizes before.
func (b *bench) run(ctx context.Context) ([]row, error) {
	var rows []row
	written := 0
	for _, size := range b.sizes {
		if err := fill(ctx, b.fleet, b.config, written, size); err != nil {
			return rows, err
		}
		written = size
		next, err := b.measure(ctx, size)
		if err != nil {
			return rows, fmt.Errorf("%d releases: %w", size, err)
		}
		rows = append(rows, next)
	}
	return rows, nil
}

// measure checks what the tools say about a fleet, which also warms all caches, and then measures each of them in turns.
func (b *bench) measure(ctx context.Context, size int) (row, error) {
	r := runner{tools: b.tools, kubeconfig: b.kubeconfig, dir: b.dir}
	m := row{releases: size}
	sample := b.sampleOf(size)
	if err := b.count(ctx, r, &m); err != nil {
		return m, err
	}
	for _, release := range sample {
		if err := b.check(ctx, r, release); err != nil {
			return m, err
		}
	}
	var lists, scans, processors, ones, kubectls, helmDiffs []time.Duration
	for round := range b.rounds {
		say("%d releases, round %d", size, round+1)
		err := firstError(
			timed(&lists, 1, func() error { _, err := bareLists(ctx, b.config); return err }),
			timed(&scans, 1, func() error {
				out, err := r.scan(ctx, wholeFleet)
				m.peak, processors = max(m.peak, out.peak), append(processors, out.processor)
				return err
			}),
			timed(&ones, len(sample), each(sample, func(release fleet.Release) error { return r.diffOne(ctx, targetOf(release)) })),
			timed(&kubectls, len(sample), each(sample, func(release fleet.Release) error { return r.kubectlDiff(ctx, targetOf(release)) })),
			timed(&helmDiffs, len(sample), each(sample, func(release fleet.Release) error {
				if r.helmDiff == "" {
					return nil
				}
				return r.savedDiff(ctx, release)
			})),
		)
		if err != nil {
			return m, err
		}
	}
	m.lists, m.scan, m.one, m.kubectl, m.helmDiff = median(lists), median(scans), median(ones), median(kubectls), median(helmDiffs)
	m.processor = median(processors)
	return m, nil
}

// count lets the scan and the lists pass a proxy that counts, and checks the report.
func (b *bench) count(ctx context.Context, r runner, m *row) error {
	proxy, err := startCounter(b.config, r)
	if err != nil {
		return err
	}
	defer proxy.close()
	out, err := proxy.runner.scan(ctx, wholeFleet)
	if err != nil {
		return err
	}
	m.scanTraffic = proxy.take()
	if err := b.checkReport(out.stdout, m.releases); err != nil {
		return err
	}
	records, err := bareLists(ctx, proxy.config)
	m.listTraffic = proxy.take()
	if err == nil && records != m.releases {
		err = fmt.Errorf("the lists have %d releases", records)
	}
	return err
}

// sampleOf returns untouched releases that are spread over a fleet.
func (b *bench) sampleOf(size int) []fleet.Release {
	n := min(b.sample, size)
	sample := make([]fleet.Release, n)
	for i := range sample {
		sample[i] = b.fleet.Release(i * size / n)
		if sample[i].Drift != fleet.NoDrift {
			sample[i] = b.fleet.Release(i*size/n + 1)
		}
	}
	return sample
}

// timed returns a function that measures do, which handles n releases, and appends the time of one of them.
func timed(times *[]time.Duration, n int, do func() error) func() error {
	return func() error {
		runtime.GC()
		start := time.Now()
		err := do()
		*times = append(*times, time.Since(start)/time.Duration(n))
		return err
	}
}

// firstError calls functions until one fails.
func firstError(functions ...func() error) error {
	for _, f := range functions {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// each returns a function that calls do for one release after the other until it fails.
func each(releases []fleet.Release, do func(fleet.Release) error) func() error {
	return func() error {
		for _, release := range releases {
			if err := do(release); err != nil {
				return err
			}
		}
		return nil
	}
}

// median returns the middle one of some times, or 0 if there are none.
func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
