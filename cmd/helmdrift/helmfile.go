package main

import (
	"cmp"
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
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is diff --helmfile: what helmfile does next with the releases of a helmfile. It runs helmfile with this program in the place of
// helm; internal/helmfile records the calls, and finds out what to compare.

// These are the jobs of a child process that read what helmfile prints, and what helm-secrets has decrypted.
const (
	jobHelmfileState   = "helmfile-state"
	jobHelmfileSecrets = "helmfile-secrets"
)

// helmfileBuilt is what helmfile build prints, and for which environment.
type helmfileBuilt struct {
	Text        []byte
	Environment string
}

// helmfileGuest returns diff of a helmfile as a guest.
func helmfileGuest() guest {
	return guest{
		files: []func(cli.Streams, *cli.Connection) objectFile{func(s cli.Streams, c *cli.Connection) objectFile {
			return &helmfileDiff{Streams: s, connection: c, selectors: new([]string)}
		}},
		jobs: map[string]confine.Job{
			jobHelmfileState: confine.NewJob(func(_ context.Context, _ *confine.Parent, built helmfileBuilt) (*helmfile.State, error) {
				return helmfile.ReadState(built.Text, built.Environment)
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
	// path is the file or folder of the helmfile, and environment is its environment. paths are all that the flag of diff names.
	path, environment string
	paths             []string
	// selectors are those of the flag --selector, once a helmfile was loaded.
	selectors *[]string
	// flags are those of the command.
	flags *pflag.FlagSet
}

// addFlags implements objectFile.
func (h *helmfileDiff) addFlags(fs *pflag.FlagSet) {
	h.flags = fs
	fs.StringArrayVar(&h.paths, "helmfile", nil,
		"compare what helmfile does next with the releases of this `file`; runs helmfile, and the programs that the file names; "+
			"with --next or --from, may be repeated")
	h.addChoice(fs)
}

// addChoice adds the flags that choose from a helmfile.
func (h *helmfileDiff) addChoice(fs *pflag.FlagSet) {
	fs.StringVarP(&h.environment, "environment", "e", "", "with --helmfile, the `environment` of the helmfile")
	for i, usage := range []string{
		"with --helmfile, a `file` of values for its templates; may be repeated",
		"with --helmfile, set a value for its templates, as `name=value`; may be repeated",
		"with --helmfile, set a text for its templates, as `name=value`; may be repeated",
	} {
		fs.StringArray(helmfile.StateFlags()[i], nil, usage)
	}
}

// addKeepFlags implements objectFile.
func (h *helmfileDiff) addKeepFlags(fs *pflag.FlagSet) {
	h.flags = fs
	fs.StringVar(&h.path, "helmfile", "",
		"with RELEASE, take chart and values as this `file` gives them to Helm; runs helmfile, and the programs that the file names")
	h.addChoice(fs)
}

// isNamed implements objectFile.
func (h *helmfileDiff) isNamed() bool {
	return slices.ContainsFunc(slices.Concat([]string{"helmfile", "environment"}, helmfile.StateFlags()), h.flags.Changed)
}

// each implements objectFile.
func (h *helmfileDiff) each() []objectFile {
	return eachFile(h.paths, func(path string) objectFile {
		one := *h
		one.path = path
		return &one
	}, h)
}

// words implements objectFile.
func (h *helmfileDiff) words() fileWords { return fileWords{"--helmfile", "helmfile", "RELEASE"} }

// open implements objectFile.
func (h *helmfileDiff) open(ctx context.Context, o *cli.CompareOptions, names []string, joined bool) (openFile, error) {
	found, err := h.load(ctx, o, names, joined)
	if err != nil {
		return openFile{}, err
	}
	return openFile{
		isOne: len(found.Releases) == 1, namespaces: found.Namespaces(), finish: found.Finish, close: found.Close,
		report: func(ctx context.Context, o diffOptions) error { return h.report(ctx, o, found) },
		all: func(ctx context.Context, on deployer.Scanned, limits jobs.Limits) ([]report.Release, error) {
			return helmfile.Fleet{Question: h.question(o, limits, found), Loaded: found, On: on}.Compare(ctx)
		},
	}, nil
}

// report compares the only release and prints its report.
func (h *helmfileDiff) report(ctx context.Context, o diffOptions, found *helmfile.Loaded) error {
	step, d, err := h.begin(ctx, &o.CompareOptions, found, "diff")
	if err != nil {
		return err
	}
	d.Use(step.Target, d.Connection, step.Adapt(d.Options))
	return o.report(ctx, h.Streams, d, h.flags, time.Now, step.Finish)
}

// keep implements objectFile.
func (h *helmfileDiff) keep(ctx context.Context, o *cli.CompareOptions, names []string, prints bool) (d cli.Session, out kept, err error) {
	if err := errors.Join(cli.Refuse(h.flags, h.refused(), "--helmfile"), h.check()); err != nil {
		return d, out, err
	}
	if len(names) != 1 {
		return d, out, hint.New(errors.New("absorb takes one release of the helmfile"), "helmdrift absorb RELEASE --helmfile FILE")
	}
	found, err := h.load(ctx, o, names, false)
	if err != nil {
		return d, out, err
	}
	out.close = found.Close
	step, d, err := h.begin(ctx, o, found, "absorb")
	if err == nil {
		err = h.keepFiles(&out, found, step, prints)
	}
	if err != nil {
		d.Quiet()
		found.Close()
		return d, kept{}, err
	}
	out.of = report.ObjectKey{Key: step.Release()}
	d.Use(step.Target, d.Connection, step.Adapt(d.Options))
	return d, out, nil
}

// keepFiles lets absorb change the values files of the release, unless it only prints what overrides all of them. It is an error if there
// are none only if they are to be written.
func (h *helmfileDiff) keepFiles(out *kept, found *helmfile.Loaded, step *helmfile.Step, prints bool) error {
	if step.Target.Chart == nil {
		return errors.New("helmfile uninstalls the release")
	}
	out.warnings = step.Remarks()
	if prints {
		return nil
	}
	keeper, err := found.Keep(step)
	switch {
	case err == nil:
		out.tree, out.check = keeper, keeper.CheckEdits
	case h.flags.Changed("write"):
		return err
	default:
		out.warnings = append(out.warnings, report.Message{Code: helmfile.CodeWarning, Message: err.Error()})
	}
	return nil
}

// refused implements objectFile.
func (h *helmfileDiff) refused() []cli.Refusal {
	return append(cli.DecidedBy("helmfile", "Helm installs and upgrades"), []cli.Refusal{
		{Flags: []string{"plan"}, Advice: "diff -A --next --plan FILE --helmfile FILE has one report of both"},
		{Flags: append([]string{"snapshot"}, controllerFlags()...), Advice: "a helmfile is another source of what comes next"},
		{Flags: []string{"contexts", "all-contexts", "filter", "exclude", "status", "shard"},
			Advice: "names of releases, -l with a selector of helmfile, and -n choose from the helmfile, and --kube-context chooses the cluster"},
		{Flags: []string{"revision", "to-revision"},
			Advice: "it shows what helmfile does next; for a stored revision, name the release without --helmfile"},
		{Flags: []string{"version", "devel", "repo", "username", "password", "cert-file", "key-file", "ca-file", "pass-credentials", "verify",
			"insecure-skip-tls-verify", "plain-http"}, Advice: "the chart is that of the helmfile"},
	}...)
}

// takes implements objectFile.
func (h *helmfileDiff) takes() []string {
	return append([]string{"helmfile", "environment", "selector"}, helmfile.StateFlags()...)
}

// check implements objectFile.
func (h *helmfileDiff) check() error {
	if h.path == "" {
		return hint.New(errors.New("--helmfile names no file"), "helmdrift diff --helmfile helmfile.yaml")
	}
	return nil
}

// load runs helmfile and returns the releases that names and -n choose. The selector is that of helmfile.
func (h *helmfileDiff) load(ctx context.Context, o *cli.CompareOptions, names []string, joined bool) (*helmfile.Loaded, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	limits := o.Jobs()
	loader := helmfile.Loader{
		File: h.path, Environment: h.environment, Context: h.chosenContext(), Env: h.env(), Self: self, MaxOutput: limits.MaxAnswer(),
		ReadState: func(ctx context.Context, text []byte) (*helmfile.State, error) {
			built := helmfileBuilt{text, cmp.Or(h.environment, h.Env("HELMFILE_ENVIRONMENT"), helmfile.DefaultEnvironment)}
			return jobs.Run[helmfileBuilt, *helmfile.State](ctx, limits, "reading what helmfile build prints", jobHelmfileState, built, nil)
		},
		ReadSecrets: func(ctx context.Context, documents [][]byte) ([]helmfile.Secret, error) {
			return jobs.Run[[][]byte, []helmfile.Secret](ctx, limits, "reading what helm-secrets has decrypted", jobHelmfileSecrets, documents, nil)
		},
	}
	for _, name := range helmfile.StateFlags() {
		values, err := h.flags.GetStringArray(name)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			loader.StateValues = append(loader.StateValues, helmfile.StateValue{Flag: name, Value: value})
		}
	}
	if f := h.flags.Lookup("selector"); f != nil && f.Changed {
		*h.selectors = slices.Clone(f.Value.(pflag.SliceValue).GetSlice())
		_ = f.Value.(pflag.SliceValue).Replace(nil) // nothing else may read it
		f.Changed = false
	}
	loader.Selectors = *h.selectors
	out, err := loader.Load(ctx)
	if err != nil {
		return nil, err
	}
	h.Known.AddKnown(out.Secrets)
	var namespaces []string
	if h.flags.Changed("namespace") && !joined {
		namespaces = strings.Split(h.connection.Namespace, ",")
	}
	if err = h.locate(out.Releases, joined); err == nil {
		out.Releases, err = helmfile.Choose(out.Releases, names, namespaces)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// chosenContext returns the context that a flag names, or "". Helmfile gives it to all releases, in the place of their own. HELM_KUBECONTEXT
// is for those without one.
func (h *helmfileDiff) chosenContext() string {
	if h.flags.Changed("kube-context") || h.flags.Changed("context") {
		return h.connection.Context
	}
	return ""
}

// env returns the variables for helmfile.
func (h *helmfileDiff) env() []string {
	if f := h.flags.Lookup("kubeconfig"); f != nil && f.Changed {
		return []string{"KUBECONFIG=" + f.Value.String()}
	}
	return nil
}

// locate finds out which cluster the releases are in, and their namespace if the helmfile does not say it. One run compares with one
// cluster, which is that of the user if other sources are joined.
func (h *helmfileDiff) locate(all []helmfile.Release, joined bool) error {
	contexts := helmfile.Contexts(all)
	if h.chosenContext() == "" && len(contexts) == 1 && !joined {
		for context := range contexts {
			h.connection.Context = cmp.Or(context, h.connection.Context)
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
func (h *helmfileDiff) question(o *cli.CompareOptions, limits jobs.Limits, found *helmfile.Loaded) helmfile.Question {
	return helmfile.Question{
		Chart: o.Chart(""), Source: o.Source, Fetch: limits.FetchChart, Helm: found.Helm, Known: h.Known, Learned: found.Secrets,
		PostRenderer: func(dir, command string, args []string) func(context.Context, []byte) ([]byte, error) {
			return program.PostRenderer{Command: command, Args: args, Dir: dir, MaxOutput: limits.MaxAnswer()}.Run
		},
	}
}

// begin connects to the cluster and finds out what helmfile does with the only release.
func (h *helmfileDiff) begin(
	ctx context.Context, o *cli.CompareOptions, found *helmfile.Loaded, command string,
) (step *helmfile.Step, d cli.Session, err error) {
	r := found.Releases[0]
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
