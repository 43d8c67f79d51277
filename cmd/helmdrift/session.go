package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// session is one run of a command: its cluster, and the release that it compares.
type session struct {
	cluster  *live.Cluster
	comparer *drift.Comparer
	target   drift.Target
}

// begin connects to the cluster and finds the release for a command.
func begin(ctx context.Context, s streams, c *connection, o diffOptions, args []string, command string) (session, error) {
	options := o.options()
	if err := o.addRules(&options, s, time.Now()); err != nil {
		return session{}, err
	}
	c.known.Add(c.token, o.source.Password)
	at, err := c.resolve()
	if err != nil {
		return session{}, err
	}
	cluster, err := live.Connect(ctx, at.config, c.options())
	if err != nil {
		return session{}, err
	}
	target := drift.Target{Namespace: at.namespace, Revision: o.revision, RollbackTo: o.toRevision}
	if len(args) > 0 {
		target.Release = args[0]
	} else if target.Release, err = onlyRelease(ctx, cluster, c.driver, at.namespace, command); err != nil {
		return session{}, err
	}
	if len(args) > 1 {
		target.Chart = o.chart(args[1])
	}
	options.Known = c.known
	bounds := o.bounds.logged(c.debug)
	options.Fetch, options.ReadManifest, options.Render = bounds.fetchChart, bounds.readManifest, bounds.renderChart
	comparer := drift.New(drift.LiveConnection(cluster, at.cluster, c.driver), options)
	return session{cluster: cluster, comparer: comparer, target: target}, nil
}

// onlyRelease returns the release of a namespace that has one.
func onlyRelease(ctx context.Context, cluster *live.Cluster, driver, namespace, command string) (string, error) {
	store, err := release.Open(driver, namespace, cluster.Metadata(), cluster.Dynamic())
	if err != nil {
		return "", err
	}
	found, err := store.Names(ctx)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 0:
		return "", hinted{error: fmt.Errorf("no releases in namespace %q", namespace), hint: "-n chooses the namespace, HELM_DRIVER the storage"}
	case 1:
		return found[0].Name, nil
	}
	names := make([]string, len(found))
	for i, r := range found {
		names[i] = fmt.Sprintf("\n  %s (revision %d, %s)", r.Name, r.Revision, r.Status)
	}
	return "", hinted{error: fmt.Errorf("namespace %q has %d releases:%s", namespace, len(found), strings.Join(names, "")),
		hint: "name one: helmdrift " + command + " RELEASE"}
}

// compare compares the release.
func (s session) compare(ctx context.Context) (*drift.Result, error) {
	result, err := s.comparer.Compare(ctx, s.target)
	return result, withFlagHint(err, s.target.Chart)
}

// withFlagHint adds to an error of a comparison which flag helps.
func withFlagHint(err error, chart *drift.Chart) error {
	var flux *drift.FluxError
	_, installs := release.Installs(err)
	switch {
	case errors.Is(err, drift.ErrForceConflicts):
		return hinted{error: errors.New("--force-conflicts needs server-side apply, and this release is applied client-side"),
			hint: "--server-side=true shows what becoming server-side would do"}
	case errors.Is(err, drift.ErrForceReplace):
		return replaceServerSide()
	case errors.As(err, &flux):
		return fluxError(flux)
	case installs && chart != nil && !chart.Install:
		hint := "--install shows what its first installation would create"
		if more := drift.Hint(err); more != "" {
			hint += "; otherwise: " + more
		}
		return hinted{error: err, hint: hint}
	}
	return err
}

// fluxError names the flag that reads the rules of Flux.
func fluxError(flux *drift.FluxError) error {
	hint := drift.Hint(flux)
	if hint == "" {
		hint = "without --from-flux, rules come from " + configName + " and --ignore"
	}
	return hinted{error: fmt.Errorf("--from-flux: %w", flux.Err), hint: hint}
}
