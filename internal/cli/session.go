package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helmdrift/helmdrift/internal/config"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/output/progress"
	"github.com/helmdrift/helmdrift/internal/terminal"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/effect"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file makes a comparison from flags. Both diff and fix use it, so that fix puts back exactly what diff reports as drift.

// CompareOptions are the options of the comparison that both diff and fix begin with. diff has flags for all of them. fix has flags only
// for the ignore rules, the limits and the revision: it compares with what Helm deployed, and the record says how the release is applied.
type CompareOptions struct {
	DesiredOptions
	IgnoreOptions
	// Revision is the stored revision to start from. 0 means the revision that helm upgrade would start from.
	Revision int
	// TakesFolders is set if CHART may be a folder that is no chart.
	TakesFolders bool
	// streams has the input for "--values -", and the output for the messages of plugins. connection is the cluster to ask.
	streams    Streams
	connection *Connection
	// forecast predicts what writes mean for pods and data. It may be nil.
	forecast effect.Forecast
}

// NewCompareOptions returns the defaults.
func NewCompareOptions(s Streams, c *Connection, forecast effect.Forecast) CompareOptions {
	return CompareOptions{DesiredOptions: newDesiredOptions(s.Env), streams: s, connection: c, forecast: forecast}
}

// CheckRevision refuses revisions that cannot exist.
func (o *CompareOptions) CheckRevision() error {
	if o.Revision < 0 {
		return fmt.Errorf("--revision %d: revisions begin at 1", o.Revision)
	}
	return nil
}

// Jobs returns the limits for work on foreign text, which a child process does.
func (o *CompareOptions) Jobs() jobs.Limits { return o.Limits.jobs(o.connection.Debug) }

// Options returns the options of a comparison without ignore rules: those of the flags, and what it needs from this program: the known
// secrets, the child processes that work on foreign text, and the forecast.
func (o *CompareOptions) Options() drift.Options {
	// The comparison learns secrets while it reads. Sharing them with the connection lets Explain and --debug remove them.
	o.connection.known.Add(o.connection.Token, o.Source.Password)
	limits := o.Jobs()
	out := drift.Options{
		Helm: o.helm.Word, ForceConflicts: o.forceConflicts, ForceReplace: o.forceReplace, TakeOwnership: o.takeOwnership,
		NoHooks: o.noHooks, DryRun: o.DryRun.Word != "",
		Known: (*drift.Secrets)(o.connection.known), Forecast: o.forecast, ReadManifest: limits.ReadManifest, Render: limits.RenderChart,
	}
	switch o.serverSide.Word {
	case "true":
		out.ApplyMethod = report.ApplyServerSide
	case "false":
		out.ApplyMethod = report.ApplyClientSide
	}
	return out
}

// OptionsWithRules returns Options with the ignore rules. It reads the configuration first, so that a wrong one is an error even if no
// cluster answers.
func (o *CompareOptions) OptionsWithRules() (drift.Options, error) {
	options := o.Options()
	return options, o.addRules(&options, o.streams)
}

// Session is what diff and fix have in common: a connected cluster, and a release of it to compare. fix compares twice.
type Session struct {
	// Cluster is where fix writes; comparisons read through the comparer, which has the connection and the options.
	Cluster    *live.Cluster
	Connection drift.Connection
	Options    drift.Options
	Comparer   *drift.Comparer
	Target     drift.Target
	// suggest adds to an error of a comparison what the user may have meant. It is nil for a saved cluster.
	suggest func(context.Context, error) error
	// activity says what a comparison is doing. It is nil without a terminal.
	activity *progress.Activity
}

// Use makes the session compare a target through a connection.
func (s *Session) Use(t drift.Target, from drift.Connection, o drift.Options) {
	s.Target, s.Connection, s.Options, s.Comparer = t, from, o, drift.New(from, o)
}

// Begin connects to the cluster and finds the release for a command. Until the comparison is over, a line on the terminal says what it is
// doing.
func (o *CompareOptions) Begin(ctx context.Context, args []string, command string) (out Session, err error) {
	if len(args) > 0 && args[0] == "" {
		return Session{}, EmptyNameError()
	}
	options, err := o.OptionsWithRules()
	if err != nil {
		return Session{}, err
	}
	if len(args) > 1 {
		if err := o.CheckFiles(ctx, args[1]); err != nil {
			return Session{}, err
		}
	}
	found, err := o.connection.Resolve()
	if err != nil {
		return Session{}, err
	}
	out.activity = o.streams.NewActivity(o.connection)
	defer func() {
		if err != nil {
			out.activity.Stop()
		}
	}()
	options.Doing = out.activity.Say
	out.activity.Say("connecting to the cluster")
	cluster, storage, err := o.connection.Connect(ctx, found)
	if err != nil {
		return out, err
	}
	out.Cluster = cluster
	target := drift.Target{Namespace: found.Namespace, Revision: o.Revision, RollbackTo: o.ToRevision}
	if len(args) > 0 {
		target.Release = args[0]
	} else if target.Release, err = onlyRelease(ctx, cluster, storage, found.Namespace, command); err != nil {
		return out, err
	}
	if len(args) > 1 {
		target.Chart = o.Chart(args[1])
	}
	out.suggest = func(ctx context.Context, err error) error {
		return o.connection.WithSuggestion(ctx, err, cluster, storage, target, command)
	}
	out.Use(target, drift.LiveConnection(cluster, found.Cluster, storage), options)
	return out, nil
}

// NewActivity returns the line that says what a command is doing, or nil if stderr is not a terminal, or has a log on it.
func (s Streams) NewActivity(c *Connection) *progress.Activity {
	if !terminal.IsTerminal(s.Err) || c.Debug {
		return nil
	}
	return progress.NewActivity(s.Err, s.Display(s.Err, NewColor(), time.Time{}).Text)
}

// onlyRelease returns the name of the release of a namespace that has exactly one. If there are more, the error lists them.
func onlyRelease(
	ctx context.Context, cluster *live.Cluster, storage *release.Storage, namespace, command string,
) (string, error) {
	found, err := releasesOf(ctx, storage, namespace)
	if err != nil {
		return "", err
	}
	switch len(found) {
	case 0:
		return "", WithNamespace(ctx, hint.New(fmt.Errorf("namespace %q has no releases", namespace),
			"-n chooses the namespace, HELM_DRIVER where the records are stored"), cluster, namespace)
	case 1:
		return found[0].Release, nil
	}
	names := ""
	for _, r := range found {
		names += fmt.Sprintf("\n  %s (revision %d, %s)", r.Release, r.Revision, r.Status)
	}
	return "", hint.New(fmt.Errorf("namespace %q has %d releases:%s", namespace, len(found), names),
		"name one of them: helmdrift "+command+" RELEASE")
}

// Quiet takes the line away that says what the session is doing.
func (s Session) Quiet() { s.activity.Stop() }

// WithAdvice returns the error of the comparison with what the user may have meant, and with the flag that helps.
func (s Session) WithAdvice(ctx context.Context, err error) error {
	if s.suggest != nil {
		err = s.suggest(ctx, err)
	}
	return WithFlagHint(err, s.Target.Chart)
}

// WithFlagHint returns the error of a comparison with a hint that names the flag that helps. pkg/drift knows no flags, so its errors
// name options.
func WithFlagHint(err error, chart *drift.Chart) error {
	var flux *drift.FluxError
	_, installs := release.Installs(err)
	switch {
	case errors.Is(err, drift.ErrForceConflicts):
		return hint.New(errors.New("--force-conflicts needs server-side apply, and this release is applied client-side"),
			"--server-side=true shows what changing to server-side apply would do")
	case errors.Is(err, drift.ErrForceReplace):
		return errReplaceServerSide()
	case errors.As(err, &flux):
		return hint.New(fmt.Errorf("--from-flux: %w", flux.Err),
			cmp.Or(drift.Hint(flux), "without --from-flux, rules come from "+config.FileName+" and --ignore"))
	case installs && chart != nil && !chart.Install:
		advice := "--install shows what its first installation would create"
		if more := drift.Hint(err); more != "" {
			advice += "; otherwise: " + more
		}
		return hint.New(err, advice)
	}
	return err
}

// EmptyNameError returns the error of a release without a name, which in a script is usually a variable that was not set.
func EmptyNameError() error {
	return hint.New(errors.New("the name of a release is empty"), "helmdrift list shows the releases")
}
