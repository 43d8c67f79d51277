package drift_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// saved is plain data: all answers that a comparison got.
type saved struct {
	Stored      string
	Listed      release.History
	Record      release.Loaded
	Scopes      map[schema.GroupVersionKind][2]bool
	Objects     map[object.Ref]threeway.Live
	Gone        map[string]bool
	Definitions map[schema.GroupKind]map[string]any
	Documents   map[schema.GroupVersion][]byte
	Scalers     map[object.Key]object.Autoscaler
	Warnings    map[string][]report.Message
	Caps        chartutil.Capabilities
	Server      string
	Lookups     map[live.LookupRequest]live.LookupAnswer
	Lists       map[string][]map[string]any
}

// recorder passes on every question, and saves the answer.
type recorder struct {
	drift.Records
	drift.Cluster
	to *saved
}

func (r recorder) Resource() string { r.to.Stored = r.Records.Resource(); return r.to.Stored }

func (r recorder) History(ctx context.Context, name string) (release.History, error) {
	h, err := r.Records.History(ctx, name)
	r.to.Listed = h
	return h, err
}

func (r recorder) Load(ctx context.Context, name string, revision int, o release.Options) (*release.Loaded, error) {
	loaded, err := r.Records.Load(ctx, name, revision, o)
	r.to.Record = *loaded
	return loaded, err
}

func (r recorder) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = r.Cluster.Scope(kind)
	r.to.Scopes[kind] = [2]bool{namespaced, known}
	return namespaced, known
}

func (r recorder) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]threeway.Live {
	found := r.Cluster.Read(ctx, wanted)
	maps.Copy(r.to.Objects, found)
	return found
}

func (r recorder) Terminating(ctx context.Context, namespaces []string) map[string]bool {
	r.to.Gone = r.Cluster.Terminating(ctx, namespaces)
	return r.to.Gone
}

func (r recorder) CRDs(ctx context.Context, kinds []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	r.to.Definitions, r.to.Warnings["CRDs"] = r.Cluster.CRDs(ctx, kinds)
	return r.to.Definitions, r.to.Warnings["CRDs"]
}

func (r recorder) OpenAPI(ctx context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	r.to.Documents, r.to.Warnings["OpenAPI"] = r.Cluster.OpenAPI(ctx, wanted)
	return r.to.Documents, r.to.Warnings["OpenAPI"]
}

func (r recorder) Autoscalers(ctx context.Context, namespaces []string) (map[object.Key]object.Autoscaler, []report.Message) {
	r.to.Scalers, r.to.Warnings["Autoscalers"] = r.Cluster.Autoscalers(ctx, namespaces)
	return r.to.Scalers, r.to.Warnings["Autoscalers"]
}

func (r recorder) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	items, err := r.Cluster.List(ctx, kind, namespace)
	r.to.Lists[kind.String()+namespace] = items
	return items, err
}

func (r recorder) Capabilities(ctx context.Context) (*chartutil.Capabilities, error) {
	caps, err := r.Cluster.Capabilities(ctx)
	r.to.Caps = *caps
	return caps, err
}

// record returns a connection that saves every answer.
func record(c drift.Connection, to *saved) drift.Connection {
	records, cluster, lookups := c.Records, c.Cluster, c.Lookups
	c.Cluster = recorder{Cluster: cluster, to: to}
	c.Records = func(namespace string) (drift.Records, error) {
		opened, err := records(namespace)
		return recorder{Records: opened, to: to}, err
	}
	c.Lookups = func(known ...*secret.Known) (string, drift.LookupFunc, error) {
		server, ask, err := lookups(known...)
		to.Server = server
		return server, func(ctx context.Context, q live.LookupRequest) (live.LookupAnswer, error) {
			a, err := ask(ctx, q)
			to.Lookups[q] = a
			return a, err
		}, err
	}
	return c
}

// player answers with what was saved.
type player struct {
	drift.Records
	drift.Cluster
	from saved
}

func (p player) Resource() string { return p.from.Stored }
func (p player) History(context.Context, string) (release.History, error) {
	return p.from.Listed, nil
}
func (p player) Load(context.Context, string, int, release.Options) (*release.Loaded, error) {
	return &p.from.Record, nil
}
func (p player) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	return p.from.Scopes[kind][0], p.from.Scopes[kind][1]
}
func (p player) Read(context.Context, []object.Ref) map[object.Ref]threeway.Live {
	return p.from.Objects
}
func (p player) Terminating(context.Context, []string) map[string]bool { return p.from.Gone }
func (p player) CRDs(context.Context, []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	return p.from.Definitions, p.from.Warnings["CRDs"]
}
func (p player) OpenAPI(context.Context, []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return p.from.Documents, p.from.Warnings["OpenAPI"]
}
func (p player) Autoscalers(context.Context, []string) (map[object.Key]object.Autoscaler, []report.Message) {
	return p.from.Scalers, p.from.Warnings["Autoscalers"]
}
func (p player) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]map[string]any, error) {
	return p.from.Lists[kind.String()+namespace], nil
}
func (p player) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	return &p.from.Caps, nil
}
func (p player) Undiscovered() []string               { return nil }
func (p player) Incomplete([]string) []report.Message { return nil }

func (p player) connection() drift.Connection {
	return drift.Connection{Name: "test", Cluster: p, Records: func(string) (drift.Records, error) { return p, nil },
		Lookups: func(...*secret.Known) (string, drift.LookupFunc, error) {
			return p.from.Server, func(_ context.Context, q live.LookupRequest) (live.LookupAnswer, error) {
				return p.from.Lookups[q], nil
			}, nil
		}}
}

// copied sends plain data through its encoding.
func copied(t *testing.T, in saved) (out saved) {
	t.Helper()
	gob.Register(map[string]any{})
	gob.Register([]any{})
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(in); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&text).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSavedAnswersGiveTheSameReport checks that saved answers can replace a cluster, with and without a chart, for all sorts of kinds.
func TestSavedAnswersGiveTheSameReport(t *testing.T) {
	chart := t.TempDir()
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.3.0\n", "templates/all.yaml": chartTemplate}
	for name, text := range files {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]drift.Target{
		"drift": {Namespace: "prod", Release: "web"},
		"chart": {Namespace: "prod", Release: "web", Chart: &drift.Chart{Ref: chart}},
	} {
		t.Run(name, func(t *testing.T) {
			answers := saved{Scopes: map[schema.GroupVersionKind][2]bool{}, Objects: map[object.Ref]threeway.Live{},
				Warnings: map[string][]report.Message{}, Lookups: map[live.LookupRequest]live.LookupAnswer{}, Lists: map[string][]map[string]any{}}
			want := reported(t, record(connect(t, helm4Record, liveObjects), &answers), target)
			if len(answers.Scalers) == 0 || len(answers.Definitions) == 0 || len(answers.Documents)+len(answers.Warnings["OpenAPI"]) == 0 {
				t.Errorf("the comparison did not ask for all that a connection can tell: %+v", answers)
			}
			if target.Chart != nil && (len(answers.Lookups) == 0 || len(want.Errors) > 0) {
				t.Errorf("the chart looked nothing up: %+v", want.Errors)
			}
			if diff := cmp.Diff(want, reported(t, player{from: copied(t, answers)}.connection(), target)); diff != "" || len(want.Objects) < 3 {
				t.Errorf("report of %d objects, -original +stand-in:\n%s", len(want.Objects), diff)
			}
		})
	}
}

func reported(t *testing.T, c drift.Connection, target drift.Target) report.Release {
	t.Helper()
	result, err := drift.New(c, drift.Options{}).Compare(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report(threeway.Mask{})
}

// helm4Record is a release that is applied server-side.
var helm4Record = map[string]any{
	"name": "web", "namespace": "prod", "version": 1, "apply_method": "ssa", "info": map[string]any{"status": "deployed"},
	"chart":    map[string]any{"metadata": map[string]any{"name": "web", "version": "1.2.0", "apiVersion": "v2"}},
	"manifest": manifest,
}

const manifest = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {mode: fast}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: web}
spec: {size: 1}
`

// chartTemplate changes what it looks up.
const chartTemplate = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {mode: '{{ (lookup "v1" "ConfigMap" .Release.Namespace "web").data.mode }}er'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: web}
spec: {size: 2}
`

const liveObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, labels: {app.kubernetes.io/managed-by: Helm}}
data: {mode: slow}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app.kubernetes.io/managed-by: Helm}}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: ex.com/v1
kind: Thing
metadata: {name: web}
spec: {size: 3}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.ex.com}
spec:
  group: ex.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`
