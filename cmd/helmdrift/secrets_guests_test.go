package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/absorb"
	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/history"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// This file has the part of FuzzNoSecretIsShown about absorb, list and history.

// onlyInValues is a secret that no Secret has, and toldTemplate renders it from values.
const (
	onlyInValues = "canary-only-in-values"
	toldTemplate = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: told, namespace: prod}, data: {" +
		"note: {{ printf \"with %s\" .Values.told.token | toJson }}, side: {{ .Values.told.side | toJson }}}}\n"
)

// renderingCluster is a cluster that lets a chart render and says nothing more.
type renderingCluster struct{ inputCluster }

func (renderingCluster) Capabilities(context.Context) (*chartutil.Capabilities, error) {
	return chartutil.DefaultCapabilities, nil
}

// absorbShown returns all output of absorb for an input. The chart renders texts of the objects from values whose names announce nothing.
// Another object has a secret that only a name of the values announces.
func (p *planter) absorbShown(t *testing.T, c *threeway.Comparison, was string) map[string]string {
	t.Helper()
	dir, values := p.chart(t, c.Input.OldObjects)
	in := c.Input
	in.OldObjects, in.Live = slices.Clone(in.OldObjects), maps.Clone(in.Live)
	told := func(note, side string) object.Object {
		return object.Object{
			Ref: object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "prod", Name: "told"}, Version: "v1"},
			Content: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "told", "namespace": "prod"},
				"data": map[string]any{"note": note, "side": side},
			},
		}
	}
	old, live := told("with "+onlyInValues, "wa"), told("without", "is")
	in.OldObjects = append(in.OldObjects, old)
	in.Live[old.Ref] = cluster.Live{Object: object.HelmMetadata(live.Content, in.Name, in.Namespace)}
	connection := drift.Connection{
		Cluster: renderingCluster{inputCluster{in: in}},
		Records: func(string) (drift.Records, error) { return inputRecords{in, map[string]any{"plain": was}}, nil },
	}
	chart := &drift.Chart{Ref: dir, NoLookup: true, ReadFile: func(context.Context, string) ([]byte, error) { return values, nil }}
	chart.Values.Files = []string{"values.yaml"}
	file, err := absorb.ReadFile(t.Context(), "values.yaml", "values.yaml", chart)
	if err != nil {
		t.Fatal(err)
	}
	out, look := map[string]string{}, output.Options{Text: text.Options{Now: time.Unix(0, 0)}}
	picks := func(_ *threeway.Comparison, fields []absorb.Field) ([]string, error) {
		var b bytes.Buffer
		about := &absorption.Result{Name: "web", Namespace: "prod"}
		for _, f := range fields {
			if err := output.WriteAbsorbPick(&b, about, f.Shown, look); err != nil {
				return nil, err
			}
		}
		out["the questions of absorb"] = b.String()
		return make([]string, len(fields)), nil
	}
	a, err := absorb.Run(t.Context(), connection, drift.Target{Namespace: "prod", Release: c.Input.Name, Chart: chart},
		absorb.Options{Rewrite: file.Rewrite, Choose: picks, Unmanaged: true})
	if err != nil {
		t.Fatal(err)
	}
	result := a.Report("test", time.Unix(0, 0))
	if err := file.Describe(result, a); err != nil {
		t.Fatal(err)
	}
	for _, name := range output.AbsorbFormats() {
		var b bytes.Buffer
		if err := output.WriteAbsorb(&b, output.Format(name), result, look); err != nil {
			b.WriteString(err.Error())
		}
		out["absorb "+name] = b.String()
	}
	if len(a.Edits) == 0 {
		t.Errorf("absorb changes no value: %s", out["absorb text"])
	}
	// The values file keeps the secrets that it has, and gets no others.
	for _, form := range p.planted {
		if bytes.Contains(a.Content, []byte(form)) && !bytes.Contains(values, []byte(form)) {
			t.Fatalf("absorb writes %q into the values file", form)
		}
	}
	if bytes.Contains(a.Content, []byte("canary-is")) {
		t.Fatalf("absorb writes a secret of the cluster into the values file: %s", a.Content)
	}
	return out
}

// chart writes a chart that renders objects, and returns its folder and its values file. Half of the texts of some objects are values whose
// names announce nothing. No value controls the rest. The text side of the ConfigMap is always a value.
func (p *planter) chart(t *testing.T, objects []object.Object) (dir string, file []byte) {
	t.Helper()
	var values hoistedTexts
	var templates strings.Builder
	for _, o := range objects {
		content := object.Copy(o.Content)
		if o.Kind == "ConfigMap" || p.rng.IntN(2) == 0 {
			content = p.hoist(content, &values)
		}
		doc, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		templates.WriteString("---\n" + values.fill(strings.ReplaceAll(string(doc), "{{", `{{ "{{" }}`)) + "\n")
	}
	named := map[string]any{}
	for i, value := range values.named {
		named[fmt.Sprintf("v%d", i)] = value
	}
	file, err := yaml.Marshal(map[string]any{"named": named, "listed": values.listed, "told": map[string]any{
		"side": "wa", "password": "a\nb\nc\nd\ncanary\ne", "token": onlyInValues,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return chartWith(t, templates.String()+toldTemplate), file
}

// hoistedTexts are texts that became values: some have names, and the others share a list.
type hoistedTexts struct{ named, listed []string }

// fill replaces the placeholders in a document by expressions.
func (h *hoistedTexts) fill(doc string) string {
	for i := range h.named {
		doc = strings.ReplaceAll(doc, fmt.Sprintf(`"(named %d)"`, i), fmt.Sprintf("{{ .Values.named.v%d | toJson }}", i))
	}
	for i := range h.listed {
		doc = strings.ReplaceAll(doc, fmt.Sprintf(`"(listed %d)"`, i), fmt.Sprintf("{{ index .Values.listed %d | toJson }}", i))
	}
	return doc
}

// hoist makes texts values, and returns what has placeholders instead.
func (p *planter) hoist(v any, values *hoistedTexts) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch text, isText := v[name].(string); {
			case name == "apiVersion" || name == "kind" || name == "metadata" || name == "name":
			case isText && name == "side":
				v[name] = p.placeholder(text, values)
			default:
				v[name] = p.hoist(v[name], values)
			}
		}
	case []any:
		for i := range v {
			v[i] = p.hoist(v[i], values)
		}
	case string:
		if p.rng.IntN(2) == 0 {
			return p.placeholder(v, values)
		}
	}
	return v
}

// placeholder makes a text a value, and returns its placeholder.
func (p *planter) placeholder(text string, values *hoistedTexts) string {
	if p.rng.IntN(3) == 0 {
		values.listed = append(values.listed, text)
		return fmt.Sprintf("(listed %d)", len(values.listed)-1)
	}
	values.named = append(values.named, text)
	return fmt.Sprintf("(named %d)", len(values.named)-1)
}

// historyShown returns the history of findings that come, change, go and come back, in all formats.
func historyShown(t *testing.T, c *threeway.Comparison) map[string]string {
	t.Helper()
	drifted, other := c.Input, c.Input
	other.Live = map[object.Ref]cluster.Live{}
	for i, o := range drifted.OldObjects {
		switch i % 3 {
		case 0:
			other.Live[o.Ref] = cluster.Live{Object: object.HelmMetadata(o.Content, other.Name, other.Namespace)}
		case 1:
			other.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
		default:
			other.Live[o.Ref] = cluster.Live{Err: &report.ObjectError{Code: "forbidden", Message: said(c)}}
		}
	}
	var builder history.Builder
	for i, in := range []threeway.Input{drifted, other, drifted} {
		at := time.Unix(int64(i)*3600, 0)
		if err := builder.Add(report.New("test", at, []report.Release{threeway.Compare(in).Report(threeway.Mask{})})); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]string{}
	for _, name := range output.HistoryFormats() {
		doc, err := output.HistoryDocument(output.Format(name), builder.History("test"), output.Options{Text: text.Options{Verbose: true}})
		if err != nil {
			t.Fatal(err)
		}
		out["history "+name] = string(doc)
	}
	return out
}

// listShown returns what list says of the release, of two releases whose records cannot be read, and of one whose record is refused by a
// server that quotes a secret.
func (p *planter) listShown(t *testing.T, c *threeway.Comparison, is string) map[string]string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	server := &plane{}
	manifest := manifestText(t, c.Input.OldObjects)
	started, err := server.start(kubeconfig, manifest, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", "deployed")
	if err != nil {
		t.Fatal(err)
	}
	defer started.Close()
	broken, misplaced := recordOf("broken", 1, "deployed", manifest), recordOf("misplaced", 1, "deployed", "")
	data, _ := broken["data"].(map[string]any)
	whole := fmt.Sprint(data["release"])
	data["release"] = whole[:p.rng.IntN(len(whole)/4)*4]
	encode := base64.StdEncoding.EncodeToString
	misplaced["data"] = map[string]any{"release": encode([]byte(encode([]byte(p.misplaced(t, c)))))}
	for _, record := range []map[string]any{broken, misplaced, recordOf("refused", 1, "deployed", "")} {
		if err := server.store(record); err != nil {
			t.Fatal(err)
		}
	}
	server.faults["GET sh.helm.release.v1.refused.v1"] = fault{403, "the policy says db_password=" + is}
	out := map[string]string{}
	for _, format := range output.FixFormats() {
		var stdout, stderr bytes.Buffer
		args := []string{"list", "-n", "prod", "--kubeconfig", kubeconfig, "-o", format}
		code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: os.Getenv})
		if code != cli.ExitFailure || !strings.Contains(stdout.String(), "misplaced") || !strings.Contains(stdout.String(), "web-1.2.0") {
			t.Errorf("list -o %s: exit %d\n%s%s", format, code, &stdout, &stderr)
		}
		out["list "+format] = stdout.String() + stderr.String()
	}
	return out
}

// misplaced returns the JSON of a record that has the objects of the release where a record has something else.
func (p *planter) misplaced(t *testing.T, c *threeway.Comparison) string {
	t.Helper()
	doc := map[string]any{
		"name": "misplaced", "namespace": "prod", "version": 1, "manifest": "", "info": map[string]any{"status": "deployed"},
		"chart": map[string]any{"metadata": map[string]any{"name": "web", "version": "1.2.0"}}, "config": map[string]any{},
	}
	key := []string{"version", "manifest", "info", "chart", "config"}[p.rng.IntN(5)]
	doc[key] = []any{c.Input.OldObjects[1].Content, said(c)}
	if key != "manifest" && p.rng.IntN(2) == 0 {
		doc[key] = said(c)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
