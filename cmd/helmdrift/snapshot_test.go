package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// inputCluster answers with the live objects of an input, and with errors that quote everything that the objects hold.
type inputCluster struct {
	in   threeway.Input
	said string
}

func (c inputCluster) warning() []report.Message {
	return []report.Message{{Code: "x", Message: c.said}}
}

func (c inputCluster) Scope(schema.GroupVersionKind) (namespaced, known bool) { return true, true }

func (c inputCluster) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = c.in.Live[ref]
	}
	return out
}

func (c inputCluster) Terminating(context.Context, []string) (map[string]bool, []report.Message) {
	return nil, nil
}

func (c inputCluster) CRDs(context.Context, []schema.GroupKind) (map[schema.GroupKind]map[string]any, []report.Message) {
	return nil, c.warning()
}

func (c inputCluster) OpenAPI(context.Context, []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return nil, c.warning()
}

func (c inputCluster) Autoscalers(context.Context, []string) (map[object.Key]object.Autoscaler, []report.Message) {
	return nil, c.warning()
}

func (c inputCluster) List(context.Context, schema.GroupVersionKind, string) (items []map[string]any, err error) {
	for _, l := range c.in.Live {
		items = append(items, l.Object)
	}
	return items, errors.New(c.said)
}

func (c inputCluster) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	return nil, errors.New(c.said)
}

func (c inputCluster) Undiscovered() []string { return []string{"x.example.com"} }

func (c inputCluster) Incomplete([]string) []report.Message { return c.warning() }

// inputRecords has the old objects of an input as the manifest of a record. The values of the record contain a text.
type inputRecords struct {
	in     threeway.Input
	values map[string]any
}

func (inputRecords) Resource() string { return "secrets" }

func (r inputRecords) History(context.Context, string) (release.History, error) {
	return release.History{Release: r.in.Name, Kind: "Secret", Namespace: "prod",
		Entries: []release.Entry{{Name: "sh.helm.release.v1.web.v1", Release: r.in.Name, Revision: 1, Status: "deployed"}}}, nil
}

func (r inputRecords) Load(ctx context.Context, name string, _ int, _ release.Options) (*release.Loaded, error) {
	h, err := r.History(ctx, name)
	var manifest bytes.Buffer
	for _, o := range r.in.OldObjects {
		text, err := json.Marshal(o.Content)
		if err != nil {
			return nil, err
		}
		manifest.WriteString("\n---\n# a comment that says " + r.values["plain"].(string) + "\n")
		manifest.Write(text)
	}
	config, err2 := json.Marshal(r.values)
	record := &release.Record{StoredAs: "Secret", Name: name, Namespace: "prod", Revision: 1, Status: "deployed", Manifest: manifest.String(),
		Values: &release.Values{Config: release.Texts{config}, Defaults: release.Texts{config}}}
	return &release.Loaded{History: h, Old: record, Last: record}, errors.Join(err, err2)
}

func (r inputRecords) LoadRollback(context.Context, string, int, release.Options) (*release.Loaded, error) {
	return nil, errors.New("not here")
}

// snapshotText returns the unpacked text of a masked snapshot of an input. The values contain a text in several places.
func snapshotText(t *testing.T, c *threeway.Comparison, text string) string {
	t.Helper()
	in := c.Input
	records := inputRecords{in, map[string]any{
		"plain": text, "list": []any{text, map[string]any{"password": text}}, "url": "redis://:" + text + "@cache",
	}}
	recorder := snapshot.NewRecorder(drift.Connection{
		Cluster: inputCluster{in, said(c)}, Records: func(string) (drift.Records, error) { return records, nil },
	})
	comparer := drift.New(recorder.Connection(), drift.Options{})
	if _, err := comparer.Compare(t.Context(), drift.Target{Namespace: "prod", Release: in.Name}); err != nil {
		t.Fatal(err)
	}
	_, _ = recorder.Connection().Cluster.List(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "prod")
	saved, err := recorder.Snapshot(t.Context(), snapshot.Options{
		Helmdrift: "test", Time: time.Unix(0, 0), Namespace: "prod", Release: in.Name,
	})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := saved.Write(&file); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(unpacked)
}
