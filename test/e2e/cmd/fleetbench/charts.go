package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// everyDrifted says which releases somebody edits: one of ten.
const everyDrifted = 10

// chartBench measures a fleet of public charts: large records, definitions and dashboards, which generated releases do not have.
type chartBench struct {
	options
	config *rest.Config
	dir    string

	objects  harness.Objects
	releases []chartRelease
	// kinds are the resources that the releases have objects of.
	kinds []schema.GroupVersionResource
}

// chartRelease is a chart that was installed.
type chartRelease struct {
	target
	chart   string
	objects []*unstructured.Unstructured
}

// chartRow is what was measured in one state of the fleet.
type chartRow struct {
	state                                  string
	lists, records, scan, quiet, processor time.Duration
	peak                                   int
	traffic                                traffic
}

// single has the times of one release. Kubectl and helmDiff are 0 if they were not measured.
type single struct {
	name                              string
	manifest, diff, kubectl, helmDiff time.Duration
}

// over returns what a diff takes more than helm get manifest.
func (s single) over() time.Duration { return s.diff - s.manifest }

// run installs the charts, measures them untouched and edited, and prints tables.
func (b *chartBench) run(ctx context.Context, out io.Writer) error {
	var err error
	if b.objects, err = harness.NewObjects(b.kubeconfig); err != nil {
		return err
	}
	r := runner{tools: b.tools, kubeconfig: b.kubeconfig, dir: b.dir}
	if err := b.install(ctx, r); err != nil {
		return err
	}
	untouched, err := b.measure(ctx, r, "untouched")
	if err != nil {
		return err
	}
	one, err := b.measureSingles(ctx, r)
	if err != nil {
		return err
	}
	edited, err := b.edit(ctx)
	if err != nil {
		return err
	}
	drifted, err := b.measure(ctx, r, fmt.Sprintf("%d edited", len(edited)), edited...)
	if err != nil {
		return err
	}
	b.printCharts(out, []chartRow{untouched, drifted}, one)
	return nil
}

// install installs each chart as a release in a namespace of its own. A chart that needs values, or that helmdrift cannot compare, is
// named and left out.
func (b *chartBench) install(ctx context.Context, r runner) error {
	seen := map[schema.GroupVersionResource]bool{}
	for _, chart := range b.charts {
		name := harness.ReleaseName(chart)
		release := chartRelease{target: target{name, "bench-" + name}, chart: chart}
		_, err := wait(r.command(ctx, r.helm, "install", name, chart, "-n", release.namespace, "--create-namespace", "--no-hooks"))
		if err == nil {
			release.objects, err = r.objects(ctx, release.target)
		}
		for _, obj := range release.objects {
			_, mapping, kindErr := b.objects.OfKind(obj.GroupVersionKind(), release.namespace)
			if err = errors.Join(err, kindErr); err == nil && !seen[mapping.Resource] {
				seen[mapping.Resource] = true
				b.kinds = append(b.kinds, mapping.Resource)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
			say("left out: %s: %s", filepath.Base(chart), lines[len(lines)-1])
			_, _ = wait(r.command(ctx, r.helm, "uninstall", name, "-n", release.namespace, "--no-hooks", "--ignore-not-found"))
			continue
		}
		b.releases = append(b.releases, release)
	}
	say("%d of %d charts are installed, with objects of %d kinds", len(b.releases), len(b.charts), len(b.kinds))
	if len(b.releases) < everyDrifted {
		return fmt.Errorf("%d releases are too few for a measurement", len(b.releases))
	}
	return nil
}

// objects returns the objects of a release's manifest.
func (r runner) objects(ctx context.Context, release target) ([]*unstructured.Unstructured, error) {
	text, err := r.manifest(ctx, release)
	if err != nil {
		return nil, err
	}
	objects, err := harness.Decode(text)
	return slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool { return obj.GetKind() == "" || obj.IsList() }), err
}

// edit changes the label with the chart's name at one object in some of the releases, and returns the names of these.
func (b *chartBench) edit(ctx context.Context) ([]string, error) {
	var edited []string
	for i := 0; i < len(b.releases); i += everyDrifted {
		release := b.releases[i]
		for _, obj := range release.objects {
			if obj.GetLabels()["helm.sh/chart"] == "" {
				continue
			}
			client, _, err := b.objects.OfKind(obj.GroupVersionKind(), cmp.Or(obj.GetNamespace(), release.namespace))
			if err != nil {
				return nil, err
			}
			const patch = `{"metadata":{"labels":{"helm.sh/chart":"edited"}}}`
			options := metav1.PatchOptions{FieldManager: "kubectl-label"}
			if _, err := client.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(patch), options); err != nil {
				return nil, err
			}
			edited = append(edited, release.name)
			break
		}
	}
	return edited, nil
}

// measure measures the whole fleet in turns with the limit: lists of the kinds of its objects, decoded, and the bytes of the records.
func (b *chartBench) measure(ctx context.Context, r runner, state string, edited ...string) (chartRow, error) {
	row := chartRow{state: state}
	proxy, err := startCounter(b.config, r)
	if err != nil {
		return row, err
	}
	out, err := proxy.runner.scan(ctx, wholeFleet)
	row.traffic = proxy.take()
	proxy.close()
	if err == nil {
		err = b.checkCharts(out.stdout, edited)
	}
	if err != nil {
		return row, err
	}
	var lists, records, scans, quiets, processors []time.Duration
	for round := range b.rounds {
		say("%s, round %d", state, round+1)
		err := firstError(
			timed(&lists, 1, func() error { return b.lists(ctx) }),
			timed(&records, 1, func() error { return b.records(ctx) }),
			timed(&scans, 1, func() error {
				out, err := r.scan(ctx, wholeFleet)
				row.peak, processors = max(row.peak, out.peak), append(processors, out.processor)
				return err
			}),
			timed(&quiets, 1, func() error { _, err := r.scan(ctx, "diff -A -q"); return err }),
		)
		if err != nil {
			return row, err
		}
	}
	row.lists, row.records, row.scan, row.quiet = median(lists), median(records), median(scans), median(quiets)
	row.processor = median(processors)
	return row, nil
}

// lists lists the objects of all kinds, without the records, and decodes them.
func (b *chartBench) lists(ctx context.Context) error {
	for _, resource := range b.kinds {
		options := metav1.ListOptions{Limit: pageSize}
		if resource.Resource == "secrets" {
			options.FieldSelector = "type!=" + recordType
		}
		if _, err := list(ctx, b.objects.Client, resource, options); err != nil {
			return err
		}
	}
	return nil
}

// records reads the bytes of the records of all deployed revisions.
func (b *chartBench) records(ctx context.Context) error {
	config := rest.CopyConfig(b.config)
	config.QPS = -1
	client, err := rest.UnversionedRESTClientFor(dynamic.ConfigFor(config))
	if err != nil {
		return err
	}
	token := ""
	for {
		request := client.Get().AbsPath("/api/v1/secrets").Param("limit", fmt.Sprint(pageSize)).Param("continue", token).
			Param("fieldSelector", "type="+recordType).Param("labelSelector", "owner=helm,status=deployed")
		text, err := request.DoRaw(ctx)
		if err != nil {
			return err
		}
		// The token is at the start of a list, and nothing else is decoded.
		head := text[:min(len(text), 1<<12)]
		_, after, found := strings.Cut(string(head), `"continue":"`)
		if !found {
			return nil
		}
		token, _, _ = strings.Cut(after, `"`)
	}
}

// checkCharts checks that a report has all releases, no errors, and drift in the edited ones alone.
func (b *chartBench) checkCharts(text []byte, edited []string) error {
	var report struct {
		Releases []struct {
			Name    string
			Drifted bool
			Errors  []json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if len(report.Releases) != len(b.releases) {
		return fmt.Errorf("report: %d releases, and %d are installed", len(report.Releases), len(b.releases))
	}
	for _, release := range report.Releases {
		if release.Drifted != slices.Contains(edited, release.Name) || len(release.Errors) > 0 {
			return fmt.Errorf("report: %s: drifted %v, errors %s", release.Name, release.Drifted, release.Errors)
		}
	}
	return nil
}

// measureSingles measures each release alone, and some of them with the other tools.
func (b *chartBench) measureSingles(ctx context.Context, r runner) ([]single, error) {
	var all []single
	step := max(1, len(b.releases)/b.sample)
	for i, release := range b.releases {
		var manifest, diff, kubectl, helmDiff []time.Duration
		for range b.rounds {
			err := firstError(
				timed(&manifest, 1, func() error { _, err := r.manifest(ctx, release.target); return err }),
				timed(&diff, 1, func() error { return r.diffOne(ctx, release.target) }),
			)
			if err == nil && i%step == 0 {
				try(timed(&kubectl, 1, func() error { return r.kubectlDiff(ctx, release.target) }))
			}
			if err == nil && i%step == 0 && r.helmDiff != "" {
				try(timed(&helmDiff, 1, func() error { return r.upgradeDiff(ctx, release.target, release.chart) }))
			}
			if err != nil {
				return nil, err
			}
		}
		all = append(all, single{release.name, median(manifest), median(diff), median(kubectl), median(helmDiff)})
	}
	return all, nil
}

// try measures another tool. What that tool cannot compare, such as objects in several namespaces with kubectl diff, is named and counts
// for the time until it gives up.
func try(measure func() error) {
	if err := measure(); err != nil {
		lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
		say("%s", lines[len(lines)-1])
	}
}

// printCharts prints what was measured as tables in Markdown.
func (b *chartBench) printCharts(out io.Writer, rows []chartRow, singles []single) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	fmt.Fprintf(out, "%d public charts, objects of %d kinds, medians of %d rounds.\n", len(b.releases), len(b.kinds), b.rounds)
	writeTable(out, []column[chartRow]{
		{"fleet", func(m chartRow) string { return m.state }},
		{"lists", func(m chartRow) string { return seconds(m.lists) }},
		{"records", func(m chartRow) string { return seconds(m.records) }},
		{"diff -A", func(m chartRow) string { return seconds(m.scan) }},
		{"diff -A : lists and records", func(m chartRow) string { return ratio(m.scan, m.lists+m.records) }},
		{"diff -A -q", func(m chartRow) string { return seconds(m.quiet) }},
		{"processor time", func(m chartRow) string { return seconds(m.processor) }},
		{"peak memory", func(m chartRow) string { return megabytes(m.peak) }},
		{"requests", func(m chartRow) string { return fmt.Sprint(m.traffic.requests) }},
		{"bytes read", func(m chartRow) string { return megabytes(m.traffic.bytes) }},
	}, rows)
	slices.SortFunc(singles, func(a, b single) int { return cmp.Compare(a.over(), b.over()) })
	var shown []single
	for _, at := range []int{0, len(singles) / 4, len(singles) / 2, len(singles) * 3 / 4, len(singles) * 9 / 10, len(singles) - 1} {
		shown = append(shown, singles[at])
	}
	fmt.Fprintf(out, "\nOne release: what diff takes more than helm get manifest, from the least to the most.\n")
	writeTable(out, []column[single]{
		{"release", func(m single) string { return m.name }},
		{"helm get manifest", func(m single) string { return milliseconds(m.manifest) }},
		{"diff", func(m single) string { return milliseconds(m.diff) }},
		{"more", func(m single) string { return milliseconds(m.over()) }},
	}, shown)
	fmt.Fprintf(out, "\nOther tools on some of the releases.\n")
	writeTable(out, []column[single]{
		{"release", func(m single) string { return m.name }},
		{"helmdrift diff", func(m single) string { return milliseconds(m.diff) }},
		{"kubectl diff", func(m single) string { return milliseconds(m.kubectl) }},
		{"helm diff", func(m single) string { return milliseconds(m.helmDiff) }},
	}, slices.DeleteFunc(slices.Clone(singles), func(m single) bool { return m.kubectl == 0 }))
}
