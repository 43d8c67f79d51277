package argo_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file compares what the sources of random Applications make with what the repo-server makes of them, object by object.

var (
	argocdPrograms = flag.String("argocd", "", "a folder with the programs argocd and helm; make argocd compiles them")
	publicCharts   = flag.String("charts", "", "a folder with charts")
	renderings     = flag.Int("renderings", 3, "how many Applications are rendered for each chart; the first has no values")
	renderingSeed  = flag.Uint64("renderings.seed", 1, "the seed of the values")
)

// TestRenderings renders each chart several times.
func TestRenderings(t *testing.T) {
	if *argocdPrograms == "" || *publicCharts == "" {
		t.Skip("-argocd or -charts names no folder: make argocd ARGO_CHARTS=DIR runs this test")
	}
	t.Setenv("PATH", *argocdPrograms+string(os.PathListSeparator)+os.Getenv("PATH"))
	charts, err := filepath.Glob(filepath.Join(*publicCharts, "*", "Chart.yaml"))
	if err != nil || len(charts) == 0 {
		t.Fatal("there are no charts", err)
	}
	server := startArgoCD(t)
	same, refused, objects, withSame := 0, 0, 0, 0
	for _, chart := range charts {
		name := filepath.Base(filepath.Dir(chart))
		t.Run(name, func(t *testing.T) {
			before := same
			for n := range *renderings {
				a := newRandomApplication(t, filepath.Dir(chart), n)
				theirs, refusal := server.render(t, a)
				ours, err := a.render(t)
				switch {
				case refusal != "" && err != nil:
					refused++
					if n == 0 {
						t.Logf("both refuse the chart without values: %v", err)
					}
				case refusal != "":
					t.Errorf("%d: Argo CD refuses it, and helmdrift does not: %s\n%s", n, refusal, a)
				case err != nil:
					t.Errorf("%d: helmdrift refuses it, and Argo CD does not: %v\n%s", n, err, a)
				default:
					differs := differences(theirs, theirs, ours)
					if len(differs) > 0 { // if they differ with each rendering, that is no difference
						again, _ := server.render(t, a)
						differs = differences(theirs, again, ours)
					}
					if len(differs) > 0 {
						t.Errorf("%d: theirs, then ours:\n%s\n%s", n, strings.Join(differs, "\n"), a)
						continue
					}
					same++
					objects += len(ours)
				}
			}
			if same > before {
				withSame++
			}
		})
	}
	t.Logf("%d charts, %d of them rendered: %d renderings are the same, with %d objects; Argo CD and helmdrift refuse %d",
		len(charts), withSame, same, objects, refused)
}

// argoCD is the running command manifests.
type argoCD struct {
	orders  *json.Encoder
	answers *json.Decoder
}

func startArgoCD(t *testing.T) argoCD {
	command := exec.Command("argocd", "manifests")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	return argoCD{json.NewEncoder(in), json.NewDecoder(out)}
}

// render returns the objects that Argo CD makes of an Application, or why it makes none.
func (c argoCD) render(t *testing.T, a *randomApplication) (objects map[string]any, refusal string) {
	t.Helper()
	order := map[string]any{
		"Root": a.root, "Revision": a.revision, "Name": a.name, "Namespace": a.namespace, "Project": "default", "Sources": a.sources,
		"KubeVersion": a.kubeVersion(), "APIVersions": apiVersions(), "ClusterScoped": clusterScoped(), "Tracking": cmp.Or(a.settings["application.resourceTrackingMethod"], "annotation"),
		"Label": cmp.Or(a.settings["application.instanceLabelKey"], "app.kubernetes.io/instance"), "InstallationID": a.settings["installationID"],
		"BuildOptions": a.settings["kustomize.buildOptions"],
	}
	var answer struct {
		Objects []map[string]any
		Error   string
	}
	if err := c.orders.Encode(order); err != nil {
		t.Fatal(err)
	}
	if err := c.answers.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	objects = map[string]any{}
	for _, o := range answer.Objects {
		objects[nameOf(o)] = o
	}
	return objects, answer.Error
}

// nameOf names an object.
func nameOf(o map[string]any) string {
	version, _ := o["apiVersion"].(string)
	metadata := object.Child(o, "metadata")
	return fmt.Sprint(version, " ", o["kind"], " ", metadata["namespace"], "/", metadata["name"])
}

// differences returns what differs between our objects and theirs, except where two renderings of theirs differ, and in objects whose names
// are no texts, which no cluster takes.
func differences(theirs, again, ours map[string]any) (out []string) {
	random := map[string]bool{}
	walk("", theirs, again, func(path string, _, _ any) { random[path] = true })
	for name, o := range theirs {
		content, _ := o.(map[string]any)
		if _, isText := object.Child(content, "metadata")["name"].(string); !isText {
			delete(theirs, name)
			delete(ours, name)
		}
	}
	walk("", theirs, ours, func(path string, a, b any) {
		if !random[path] {
			out = append(out, fmt.Sprintf("%s: %.300s, %.300s", path, asText(a), asText(b)))
		}
	})
	return out
}

func asText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// walk calls a function for each value that differs.
func walk(path string, a, b any, differs func(path string, a, b any)) {
	switch x := a.(type) {
	case map[string]any:
		y, isMap := b.(map[string]any)
		if !isMap {
			break
		}
		all := maps.Clone(x)
		maps.Copy(all, y)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			inA, isInA := x[key]
			inB, isInB := y[key]
			if at := path + "/" + key; isInA != isInB {
				differs(at, inA, inB)
			} else {
				walk(at, inA, inB, differs)
			}
		}
		return
	case []any:
		y, isList := b.([]any)
		if !isList || len(x) != len(y) {
			break
		}
		for i := range x {
			walk(fmt.Sprintf("%s/%d", path, i), x[i], y[i], differs)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		differs(path, a, b)
	}
}

// randomApplication is an Application with random values.
type randomApplication struct {
	*rand.Rand
	root, revision, name, namespace, server string
	sources                                 []map[string]any
	settings                                map[string]string
	files, links                            map[string]string
	// asked is the version of Kubernetes that the user gives, added are API versions.
	asked string
	added []string
}

// newRandomApplication copies a chart into a repository of its own, and makes the nth Application for it.
func newRandomApplication(t *testing.T, chart string, n int) *randomApplication {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(root, "chart"), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	seed := uint64(n)
	for _, letter := range filepath.Base(chart) {
		seed = seed*31 + uint64(letter)
	}
	a := &randomApplication{Rand: rand.New(rand.NewPCG(*renderingSeed, seed)), root: root, revision: "0123456789abcdef0123456789abcdef01234567",
		name: "web", namespace: "shop", server: "v1.36.3", settings: map[string]string{}, files: map[string]string{}}
	helm := map[string]any{}
	source := map[string]any{"repoURL": "https://git.example.com/charts", "path": "chart", "targetRevision": "main", "helm": helm}
	a.sources = []map[string]any{source}
	if n > 0 {
		a.vary(helm)
		values := map[string]any{}
		text, _ := os.ReadFile(filepath.Join(root, "chart", "values.yaml"))
		if err := yaml.Unmarshal(text, &values); err != nil {
			t.Fatal(err)
		}
		a.addValues(helm, values)
	}
	a.write(t)
	return a
}

// write writes the files of the repository besides those of the chart.
func (a *randomApplication) write(t *testing.T) {
	t.Helper()
	for name, text := range a.files {
		name = filepath.Join(a.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range a.links {
		if err := os.Symlink(to, filepath.Join(a.root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func (a *randomApplication) percent(n int) bool { return a.IntN(100) < n }

func one[T any](a *randomApplication, all ...T) T { return all[a.IntN(len(all))] }

// String shows the Application.
func (a *randomApplication) String() string {
	text, _ := yaml.Marshal(map[string]any{"name": a.name, "namespace": a.namespace, "server": a.server, "sources": a.sources, "argocd-cm": a.settings, "files": a.files})
	return string(text)
}

// varyTracking changes how Argo CD marks objects.
func (a *randomApplication) varyTracking() {
	if a.percent(30) {
		a.settings["application.resourceTrackingMethod"] = one(a, "label", "annotation", "annotation+label")
	}
	if a.percent(15) {
		a.settings["application.instanceLabelKey"] = "example.com/instance"
	}
}

// vary changes everything but the values.
func (a *randomApplication) vary(helm map[string]any) {
	a.name = one(a, "web", "web", "prod.web", "a-name-that-is-nearly-as-long-as-names-may-be-here", "web", "prod.web")
	if a.percent(5) {
		a.name = "a-name-that-is-longer-than-those-of-releases-can-be-here"
	}
	a.namespace = one(a, "shop", "shop", "kube-system")
	a.server = one(a, "v1.36.3", "v1.31.2+k3s1", "v1.33.4-gke.1415000")
	a.varyTracking()
	if a.percent(15) {
		a.settings["installationID"] = "here"
	}
	if a.percent(20) {
		helm["releaseName"] = "other"
	}
	if a.percent(20) {
		helm["namespace"] = "elsewhere"
	}
	if a.percent(20) {
		helm["skipCrds"] = true
	}
	if a.percent(10) {
		helm["skipSchemaValidation"] = true
	}
	if a.percent(10) {
		helm["skipTests"] = true
	}
	if a.percent(20) {
		helm["kubeVersion"] = one(a, "1.25", "v1.29.4", "1.31.0-eks-1234", "1.20.15")
	}
	if a.percent(20) {
		helm["apiVersions"] = one(a, []string{"monitoring.coreos.com/v1"}, []string{"monitoring.coreos.com/v1/ServiceMonitor", "apps/v1"},
			[]string{"networking.k8s.io/v1/Ingress", "cert-manager.io/v1"}, []string{"policy/v1beta1/PodSecurityPolicy", "route.openshift.io/v1"})
	}
}

// leaf is a value of values.yaml.
type leaf struct {
	path  []string
	value any
}

// leaves returns the values that are no objects with fields.
func leaves(path []string, value any) (out []leaf) {
	fields, isMap := value.(map[string]any)
	if !isMap || len(fields) == 0 {
		return []leaf{{slices.Clone(path), value}}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, leaves(append(path, name), fields[name])...)
	}
	return out
}

// addValues changes some of the values in the places that an Application has for them.
func (a *randomApplication) addValues(helm, values map[string]any) {
	all := leaves(nil, values)
	inFile, inGlob, inOther, inline := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	var parameters []any
	var fileParameters []any
	seen := map[string]bool{}
	for range 1 + a.IntN(8) {
		l := all[a.IntN(len(all))]
		if len(l.path) == 0 || seen[strings.Join(l.path, "\x00")] {
			continue
		}
		seen[strings.Join(l.path, "\x00")] = true
		name := parameterName(l.path)
		switch a.IntN(8) {
		case 0:
			put(inFile, l.path, a.changed(l.value))
		case 1:
			put(inGlob, l.path, a.changed(l.value))
		case 2:
			put(inOther, l.path, a.changed(l.value))
		case 3, 4:
			if name != "" {
				parameters = append(parameters, map[string]any{"name": name, "value": a.parameter(l.value), "forceString": a.percent(30)})
			}
		case 5:
			if _, isText := l.value.(string); isText && name != "" && a.percent(30) {
				fileParameters = append(fileParameters, map[string]any{"name": name, "path": "../extra/text.txt"})
				a.files["extra/text.txt"] = one(a, "a text", "with, commas\nand lines\n", "1")
			}
		default:
			put(inline, l.path, a.changed(l.value))
		}
	}
	var files []any
	if len(inFile) > 0 {
		a.files["chart/own-values.yaml"] = asYAML(inFile)
		files = append(files, one(a, "own-values.yaml", "/chart/own-values.yaml"))
	}
	if len(inGlob) > 0 {
		a.files["envs/a.yaml"], a.files["envs/b.yaml"] = asYAML(inGlob), "{}\n"
		files = append(files, one(a, "../envs/*.yaml", "/envs/**/*.yaml", "/envs/?.yaml"))
	}
	if len(inOther) > 0 {
		a.files["envs/prod.yaml"] = asYAML(inOther)
		files = append(files, one(a, "$values/envs/prod.yaml", "$values/envs/$ARGOCD_ENV/../prod.yaml"))
		a.sources = append(a.sources, map[string]any{"repoURL": "https://git.example.com/values", "targetRevision": "main", "ref": "values"})
	}
	if a.percent(10) {
		files = append(files, "missing.yaml")
		helm["ignoreMissingValueFiles"] = true
	}
	a.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for key, list := range map[string][]any{"valueFiles": files, "parameters": parameters, "fileParameters": fileParameters} {
		if len(list) > 0 {
			helm[key] = list
		}
	}
	if len(inline) > 0 {
		if a.percent(50) {
			helm["valuesObject"] = inline
		} else {
			helm["values"] = asYAML(inline)
		}
	}
}

func asYAML(v any) string {
	text, _ := yaml.Marshal(v)
	return string(text)
}

// put sets a value.
func put(in map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, isMap := in[name].(map[string]any)
		if !isMap {
			next = map[string]any{}
			in[name] = next
		}
		in = next
	}
	in[path[len(path)-1]] = value
}

// parameterName returns the name of a parameter, or "" if it has letters with a meaning.
func parameterName(path []string) string {
	var out []string
	for _, name := range path {
		if strings.ContainsAny(name, `,=[]{}\"`) {
			return ""
		}
		out = append(out, strings.ReplaceAll(name, ".", `\.`))
	}
	return strings.Join(out, ".")
}

// changed returns another value, most often of the same type.
func (a *randomApplication) changed(value any) any {
	if a.percent(4) {
		return nil
	}
	switch v := value.(type) {
	case bool:
		return !v
	case float64:
		return one[any](a, 0, 1, 3, 12)
	case string:
		return one[any](a, "", "x", "x", "a,b", "true", "0123", "1e3", "{{ .Release.Name }}-x", "two\nlines", "ü", "$HOME", "${ARGOCD_APP_NAME}", "http://x.example.com")
	case []any:
		if len(v) > 0 && a.percent(50) {
			return append(slices.Clone(v), v[0])
		}
		return one[any](a, []any{}, []any{map[string]any{"name": "a", "value": "b"}}, []any{"a", "b"})
	case map[string]any:
		return one[any](a, map[string]any{"a": "b"}, map[string]any{"a/b": "c", "d": "1"}, map[string]any{}, map[string]any{"a": 5})
	}
	return one[any](a, "x", 5, true, []any{}, map[string]any{"a": "b"}, "")
}

// parameter returns the text of a parameter.
func (a *randomApplication) parameter(value any) string {
	switch v := value.(type) {
	case bool:
		return fmt.Sprint(!v)
	case float64:
		return one(a, "0", "1", "3", "12", "1.5", "0123")
	}
	return one(a, "", "x", "a,b", `a\,b`, "{a,b}", "true", "null", "12", "$ARGOCD_APP_NAME-x", "${ARGOCD_APP_REVISION_SHORT}", "x=y", "a b", "$$x", "$UNKNOWN", "a.b[0]", "two\nlines", `{"a": "b"}`)
}

// kubeVersion is what the controller makes of the version of the server.
func (a *randomApplication) kubeVersion() string { return a.server[:len("v1.36.3")] }

// kinds are the kinds of the cluster.
func kinds() map[string][]string {
	return map[string][]string{
		"v1": {"ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace*", "Node*", "PersistentVolume*", "PersistentVolumeClaim", "Pod", "PodTemplate",
			"ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"},
		"apps/v1":                         {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
		"batch/v1":                        {"CronJob", "Job"},
		"autoscaling/v1":                  {"HorizontalPodAutoscaler"},
		"autoscaling/v2":                  {"HorizontalPodAutoscaler"},
		"policy/v1":                       {"PodDisruptionBudget"},
		"networking.k8s.io/v1":            {"Ingress", "IngressClass*", "NetworkPolicy"},
		"rbac.authorization.k8s.io/v1":    {"ClusterRole*", "ClusterRoleBinding*", "Role", "RoleBinding"},
		"admissionregistration.k8s.io/v1": {"MutatingWebhookConfiguration*", "ValidatingWebhookConfiguration*", "ValidatingAdmissionPolicy*", "ValidatingAdmissionPolicyBinding*"},
		"apiextensions.k8s.io/v1":         {"CustomResourceDefinition*"},
		"apiregistration.k8s.io/v1":       {"APIService*"},
		"certificates.k8s.io/v1":          {"CertificateSigningRequest*"},
		"scheduling.k8s.io/v1":            {"PriorityClass*"},
		"storage.k8s.io/v1":               {"CSIDriver*", "StorageClass*"},
		"coordination.k8s.io/v1":          {"Lease"},
		"discovery.k8s.io/v1":             {"EndpointSlice"},
	}
}

// apiVersions are the versions and kinds that templates can ask about.
func apiVersions() (out []string) {
	for version, all := range kinds() {
		out = append(out, version)
		for _, kind := range all {
			out = append(out, version+"/"+strings.TrimSuffix(kind, "*"))
		}
	}
	slices.Sort(out)
	return out
}

// clusterScoped are the kinds without namespaces.
func clusterScoped() (out []schema.GroupKind) {
	for version, all := range kinds() {
		group, _ := schema.ParseGroupVersion(version)
		for _, kind := range all {
			if name, found := strings.CutSuffix(kind, "*"); found {
				out = append(out, schema.GroupKind{Group: group.Group, Kind: name})
			}
		}
	}
	return out
}

// renderingCluster is the cluster of an Application.
type renderingCluster struct {
	drift.Cluster
	of *randomApplication
}

func (c renderingCluster) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		switch ref.Kind {
		case "Application":
			out[ref] = cluster.Live{Object: c.of.object()}
		case "ConfigMap":
			data := map[string]any{}
			for key, value := range c.of.settings {
				data[key] = value
			}
			out[ref] = cluster.Live{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}}
		default:
			out[ref] = cluster.Live{}
		}
	}
	return out
}

func (c renderingCluster) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	return !slices.Contains(clusterScoped(), kind.GroupKind()), true
}

func (c renderingCluster) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	version, err := chartutil.ParseKubeVersion(c.of.server)
	if err != nil {
		return nil, err
	}
	versions := append(apiVersions(), "metrics.k8s.io/v1beta1", "metrics.k8s.io/v1beta1/NodeMetrics", "policy/v1/Eviction", "v1/Binding", "ex.com/v1/Scale")
	return &chartutil.Capabilities{KubeVersion: *version, APIVersions: versions, HelmVersion: chartutil.DefaultCapabilities.HelmVersion}, nil
}

func (renderingCluster) Undiscovered() []string { return nil }

// object returns the Application as the cluster has it.
func (a *randomApplication) object() map[string]any {
	spec := map[string]any{"destination": map[string]any{"namespace": a.namespace}, "project": "default",
		"syncPolicy": map[string]any{"syncOptions": []any{"ServerSideApply=true"}}} // else nulls are left out of what is compared with the cluster
	if len(a.sources) > 1 {
		spec["sources"] = a.sources
	} else {
		spec["source"] = a.sources[0]
	}
	text, _ := json.Marshal(map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": a.name, "namespace": "argocd"}, "spec": spec})
	var out map[string]any
	_ = json.Unmarshal(text, &out)
	return out
}

// commit stands for all repositories of the Application.
func (a *randomApplication) commit(context.Context, source.CommitOrder) (dir, commit string, done func(), err error) {
	return a.root, a.revision, func() {}, nil
}

// render returns the objects that helmdrift makes of the Application.
func (a *randomApplication) render(t *testing.T) (map[string]any, error) {
	t.Helper()
	from := drift.Connection{Cluster: renderingCluster{of: a}}
	plan, err := argo.New(t.Context(), from, argo.Question{
		Namespace: "argocd", Name: a.name, Render: drift.RenderChart, Fetcher: source.Fetcher{Commit: a.commit},
		KubeVersion: a.asked, APIVersions: a.added,
		ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
			return render.ReadDocuments(r.Manifest), nil
		},
		Kustomize: func(_ context.Context, order source.KustomizeOrder) (string, error) { return order.Build(nil) },
	})
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	made, err := plan.Adapt(drift.Options{}).Render(t.Context(), drift.ChartRequest{})
	if err != nil {
		return nil, err
	}
	found := render.Objects(made.Manifest, render.ParseOptions{Namespace: a.namespace, Scope: from.Cluster.Scope})
	if len(found.Errors) > 0 {
		return nil, errors.New(found.Errors[0].Message)
	}
	out := map[string]any{}
	for _, o := range found.Objects {
		var content map[string]any
		if err := json.Unmarshal([]byte(asText(o.Content)), &content); err != nil {
			t.Fatal(err)
		}
		out[nameOf(content)] = content
	}
	return out, nil
}

// TestRendering has what a chart sees and makes in Argo CD, where that differs from helm upgrade.
func TestRendering(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "
	const hook = ", annotations: {helm.sh/hook: pre-install}}\n"
	const asks = `{version: "{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Minor }}", own: "{{ .Capabilities.APIVersions.Has "ex.com/v1" }}", ` +
		`cluster: "{{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }}", helm: "{{ .Capabilities.APIVersions.Has "policy/v1beta1" }}", ` +
		`kinds: "{{ .Capabilities.APIVersions.Has "coordination.k8s.io/v1/Lease" }}"}`
	for name, c := range map[string]struct {
		app, helm, template string
		// asked and added are the user's version of Kubernetes and an API version.
		asked, added string
		want, fails  string
	}{
		"the cluster": {template: configMap + "a}\ndata: " + asks + "\n",
			want: `{"a":{"cluster":"true","helm":"true","kinds":"true","own":"false","version":"v1.33.4 33"}}`},
		"kinds that cannot be watched": {template: configMap + `a}
data: { {{ range list "metrics.k8s.io/v1beta1" "policy/v1/Eviction" "v1/Binding" "ex.com/v1/Scale" }}{{ . | quote }}: "{{ $.Capabilities.APIVersions.Has . }}", {{ end }}}
`, want: `{"a":{"ex.com/v1/Scale":"true","metrics.k8s.io/v1beta1":"false","policy/v1/Eviction":"false","v1/Binding":"false"}}`},
		"the Application": {helm: "{kubeVersion: 1.31.0-eks-1, apiVersions: [ex.com/v1]}", template: configMap + "a}\ndata: " + asks + "\n",
			want: `{"a":{"cluster":"false","helm":"true","kinds":"false","own":"true","version":"v1.31.0 31"}}`},
		"the user": {asked: "1.40", added: "ex.com/v1", template: configMap + "a}\ndata: " + asks + "\n",
			want: `{"a":{"cluster":"true","helm":"true","kinds":"true","own":"true","version":"v1.40 40"}}`},
		"the Application and the user": {asked: "1.40", added: "apps/v1/Deployment", helm: "{kubeVersion: 1.31.0-eks-1, apiVersions: [ex.com/v1]}",
			template: configMap + "a}\ndata: " + asks + "\n",
			want:     `{"a":{"cluster":"false","helm":"true","kinds":"false","own":"true","version":"v1.31.0 31"}}`},
		"kinds that Helm does not know": {helm: "{apiVersions: [ex.com/v1]}", template: configMap + "a}\ndata: {x: '{{ .Capabilities.APIVersions.Has \"example.com/v1\" }}'}\n",
			want: `{"a":{"x":"false"}}`},
		"a version that is none":      {helm: "{kubeVersion: new}", template: configMap + "a}\n", fails: `"new" is not a version of Kubernetes`},
		"a name that is too long":     {app: strings.Repeat("x", 54), template: configMap + "a}\n", fails: "the release of the chart cannot have the name xxx"},
		"the name of the release":     {app: strings.Repeat("x", 54), helm: "{releaseName: short}", template: configMap + "{{ .Release.Name }}}\n", want: `{"short":null}`},
		"a number in an annotation":   {template: configMap + "a, annotations: {a: 5}}\n", fails: "annotations of ConfigMap shop/a: Argo CD cannot mark the object"},
		"a number in a label":         {template: configMap + "a, labels: {a: 5}}\n", want: `{"a":null}`},
		"a namespace that is none":    {template: configMap + "a, namespace: 5}\n", want: `{"a":null}`},
		"a hook with the same name":   {template: configMap + "a}\n---\n" + configMap + "b}\n---\n" + configMap + "a" + hook, want: `{"b":null}`},
		"a hook of Argo CD before it": {template: configMap + "a, annotations: {argocd.argoproj.io/hook: Sync}}\n---\n" + configMap + "a}\n", want: `{"a":null}`},
		"a hook of Argo CD after it":  {template: configMap + "a}\n---\n" + configMap + "a, annotations: {argocd.argoproj.io/hook: Sync}}\n", want: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			helm := map[string]any{}
			if err := yaml.Unmarshal([]byte(c.helm), &helm); err != nil {
				t.Fatal(err)
			}
			a := &randomApplication{root: t.TempDir(), revision: "main", name: cmp.Or(c.app, "web"), namespace: "shop", server: "v1.33.4-gke.1415000",
				sources: []map[string]any{{"repoURL": "https://git.example.com/charts", "path": "chart", "helm": helm}},
				files:   map[string]string{"chart/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n", "chart/templates/a.yaml": c.template}}
			if a.asked = c.asked; c.added != "" {
				a.added = []string{c.added}
			}
			a.write(t)
			made, err := a.render(t)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			for _, o := range made {
				content, _ := o.(map[string]any)
				got[fmt.Sprint(object.Child(content, "metadata")["name"])] = content["data"]
			}
			if text := asText(got); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}
