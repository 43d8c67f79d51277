package argocd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/engine"
	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestWrite has an object of a custom kind as it was applied, as it is desired and as it is live, the options of a sync, and what the sync
// makes of spec.
func TestWrite(t *testing.T) {
	for name, c := range map[string]struct {
		options                []string
		applied, desired, live string
		want                   string
		ignored                string
	}{
		"an edit is put back":                   {applied: "{a: 1}", desired: "{a: 1}", live: "{a: 2}", want: "{a: 1}"},
		"what somebody added stays":             {applied: "{a: 1}", desired: "{a: 1}", live: "{a: 1, b: 2}", want: "{a: 1, b: 2}"},
		"what the sources drop goes":            {applied: "{a: 1, b: 2}", desired: "{a: 1}", live: "{a: 1, b: 2}", want: "{a: 1}"},
		"without an annotation it stays":        {desired: "{a: 1}", live: "{a: 1, b: 2}", want: "{a: 1, b: 2}"},
		"a list is one value":                   {applied: "{a: [1]}", desired: "{a: [1]}", live: "{a: [1, 2]}", want: "{a: [1]}"},
		"replaced":                              {options: []string{"Replace=true"}, applied: "{a: 1}", desired: "{a: 1}", live: "{a: 1, b: 2}", want: "{a: 1}"},
		"ignored, and overwritten all the same": {applied: "{a: 1}", desired: "{a: 1}", live: "{a: 2}", ignored: "a", want: "{a: 1}"},
		"ignored and respected": {options: []string{"RespectIgnoreDifferences=true"}, applied: "{a: 1, c: 1}", desired: "{a: 1, c: 2}", live: "{a: 2, c: 1}",
			ignored: "a", want: "{a: 2, c: 2}"},
		"only ignored, and not sent": {options: []string{"ApplyOutOfSyncOnly=true"}, applied: "{a: 1}", desired: "{a: 1}", live: "{a: 2}", ignored: "a",
			want: "{a: 2}"},
		"ignored beside a difference": {options: []string{"ApplyOutOfSyncOnly=true"}, applied: "{a: 1, c: 1}", desired: "{a: 1, c: 2}", live: "{a: 2, c: 1}",
			ignored: "a", want: "{a: 1, c: 2}"},
		"an addition is in sync, and not replaced": {options: []string{"ApplyOutOfSyncOnly=true", "Replace=true"}, applied: "{a: 1}", desired: "{a: 1}",
			live: "{a: 1, b: 2}", want: "{a: 1, b: 2}"},
	} {
		t.Run(name, func(t *testing.T) {
			options := Options{List: c.options}
			desired, live := thing(t, c.desired), thing(t, c.live)
			if c.applied != "" {
				text, err := json.Marshal(thing(t, c.applied))
				if err != nil {
					t.Fatal(err)
				}
				live["metadata"].(map[string]any)["annotations"] = map[string]any{LastApplied: string(text)}
			}
			if c.ignored != "" {
				ignored := []object.Pointer{{"spec", c.ignored}}
				options.Left = map[object.Key]Left{object.RefOf(desired).Key: {Desired: without(desired, ignored), Live: without(live, ignored)}}
			}
			done, err := predict(options, desired, live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(thing(t, c.want)["spec"], done.Result["spec"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBrokenAnnotation has annotations of kubectl apply, and whether a patch can be made with them.
func TestBrokenAnnotation(t *testing.T) {
	for annotation, fails := range map[string]bool{"": false, "{}": false, "null": false, "oops": true, "[]": true} {
		desired, live := thing(t, "{a: 1}"), thing(t, "{a: 2}")
		live["metadata"].(map[string]any)["annotations"] = map[string]any{LastApplied: annotation}
		done, err := Options{}.Deployment().Sync.Write(engine.Writer{}, object.RefOf(desired), desired, live)
		if err != nil || (done.Invalid != "") != fails {
			t.Errorf("%q: %q, %v", annotation, done.Invalid, err)
		}
	}
}

// thing returns an object with a spec.
func thing(t *testing.T, spec string) map[string]any {
	t.Helper()
	return contentOf(t, "{apiVersion: ex.com/v1, kind: Thing, metadata: {name: web, namespace: shop}, spec: "+spec+"}")
}

// contentOf decodes YAML.
// predict predicts the write of an object with options.
func predict(o Options, desired, live map[string]any) (engine.Written, error) {
	sync := o.Deployment().Sync
	method, replaces := sync.Method(desired)
	w := engine.Writer{ServerSide: method == report.ApplyServerSide, ForceReplace: replaces, Helm4: true,
		Deployer: func() owners.Deployer { return owners.Deployer{Manager: Manager, Known: true} }}
	return sync.Write(w, object.RefOf(desired), desired, live)
}

func contentOf(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	var out map[string]any
	if err == nil {
		err = utiljson.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOptions has the options of a sync and of an object, and how the object is written and pruned.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		options []string
		own     string
		method  report.ApplyMethod
		replace bool
		leaves  string
	}{
		{nil, "", "client-side", false, ""},
		{[]string{"ServerSideApply=true"}, "", "server-side", false, ""},
		{nil, "ServerSideApply=true", "server-side", false, ""},
		{[]string{"ServerSideApply=true"}, "Prune=false, ServerSideApply=false", "client-side", false, "Prune=false"},
		{nil, "Replace=true,Prune=confirm", "client-side", true, "Prune=confirm: somebody has to confirm the deletion"},
		{[]string{"Prune=false"}, "", "client-side", false, "Prune=false"},
		{[]string{"Prune=false"}, "Prune=true", "client-side", false, ""},
	} {
		content := map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			optionsAnnotation: c.own, "helm.sh/resource-policy": "keep",
		}}}
		sync := Options{List: c.options, Prune: true}.Deployment().Sync
		if method, replaces := sync.Method(content); method != c.method || replaces != c.replace {
			t.Errorf("%v, %q: %s, replaces %t", c.options, c.own, method, replaces)
		}
		if got := sync.Leaves(content); got != c.leaves {
			t.Errorf("%v, %q: %q", c.options, c.own, got)
		}
	}
	owned := map[string]any{"metadata": map[string]any{"ownerReferences": []any{map[string]any{}}}}
	if got := (Options{Prune: true}).Leaves(owned); got != "it belongs to another object, so Argo CD does not delete it" {
		t.Errorf("with an owner: %q", got)
	}
	if got := (Options{}).Deployment().Sync.Leaves(nil); got != "the sync does not prune" {
		t.Errorf("without prune: %q", got)
	}
}

// TestRemoves has objects of an Application that goes, and why they stay.
func TestRemoves(t *testing.T) {
	const object = "apiVersion: v1, kind: ConfigMap, metadata: {name: web"
	for _, c := range []struct{ live, options, leaves string }{
		{live: "{" + object + "}}"},
		{live: "{" + object + ", annotations: {argocd.argoproj.io/sync-options: Prune=false}}}"},
		{live: "{" + object + ", annotations: {argocd.argoproj.io/sync-options: Delete=false}}}", leaves: "Delete=false"},
		{live: "{" + object + "}}", options: "Delete=false", leaves: "Delete=false"},
		{live: "{" + object + ", annotations: {argocd.argoproj.io/sync-options: Delete=true}}}", options: "Delete=false"},
		{live: "{" + object + ", annotations: {argocd.argoproj.io/sync-options: Prune=confirm}}}", leaves: "Prune=confirm: somebody has to confirm the deletion"},
		{live: "{" + object + ", annotations: {helm.sh/resource-policy: keep}}}", leaves: "helm.sh/resource-policy: keep"},
		{live: "{" + object + ", ownerReferences: [{name: other}]}}", leaves: "it belongs to another object, so Argo CD does not delete it"},
		{live: "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}", leaves: "definitions stay when an Application goes"},
	} {
		for _, cascades := range []bool{true, false} {
			want := c.leaves
			if !cascades {
				want = "the Application lacks the finalizer that deletes its objects"
			}
			if got := (Options{List: []string{c.options}, Removes: true, Prune: cascades}).Leaves(contentOf(t, c.live)); got != want {
				t.Errorf("%s, cascades %t: %q, want %q", c.live, cascades, got, want)
			}
		}
	}
}

// TestRecreates has options of the Application and of a Deployment, whether the sync changes its selector, which is immutable, and what
// becomes of it: it is patched, replaced, or deleted and created again.
func TestRecreates(t *testing.T) {
	const again = "deletes it and creates it again"
	for _, c := range []struct {
		list, own string
		changes   bool
		engine    report.Engine
		why       string
	}{
		{list: "Force=true", changes: true, engine: report.EngineStrategic},
		{own: "Force=true", engine: report.EngineStrategic},
		{own: "Force=true", changes: true, engine: report.EngineReplace, why: again},
		{own: "Force=true,ServerSideApply=true", changes: true, engine: report.EngineApply},
		{own: "Force=true, Replace=true", engine: report.EngineReplace, why: "delete it and create it again"},
		{list: "Replace=true", own: "Force=true", changes: true, engine: report.EngineReplace, why: "delete it and create it again"},
		{list: "Replace=true", engine: report.EngineReplace},
	} {
		app := func(name string) map[string]any {
			return contentOf(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, annotations: {argocd.argoproj.io/sync-options: '"+c.own+
				"'}}, spec: {selector: {matchLabels: {app: "+name+"}}, template: {metadata: {labels: {app: "+name+"}}, spec: {containers: [{name: web, image: web}]}}}}")
		}
		live, desired := app("web"), app("web")
		if c.changes {
			desired = app("other")
		}
		var got Outcome
		options := Options{List: strings.Split(c.list, ","), Learn: func(_ object.Key, is Outcome) { got = is }}
		done, err := predict(options, desired, live)
		if err != nil {
			t.Fatal(err)
		}
		if done.Engine != c.engine || !strings.HasSuffix(got.Why, c.why) || (got.Why == "") != (c.why == "") {
			t.Errorf("%+v: engine %s, %+v", c, done.Engine, got)
		}
		if want := options.Deployment().Sync.Recreates(desired, live); want != (c.why != "" || c.own == "Force=true") {
			t.Errorf("%+v: Recreates is %t", c, want)
		}
	}
}

// TestRebinds has bindings, and whether a sync deletes them and creates them again.
func TestRebinds(t *testing.T) {
	binding := func(role, more string) map[string]any {
		return contentOf(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web"+more+"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "+role+"}}")
	}
	for name, c := range map[string]struct {
		options       []string
		desired, live map[string]any
		want          bool
	}{
		"another role": {desired: binding("a", ""), live: binding("b", ""), want: true},
		"the same":     {desired: binding("a", ""), live: binding("a", ", labels: {a: b}")},
		"a new one":    {desired: binding("a", "")},
		"server-side":  {options: []string{"ServerSideApply=true"}, desired: binding("a", ""), live: binding("b", "")},
		"replaced":     {options: []string{"Replace=true"}, desired: binding("a", ""), live: binding("b", "")},
		"protected":    {desired: binding("a", ""), live: binding("b", ", annotations: {rbac.authorization.kubernetes.io/autoupdate: 'false'}")},
		"another kind": {desired: contentOf(t, "{apiVersion: v1, kind: RoleBinding, roleRef: a}"), live: binding("b", "")},
	} {
		if got := (Options{List: c.options}).rebinds(c.desired, c.live); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestRefused checks that an object is refused whose annotation of a client-side apply would be too long.
func TestRefused(t *testing.T) {
	large := map[string]any{"spec": strings.Repeat("x", mostAnnotations)}
	if got := (Options{}).refused(large); got != "metadata.annotations: Too long: may not be more than 262144 bytes" {
		t.Errorf("client-side: %q", got)
	}
	for _, option := range []string{"ServerSideApply=true", "Replace=true"} {
		if got := (Options{List: []string{option}}).refused(large); got != "" {
			t.Errorf("%s: %q", option, got)
		}
	}
	if got := (Options{}).refused(map[string]any{"spec": "small"}); got != "" {
		t.Errorf("a small object: %q", got)
	}
}

// TestNulls has an object of the sources with nulls: what a sync creates of it, and what it makes of an object where somebody has set these
// fields.
func TestNulls(t *testing.T) {
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop, labels: {a: x, b: null}}, data: {k: null}}"
	for name, c := range map[string]struct {
		options       []string
		created, then string
	}{
		"client-side": {nil, "{a: x}}, data: {}", "{a: x}}, data: {}"},
		"replaced":    {[]string{"Replace=true"}, "{a: x, b: null}}, data: {k: null}", "{a: x, b: null}}, data: {k: null}"},
		"server-side": {[]string{"ServerSideApply=true"}, "{a: x, b: null}}, data: {k: null}", "{a: x, b: null}}, data: {k: null}"},
	} {
		desired := contentOf(t, text)
		of := func(rest string) map[string]any {
			return contentOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop, labels: "+rest+"}")
		}
		o := Options{List: c.options, Raw: map[object.Key]map[string]any{object.RefOf(desired).Key: desired}}
		if got := o.Created(desired); !object.Equal(got, of(c.created)) {
			t.Errorf("%s: it creates %v", name, got)
		}
		done, err := predict(o, o.Created(desired), of("{a: x, b: edited}}, data: {k: edited}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := engine.WithoutManagedFields(done.Result); !object.Equal(got, of(c.then)) {
			t.Errorf("%s: an edit becomes %v", name, got)
		}
	}
}
