package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubewait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

// fluxBench measures a fleet that Flux deploys from a working tree: diff --from against diff -A and the rendering of the charts. Half of
// the charts are in the tree, and half are in a HelmRepository. The tree changes the values of each 20th HelmRelease.
type fluxBench struct {
	bench
	// tree is the working tree, and charts are its charts by their names.
	tree   string
	charts map[string]*chart.Chart
	// asked counts the requests to the HelmRepository by their paths.
	mu    sync.Mutex
	asked map[string]int
}

const (
	fluxNamespace = "flux-system"
	treeAddress   = "https://git.example.com/shop/fleet"
)

// run prints a table.
func (b *fluxBench) run(ctx context.Context, out io.Writer) error {
	size := b.sizes[len(b.sizes)-1]
	b.tree, b.charts, b.asked = filepath.Join(b.dir, "tree"), map[string]*chart.Chart{}, map[string]int{}
	served := filepath.Join(b.dir, "charts")
	if err := errors.Join(fill(ctx, b.fleet, b.config, 0, size), os.MkdirAll(served, 0o755)); err != nil {
		return err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.asked[r.URL.Path]++
		b.mu.Unlock()
		http.FileServer(http.Dir(served)).ServeHTTP(w, r)
	}))
	defer server.Close()
	if err := b.deploy(ctx, size, served, server.URL); err != nil {
		return err
	}
	return b.compare(ctx, out, size)
}

// addFluxLabels adds the labels of helm-controller to an object (fluxcd/helm-controller v1.6.0 internal/postrender/build.go
// BuildPostRenderers).
func addFluxLabels(r fleet.Release, o *unstructured.Unstructured) {
	labels := o.GetLabels()
	labels["helm.toolkit.fluxcd.io/name"], labels["helm.toolkit.fluxcd.io/namespace"] = r.Name, r.Namespace
	o.SetLabels(labels)
}

// deploy writes the tree, and the objects of Flux to the cluster.
func (b *fluxBench) deploy(ctx context.Context, size int, served, address string) error {
	objects := []map[string]any{
		fluxObject("source.toolkit.fluxcd.io/v1", "GitRepository", fluxNamespace, "flux-system", map[string]any{"url": treeAddress}),
		fluxObject("source.toolkit.fluxcd.io/v1", "HelmRepository", fluxNamespace, "charts", map[string]any{"url": address}),
		fluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", fluxNamespace, "apps", map[string]any{
			"path": "apps", "prune": true, "sourceRef": map[string]any{"kind": "GitRepository", "name": "flux-system"},
		}),
	}
	if err := writeObject(filepath.Join(b.tree, "clusters/prod/apps.yaml"), objects[2]); err != nil {
		return err
	}
	git := filepath.Join(b.tree, ".git")
	err := errors.Join(os.MkdirAll(git, 0o755),
		os.WriteFile(filepath.Join(git, "config"), []byte("[remote \"origin\"]\n\turl = "+treeAddress+"\n"), 0o600))
	if err != nil {
		return err
	}
	for number := range size {
		r := b.fleet.Release(number)
		if err := b.save(r.Chart(), served); err != nil {
			return err
		}
		one := b.helmRelease(r)
		objects = append(objects, one, helmChartOf(one, r.Chart()))
		inTree := map[string]any{"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": one["metadata"], "spec": one["spec"]}
		if number%20 == 7 {
			spec, values := maps.Clone(one["spec"].(map[string]any)), r.Config()
			values["replicas"] = 9
			spec["values"], inTree["spec"] = values, spec
		}
		if err := writeObject(filepath.Join(b.tree, "apps", r.Name+".yaml"), inTree); err != nil {
			return err
		}
	}
	index, err := repo.IndexDirectory(served, address)
	if err != nil {
		return err
	}
	return errors.Join(index.WriteFile(filepath.Join(served, "index.yaml"), 0o600), b.create(ctx, objects))
}

// save saves a chart in the tree or in the HelmRepository, once.
func (b *fluxBench) save(c *chart.Chart, served string) error {
	if b.charts[c.Name()] != nil {
		return nil
	}
	b.charts[c.Name()] = c
	if b.isInTree(c.Name()) {
		return chartutil.SaveDir(c, filepath.Join(b.tree, "charts"))
	}
	_, err := chartutil.Save(c, served)
	return err
}

// isInTree reports whether a chart is in the tree.
func (b *fluxBench) isInTree(name string) bool { return name[0]%2 == 0 }

// helmRelease returns the HelmRelease of a release as it is after helm-controller has deployed it.
func (b *fluxBench) helmRelease(r fleet.Release) map[string]any {
	wanted := map[string]any{"chart": r.Chart().Name(), "version": r.Chart().Metadata.Version,
		"sourceRef": map[string]any{"kind": "HelmRepository", "name": "charts", "namespace": fluxNamespace}}
	if b.isInTree(r.Chart().Name()) {
		wanted = map[string]any{"chart": "charts/" + r.Chart().Name(),
			"sourceRef": map[string]any{"kind": "GitRepository", "name": "flux-system", "namespace": fluxNamespace}}
	}
	out := fluxObject("helm.toolkit.fluxcd.io/v2", "HelmRelease", r.Namespace, r.Name, map[string]any{
		"chart": map[string]any{"spec": wanted}, "values": r.Config(),
	})
	out["metadata"].(map[string]any)["labels"] = map[string]any{
		"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": fluxNamespace,
	}
	out["status"] = map[string]any{"observedGeneration": 1, "storageNamespace": r.Namespace, "history": []any{map[string]any{
		"name": r.Name, "namespace": r.Namespace, "version": r.Revisions, "status": "deployed", "chartName": r.Chart().Name(),
		"chartVersion": r.Chart().Metadata.Version, "configDigest": api.Digest(r.Config()),
	}}}
	return out
}

// helmChartOf returns the HelmChart that helm-controller makes of a HelmRelease, as source-controller leaves it.
func helmChartOf(h map[string]any, c *chart.Chart) map[string]any {
	wanted, _, _ := unstructured.NestedMap(h, "spec", "chart", "spec")
	source := wanted["sourceRef"].(map[string]any)
	delete(source, "namespace")
	if wanted["version"] == nil {
		wanted["version"] = "*"
	}
	wanted["reconcileStrategy"] = "ChartVersion"
	u := unstructured.Unstructured{Object: h}
	out := fluxObject("source.toolkit.fluxcd.io/v1", "HelmChart", fluxNamespace, u.GetNamespace()+"-"+u.GetName(), wanted)
	out["status"] = map[string]any{"observedGeneration": 1, "artifact": map[string]any{"revision": c.Metadata.Version}}
	return out
}

// create creates objects of Flux, whose kinds it defines with any fields.
func (b *fluxBench) create(ctx context.Context, objects []map[string]any) error {
	config := rest.CopyConfig(b.config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	create := func(to dynamic.ResourceInterface, o map[string]any) error {
		_, err := to.Create(ctx, &unstructured.Unstructured{Object: o}, metav1.CreateOptions{FieldManager: "kustomize-controller"})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	plural := map[string]schema.GroupVersionResource{}
	for _, o := range objects {
		u := unstructured.Unstructured{Object: o}
		kind := u.GroupVersionKind()
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		if _, isDefined := plural[kind.Kind]; !isDefined {
			plural[kind.Kind] = resource
			if err := create(crds, definitionOf(kind, resource.Resource)); err != nil {
				return err
			}
		}
	}
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if err := create(namespaces, fluxObject("v1", "Namespace", "", fluxNamespace, nil)); err != nil {
		return err
	}
	for _, o := range objects {
		u := &unstructured.Unstructured{Object: o}
		to := client.Resource(plural[u.GetKind()]).Namespace(u.GetNamespace())
		err := kubewait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return create(to, o) == nil, nil
		})
		if err != nil {
			return fmt.Errorf("create %s %s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return nil
}

// compare measures in turns.
func (b *fluxBench) compare(ctx context.Context, out io.Writer, size int) error {
	r := runner{tools: b.tools, kubeconfig: b.kubeconfig, dir: b.dir}
	from := "diff -A --from " + filepath.Join(b.tree, "clusters/prod") + " -o json"
	proxy, err := startCounter(b.config, r)
	if err != nil {
		return err
	}
	defer proxy.close()
	seen, err := proxy.runner.scan(ctx, from)
	if err != nil {
		return err
	}
	traffic := proxy.take()
	if err := checkFlux(seen.stdout, size); err != nil {
		return err
	}
	b.mu.Lock()
	fetched := fmt.Sprint(b.asked)
	b.mu.Unlock()
	var scans, froms, renders cost
	peak := 0
	for round := range b.rounds {
		say("%d HelmReleases, round %d", size, round+1)
		err := firstError(
			timed(&scans.elapsed, 1, func() error {
				one, err := r.scan(ctx, wholeFleet)
				scans.processor = append(scans.processor, one.processor)
				return err
			}),
			timed(&renders.elapsed, 1, func() error {
				before := ownProcessor()
				err := b.render(size)
				renders.processor = append(renders.processor, ownProcessor()-before)
				return err
			}),
			timed(&froms.elapsed, 1, func() error {
				one, err := r.scan(ctx, from)
				peak, froms.processor = max(peak, one.peak), append(froms.processor, one.processor)
				return err
			}),
		)
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d HelmReleases, %d charts, %d objects each, medians of %d rounds. Requests to the HelmRepository: %s\n\n"+
		"| | `diff -A` | rendering | `diff -A --from` | : both |\n|---|---:|---:|---:|---:|\n", size, len(b.charts), b.options.fleet.Objects,
		b.rounds, fetched)
	row := func(title string, scans, renders, froms time.Duration) {
		fmt.Fprintf(out, "| %s | %.2f s | %.2f s | %.2f s | %s |\n", title, scans.Seconds(), renders.Seconds(), froms.Seconds(),
			ratio(froms, scans+renders))
	}
	row("elapsed", median(scans.elapsed), median(renders.elapsed), median(froms.elapsed))
	row("processor time", median(scans.processor), median(renders.processor), median(froms.processor))
	fmt.Fprintf(out, "\n`diff -A --from` takes %s and %d requests.\n", megabytes(peak), traffic.requests)
	return nil
}

// cost has what the rounds of a measurement took.
type cost struct{ elapsed, processor []time.Duration }

// ownProcessor returns the processor time of this process so far, of the system too.
func ownProcessor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// render renders the chart of each release with Helm's library, as helm upgrade does.
func (b *fluxBench) render(size int) error {
	for number := range size {
		if _, err := b.fleet.Release(number).Manifest(); err != nil {
			return err
		}
	}
	return nil
}

// checkFlux checks that a report has all HelmReleases, no errors, and an upgrade where the tree changes values.
func checkFlux(text []byte, size int) error {
	var report struct {
		Releases []struct {
			Name     string
			Errors   []json.RawMessage
			Deployer struct {
				Action       string
				NotRolledOut int
			}
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	actions := map[string]int{}
	for _, r := range report.Releases {
		if actions[r.Deployer.Action]++; len(r.Errors) > 0 || r.Deployer.NotRolledOut > 0 {
			return fmt.Errorf("report: %s: %s, %d objects are not rolled out", r.Name, r.Errors, r.Deployer.NotRolledOut)
		}
	}
	if changed := (size + 12) / 20; actions["upgrade"] != changed || actions["none"] != size-changed {
		return fmt.Errorf("report: %v for %d HelmReleases", actions, size)
	}
	return nil
}

// fluxObject returns an object.
func fluxObject(version, kind, namespace, name string, spec map[string]any) map[string]any {
	out := map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}}
	if namespace != "" {
		out["metadata"] = map[string]any{"name": name, "namespace": namespace}
	}
	if spec != nil {
		out["spec"] = spec
	}
	return out
}

// definitionOf returns the definition of a kind with any fields.
func definitionOf(kind schema.GroupVersionKind, plural string) map[string]any {
	return fluxObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+"."+kind.Group, map[string]any{
		"group": kind.Group, "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind.Kind},
		"versions": []any{map[string]any{"name": kind.Version, "served": true, "storage": true, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}}},
	})
}

// writeObject writes an object as a file.
func writeObject(name string, o map[string]any) error {
	text, err := yaml.Marshal(o)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o600))
}
