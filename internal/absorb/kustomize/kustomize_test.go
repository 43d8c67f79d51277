package kustomize

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// TestPatches has a change of each kind, with the strategic merge patch and the JSON patch that make it. An empty patch says that the form
// cannot express the change. Kustomize applies each patch to the object, which must become live. Misses is what kustomize makes
// of the strategic merge patch instead, if it is not live: the caller of the package tries each patch too, and takes the JSON patch then.
func TestPatches(t *testing.T) {
	for _, tt := range []struct {
		name, kind      string
		text, live      string
		change          Change
		strategic, json string
		misses          string
	}{
		{
			name: "a key of a map", kind: "Pod",
			text: `metadata: {labels: {tier: front, team: a}}`, live: `metadata: {labels: {tier: back, team: a}}`,
			change:    Change{Path: labels.Field("tier"), Live: "back", Present: true},
			strategic: `{"metadata":{"labels":{"tier":"back"}}}`,
			json:      `[{"op":"replace","path":"/metadata/labels/tier","value":"back"}]`,
		},
		{
			name: "a key of a map that the manifest lacks", kind: "Pod",
			text: `metadata: {}`, live: `metadata: {labels: {tier: back}}`,
			change:    Change{Path: labels.Field("tier"), Live: "back", Present: true},
			strategic: `{"metadata":{"labels":{"tier":"back"}}}`,
			json:      `[{"op":"add","path":"/metadata/labels","value":{"tier":"back"}}]`,
		},
		{
			name: "a key of a map that live lacks", kind: "Pod",
			text: `spec: {nodeSelector: {disk: ssd, zone: a}}`, live: `spec: {nodeSelector: {zone: a}}`,
			change:    Change{Path: object.Path{}.Field("spec").Field("nodeSelector").Field("disk")},
			strategic: `{"spec":{"nodeSelector":{"disk":null}}}`,
			json:      `[{"op":"remove","path":"/spec/nodeSelector/disk"}]`,
		},
		{
			name: "a label that live lacks", kind: "Pod",
			text: `metadata: {labels: {tier: front, team: a}}`, live: `metadata: {labels: {team: a}}`,
			change:    Change{Path: labels.Field("tier")},
			strategic: `{"metadata":{"labels":{"tier":null}}}`, misses: `metadata: {labels: {tier: "null", team: a}}`,
			json: `[{"op":"remove","path":"/metadata/labels/tier"}]`,
		},
		{
			name: "a field of the first item of a list", kind: "Pod",
			text: `spec: {containers: [{name: a, image: one}, {name: b}]}`, live: `spec: {containers: [{name: a, image: two}, {name: b}]}`,
			change:    Change{Path: containers.Item(key("a")).Field("image"), Live: "two", Present: true},
			strategic: `{"spec":{"containers":[{"image":"two","name":"a"}]}}`,
			json: `[{"op":"test","path":"/spec/containers/0/name","value":"a"},` +
				`{"op":"replace","path":"/spec/containers/0/image","value":"two"}]`,
		},
		{
			name: "a field of another item", kind: "Pod",
			text: `spec: {containers: [{name: a}, {name: b, image: one}]}`, live: `spec: {containers: [{name: a}, {name: b, image: two}]}`,
			change:    Change{Path: containers.Item(key("b")).Field("image"), Live: "two", Present: true},
			strategic: `{"spec":{"containers":[{"image":"two","name":"b"}]}}`, misses: `spec: {containers: [{name: b, image: two}, {name: a}]}`,
			json: `[{"op":"test","path":"/spec/containers/1/name","value":"b"},` +
				`{"op":"replace","path":"/spec/containers/1/image","value":"two"}]`,
		},
		{
			name: "an item that live lacks", kind: "Pod",
			text: `spec: {containers: [{name: a}, {name: b}]}`, live: `spec: {containers: [{name: a}]}`,
			change:    Change{Path: containers.Item(key("b"))},
			strategic: `{"spec":{"containers":[{"$patch":"delete","name":"b"}]}}`,
			json:      `[{"op":"test","path":"/spec/containers/1/name","value":"b"},{"op":"remove","path":"/spec/containers/1"}]`,
		},
		{
			name: "an item that live has before all others", kind: "Pod",
			text: `spec: {containers: [{name: a}]}`, live: `spec: {containers: [{name: b}, {name: a}]}`,
			change:    Change{Path: containers.Item(key("b")), Live: map[string]any{"name": "b"}, Present: true},
			strategic: `{"spec":{"containers":[{"name":"b"}]}}`,
			json:      `[{"op":"add","path":"/spec/containers/0","value":{"name":"b"}}]`,
		},
		{
			name: "an item that live has after another one, where a strategic merge patch does not put it", kind: "Pod",
			text: `spec: {containers: [{name: a}]}`, live: `spec: {containers: [{name: a}, {name: b}]}`,
			change: Change{Path: containers.Item(key("b")), Live: map[string]any{"name": "b"}, Present: true},
			json:   `[{"op":"add","path":"/spec/containers/-","value":{"name":"b"}}]`,
		},
		{
			name: "an item of a set, which has no keys", kind: "Pod",
			text: `metadata: {finalizers: [x/a, x/b]}`, live: `metadata: {finalizers: [x/a]}`,
			change: Change{Path: object.Path{}.Field("metadata").Field("finalizers").SetItem("x/b")},
			json:   `[{"op":"test","path":"/metadata/finalizers/1","value":"x/b"},{"op":"remove","path":"/metadata/finalizers/1"}]`,
		},
		{
			name: "an item of a custom resource, whose lists have no keys for kustomize", kind: "Widget",
			text:      `spec: {containers: [{name: a, image: one}, {name: b, image: one}]}`,
			live:      `spec: {containers: [{name: a, image: one}, {name: b, image: two}]}`,
			change:    Change{Path: containers.Item(key("b")).Field("image"), Live: "two", Present: true},
			strategic: `{"spec":{"containers":[{"image":"two","name":"b"}]}}`, misses: `spec: {containers: [{name: b, image: two}]}`,
			json: `[{"op":"test","path":"/spec/containers/1/name","value":"b"},` +
				`{"op":"replace","path":"/spec/containers/1/image","value":"two"}]`,
		},
		{
			name: "the whole object", kind: "Pod", text: `spec: {}`, live: "",
			change:    Change{},
			strategic: `{"$patch":"delete"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := Target{Ref: object.Ref{Key: object.Key{Kind: tt.kind, Namespace: "d", Name: "x"}, Version: "v1"}, Release: "d"}
			if tt.kind == "Widget" {
				target.Group = "example.com"
			}
			target.Text, target.Live = parse(t, target, tt.text), parse(t, target, tt.live)
			target.Normal = target.Text
			for _, form := range []struct {
				name, want string
				make       func(Target, []Change) (absorption.KustomizePatch, bool)
				misses     string
			}{{"strategic", tt.strategic, Strategic, tt.misses}, {"JSON", tt.json, JSON, ""}} {
				patch, ok := form.make(target, []Change{tt.change})
				if ok != (form.want != "") {
					t.Errorf("%s: is made: %t, want %q", form.name, ok, form.want)
				}
				if !ok {
					continue
				}
				if got := withoutIdentity(t, patch.Patch); got != form.want {
					t.Errorf("%s: %s, want %s", form.name, got, form.want)
				}
				want := target.Live
				if form.misses != "" {
					want = parse(t, target, form.misses)
				}
				if got := applied(t, target, patch); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: kustomize makes %v of it, want %v", form.name, got, want)
				}
			}
		})
	}
}

// TestTestsGuardIndexes checks that kustomize refuses a JSON patch whose index leads to another item than the one that the patch is about.
func TestTestsGuardIndexes(t *testing.T) {
	target := Target{Ref: object.Ref{Key: object.Key{Kind: "Pod", Name: "x"}, Version: "v1"}}
	target.Text = parse(t, target, `spec: {containers: [{name: a, image: one}, {name: b, image: one}]}`)
	target.Normal = target.Text
	patch, ok := JSON(target, []Change{{Path: containers.Item(key("b")).Field("image"), Live: "two", Present: true}})
	target.Text = parse(t, target, `spec: {containers: [{name: b, image: one}, {name: a, image: one}]}`)
	text, err := yaml.Marshal(target.Text)
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	if out, err := Apply(absorption.NewKustomization([]absorption.KustomizePatch{patch}), text); err == nil {
		t.Errorf("kustomize changes an item that was moved: %s", out)
	}
}

var (
	labels     = object.Path{}.Field("metadata").Field("labels")
	containers = object.Path{}.Field("spec").Field("containers")
)

func key(name string) []object.ListKey { return []object.ListKey{{Name: "name", Value: name}} }

// parse returns the object of a target with some content; nil if there is none.
func parse(t *testing.T, target Target, content string) map[string]any {
	t.Helper()
	if content == "" {
		return nil
	}
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(content), &out); err != nil {
		t.Fatal(err)
	}
	out["apiVersion"], out["kind"] = target.APIVersion(), target.Kind
	if out["metadata"] == nil {
		out["metadata"] = map[string]any{}
	}
	object.Child(out, "metadata")["name"] = target.Name
	return out
}

// withoutIdentity returns a patch without the apiVersion, kind and name that every strategic merge patch has.
func withoutIdentity(t *testing.T, patch string) string {
	t.Helper()
	if strings.HasPrefix(patch, "[") {
		return patch
	}
	var content map[string]any
	if err := json.Unmarshal([]byte(patch), &content); err != nil {
		t.Fatal(err)
	}
	delete(content, "apiVersion")
	delete(content, "kind")
	meta := object.Child(content, "metadata")
	if delete(meta, "name"); len(meta) == 0 {
		delete(content, "metadata")
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// applied returns the object of a target after kustomize has applied a patch to it; nil if it is gone.
func applied(t *testing.T, target Target, patch absorption.KustomizePatch) map[string]any {
	t.Helper()
	manifest, err := yaml.Marshal(target.Text)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Apply(absorption.NewKustomization([]absorption.KustomizePatch{patch}), manifest)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
