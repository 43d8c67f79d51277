// Command demo shows helmdrift on a cluster of its own. It starts the embedded control plane, installs a small chart with Helm's library,
// changes six things without Helm, runs helmdrift diff, and stops everything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// This is the release of the demo.
const (
	releaseName = "web"
	namespace   = "prod"
)

func main() {
	plane := flag.String("controlplane", "", "the control plane's launcher")
	module := flag.String("module", "", "the control plane's module")
	helmdrift := flag.String("helmdrift", "", "the helmdrift binary")
	chart := flag.String("chart", "", "the chart to install")
	snapshot := flag.String("snapshot", "", "a file to save a snapshot of the drifted release in")
	flag.Parse()
	log.SetOutput(io.Discard) // because Helm's library logs
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := demo(ctx, *plane, *module, *helmdrift, *chart, *snapshot); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo runs all steps. The control plane ends when its standard input closes, whatever happens here.
func demo(ctx context.Context, launcher, module, helmdrift, chart, snapshot string) error {
	say("Starting a control plane of our own, on loopback …")
	plane, err := harness.Launcher{Path: launcher, Module: module, Log: os.Stderr}.Start(ctx, "--controllers", "--fake-nodes=1")
	if err != nil {
		return err
	}
	defer plane.Stop()
	if err := os.Setenv("KUBECONFIG", plane.Kubeconfig); err != nil {
		return fmt.Errorf("setting KUBECONFIG: %w", err)
	}
	settings := cli.New()
	settings.SetNamespace(namespace)
	say("Installing the chart with Helm's library: helm install %s %s -n %s --create-namespace", releaseName, filepath.Base(chart), namespace)
	if err := install(ctx, settings, chart); err != nil {
		return fmt.Errorf("installing the chart: %w", err)
	}
	say("Changing six things behind Helm's back:")
	if err := drift(ctx, settings); err != nil {
		return err
	}
	if snapshot != "" {
		if err := save(ctx, helmdrift, snapshot); err != nil {
			return err
		}
	}
	fmt.Printf("\n$ helmdrift diff %s -n %s\n\n", releaseName, namespace)
	return diff(ctx, helmdrift)
}

func say(format string, args ...any) { fmt.Printf("# "+format+"\n", args...) }

func install(ctx context.Context, settings *cli.EnvSettings, path string) error {
	kube.ManagedFieldsManager = "helm" // as the helm command calls itself
	config := new(action.Configuration)
	if err := config.Init(settings.RESTClientGetter(), namespace, "secret", func(string, ...any) {}); err != nil {
		return err
	}
	chart, err := loader.Load(path)
	if err != nil {
		return err
	}
	run := action.NewInstall(config)
	run.ReleaseName, run.Namespace, run.CreateNamespace = releaseName, namespace, true
	_, err = run.RunWithContext(ctx, chart, nil)
	return err
}

// change is one edit without Helm: who makes it, of what, and the command that a person would have typed.
type change struct {
	command, manager string
	resource         schema.GroupVersionResource
	name             string
	patch            string
	kind             types.PatchType
	subresource      []string
}

func changes() []change {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	core := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	return []change{
		{command: "kubectl scale deployment web --replicas=5", manager: "kubectl", resource: deployments, name: "web",
			patch: `{"spec":{"replicas":5}}`, kind: types.MergePatchType, subresource: []string{"scale"}},
		{command: "kubectl set image deployment web web=nginx:1.27", manager: "kubectl-set", resource: deployments, name: "web",
			patch: `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.27"}]}}}}`, kind: types.StrategicMergePatchType},
		{command: "kubectl edit deployment web         (adds the env variable DEBUG)", manager: "kubectl-edit", resource: deployments, name: "web",
			patch: `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"DEBUG","value":"1"}]}]}}}}`, kind: types.StrategicMergePatchType},
		{command: "kubectl patch secret web-login      (another password)", manager: "kubectl-patch", resource: core("secrets"), name: "web-login",
			patch: `{"stringData":{"password":"hunter2"}}`, kind: types.MergePatchType},
		{command: "k9s: edit budget web                (a custom resource: limit 10 becomes 30)", manager: "k9s",
			resource: schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "budgets"}, name: "web",
			patch: `{"spec":{"limit":30}}`, kind: types.MergePatchType},
		{command: "kubectl delete service web", resource: core("services"), name: "web"},
	}
}

func drift(ctx context.Context, settings *cli.EnvSettings) error {
	config, err := settings.RESTClientGetter().ToRESTConfig()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, c := range changes() {
		fmt.Println("    " + c.command)
		if err := c.make(ctx, client); err != nil {
			return fmt.Errorf("%s: %w", c.command, err)
		}
	}
	return nil
}

func (c change) make(ctx context.Context, client dynamic.Interface) error {
	objects := client.Resource(c.resource).Namespace(namespace)
	if c.patch == "" {
		return objects.Delete(ctx, c.name, metav1.DeleteOptions{})
	}
	_, err := objects.Patch(ctx, c.name, c.kind, []byte(c.patch), metav1.PatchOptions{FieldManager: c.manager}, c.subresource...)
	return err
}

// save saves a snapshot of the release.
func save(ctx context.Context, helmdrift, file string) error {
	cmd := exec.CommandContext(ctx, helmdrift, "snapshot", releaseName, "-n", namespace, "-o", file)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// diff runs helmdrift on the terminal. It must exit with 2: something drifted.
func diff(ctx context.Context, helmdrift string) error {
	cmd := exec.CommandContext(ctx, helmdrift, "diff", releaseName, "-n", namespace)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("helmdrift should have found drift, but said %w", err)
	}
	fmt.Printf("\n# It exits with %d: drift.\n", exit.ExitCode())
	if exit.ExitCode() != 2 {
		return fmt.Errorf("helmdrift failed with exit code %d", exit.ExitCode())
	}
	return nil
}
