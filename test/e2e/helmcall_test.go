package e2e

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"
	kube3 "helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/postrender"
	values4 "helm.sh/helm/v4/pkg/cli/values"
	getter4 "helm.sh/helm/v4/pkg/getter"
	kube4 "helm.sh/helm/v4/pkg/kube"
)

// helmCall is one call of Helm's command line.
type helmCall struct {
	// by4 selects Helm 4.
	by4  bool
	verb string
	// chart is the folder of a chart.
	chart string
	// values are Helm's own -f, --set and so on; the three flags say what happens to the values of the last revision.
	values                     values.Options
	reuse, reset, resetToReuse bool
	skipSchema                 bool
	// force is --force of Helm 3 and --force-replace of Helm 4; only Helm 4 has forceConflicts and serverSide.
	force, forceConflicts, takeOwnership bool
	// noHooks is --no-hooks; an installation alone has skipCRDs and createNamespace.
	noHooks, skipCRDs, createNamespace bool
	// noOpenAPI is --disable-openapi-validation.
	noOpenAPI, enableDNS bool
	// serverSide is auto, true or false. An installation takes auto as true, as upgrade --install does.
	serverSide string
	// dryRun is --dry-run=server: Helm renders the release and writes nothing.
	dryRun bool
	// as is the program that calls Helm's library; empty means the helm command.
	as string
	// wait is how long to wait until the deployed objects are ready; zero means not to wait.
	wait time.Duration
	// postRenderer is a program, postArgs its arguments.
	postRenderer string
	postArgs     []string
	revision     int
}

// helmName guards the field manager of Helm's libraries, a global variable of each library. Calls of the helm command share the lock.
var helmName sync.RWMutex

// named calls Helm under the name of the program.
func (h helmCall) named(call func() (string, error)) (string, error) {
	if h.as == "" {
		helmName.RLock()
		defer helmName.RUnlock()
		return call()
	}
	helmName.Lock()
	defer helmName.Unlock()
	defer func() { kube3.ManagedFieldsManager, kube4.ManagedFieldsManager = "helm", "helm" }()
	kube3.ManagedFieldsManager, kube4.ManagedFieldsManager = h.as, h.as
	return call()
}

// timeout returns how long a call may take.
func (h helmCall) timeout() time.Duration {
	if h.wait > 0 {
		return h.wait
	}
	return helmTimeout
}

// addFlags declares the flags that helm upgrade and helmdrift diff have in common.
func (h *helmCall) addFlags(flags *pflag.FlagSet, dir string) {
	flags.StringArrayVar(&h.values.Values, "set", nil, "")
	flags.StringArrayVar(&h.values.StringValues, "set-string", nil, "")
	flags.StringArrayVar(&h.values.JSONValues, "set-json", nil, "")
	flags.StringArrayVar(&h.values.FileValues, "set-file", nil, "")
	flags.StringArrayVar(&h.values.LiteralValues, "set-literal", nil, "")
	flags.VarPF(inDir{dir: dir, files: &h.values.ValueFiles}, "values", "f", "")
	flags.BoolVar(&h.reuse, "reuse-values", false, "")
	flags.BoolVar(&h.reset, "reset-values", false, "")
	flags.BoolVar(&h.resetToReuse, "reset-then-reuse-values", false, "")
	flags.BoolVar(&h.skipSchema, "skip-schema-validation", false, "")
	flags.StringVar(&h.serverSide, "server-side", "auto", "")
	flags.BoolVar(&h.forceConflicts, "force-conflicts", false, "")
	flags.BoolVar(&h.force, "force", false, "")
	flags.BoolVar(&h.force, "force-replace", false, "")
	flags.BoolVar(&h.takeOwnership, "take-ownership", false, "")
	flags.BoolVar(&h.noHooks, "no-hooks", false, "")
	flags.BoolVar(&h.skipCRDs, "skip-crds", false, "")
	flags.BoolVar(&h.createNamespace, "create-namespace", false, "")
	flags.BoolVar(&h.noOpenAPI, "disable-openapi-validation", false, "")
	flags.BoolVar(&h.enableDNS, "enable-dns", false, "")
	flags.StringVar(&h.postRenderer, "post-renderer", "", "")
	flags.StringArrayVar(&h.postArgs, "post-renderer-args", nil, "")
}

// inDir is a flag that takes files of a story.
type inDir struct {
	dir   string
	files *[]string
}

// Set implements pflag.Value.
func (f inDir) Set(file string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(f.dir, file)
	}
	*f.files = append(*f.files, file)
	return nil
}

// String implements pflag.Value.
func (f inDir) String() string { return "" }

// Type implements pflag.Value.
func (f inDir) Type() string { return "file" }

// parseHelm parses the arguments of a helm command: a verb, flags, and a chart or, for rollback, a revision.
func (c *Case) parseHelm(args []string) (helmCall, error) {
	if len(args) == 0 {
		return helmCall{}, errors.New("helm: a verb is missing")
	}
	call := helmCall{verb: args[0]}
	flags := pflag.NewFlagSet("helm "+call.verb, pflag.ContinueOnError)
	call.addFlags(flags, c.dir)
	flags.StringVar(&call.as, "as", "", "")
	flags.DurationVar(&call.wait, "wait", 0, "")
	clientSide := flags.Bool("client-side", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return call, err
	}
	if *clientSide {
		call.serverSide = "false"
	}
	var err error
	switch {
	case flags.NArg() == 0:
	case call.verb == "rollback":
		call.revision, err = strconv.Atoi(flags.Arg(0))
	default:
		call.chart, err = c.chart(flags.Arg(0))
	}
	return call, err
}

// parseDiff parses the arguments of a helmdrift diff as the call of Helm that they predict. It ignores flags that only helmdrift has.
func (c *Case) parseDiff(args []string) (helmCall, error) {
	call := helmCall{verb: "upgrade"}
	flags := pflag.NewFlagSet("diff", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	call.addFlags(flags, c.dir)
	target := flags.Int("to-revision", 0, "")
	flags.Bool("install", false, "")
	flags.Bool("no-lookup", false, "")
	helm := flags.String("helm-version", "", "")
	if err := flags.Parse(args); err != nil {
		return call, err
	}
	if flags.NArg() > 1 {
		call.chart = flags.Arg(1)
	}
	call.by4 = *helm == "4" || *helm == "" && c.call.by4
	if *target != 0 {
		call.verb, call.revision = "rollback", *target
	}
	return call, nil
}

// merged returns the values as the called Helm merges them.
func (h helmCall) merged() (map[string]any, error) {
	if h.by4 {
		options := values4.Options(h.values)
		return options.MergeValues(getter4.Providers{})
	}
	return h.values.MergeValues(getter.Providers{})
}

// loaded returns what every call of either Helm needs: the chart, as that Helm's loader reads it, the merged values and the post-renderer.
func loaded[Chart any](call helmCall, load func(path string) (Chart, error)) (chart Chart, vals map[string]any, renderer postrender.PostRenderer, err error) {
	if chart, err = load(call.chart); err != nil {
		return chart, nil, nil, err
	}
	if vals, err = call.merged(); err != nil {
		return chart, nil, nil, err
	}
	renderer, err = call.renderer()
	return chart, vals, renderer, err
}

// renderer returns the post-renderer, or nil.
func (h helmCall) renderer() (postrender.PostRenderer, error) {
	if h.postRenderer == "" {
		return nil, nil
	}
	return postrender.NewExec(h.postRenderer, h.postArgs...)
}

// chart finds a chart: a folder of the story, a single template of the story, which becomes a chart of that name, or a folder of
// testdata/charts.
func (c *Case) chart(name string) (string, error) {
	path := filepath.Join(c.dir, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		path, err = filepath.Abs(filepath.Join("testdata", "charts", name))
		if err != nil {
			return "", err
		}
	case !info.IsDir() && !strings.HasSuffix(name, ".tgz"):
		return c.chartOfTemplate(path)
	}
	return path, nil
}

func (c *Case) chartOfTemplate(template string) (string, error) {
	text, err := os.ReadFile(template)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(template), filepath.Ext(template))
	dir := filepath.Join(c.dir, ".charts", name)
	return dir, errors.Join(
		os.MkdirAll(filepath.Join(dir, "templates"), 0o755),
		os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("apiVersion: v2\nname: "+name+"\nversion: 1.0.0\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "templates", filepath.Base(template)), text, 0o644),
	)
}
