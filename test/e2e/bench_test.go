package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// BenchmarkLargeChart renders and compares a chart of 400 templates. It reports the ratio to the steps that helm upgrade takes for the
// same answer, measured in the same run: rendering, sorting, decoding both manifests, and computing a patch for each object. Both read
// live with the same few requests. The measurement of helmdrift includes everything from loading the chart to the report.
func BenchmarkLargeChart(b *testing.B) {
	c := newCase(b, suite.cluster)
	path := filepath.Join(b.TempDir(), "large")
	must(b, writeLargeChart(path, 400))
	_, err := c.run(helmCall{verb: "install", chart: path})
	must(b, err)
	race, err := c.newBenchSetup(path)
	must(b, err)
	var helms, ours time.Duration
	for b.Loop() {
		helms += measure(b, race.helm)
		ours += measure(b, race.helmdrift)
	}
	perRun := func(d time.Duration) float64 { return float64(d.Milliseconds()) / float64(b.N) }
	b.ReportMetric(perRun(helms), "helm-ms")
	b.ReportMetric(perRun(ours), "helmdrift-ms")
	b.ReportMetric(float64(ours)/float64(helms), "ratio")
}

// measure returns how long do takes, starting from a clean heap.
func measure(b *testing.B, do func(context.Context) error) time.Duration {
	runtime.GC()
	start := time.Now()
	must(b, do(b.Context()))
	return time.Since(start)
}

// benchSetup is what both measurements start from: the chart, the stored manifest, and a cluster that is connected and discovered. For
// Helm the chart is loaded already.
type benchSetup struct {
	chart, old, namespace string
	loaded                *chart.Chart
	inputs                chartutil.Values
	cfg                   *action.Configuration
	cluster               *live.Cluster
	on                    *cluster
	capabilities          *chartutil.Capabilities
	scope                 render.ParseOptions
	refs                  []object.Ref
}

// largeTag is the value that the upgrade changes.
const largeTag = "1.27"

func (c *Case) newBenchSetup(path string) (*benchSetup, error) {
	ctx := context.Background()
	r := &benchSetup{chart: path, namespace: c.ns, on: c.cluster}
	var err error
	if r.loaded, err = loader.Load(path); err != nil {
		return nil, err
	}
	if r.old, err = c.manifest(); err != nil {
		return nil, err
	}
	if r.cfg, err = c.config3(); err != nil {
		return nil, err
	}
	if r.cluster, err = live.Connect(ctx, c.cluster.Config, live.Options{}); err != nil {
		return nil, err
	}
	if r.capabilities, err = r.cluster.Capabilities(ctx); err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: c.release, Namespace: c.ns, Revision: 2, IsUpgrade: true}
	if r.inputs, err = chartutil.ToRenderValues(r.loaded, map[string]any{"tag": largeTag}, options, r.capabilities); err != nil {
		return nil, err
	}
	r.scope = render.ParseOptions{Namespace: c.ns, Scope: r.cluster.Scope}
	r.refs = refsOf(render.Parse(r.old, r.scope).Objects)
	_, err = r.cfg.KubeClient.Build(strings.NewReader(r.old), false) // discovers what is served
	return r, err
}

// helm does what helm upgrade does before it sends the patches.
func (r *benchSetup) helm(ctx context.Context) error {
	files, err := engine.New(r.on.Config).Render(r.loaded, r.inputs)
	if err != nil {
		return err
	}
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	var stream strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&stream, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	original, err := r.cfg.KubeClient.Build(strings.NewReader(r.old), false)
	if err != nil {
		return err
	}
	target, err := r.cfg.KubeClient.Build(strings.NewReader(stream.String()), false)
	if err != nil {
		return err
	}
	found := map[string]map[string]any{}
	for ref, l := range r.cluster.Read(ctx, r.refs) {
		found[ref.Kind+"/"+ref.Name] = l.Object
	}
	return target.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		return patch(original.Get(info), info, found[info.Mapping.GroupVersionKind.Kind+"/"+info.Name])
	})
}

// patch does what createPatch of helm v3.22.0 pkg/kube/client.go does for a native kind.
func patch(original, target *resource.Info, liveObject map[string]any) error {
	if original == nil || liveObject == nil {
		return errors.New("the benchmark measures updates only")
	}
	old, err := json.Marshal(original.Object)
	if err != nil {
		return err
	}
	desired, err := json.Marshal(target.Object)
	if err != nil {
		return err
	}
	current, err := json.Marshal(liveObject)
	if err != nil {
		return err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(kube.AsVersioned(target))
	if err != nil {
		return err
	}
	_, err = strategicpatch.CreateThreeWayMergePatch(old, desired, current, meta, true)
	return err
}

// helmdrift does everything from reading live to the report.
func (r *benchSetup) helmdrift(ctx context.Context) error {
	in := threeway.Input{
		Name: "r", Namespace: r.namespace, StorageNamespace: r.namespace, Operation: report.OperationUpgrade, ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1}, Last: &report.Revision{Revision: 1}, Desired: &report.Desired{Source: "chart", Helm: "3"},
		OldObjects: render.Parse(r.old, r.scope).Objects, Live: r.cluster.Read(ctx, r.refs),
	}
	rendered, err := render.Chart(ctx, render.ChartOptions{
		Path: r.chart, ReleaseName: "r", Namespace: r.namespace, LastRevision: 1, Values: render.ValueOptions{Set: []string{"tag=" + largeTag}},
		Capabilities: r.capabilities, Lookup: live.Lookups(r.on.Config, live.Options{}),
	})
	if err != nil {
		return err
	}
	in.DesiredObjects = render.Parse(rendered.Manifest, r.scope).Objects
	comparison := threeway.Compare(in)
	compared := report.New("bench", time.Now(), []report.Release{comparison.Report(threeway.Mask{})})
	if compared.Summary.Fields.Overwrite == 0 || compared.HasError() || compared.Summary.Missing > 0 {
		return fmt.Errorf("the benchmark measures updates only: %+v", compared.Summary)
	}
	return nil
}

func refsOf(objects []object.Object) []object.Ref {
	refs := make([]object.Ref, len(objects))
	for i, o := range objects {
		refs[i] = o.Ref
	}
	return refs
}

// writeLargeChart writes a chart of n templates that resemble those of real charts in size and in the functions they call.
func writeLargeChart(dir string, n int) error {
	failed := []error{
		os.MkdirAll(filepath.Join(dir, "templates"), 0o755),
		os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("apiVersion: v2\nname: large\nversion: 1.0.0\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("tag: \"1.25\"\nreplicas: 2\nresources: {limits: {cpu: 500m, memory: 1Gi}}\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "templates", "_helpers.tpl"), []byte(largeHelpers), 0o600),
	}
	kinds := []string{largeDeployment, largeService, largeConfigMap, largeAccount}
	for i := range n {
		text := strings.ReplaceAll(kinds[i%len(kinds)], "NUMBER", fmt.Sprint(i))
		failed = append(failed, os.WriteFile(filepath.Join(dir, "templates", fmt.Sprintf("t-%d.yaml", i)), []byte(text), 0o600))
	}
	return errors.Join(failed...)
}

const largeHelpers = `{{- define "large.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | trunc 63 | trimSuffix "-" | quote }}
{{- end }}
{{- define "large.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}
`

const largeDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "large.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  paused: true
  selector:
    matchLabels: {{- include "large.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "large.selector" . | nindent 8 }}
    spec:
      containers:
      - name: main
        image: "nginx:{{ .Values.tag }}"
        ports:
        - {name: http, containerPort: 8080}
        env:
        {{- range $i := until 10 }}
        - {name: "VARIABLE_{{ $i }}", value: {{ $i | quote }}}
        {{- end }}
        livenessProbe: {httpGet: {path: /healthz, port: http}}
        resources: {{- toYaml .Values.resources | nindent 10 }}
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`

const largeService = `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "large.labels" . | nindent 4 }}
spec:
  selector: {{- include "large.selector" . | nindent 4 }}
  ports:
  - {name: http, port: 80, targetPort: http}
`

const largeConfigMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "large.labels" . | nindent 4 }}
data:
  tag: {{ .Values.tag | quote }}
  settings.conf: |
    {{- range $i := until 40 }}
    setting-{{ $i }} = {{ mul $i 7 }}
    {{- end }}
`

const largeAccount = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "large.labels" . | nindent 4 }}
`
