package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/confine"
	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/internal/helmfile"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/program"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff --helmfile: what helmfile does next with the releases of a helmfile. It runs helmfile with this program in the place of
// helm; internal/helmfile records the calls, and finds out what to compare.

// These are the jobs of a child process that read what helmfile prints, and what helm-secrets has decrypted.
const (
	jobHelmfileState   = "helmfile-state"
	jobHelmfileSecrets = "helmfile-secrets"
)

// helmfileGuest returns diff of a helmfile as a guest.
func helmfileGuest() guest {
	return guest{
		file: func(s cli.Streams, c *cli.Connection) objectFile { return &helmfileDiff{Streams: s, connection: c} },
		jobs: map[string]confine.Job{
			jobHelmfileState: confine.NewJob(func(_ context.Context, _ *confine.Parent, text []byte) (*helmfile.State, error) {
				return helmfile.ReadState(text)
			}),
			jobHelmfileSecrets: confine.NewJob(func(_ context.Context, _ *confine.Parent, all [][]byte) (out []helmfile.Secret, _ error) {
				for _, document := range all {
					out = append(out, helmfile.Secrets(document)...)
				}
				return out, nil
			}),
		},
		as: map[string]func([]string) int{helmfile.Name: serveHelmfile},
	}
}

// serveHelmfile is the main function of this program in the place of helm.
func serveHelmfile(args []string) int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return cli.ExitFailure
	}
	return helmfile.Serve(helmfile.Caller{
		Program: args[0], Dir: dir, Err: os.Stderr,
		Pass: func(helm string, args []string, copyTo io.Writer) int {
			return program.Pass(helm, args, os.Stdin, os.Stdout, os.Stderr, copyTo)
		},
	}, args[1:])
}

// helmfileDiff implements objectFile for a helmfile.
type helmfileDiff struct {
	cli.Streams
	connection *cli.Connection
	// path is the file or folder of the helmfile, and environment is its environment.
	path, environment string
	// flags are those of the command.
	flags *pflag.FlagSet
}

// addFlags implements objectFile.
func (h *helmfileDiff) addFlags(fs *pflag.FlagSet) {
	h.flags = fs
	fs.StringVar(&h.path, "helmfile", "",
		"compare what helmfile does next with the releases of this `file`; runs helmfile, and the programs that the file names")
	fs.StringVarP(&h.environment, "environment", "e", "", "with --helmfile, the `environment` of the helmfile")
}

// addKeepFlags implements objectFile.
func (h *helmfileDiff) addKeepFlags(fs *pflag.FlagSet) {
	h.flags = fs
	fs.StringVar(&h.path, "helmfile", "",
		"with RELEASE, take chart and values as this `file` gives them to Helm; runs helmfile, and the programs that the file names")
	fs.StringVarP(&h.environment, "environment", "e", "", "with --helmfile, the `environment` of the helmfile")
}

// isNamed implements objectFile.
func (h *helmfileDiff) isNamed() bool {
	return h.flags.Changed("helmfile") || h.flags.Changed("environment")
}

// loaded is what a run of helmfile has found. Its folder has charts until it is closed.
type loaded struct {
	run      *helmfile.Run
	releases []helmfile.Release
	// helm is the major version of the helm that helmfile calls.
	helm    string
	learned *secret.Known
}

// run implements objectFile.
func (h *helmfileDiff) run(ctx context.Context, o diffOptions, names []string) error {
	if err := cli.Refuse(h.flags, h.refused(o.guests), "--helmfile"); err != nil {
		return err
	}
	if err := o.check(h.flags, true); err != nil {
		return err
	}
	if _, err := o.OptionsWithRules(); err != nil { // before helmfile runs, which may take long
		return err
	}
	found, err := h.load(ctx, &o.CompareOptions, names)
	if err != nil {
		return err
	}
	defer found.run.Close()
	if len(names) == 1 && len(found.releases) == 1 {
		return h.one(ctx, o, found)
	}
	if o.scan == nil {
		return hint.New(errors.New("this program compares one release at a time"), "helmdrift diff --helmfile FILE RELEASE")
	}
	if err := o.scan.check(h.flags, false); err != nil {
		return err
	}
	o.all = h.all(o, found)
	return o.scan.run(ctx, o, nil)
}

// keep implements objectFile.
func (h *helmfileDiff) keep(ctx context.Context, o *cli.CompareOptions, names []string) (d cli.Session, out kept, err error) {
	refusals := append(h.refused(guest{}), cli.Refusal{Flags: []string{"write"}, Advice: "copy the values into the file that the helmfile names"})
	if err := cli.Refuse(h.flags, refusals, "--helmfile"); err != nil {
		return d, out, err
	}
	if len(names) != 1 {
		return d, out, hint.New(errors.New("absorb takes one release of the helmfile"), "helmdrift absorb RELEASE --helmfile FILE")
	}
	found, err := h.load(ctx, o, names)
	if err != nil {
		return d, out, err
	}
	out.close, out.learned = found.run.Close, found.learned
	step, d, err := h.begin(ctx, o, found, "absorb")
	if err == nil && step.Target.Chart == nil {
		err = errors.New("helmfile uninstalls the release")
	}
	if err != nil {
		d.Quiet()
		found.run.Close()
		return d, kept{}, err
	}
	d.Target = step.Target
	d.Use(d.Connection, step.Adapt(d.Options))
	return d, out, nil
}

// refused returns the flags that the helmfile decides, and those of another command.
func (h *helmfileDiff) refused(all guest) []cli.Refusal {
	return append(cli.DecidedBy("helmfile", "Helm installs and upgrades"), []cli.Refusal{
		{Flags: append([]string{"fix"}, fixFlags(all)...), Advice: "put back the drift of a release: helmdrift fix RELEASE"},
		{Flags: append([]string{"snapshot", "plan"}, controllerFlags()...), Advice: "a helmfile is another source of what comes next"},
		{Flags: []string{"contexts", "all-contexts", "filter", "exclude", "status", "shard"},
			Advice: "names of releases, -l with a selector of helmfile, and -n choose from the helmfile, and --kube-context chooses the cluster"},
		{Flags: []string{"revision", "to-revision"}, Advice: "it shows what helmfile does next; for a stored revision, name the release without --helmfile"},
		{Flags: []string{"version", "devel", "repo", "username", "password", "cert-file", "key-file", "ca-file", "pass-credentials", "verify"},
			Advice: "the chart is that of the helmfile"},
	}...)
}

// load runs helmfile and returns the releases that names and -n choose. The selector is that of helmfile.
func (h *helmfileDiff) load(ctx context.Context, o *cli.CompareOptions, names []string) (out loaded, err error) {
	if h.path == "" {
		return out, hint.New(errors.New("--helmfile names no file"), "helmdrift diff --helmfile helmfile.yaml")
	}
	args := h.arguments()
	limits := o.Jobs()
	runner := program.Helmfile{MaxOutput: limits.MaxAnswer(), Env: h.env()}
	text, err := runner.Run(ctx, append(args, "build")...)
	if err != nil {
		return out, fmt.Errorf("--helmfile %s: %w", h.path, err)
	}
	state, err := jobs.Run[[]byte, *helmfile.State](ctx, limits, "reading what helmfile build prints", jobHelmfileState, text, nil)
	if err != nil {
		return out, fmt.Errorf("--helmfile %s: %w", h.path, err)
	}
	if out.helm, err = runner.HelmVersion(ctx, state.Helm); err != nil {
		return out, err
	}
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	if out.run, err = helmfile.NewRun(self, state.Helm); err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			out.run.Close()
		}
	}()
	runner.Env = append(runner.Env, "TMPDIR="+out.run.Temp(), "TMP="+out.run.Temp(), "TEMP="+out.run.Temp())
	args = append(args, "--helm-binary", out.run.Program)
	var calls []helmfile.Call
	if out.releases, calls, err = out.run.Record(ctx, runner.Run, args, state); err != nil {
		return out, err
	}
	if out.learned, err = h.learn(ctx, limits, helmfile.Decrypted(calls)); err != nil {
		return out, err
	}
	if err = h.locate(out.releases); err != nil {
		return out, err
	}
	var namespaces []string
	if h.flags.Changed("namespace") {
		namespaces = strings.Split(h.connection.Namespace, ",")
	}
	out.releases, err = helmfile.Choose(out.releases, names, namespaces)
	return out, err
}

// arguments returns the flags of helmfile that choose.
func (h *helmfileDiff) arguments() []string {
	out := []string{"--file", h.path}
	if h.environment != "" {
		out = append(out, "--environment", h.environment)
	}
	if h.connection.Context != "" {
		out = append(out, "--kube-context", h.connection.Context)
	}
	// The selector is one of helmfile, so nothing else may read it.
	if f := h.flags.Lookup("selector"); f != nil && f.Changed {
		out = append(out, "--selector", f.Value.String())
		_ = f.Value.Set("")
		f.Changed = false
	}
	return out
}

// env returns the variables for helmfile.
func (h *helmfileDiff) env() []string {
	if f := h.flags.Lookup("kubeconfig"); f != nil && f.Changed {
		return []string{"KUBECONFIG=" + f.Value.String()}
	}
	return nil
}

// learn returns the secrets in what helm-secrets has decrypted. They are known from then on.
func (h *helmfileDiff) learn(ctx context.Context, limits jobs.Limits, decrypted [][]byte) (*secret.Known, error) {
	out := &secret.Known{}
	if len(decrypted) == 0 {
		return out, nil
	}
	const doing = "reading what helm-secrets has decrypted"
	found, err := jobs.Run[[][]byte, []helmfile.Secret](ctx, limits, doing, jobHelmfileSecrets, decrypted, nil)
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		out.AddMembers(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{s.Name: s.Text}})
	}
	h.Known.AddKnown(out)
	return out, nil
}

// locate finds out which cluster the releases are in, and their namespace if the helmfile does not say it. One run compares with one
// cluster.
func (h *helmfileDiff) locate(all []helmfile.Release) error {
	contexts := helmfile.Contexts(all)
	if h.connection.Context == "" && len(contexts) == 1 {
		for context := range contexts {
			h.connection.Context = context
		}
	}
	here := *h.connection
	here.Namespace = h.Env("HELM_NAMESPACE")
	target, err := here.Resolve()
	if err != nil {
		return err
	}
	context, err := here.ContextName()
	if err == nil {
		helmfile.Locate(all, context, target.Namespace)
	}
	return err
}

// question returns a question about the releases of a helmfile.
func (h *helmfileDiff) question(o *cli.CompareOptions, limits jobs.Limits, found loaded) helmfile.Question {
	return helmfile.Question{
		Chart: o.Chart(""), Source: o.Source, Fetch: limits.FetchChart, Helm: found.helm, Known: h.Known,
		PostRenderer: func(command string, args []string) func(context.Context, []byte) ([]byte, error) {
			return program.PostRenderer{Command: command, Args: args, MaxOutput: limits.MaxAnswer()}.Run
		},
	}
}

// begin connects to the cluster and finds out what helmfile does with the only release.
func (h *helmfileDiff) begin(
	ctx context.Context, o *cli.CompareOptions, found loaded, command string,
) (step *helmfile.Step, d cli.Session, err error) {
	r := found.releases[0]
	h.connection.Namespace = r.Namespace
	if d, err = o.Begin(ctx, []string{r.Name}, command); err != nil {
		return nil, d, err
	}
	if step, err = helmfile.New(ctx, d.Connection, h.question(o, o.Jobs(), found), r); err != nil {
		d.Quiet()
		err = fmt.Errorf("%s: %w", r.Name, err)
	}
	return step, d, err
}

// one compares one release and prints its report.
func (h *helmfileDiff) one(ctx context.Context, o diffOptions, found loaded) error {
	if err := o.ReadBaseline(); err != nil {
		return err
	}
	step, d, err := h.begin(ctx, &o.CompareOptions, found, "diff")
	if err != nil {
		return err
	}
	d.Target = step.Target
	d.Use(d.Connection, step.Adapt(d.Options))
	return o.report(ctx, h.Streams, d, h.flags, time.Now, found.learned, step.Finish)
}

// all returns how to compare releases of a helmfile. The scan then searches their namespaces, and all calls of the function together
// compare each release once.
func (h *helmfileDiff) all(o diffOptions, found loaded) compareAll {
	var namespaces []string
	for _, r := range found.releases {
		namespaces = append(namespaces, r.Namespace)
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); !h.flags.Changed("all-namespaces") {
		h.connection.Namespace = strings.Join(namespaces, ",")
	}
	return func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
		here := slices.DeleteFunc(slices.Clone(found.releases), func(r helmfile.Release) bool {
			return on.Namespace != "" && r.Namespace != on.Namespace
		})
		return helmfile.Fleet{Question: h.question(&o.CompareOptions, limits, found), Learned: found.learned, On: on}.Compare(ctx, here)
	}
}
