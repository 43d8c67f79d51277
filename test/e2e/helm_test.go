package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// helmTimeout bounds one call of Helm; nothing waits for pods.
const helmTimeout = 60 * time.Second

// helmCall is one call of Helm's command line.
type helmCall struct {
	verb string
	// chart is the folder of a chart.
	chart string
	// values are Helm's own --set and -f.
	values        values.Options
	takeOwnership bool
	// postRender drops the comments, as post-renderers that reprint YAML do.
	postRender bool
	// clientSide keeps Helm 4 from applying server-side.
	clientSide bool
	revision   int
}

// parseHelm reads the arguments of a helm command: a verb, flags, and a chart
// or, for rollback, a revision.
func (c *Case) parseHelm(args []string) (helmCall, error) {
	if len(args) == 0 {
		return helmCall{}, errors.New("helm: a verb is missing")
	}
	call := helmCall{verb: args[0]}
	flags := flag.NewFlagSet("helm "+call.verb, flag.ContinueOnError)
	flags.Func("set", "a value", appendTo(&call.values.Values))
	flags.Func("f", "a values file", func(file string) error {
		call.values.ValueFiles = append(call.values.ValueFiles, filepath.Join(c.dir, file))
		return nil
	})
	flags.BoolVar(&call.takeOwnership, "take-ownership", false, "")
	flags.BoolVar(&call.postRender, "post-render", false, "")
	flags.BoolVar(&call.clientSide, "client-side", false, "")
	if err := flags.Parse(args[1:]); err != nil {
		return call, err
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

func appendTo(list *[]string) func(string) error {
	return func(text string) error {
		*list = append(*list, text)
		return nil
	}
}

// chart finds a chart: a folder of the story, a lone template of the story,
// which becomes a chart of that name, or a folder of testdata/charts.
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

// merged are the values, as both Helms merge them.
func (h helmCall) merged() (map[string]any, error) {
	return h.values.MergeValues(getter.Providers{})
}

// configFlags is what Helm's command line makes of its flags.
func (c *Case) configFlags() *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true)
	cache := filepath.Join(suite.dir, "cache")
	flags.KubeConfig, flags.Namespace, flags.CacheDir = &c.cluster.kubeconfig, &c.ns, &cache
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1
		return config
	}
	return flags
}

// helm3 calls Helm 3.
func (c *Case) helm3(call helmCall) error {
	cfg := &action.Configuration{}
	if err := cfg.Init(c.configFlags(), c.storage, c.driver(), func(string, ...any) {}); err != nil {
		return err
	}
	switch call.verb {
	case "install":
		return c.install3(cfg, call)
	case "upgrade":
		return c.upgrade3(cfg, call)
	case "rollback":
		rollback := action.NewRollback(cfg)
		rollback.Version, rollback.Timeout = call.revision, helmTimeout
		return rollback.Run(c.release)
	case "uninstall":
		uninstall := action.NewUninstall(cfg)
		uninstall.KeepHistory, uninstall.Timeout = true, helmTimeout
		_, err := uninstall.Run(c.release)
		return err
	}
	return fmt.Errorf("helm: unknown verb %q", call.verb)
}

func (c *Case) install3(cfg *action.Configuration, call helmCall) error {
	chart, err := loader.Load(call.chart)
	if err != nil {
		return err
	}
	vals, err := call.merged()
	if err != nil {
		return err
	}
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.Timeout = c.release, c.ns, helmTimeout
	install.TakeOwnership = call.takeOwnership
	if call.postRender {
		install.PostRenderer = dropComments{}
	}
	_, err = install.Run(chart, vals)
	return err
}

func (c *Case) upgrade3(cfg *action.Configuration, call helmCall) error {
	chart, err := loader.Load(call.chart)
	if err != nil {
		return err
	}
	vals, err := call.merged()
	if err != nil {
		return err
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout, upgrade.MaxHistory = c.ns, helmTimeout, 10
	upgrade.TakeOwnership = call.takeOwnership
	if call.postRender {
		upgrade.PostRenderer = dropComments{}
	}
	_, err = upgrade.Run(c.release, chart, vals)
	return err
}

// manifest is helm get manifest.
func (c *Case) manifest() (string, error) {
	cfg := &action.Configuration{}
	if err := cfg.Init(c.configFlags(), c.storage, c.driver(), func(string, ...any) {}); err != nil {
		return "", err
	}
	last, err := action.NewGet(cfg).Run(c.release)
	if err != nil {
		return "", err
	}
	return last.Manifest, nil
}

// forge changes the last record as Helm would not have, or not just then.
func (c *Case) forge(change func(*release.Release)) error {
	cfg := &action.Configuration{}
	if err := cfg.Init(c.configFlags(), c.storage, c.driver(), func(string, ...any) {}); err != nil {
		return err
	}
	last, err := cfg.Releases.Last(c.release)
	if err != nil {
		return err
	}
	change(last)
	return cfg.Releases.Update(last)
}

// dropComments is a post-renderer.
type dropComments struct{}

var comment = regexp.MustCompile(`(?m)^#.*\n`)

// Run implements Helm's PostRenderer.
func (dropComments) Run(manifests *bytes.Buffer) (*bytes.Buffer, error) {
	return bytes.NewBuffer(comment.ReplaceAll(manifests.Bytes(), nil)), nil
}
