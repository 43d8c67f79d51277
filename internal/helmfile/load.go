package helmfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Loader says which helmfile to load, and how.
type Loader struct {
	// File is the file or the folder of the helmfile. Environment, Context and Selectors are the flags of helmfile; each may be empty.
	File, Environment, Context string
	Selectors                  []string
	// StateValues are flags of helmfile with values for its templates: state-values-set, state-values-set-string and state-values-file.
	StateValues []StateValue
	// Env are variables for helmfile in addition to those of this process, as NAME=value.
	Env []string
	// Self is the path of this program, which stands in the place of helm.
	Self string
	// MaxOutput is how many bytes helmfile may print; 0 means no limit.
	MaxOutput int64
	// ReadState calls the function of this name in a child process, and so does ReadSecrets for each document.
	ReadState   func(ctx context.Context, text []byte) (*State, error)
	ReadSecrets func(ctx context.Context, documents [][]byte) ([]Secret, error)
}

// StateValue is a flag of helmfile that gives values to templates, and its value.
type StateValue struct{ Flag, Value string }

// StateFlags are the names of these flags, in the order in which helmfile reads them.
func StateFlags() []string {
	return []string{"state-values-file", "state-values-set", "state-values-set-string"}
}

// Loaded is what a run of helmfile has found. Its charts are there until it is closed.
type Loaded struct {
	Releases []Release
	// Helm is the major version of the helm that helmfile calls.
	Helm string
	// Secrets are what helm-secrets has decrypted.
	Secrets *secret.Known
	run     *Run
	// file is the helmfile, and state is that of all its releases.
	file  string
	state *State
	// shared is what the comparisons of all namespaces have found.
	shared sharing
}

// Finish adds to reports what releases of the helmfile have in common, in whatever namespaces they are. There may be other reports.
func (l *Loaded) Finish(reports []report.Release) {
	l.shared.say(reports)
	l.shared.sayNamespaces(reports)
}

// Close removes the charts.
func (l *Loaded) Close() { l.run.Close() }

// Load runs helmfile.
func (l Loader) Load(ctx context.Context) (*Loaded, error) {
	run, err := NewRun(l.Self)
	if err != nil {
		return nil, err
	}
	out := &Loaded{file: l.File, run: run}
	if err := out.load(ctx, l); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

func (l *Loaded) load(ctx context.Context, by Loader) error {
	args, temp := by.arguments(), l.run.Temp() // a helmfile that is killed removes none of its files
	runner := program.Helmfile{MaxOutput: by.MaxOutput, Env: append(slices.Clone(by.Env), "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)}
	text, err := runner.Run(ctx, append(args, "build")...)
	if err != nil && ctx.Err() == nil { // helmfile diff and helmfile sync add the repositories of the file first, and helmfile build does not
		if _, failed := runner.Run(ctx, append(args, "repos")...); failed == nil {
			text, err = runner.Run(ctx, append(args, "build")...)
		}
	}
	if err == nil {
		l.state, err = by.ReadState(ctx, text)
	}
	if err != nil {
		return fmt.Errorf("--helmfile %s: %w", by.File, err)
	}
	if l.Helm, err = runner.HelmVersion(ctx, l.state.Helm); err == nil {
		err = l.run.passTo(l.state.Helm, l.state.CleansUp)
	}
	if err != nil {
		return err
	}
	return l.record(ctx, by, runner, append(args, "--helm-binary", l.run.Program))
}

// record finds out how helmfile calls helm, and what helm-secrets decrypts.
func (l *Loaded) record(ctx context.Context, by Loader, runner program.Helmfile, args []string) error {
	all, calls, err := l.run.Record(ctx, runner.Run, args, l.state)
	if err != nil {
		return err
	}
	l.Releases, l.Secrets = all, &secret.Known{}
	decrypted := decrypted(calls)
	if len(decrypted) == 0 {
		return nil
	}
	found, err := by.ReadSecrets(ctx, decrypted)
	for _, s := range found {
		l.Secrets.AddMembers(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{s.Name: s.Text}})
	}
	return err
}

// arguments returns the flags of helmfile that choose.
func (l Loader) arguments() []string {
	out := []string{"--file", l.File}
	if l.Environment != "" {
		out = append(out, "--environment", l.Environment)
	}
	if l.Context != "" {
		out = append(out, "--kube-context", l.Context)
	}
	for _, v := range l.StateValues {
		out = append(out, "--"+v.Flag, v.Value)
	}
	for _, selector := range l.Selectors {
		out = append(out, "--selector", selector)
	}
	return out
}

// Namespaces returns the namespaces of the releases, in order.
func (l *Loaded) Namespaces() (out []string) {
	for _, r := range l.Releases {
		out = append(out, r.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
