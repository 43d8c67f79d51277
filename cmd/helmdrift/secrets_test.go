package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/fixing"
	"github.com/helmdrift/helmdrift/internal/jobs"
	"github.com/helmdrift/helmdrift/internal/manifestdiff"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/secret/secrettest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// secretSeeds is how many releases FuzzNoSecretIsShown makes when it does not fuzz.
var secretSeeds = flag.Uint64("seeds", 40, "releases with secrets")

// FuzzNoSecretIsShown plants canaries under names, at places and in texts that internal/secret's table calls secret, and encodings of them
// in keys, values, annotations, lists, documents and errors, on both sides of a comparison. It produces all output of the program: reports
// in each format, results of a fix and of absorb, lists, histories, errors, warnings, Helm's log, a backup, a snapshot. No output may have
// a canary in any encoding, while the requests of the fix have them in clear.
func FuzzNoSecretIsShown(f *testing.F) {
	words, encodings := readSecretTable(f), secrettest.Composed(3)
	for seed := range *secretSeeds {
		f.Add(seed, "")
	}
	f.Add(uint64(99), `"quote`)
	f.Add(uint64(98), `back\slash`)
	f.Add(uint64(97), "é中")
	f.Fuzz(func(t *testing.T, seed uint64, salt string) {
		p := planter{rng: rand.New(rand.NewPCG(seed, 1)), table: words, encodings: encodings}
		was, is := canaryOf("was", seed, salt), canaryOf("is", seed, salt)
		c := threeway.Compare(p.input(was, is))
		plan, err := repair.New(c, repair.Options{Prune: true})
		if err != nil {
			t.Fatal(err)
		}
		shown := everythingShown(t, c, plan)
		shown["a snapshot"] = snapshotText(t, c, was)
		maps.Copy(shown, historyShown(t, c))
		maps.Copy(shown, p.listShown(t, c, is))
		maps.Copy(shown, p.absorbShown(t, c, was))
		for name, text := range shown {
			for _, canary := range []string{was, is} {
				for _, form := range append([]string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), "canary"}, p.planted...) {
					if i := strings.Index(text, form); i >= 0 {
						t.Fatalf("%s shows %q: …%s…", name, form, text[max(0, i-200):min(len(text), i+100)])
					}
				}
			}
		}
		sent := ""
		for i := range plan.Objects {
			if body, err := plan.Objects[i].Patch(c.Input.Live[plan.Objects[i].Ref].Object); err == nil {
				sent += string(body)
			}
		}
		if !strings.Contains(sent, "canary-was") || strings.Contains(sent, secret.Mask) {
			t.Errorf("the fix sends %s", sent)
		}
	})
}

// readSecretTable reads internal/secret's table, with those secret texts that the canaries may take a place in.
func readSecretTable(t testing.TB) secrettest.Table {
	t.Helper()
	out := secrettest.ReadTable(t, "../../internal/secret/testdata/names.yaml")
	texts := out.SecretTexts[:0]
	for _, text := range out.SecretTexts {
		if strings.Contains(text, "hunter2") {
			texts = append(texts, text)
		}
	}
	out.SecretTexts = texts
	return out
}

// canaryOf returns a secret that no output may have. It contains no character that ends a value in the texts of the table.
func canaryOf(side string, seed uint64, salt string) string {
	salt = strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune("\"'`,;&()[]{}<>|:/@#%\\", r) || r == 0xfffd {
			return -1
		}
		return r
	}, salt)
	return fmt.Sprintf("canary-%s-%x%s-end", side, seed, salt)
}

// planter makes a release with secrets.
type planter struct {
	rng       *rand.Rand
	table     secrettest.Table
	encodings []secrettest.Encoding
	// planted are the encoded canaries.
	planted []string
}

// encoding returns a random encoding. The planter notes its results.
func (p *planter) encoding() func(canary string) string {
	e := p.encodings[p.rng.IntN(len(p.encodings))]
	return func(canary string) string {
		encoded := e.Encode(canary)
		p.planted = append(p.planted, secrettest.Parts(encoded)...)
		return encoded
	}
}

func (p *planter) name() string { return p.table.SecretNames[p.rng.IntN(len(p.table.SecretNames))] }

func (p *planter) text() string { return p.table.SecretTexts[p.rng.IntN(len(p.table.SecretTexts))] }

// input returns a comparison of objects with one canary and the same objects with another.
func (p *planter) input(was, is string) threeway.Input {
	in := threeway.Input{
		Name: "web", Namespace: "prod", StorageNamespace: "prod", Operation: report.OperationDrift, ApplyMethod: "client-side",
		Old: &report.Revision{Revision: 1}, Last: &report.Revision{Revision: 1}, Live: map[object.Ref]cluster.Live{},
		Errors: []report.Message{{Code: "x", Message: "the chart says " + was + " and " + is},
			{Code: "y", Message: "the chart says " + p.encoding()(was) + " and " + p.encoding()(is)}},
		Warnings: []report.Message{{Code: "x", Message: "db_password=" + is}, {Code: "y", Message: "see " + p.encoding()(is)}},
	}
	for _, obj := range p.objects() {
		ref := obj(was).Ref
		in.OldObjects = append(in.OldObjects, obj(was))
		in.Live[ref] = cluster.Live{Object: object.HelmMetadata(obj(is).Content, in.Name, in.Namespace)}
	}
	in.DesiredObjects = in.OldObjects
	return in
}

// objects returns the objects of the release, as functions of a canary.
func (p *planter) objects() (out []func(string) object.Object) {
	a, b, c, text, other := p.name(), p.name(), p.name(), p.text(), p.text()
	build := func(group, version, kind string, fields func(canary string) map[string]any) {
		out = append(out, func(canary string) object.Object {
			apiVersion := strings.TrimPrefix(group+"/"+version, "/")
			content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "web", "namespace": "prod"}}
			for name, v := range fields(canary) {
				content[name] = v
			}
			key := object.Key{Group: group, Kind: kind, Namespace: "prod", Name: "web"}
			return object.Object{Ref: object.Ref{Key: key, Version: version}, Content: content}
		})
	}
	with := func(text, canary string) string { return strings.ReplaceAll(text, "hunter2", canary) }
	build("", "v1", "Secret", func(canary string) map[string]any {
		return map[string]any{"data": map[string]any{"seed": base64.StdEncoding.EncodeToString([]byte(canary))}}
	})
	build("", "v1", "ConfigMap", func(canary string) map[string]any {
		return map[string]any{"data": map[string]any{a: canary, "conf": with(text, canary), "plain": "known as " + canary, "side": canary[7:9],
			"app.yaml":       fmt.Sprintf("side: %s\n%s: %s\n", canary[7:9], b, canary),
			"app.json":       fmt.Sprintf(`{"side": %q, %q: %q}`, canary[7:9], c, canary),
			"app.toml":       fmt.Sprintf("side = %q\n%q = %q\n", canary[7:9], a, canary),
			"app.ini":        fmt.Sprintf("[%s]\nside = %s\n%s = %s\n", c, canary[7:9], b, canary),
			"app.properties": fmt.Sprintf("side=%s\n%s=%s\n", canary[7:9], c, canary),
			"env.yaml":       fmt.Sprintf("side: %s\nenv:\n- name: %s\n  value: %s\n", canary[7:9], a, canary),
			"keys.yaml":      fmt.Sprintf("%s: %s\n", canary, canary[7:9]),
		}}
	})
	build("apps", "v1", "Deployment", func(canary string) map[string]any {
		return map[string]any{"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}, "annotations": map[string]any{
					"a": with(other, canary), "side": canary[7:9],
				}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "c", "image": "i", "args": []any{"--" + b, canary, "x"}, "command": []any{"sh", "-c", with(text, canary)},
					"env":           []any{map[string]any{"name": b, "value": canary}},
					"livenessProbe": map[string]any{"httpGet": map[string]any{"port": int64(80), "httpHeaders": []any{map[string]any{"name": "Authorization", "value": canary}}}},
				}}},
			},
		}}
	})
	build("ex.com", "v1", "Thing", func(canary string) map[string]any {
		return map[string]any{"spec": map[string]any{
			c: canary, "auth": map[string]any{b: map[string]any{"value": canary}}, "secrets": map[string]any{"x": map[string]any{"y": canary}},
			"settings": []any{map[string]any{"name": a, "value": canary}}, "texts": []any{with(other, canary)}, "side": canary[7:9],
		}}
	})
	key, value, note, item, name, inYAML, inJSON := p.encoding(), p.encoding(), p.encoding(), p.encoding(), p.encoding(), p.encoding(), p.encoding()
	for len(key(canaryOf("was", *secretSeeds, ""))) > 500 { // the libraries for YAML read no longer key in quotes than 1,024 bytes, and a backslash takes two
		key = p.encoding()
	}
	build("ex.com", "v1", "Encoded", func(canary string) map[string]any {
		side := canary[7:9]
		asYAML, _ := yaml.Marshal(map[string]any{"side": side, "x": inYAML(canary)})
		asJSON, _ := json.Marshal(map[string]any{"side": side, "x": []any{inJSON(canary)}})
		return map[string]any{
			"metadata": map[string]any{"name": "web", "namespace": "prod", "annotations": map[string]any{"note": note(canary)}},
			"spec": map[string]any{
				"keys": map[string]any{key(canary): side}, "text": side + " (" + value(canary) + ")", "list": []any{side, item(canary)},
				"items": []any{map[string]any{"name": name(canary), "side": side}}, "app.yaml": string(asYAML), "app.json": string(asJSON),
			},
		}
	})
	return out
}

// everythingShown returns all output of the program for a comparison and a plan.
func everythingShown(t *testing.T, c *threeway.Comparison, plan *repair.Plan) map[string]string {
	t.Helper()
	out := map[string]string{}
	now := time.Unix(0, 0)
	got := report.New("test", now, []report.Release{c.Report(threeway.Mask{})})
	got.Releases[0].Patch = manifestdiff.Diff(manifestText(t, c.Input.OldObjects), c, got.Releases[0], false)
	for _, name := range output.Formats() {
		var b bytes.Buffer
		opts := output.Options{Text: text.Options{Now: now, ShowIgnored: true}}
		if err := output.Write(&b, output.Format(name), got, opts); err != nil {
			t.Fatal(err)
		}
		out["report "+name] = b.String()
	}
	var outcomes []report.FixOutcome
	for _, o := range plan.Objects {
		outcomes = append(outcomes, report.FixOutcome{Object: report.ObjectKey{Key: o.Ref.Key}, Status: report.FixRefused, Reason: said(c)})
	}
	result := plan.Result(threeway.Mask{}, outcomes)
	result.After = got
	for _, name := range output.FixFormats() {
		var b bytes.Buffer
		if err := output.WriteFix(&b, output.Format(name), &result, output.Options{Text: text.Options{Now: now}}); err != nil {
			t.Fatal(err)
		}
		if err := output.WriteFixPlan(&b, &result, output.Options{Text: text.Options{Now: now}}); err != nil {
			t.Fatal(err)
		}
		out["fix "+name] = b.String()
	}
	known := &secret.Known{}
	for _, o := range c.Input.OldObjects {
		known.AddObject(o.Group, o.Kind, o.Content)
		known.AddObject(o.Group, o.Kind, c.Input.Live[o.Ref].Object)
	}
	var stderr bytes.Buffer
	log.New(jobs.LogWriter(known, &stderr), "", 0).Printf("warning: cannot overwrite table with non table for x.y (%v)", c.Input.OldObjects[1].Content)
	log.New(jobs.LogWriter(known, &stderr), "", 0).Printf("[INFO] Fail: %s", said(c))
	out["log"] = stderr.String()
	cli.Streams{Err: &stderr, Env: func(string) string { return "" }, Known: known}.Explain(errors.New(said(c)))
	dir := filepath.Join(t.TempDir(), "backup")
	f := fixing.Run{Flags: fixing.Flags{Backup: dir}, Before: &drift.Result{Comparison: c},
		Streams: cli.Streams{Err: &stderr, Env: func(string) string { return "" }}}
	if err := f.SaveBackup(plan); err != nil {
		t.Fatal(err)
	}
	out["stderr"] = stderr.String()
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) != 4 {
		t.Errorf("the backup has %v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(file)] = string(text)
	}
	return out
}

// manifestText returns the manifest of objects.
func manifestText(t *testing.T, objects []object.Object) (manifest string) {
	t.Helper()
	for _, o := range objects {
		text, err := yaml.Marshal(o.Content)
		if err != nil {
			t.Fatal(err)
		}
		manifest += "---\n" + string(text)
	}
	return manifest
}

// said returns what a server or a chart may say: everything that the objects hold, and their canaries alone.
func said(c *threeway.Comparison) string {
	var b strings.Builder
	for _, o := range c.Input.OldObjects {
		raw, _ := json.Marshal(o.Content)
		fmt.Fprintf(&b, "%s is refused, as is %s; ", raw, c.Input.Live[o.Ref].Object)
	}
	return b.String() + c.Input.Errors[0].Message
}
