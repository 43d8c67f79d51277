package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/config"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// This file is the way from flags to a comparison. Both diff and fix take it, so that both compare in the same way: what diff reports as
// drift is what fix puts back.

// session is what diff and fix have in common: a connected cluster, and a release of it that can be compared. fix compares twice.
type session struct {
	// cluster is where fix writes; comparisons read through the comparer.
	cluster  *live.Cluster
	comparer *drift.Comparer
	target   drift.Target
	// activity says what a comparison is doing; nil without a terminal.
	activity *text.Activity
}

// comparison returns the options of a comparison. The configuration is read first: what is wrong with it is an error even if no cluster
// answers.
func (o compareOptions) comparison(s streams, c *connection) (drift.Options, error) {
	options := o.options()
	if err := o.addRules(&options, s, time.Now()); err != nil {
		return options, err
	}
	// The comparison learns secrets while it reads. Sharing them with the connection lets explain and --debug remove them.
	c.known.Add(c.token, o.source.Password)
	options.Known = c.known
	// Work on foreign text is done in child processes instead of this one.
	limits := o.limits.jobs(c.debug)
	options.Fetch, options.ReadManifest, options.Render = limits.FetchChart, limits.ReadManifest, limits.RenderChart
	options.RenderVariants, options.RenderTime = limits.RenderVariants, limits.Time
	return options, nil
}

// begin connects to the cluster and finds the release for a command. Until the comparison is over, a line on the terminal says what takes
// so long.
func begin(ctx context.Context, s streams, c *connection, o compareOptions, args []string, command string) (out session, err error) {
	if len(args) > 0 && args[0] == "" {
		return session{}, errEmptyName()
	}
	options, err := o.comparison(s, c)
	if err != nil {
		return session{}, err
	}
	found, err := c.resolve()
	if err != nil {
		return session{}, err
	}
	out.activity = s.newActivity(c)
	defer func() {
		if err != nil {
			out.activity.Stop()
		}
	}()
	options.Doing = out.activity.Say
	out.activity.Say("connecting to the cluster")
	if out.cluster, err = live.Connect(ctx, found.Config, c.options()); err != nil {
		return out, err
	}
	storage, err := c.records(out.cluster)
	if err != nil {
		return out, err
	}
	out.target = drift.Target{Namespace: found.Namespace, Revision: o.revision, RollbackTo: o.toRevision}
	if len(args) > 0 {
		out.target.Release = args[0]
	} else if out.target.Release, err = onlyRelease(ctx, storage, found.Namespace, command); err != nil {
		return out, err
	}
	if len(args) > 1 {
		out.target.Chart = o.chart(args[1])
	}
	out.comparer = drift.New(drift.LiveConnection(out.cluster, found.Cluster, storage), options)
	return out, nil
}

// newActivity returns the line that says what a command is doing; nil if stderr is no terminal, or has a log on it.
func (s streams) newActivity(c *connection) *text.Activity {
	if !terminal.IsTerminal(s.err) || c.debug {
		return nil
	}
	return text.NewActivity(s.err, s.display(s.err, newColor(), time.Time{}).Text)
}

// onlyRelease returns the name of the release of a namespace that has exactly one. If there are more, the error lists them.
func onlyRelease(ctx context.Context, storage *release.Storage, namespace, command string) (string, error) {
	store, err := storage.Namespace(namespace)
	if err != nil {
		return "", err
	}
	found, err := store.Names(ctx)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 0:
		return "", hint.New(fmt.Errorf("namespace %q has no releases", namespace),
			"-n chooses the namespace, HELM_DRIVER where the records are stored")
	case 1:
		return found[0].Name, nil
	}
	names := make([]string, len(found))
	for i, r := range found {
		names[i] = fmt.Sprintf("\n  %s (revision %d, %s)", r.Name, r.Revision, r.Status)
	}
	return "", hint.New(fmt.Errorf("namespace %q has %d releases:%s", namespace, len(found), strings.Join(names, "")),
		"name one of them: helmdrift "+command+" RELEASE")
}

// compare compares the release.
func (s session) compare(ctx context.Context) (*drift.Result, error) {
	defer s.activity.Stop()
	result, err := s.comparer.Compare(ctx, s.target)
	return result, withFlagHint(err, s.target.Chart)
}

// withFlagHint returns the error of a comparison with a hint that names the flag that helps. pkg/drift knows no flags, so its errors
// speak of options.
func withFlagHint(err error, chart *drift.Chart) error {
	var flux *drift.FluxError
	_, installs := release.Installs(err)
	switch {
	case errors.Is(err, drift.ErrForceConflicts):
		return hint.New(errors.New("--force-conflicts needs server-side apply, and this release is applied client-side"),
			"--server-side=true shows what changing to server-side apply would do")
	case errors.Is(err, drift.ErrForceReplace):
		return errReplaceServerSide()
	case errors.As(err, &flux):
		return fluxError(flux)
	case installs && chart != nil && !chart.Install:
		advice := "--install shows what its first installation would create"
		if more := drift.Hint(err); more != "" {
			advice += "; otherwise: " + more
		}
		return hint.New(err, advice)
	}
	return err
}

// fluxError returns the error of --from-flux under the name of the flag.
func fluxError(flux *drift.FluxError) error {
	advice := drift.Hint(flux)
	if advice == "" {
		advice = "without --from-flux, rules come from " + config.FileName + " and --ignore"
	}
	return hint.New(fmt.Errorf("--from-flux: %w", flux.Err), advice)
}
