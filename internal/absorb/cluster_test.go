package absorb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// testCluster is a release in memory that was just installed from a chart, with the edits since then.
type testCluster struct {
	drift.Records
	drift.Cluster
	record release.Record
	live   map[object.Ref]map[string]any
	// terminating are the namespaces that are being deleted, unserved the kinds that the cluster does not serve, and forbidden those that
	// the user may not read.
	terminating         map[string]bool
	unserved, forbidden []string
	// isUnrecorded is set if no record says that Helm installed the objects.
	isUnrecorded bool
}

// install renders a chart and returns the cluster after its installation.
func install(ctx context.Context, dir string, values []byte, helm4 bool) (*testCluster, error) {
	var config map[string]any
	if err := yaml.Unmarshal(values, &config); err != nil {
		return nil, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	rendered, err := render.Chart(ctx, render.ChartOptions{
		Path: dir, Helm4: helm4, Install: true, ReleaseName: "web", Namespace: "prod", Capabilities: capabilities(),
		Values: render.ValueOptions{
			Files: []string{"values"}, ReadFile: func(string) ([]byte, error) { return values, nil },
		},
	})
	if err != nil {
		return nil, err
	}
	c := &testCluster{live: map[object.Ref]map[string]any{}, record: release.Record{
		Name: "web", Namespace: "prod", Revision: 1, Status: "deployed", Manifest: rendered.Manifest, ChartName: rendered.ChartName,
		ChartVersion: rendered.ChartVersion, Writer: "3",
		Values: &release.Values{Config: release.Texts{text}},
	}}
	if helm4 {
		c.record.Writer = "4"
	}
	for _, o := range render.Objects(render.ReadDocuments(rendered.Manifest), render.ParseOptions{Namespace: "prod", Scope: c.Scope}).Objects {
		c.live[o.Ref], _ = object.Copy(object.HelmMetadata(o.Content, "web", "prod")).(map[string]any)
	}
	return c, nil
}

func capabilities() *chartutil.Capabilities {
	out := *chartutil.DefaultCapabilities
	out.KubeVersion = chartutil.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}
	return &out
}

func (c *testCluster) connection() drift.Connection {
	return drift.Connection{Cluster: c, Records: func(string) (drift.Records, error) { return c, nil }}
}

func (c *testCluster) History(context.Context, string) (release.History, error) {
	if c.isUnrecorded {
		return release.History{}, nil
	}
	return release.History{Entries: []release.Entry{{Release: "web", Revision: 1, Status: "deployed"}}}, nil
}

func (c *testCluster) Load(ctx context.Context, name string, _ int, _ release.Options) (*release.Loaded, error) {
	history, err := c.History(ctx, name)
	if c.isUnrecorded {
		return &release.Loaded{History: history}, err
	}
	return &release.Loaded{History: history, Old: &c.record, Last: &c.record}, err
}

func (c *testCluster) Resource() string { return "secrets" }

func (c *testCluster) Scope(kind schema.GroupVersionKind) (namespaced, known bool) {
	if slices.Contains(c.unserved, kind.Kind) {
		return false, false
	}
	switch kind.Kind {
	case "ClusterRole", "ClusterRoleBinding", "Namespace", "PriorityClass", "CustomResourceDefinition", "StorageClass",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService", "IngressClass", "PersistentVolume":
		return false, true
	}
	return true, true
}

func (c *testCluster) Terminating(context.Context, []string) (map[string]bool, []report.Message) {
	return c.terminating, nil
}

func (c *testCluster) List(context.Context, schema.GroupVersionKind, string) ([]map[string]any, error) {
	return nil, nil
}

func (c *testCluster) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		switch o := c.live[ref]; {
		case slices.Contains(c.forbidden, ref.Kind):
			out[ref] = cluster.Live{Err: &report.ObjectError{Code: "forbidden", Message: "cannot get " + ref.Kind}}
		case slices.Contains(c.unserved, ref.Kind):
			out[ref] = cluster.Live{Absence: cluster.AbsentKind}
		case o != nil:
			out[ref] = cluster.Live{Object: o}
		default:
			out[ref] = cluster.Live{Absence: cluster.AbsentObject}
		}
	}
	return out
}

func (c *testCluster) CRDs(context.Context, []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	return nil, nil
}

func (c *testCluster) OpenAPI(context.Context, []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return nil, nil
}

func (c *testCluster) Autoscalers(context.Context, []string) (map[object.Key]object.Autoscaler, []report.Message) {
	return nil, nil
}

func (c *testCluster) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	return capabilities(), nil
}
func (c *testCluster) Undiscovered() []string               { return nil }
func (c *testCluster) Incomplete([]string) []report.Message { return nil }

// edit makes the edits of a text, one in each line: KIND NAME POINTER VALUE sets a field; if the last token of the pointer is -, it
// appends to a list. Without VALUE it removes the field, and without POINTER the object.
func (c *testCluster) edit(lines string) error {
	for line := range strings.Lines(lines) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(words) < 2 {
			continue
		}
		ref, o := c.find(words[0], words[1])
		if o == nil {
			return fmt.Errorf("there is no %s %s", words[0], words[1])
		}
		if len(words) == 2 {
			delete(c.live, ref)
			continue
		}
		pointer := pointerOf(words[2])
		if len(words) == 3 {
			c.live[ref], _ = pointer.Remove(o).(map[string]any)
			continue
		}
		var v any
		if err := yaml.Unmarshal([]byte(words[3]), &v); err != nil {
			return err
		}
		v = integers(v)
		if last := len(pointer) - 1; pointer[last] == "-" {
			pointer = pointer[:last]
			list, _ := pointer.Lookup(o)
			items, _ := list.([]any)
			v = append(items, v)
		}
		c.live[ref], _ = created(pointer, o, v).(map[string]any)
	}
	return nil
}

// created sets the value that a pointer leads to, and creates the maps on the way.
func created(pointer object.Pointer, o map[string]any, v any) any {
	for n := 1; n < len(pointer); n++ {
		if was, _ := pointer[:n].Lookup(o); was == nil {
			for i := len(pointer) - 1; i >= n; i-- {
				v = map[string]any{pointer[i]: v}
			}
			return pointer[:n].Edit(o, func(any) any { return v })
		}
	}
	return pointer.Edit(o, func(any) any { return v })
}

// find returns the object of a kind and a name. If there are several, it returns the one in the namespace of the release.
func (c *testCluster) find(kind, name string) (found object.Ref, content map[string]any) {
	for _, ref := range slices.SortedFunc(maps.Keys(c.live), func(a, b object.Ref) int { return a.Compare(b.Key) }) {
		if ref.Kind == kind && ref.Name == name && (content == nil || ref.Namespace == "prod") {
			found, content = ref, c.live[ref]
		}
	}
	return found, content
}

// pointerOf parses a JSON pointer.
func pointerOf(text string) object.Pointer {
	var out object.Pointer
	for token := range strings.SplitSeq(strings.TrimPrefix(text, "/"), "/") {
		out = append(out, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return out
}

// integers returns a value with int64 for whole numbers, like the API's own decoder.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// target returns the target of an absorption from a chart and a values file.
func target(dir string, values []byte) drift.Target {
	chart := &drift.Chart{Ref: dir, NoLookup: true, ReadFile: func(context.Context, string) ([]byte, error) { return values, nil }}
	chart.Values.Files = []string{"values.yaml"}
	return drift.Target{Namespace: "prod", Release: "web", Chart: chart}
}

// writeFiles writes files below a folder.
func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
