package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/ignored"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// reads is a cluster with some objects.
type reads struct {
	drift.Cluster
	objects
}

// Read implements drift.Cluster.
func (r reads) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	return r.objects.Read(ctx, wanted)
}

// Scope implements drift.Cluster.
func (reads) Scope(schema.GroupVersionKind) (namespaced, known bool) { return true, true }

// planOf returns a plan whose sources make an object that is live.
func planOf(t *testing.T, ignoreDifferences, desired, live string) *Plan {
	t.Helper()
	app := &api.Application{Metadata: api.Metadata{Name: "web", Namespace: "argocd"}}
	if err := yaml.Unmarshal([]byte("spec: {ignoreDifferences: "+ignoreDifferences+"}"), app); err != nil {
		t.Fatal(err)
	}
	o := object.Object{Content: contentOf(t, desired)}
	key := object.RefOf(o.Content).Key
	o.Ref = object.Ref{Key: key, Version: "v1"}
	return &Plan{app: app, made: rendered{objects: []object.Object{o}}, cluster: readCache{
		reads{objects: objects{o.Ref: contentOf(t, live)}}, map[object.Ref]cluster.Live{},
	}}
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

// here runs an order in this process.
func here(ctx context.Context, order ignored.Order) (ignored.Answer, error) { return order.Run(ctx) }

// TestSelected has a Deployment in the sources and in the cluster, an expression, and the places that a report ignores: those that are the
// same once Argo CD has removed from each side what the expression selects there.
func TestSelected(t *testing.T) {
	const head = "apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}"
	for name, c := range map[string]struct{ expression, desired, live, want string }{
		"a field":                      {".spec.replicas", "{replicas: 1}", "{replicas: 2}", "/spec/replicas"},
		"a field that somebody added":  {".spec.paused", "{replicas: 1}", "{replicas: 2, paused: true}", "/spec/paused"},
		"a field that is gone":         {".spec.paused", "{paused: true}", "{}", "/spec/paused"},
		"no place":                     {".spec.nothing[]", "{replicas: 1}", "{replicas: 2}", ""},
		"selected only in the cluster": {".spec | select(.replicas > 1) | .replicas", "{replicas: 1}", "{replicas: 2}", ""},
		"selected on both sides":       {".spec | select(.replicas > 1) | .replicas", "{replicas: 2}", "{replicas: 3}", "/spec/replicas"},
		"an item with a name, one side": {`.spec.template.spec.containers[] | select(.name == "proxy")`, "{template: {spec: {containers: [{name: web, image: a}]}}}",
			"{template: {spec: {containers: [{name: proxy}, {name: web, image: b}]}}}", "/spec/template/spec/containers/[name=proxy]"},
		"within an item, in another order": {`.spec.template.spec.containers[] | select(.name == "proxy") | .image`,
			"{template: {spec: {containers: [{name: web, image: a}, {name: proxy, image: a}]}}}",
			"{template: {spec: {containers: [{name: proxy, image: b}, {name: web, image: b}]}}}", "/spec/template/spec/containers/[name=proxy]/image"},
		"an item without a name": {`.spec.template.spec.tolerations[] | select(.key == "a")`, "{template: {spec: {tolerations: [{key: b}]}}}",
			"{template: {spec: {tolerations: [{key: a}, {key: b}]}}}", "/spec/template/spec/tolerations"},
		"an item without a name beside a difference": {`.spec.template.spec.tolerations[] | select(.key == "a")`, "{template: {spec: {tolerations: [{key: c}]}}}",
			"{template: {spec: {tolerations: [{key: a}, {key: b}]}}}", ""},
		"a name with a slash":     {`.spec.selector.matchLabels["x/y"]`, "{selector: {matchLabels: {x/y: a}}}", "{selector: {matchLabels: {x/y: b}}}", "/spec/selector/matchLabels/x~1y"},
		"what is no path":         {`.x) | .spec.replicas |= (. % 2`, "{replicas: 1}", "{replicas: 3}", "/spec/replicas"},
		"what is no path, and is": {`.x) | .spec.replicas |= (. % 2`, "{replicas: 1}", "{replicas: 2}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, "[{group: apps, kind: Deployment, jqPathExpressions: ["+quoted(c.expression)+"]}]",
				"{"+head+", spec: "+c.desired+"}", "{"+head+", spec: "+c.live+"}")
			p.ignore(t.Context(), Question{Ignore: here})
			var got []string
			for _, r := range p.rules() {
				if r.Name != "Application argocd/web ignoreDifferences[0]" || r.Target.Name != "^web$" || r.Target.Kind != "^Deployment$" {
					t.Errorf("rule %+v of %+v", r, r.Target)
				}
				got = append(got, r.Paths...)
			}
			if text := strings.Join(got, " "); text != c.want || len(p.problems) > 0 {
				t.Errorf("got %q, want %q; %v", text, c.want, p.problems)
			}
		})
	}
}

// TestTrusted has a ConfigMap that a manager owns a part of, the managers that are ignored, what Argo CD compares, and the places that a
// report ignores. The first case is that of argo-cd v3.6.1 util/argo/managedfields/managed_fields_test.go.
func TestTrusted(t *testing.T) {
	const head = "apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop"
	const owned = ", managedFields: [{manager: robot, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:a': {}, 'f:added': {}}}}]"
	for name, c := range map[string]struct{ managers, desired, live, wantDesired, wantLive, want string }{
		"what it owns and differs is removed": {"[robot]", "{a: b, other: m}", "{a: c, other: n1}", "{other: m}", "{other: n1}", "/data/a"},
		"what is the same stays":              {"[robot]", "{a: b}", "{a: b}", "{a: b}", "{a: b}", ""},
		"what it added stays":                 {"[robot]", "{}", "{added: b}", "{}", "{added: b}", ""},
		"another manager":                     {"[bob]", "{a: b}", "{a: c}", "{a: b}", "{a: c}", ""},
	} {
		p := planOf(t, "[{kind: ConfigMap, managedFieldsManagers: "+c.managers+"}]", "{"+head+"}, data: "+c.desired+"}", "{"+head+owned+"}, data: "+c.live+"}")
		p.ignore(t.Context(), Question{Ignore: here})
		left, found := p.left[p.made.objects[0].Key]
		if !found || len(p.problems) > 0 {
			t.Fatalf("%s: %v", name, p.problems)
		}
		got := [][]any{{object.Field(left.Desired, "data"), object.Field(left.Live, "data")}}
		want := [][]any{{any(contentOf(t, c.wantDesired)), any(contentOf(t, c.wantLive))}}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		var paths []string
		for _, r := range p.selected {
			paths = append(paths, r.Paths...)
		}
		if text := strings.Join(paths, " "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}

// thingTypes has the types of a custom kind, whose list has names.
type thingTypes struct {
	drift.Cluster
	document string
}

func (c thingTypes) OpenAPI(_ context.Context, wanted []schema.GroupVersion) (map[schema.GroupVersion][]byte, []report.Message) {
	return map[schema.GroupVersion][]byte{wanted[0]: []byte(c.document)}, nil
}

// TestTrustedCustom has a custom kind whose list has names: what a manager owns of one item is not compared. If the cluster does not say
// the types, that is an error only where it matters.
func TestTrustedCustom(t *testing.T) {
	const document = `{"components": {"schemas": {"thing": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "ex.com", "version": "v1", "kind": "Thing"}],
		"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		"spec": {"type": "object", "properties": {"list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
		"items": {"type": "object", "properties": {"name": {"type": "string"}, "a": {"type": "string"}, "b": {"type": "string"}}}}}}}}}}}`
	const head = "apiVersion: ex.com/v1, kind: Thing, metadata: {name: web, namespace: shop"
	const owned = `, managedFields: [{manager: robot, operation: Update, apiVersion: ex.com/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:list': {'k:{"name":"x"}': {'f:a': {}}}}}}]`
	for name, c := range map[string]struct{ document, options, want, fails string }{
		"the types are known":     {document: document, options: "[RespectIgnoreDifferences=true]", want: `{"list":[{"b":"1","name":"x"}]}`},
		"they are not":            {options: "[]", want: `{"list":[{"a":"1","b":"1","name":"x"}]}`},
		"they are not, and count": {options: "[RespectIgnoreDifferences=true]", want: `{"list":[{"a":"1","b":"1","name":"x"}]}`, fails: "does not say which types"},
	} {
		p := planOf(t, "[{group: ex.com, kind: Thing, managedFieldsManagers: [robot]}], syncPolicy: {syncOptions: "+c.options+"}",
			"{"+head+"}, spec: {list: [{name: x, a: '1', b: '1'}]}}", "{"+head+owned+"}, spec: {list: [{name: x, a: '2', b: '2'}]}}")
		p.from.Cluster = thingTypes{document: c.document}
		p.ignore(t.Context(), Question{Ignore: here})
		left := p.left[p.made.objects[0].Key]
		if got, _ := json.Marshal(left.Desired["spec"]); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if text := fmt.Sprint(p.problems); (c.fails != "") != (len(p.problems) > 0) || !strings.Contains(text, c.fails) {
			t.Errorf("%s: %s, want %q", name, text, c.fails)
		}
	}
}

// TestRefusedDryRun checks that an object whose dry run the API server refuses keeps Argo CD from comparing, if it compares by dry runs.
// Seeds 403 and 408 of the random syncs have another managedNamespaceMetadata than at the last sync.
func TestRefusedDryRun(t *testing.T) {
	const thing = "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}}"
	for _, c := range []struct {
		options, synced string
		action          report.Action
		want            string
	}{
		{"[ServerSideApply=true]", "shop", report.ActionFail, "the API server refuses the dry run of Service shop/web"},
		{"[ServerSideApply=true]", "shop", report.ActionUpdate, ""},
		{"[ServerSideApply=true]", "store", report.ActionFail, ""},
		{"[]", "shop", report.ActionFail, ""},
	} {
		p := planOf(t, "[], syncPolicy: {managedNamespaceMetadata: {labels: {team: shop}}, syncOptions: "+c.options+"}", thing, thing)
		status := "{operationState: {syncResult: {managedNamespaceMetadata: {labels: {team: " + c.synced + "}}}}}"
		if err := yaml.Unmarshal([]byte(status), &p.app.Status); err != nil {
			t.Fatal(err)
		}
		p.cluster.Read(t.Context(), []object.Ref{p.made.objects[0].Ref})
		r := &report.Release{Objects: []report.Object{{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "web", Action: c.action}}}
		if got := p.refusedDryRun(r); got != c.want {
			t.Errorf("%s, %s: %q", c.options, c.action, got)
		}
	}
}

// TestServerSide checks that Argo CD compares live with the result of a server-side apply, unless an annotation says otherwise: what bob
// added beside the sources makes the expression select the value on both sides. Seed 323 of the random syncs found it.
func TestServerSide(t *testing.T) {
	const head = "apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop"
	const owned = ", managedFields: [{manager: bob, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'f:bob': {}, 'f:level': {}}}}]"
	for name, c := range map[string]struct{ options, annotation, own, want string }{
		"client-side":           {"[]", "", "", ""},
		"server-side":           {"[ServerSideApply=true]", "", "", "/data/level"},
		"as the object says":    {"[]", "", ", annotations: {argocd.argoproj.io/sync-options: ServerSideApply=true}", ""},
		"an annotation for":     {"[]", "IgnoreExtraneous, ServerSideDiff=true", "", "/data/level"},
		"an annotation against": {"[ServerSideApply=true]", "ServerSideDiff=false", "", ""},
	} {
		p := planOf(t, "[{kind: ConfigMap, jqPathExpressions: ['.data | select(.bob) | .level']}], syncPolicy: {syncOptions: "+c.options+"}",
			"{"+head+c.own+"}, data: {level: info}}", "{"+head+owned+"}, data: {level: bob, bob: '1'}}")
		p.app.Metadata.Annotations = map[string]string{"argocd.argoproj.io/compare-options": c.annotation}
		p.ignore(t.Context(), Question{Ignore: here})
		var paths []string
		for _, r := range p.selected {
			paths = append(paths, r.Paths...)
		}
		if text := strings.Join(paths, " "); text != c.want || len(p.problems) > 0 {
			t.Errorf("%s: got %q, want %q; %v", name, text, c.want, p.problems)
		}
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// TestIgnoreFails checks that what is not known of expressions is an error, and that Argo CD does nothing if one does not compile.
func TestIgnoreFails(t *testing.T) {
	const web = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}, data: {a: b}}"
	fails := func(context.Context, ignored.Order) (ignored.Answer, error) {
		return ignored.Answer{}, errors.New("it takes more memory than 1Gi")
	}
	slow := func(ctx context.Context, order ignored.Order) (ignored.Answer, error) {
		order.Time = 1
		return order.Run(ctx)
	}
	for name, c := range map[string]struct {
		expression, want string
		run              func(context.Context, ignored.Order) (ignored.Answer, error)
		action           string
	}{
		"the child fails": {".data", "what Argo CD ignores is not known: it takes more memory than 1Gi", fails, "none"},
		"too slow":        {".data", `the expression ".data" takes longer than 1s on ConfigMap shop/web`, slow, "none"},
		"broken":          {".data[", `ignoreDifferences[0]: the expression ".data[" does not compile: unexpected token ")"`, here, "blocked"},
		"nothing is left": {".", "ignores so much of ConfigMap shop/web that no object is left", here, "none"},
	} {
		p := planOf(t, "[{kind: ConfigMap, jqPathExpressions: ["+quoted(c.expression)+"]}]", web, web)
		p.ignore(t.Context(), Question{Ignore: c.run})
		if len(p.problems) != 1 || !strings.Contains(p.problems[0].Message, c.want) || len(p.rules()) > 0 {
			t.Errorf("%s: %v, %v", name, p.problems, p.rules())
		}
		if got := p.decide(difference{}); string(got.action) != c.action {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestIgnores has what is ignored by argocd-cm and by an annotation, and the rules that it makes.
func TestIgnores(t *testing.T) {
	const web = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop, annotations: {argocd.argoproj.io/ignore-differences: " +
		"'{jsonPointers: [/data/annotated], jqPathExpressions: [.no]}'}}, data: {a: b}}"
	p := planOf(t, "[{kind: ConfigMap, name: web, jsonPointers: [/data/own]}]", web, web)
	p.settings.Ignores = api.SystemIgnores(map[string]any{
		"resource.customizations": "apps/Deployment: {ignoreDifferences: 'jsonPointers: [/replaced]'}\n" +
			"'*/ConfigMap': {ignoreDifferences: 'jqPathExpressions: [.data.all]'}\n",
		"resource.customizations.ignoreDifferences.apps_Deployment": "jsonPointers: [/spec/one]",
		"resource.customizations.ignoreDifferences.ConfigMap":       "managedFieldsManagers: [nobody]\njsonPointers: [/data/core]",
		"resource.customizations.ignoreDifferences._ConfigMap":      "managedFieldsManagers: [someone]",
		"resource.customizations.ignoreDifferences.all":             "jsonPointers: [/data/every]",
		"resource.customizations.ignoreDifferences.broken_Kind":     "[",
		"resource.customizations.health.apps_Deployment":            "jsonPointers: [/health]",
	})
	var got []string
	for _, d := range p.ignores() {
		got = append(got, strings.Join(slices.Concat([]string{d.From + ":", d.Group + "/" + d.Kind, d.Name}, d.JSONPointers, d.JQPathExpressions, d.ManagedFieldsManagers), " "))
	}
	want := []string{
		"Application argocd/web ignoreDifferences[0]: /ConfigMap web /data/own",
		"annotation argocd.argoproj.io/ignore-differences: /ConfigMap web /data/annotated",
		"argocd-cm resource.customizations of */*: */*  /data/every",
		"argocd-cm resource.customizations of */ConfigMap: */ConfigMap  .data.all",
		"argocd-cm resource.customizations of /ConfigMap: /ConfigMap  someone",
		"argocd-cm resource.customizations of ConfigMap: /ConfigMap  /data/core",
		"argocd-cm resource.customizations of apps/Deployment: apps/Deployment  /spec/one",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRulesOfPatterns has patterns of kinds, and the kinds of the rules that they make.
func TestRulesOfPatterns(t *testing.T) {
	const web = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}"
	for pattern, want := range map[string]string{
		"Config*": `^Config.*$`, "{ConfigMap,Secret}": `^ConfigMap$`, "[!S]*": `^ConfigMap$`, "{Secret,Service}": "",
	} {
		p := planOf(t, "[{group: '', kind: '"+pattern+"', jsonPointers: [/data]}]", web, web)
		var got []string
		for _, r := range p.rules() {
			got = append(got, r.Target.Kind)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", pattern, text, want)
		}
	}
}

// TestTracked has an object whose label or annotation is from another way of tracking, the label of the sources, and the places that a
// report ignores (argo-cd v3.6.1 util/argo/resource_tracking_test.go).
func TestTracked(t *testing.T) {
	const mark = "argocd.argoproj.io/tracking-id: 'web:/ConfigMap:shop/web'"
	const at = "/metadata/annotations/argocd.argoproj.io~1tracking-id"
	for name, c := range map[string]struct{ tracking, kind, labels, live, want string }{
		"without a label":             {live: "{name: web, namespace: shop}"},
		"marked":                      {live: "{name: web, namespace: shop, annotations: {" + mark + "}}"},
		"made by Helm":                {labels: "{app.kubernetes.io/instance: web}", live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}}", want: at},
		"marked with the label":       {live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}}", want: at + " /metadata/labels/app.kubernetes.io~1instance"},
		"marked with both":            {live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}, annotations: {" + mark + "}}", want: "/metadata/labels/app.kubernetes.io~1instance"},
		"both are marked with both":   {labels: "{app.kubernetes.io/instance: web}", live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}, annotations: {" + mark + "}}"},
		"of another Application":      {labels: "{app.kubernetes.io/instance: web}", live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: api}, annotations: {" + strings.Replace(mark, "web:", "api:", 1) + "}}"},
		"with the label alone":        {tracking: "label", labels: "{app.kubernetes.io/instance: web}", live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: api}}"},
		"a definition has no mark":    {kind: "CustomResourceDefinition", live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}}"},
		"an annotation and the label": {tracking: "annotation+label", labels: "{app.kubernetes.io/instance: web}", live: "{name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}}", want: at},
	} {
		if c.tracking == "" {
			c.tracking = "annotation"
		}
		if c.kind == "" {
			c.kind = "ConfigMap"
		}
		head := "{apiVersion: v1, kind: " + c.kind + ", metadata: "
		labels := ""
		if c.labels != "" {
			labels = ", labels: " + c.labels
		}
		p := planOf(t, "[]", head+"{name: web, namespace: shop, annotations: {"+mark+"}"+labels+"}}", head+c.live+"}")
		p.settings = api.Settings{Tracking: c.tracking, Label: "app.kubernetes.io/instance"}
		p.ignore(t.Context(), Question{})
		var paths []string
		for _, r := range p.rules() {
			paths = append(paths, r.Paths...)
		}
		slices.Sort(paths)
		if text := strings.Join(paths, " "); text != c.want || len(p.problems) > 0 {
			t.Errorf("%s: %q, want %q; %v", name, text, c.want, p.problems)
		}
	}
}

// TestAggregatedRules checks that RespectIgnoreDifferences does not keep the rules that other roles make, which Argo CD does not compare.
func TestAggregatedRules(t *testing.T) {
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}, rules: [], aggregationRule: {clusterRoleSelectors: []}}"
	for options, want := range map[string]struct{ left, problems int }{
		"[]":                              {left: 1},
		"[ApplyOutOfSyncOnly=true]":       {left: 1},
		"[RespectIgnoreDifferences=true]": {},
		"[RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]": {problems: 1},
	} {
		p := planOf(t, "[]", role, strings.Replace(role, "rules: []", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", 1))
		if err := yaml.Unmarshal([]byte("{spec: {syncPolicy: {syncOptions: "+options+"}}}"), p.app); err != nil {
			t.Fatal(err)
		}
		ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "argocd", Name: "argocd-cm"}, Version: "v1"}
		data := map[string]any{"resource.compareoptions": "ignoreAggregatedRoles: true"}
		var err error
		if p.settings, err = api.ReadSettings(t.Context(), objects{ref: {"data": data}}, "argocd"); err != nil {
			t.Fatal(err)
		}
		if p.ignore(t.Context(), Question{}); len(p.left) != want.left || len(p.problems) != want.problems {
			t.Errorf("%s: %v, %v", options, p.left, p.problems)
		}
	}
}

// TestIgnoredStatus checks that Argo CD ignores the status of the sources, and the rules of some roles, as argocd-cm says.
func TestIgnoredStatus(t *testing.T) {
	const thing = "{apiVersion: ex.com/v1, kind: Thing, metadata: {name: web, namespace: shop}"
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: web}, rules: [], aggregationRule: {clusterRoleSelectors: []}}"
	const definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: web}, status: {}}"
	for name, c := range map[string]struct{ options, desired, want string }{
		"by default":             {"", thing + ", status: {phase: a}}", "/status"},
		"the sources have none":  {"", thing + "}", ""},
		"of definitions":         {"ignoreResourceStatusField: crd", thing + ", status: {phase: a}}", ""},
		"of a definition":        {"ignoreResourceStatusField: crd", definition, "/status"},
		"of none":                {"ignoreResourceStatusField: none", thing + ", status: {phase: a}}", ""},
		"off, as YAML has it":    {"ignoreResourceStatusField: off", thing + ", status: {phase: a}}", ""},
		"what is no choice":      {"ignoreResourceStatusField: some", thing + ", status: {phase: a}}", "/status"},
		"rules of roles":         {"ignoreAggregatedRoles: true", role, "/rules"},
		"rules of roles, if not": {"", role, ""},
	} {
		data := map[string]any{}
		if c.options != "" {
			data["resource.compareoptions"] = c.options
		}
		p := planOf(t, "[]", c.desired, "{}")
		ref := object.Ref{Key: object.Key{Kind: "ConfigMap", Namespace: "argocd", Name: "argocd-cm"}, Version: "v1"}
		var err error
		if p.settings, err = api.ReadSettings(t.Context(), objects{ref: {"data": data}}, "argocd"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range p.rules() {
			got = append(got, r.Paths...)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestCompared has how an object differs for Argo CD and what a sync does with it, and whether the Application is then out of sync, and
// what is said.
func TestCompared(t *testing.T) {
	const thing = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}"
	changed := report.Object{Action: report.ActionUpdate, Fields: []report.Finding{{Verdict: report.Overwrite}}}
	for name, c := range map[string]struct {
		is      argocd.Comparison
		object  report.Object
		changes bool
		warning string
	}{
		"it changes, and Argo CD sees it":          {argocd.OutOfSync, changed, true, ""},
		"it changes as Argo CD compares":           {argocd.LikeTheWrite, changed, true, ""},
		"it changes, and Argo CD does not see it":  {argocd.InSync, changed, false, "Argo CD does not see what a sync would change in ConfigMap shop/web"},
		"it stays, and Argo CD sees no difference": {argocd.InSync, report.Object{Action: report.ActionNone}, false, ""},
		"it stays, and differs for Argo CD":        {argocd.OutOfSync, report.Object{Action: report.ActionNone}, true, "ConfigMap shop/web: out of sync for Argo CD also after a sync"},
		"the user ignores it":                      {argocd.OutOfSync, report.Object{Action: report.ActionNone, IgnoredBy: &report.IgnoreRule{}}, true, ""},
		"Argo CD ignores it":                       {argocd.OutOfSync, report.Object{Action: report.ActionNone, IgnoredBy: &report.IgnoreRule{Origin: report.ControllerArgo}}, false, ""},
		"somebody has added a field to it": {argocd.OutOfSync, report.Object{Action: report.ActionNone, Fields: []report.Finding{{Verdict: report.Ignore}}}, true,
			"ConfigMap shop/web: out of sync for Argo CD also after a sync"},
	} {
		p := planOf(t, "[]", thing, thing)
		p.options().Learn(p.made.objects[0].Key, argocd.Outcome{Comparison: c.is})
		c.object.APIVersion, c.object.Kind, c.object.Namespace, c.object.Name = "v1", "ConfigMap", "shop", "web"
		got := p.differs(&report.Release{Objects: []report.Object{c.object}}, nil)
		text := ""
		for _, w := range p.warnings {
			text += w.Message
		}
		if got.changes != c.changes || !strings.HasPrefix(text, c.warning) || (text == "") != (c.warning == "") {
			t.Errorf("%s: changes %t, %q", name, got.changes, text)
		}
	}
}

// TestUnderWay has a sync that is asked for or has begun, and whose options count.
func TestUnderWay(t *testing.T) {
	for name, c := range map[string]struct{ application, want string }{
		"none":           {"{}", "[Replace=true] false"},
		"one is asked":   {"{operation: {sync: {prune: true}}}", "[] true"},
		"one has begun":  {"{status: {operationState: {phase: Running, operation: {sync: {syncOptions: [Force=true]}}}}}", "[Force=true] false"},
		"one has ended":  {"{status: {operationState: {phase: Failed, operation: {sync: {prune: true}}}}}", "[Replace=true] false"},
		"its objects go": {"{metadata: {deletionTimestamp: now}, operation: {sync: {prune: true}}}", "[Replace=true] false"},
	} {
		a := &api.Application{}
		for _, text := range []string{"{spec: {syncPolicy: {syncOptions: [Replace=true]}}}", c.application} {
			if err := yaml.Unmarshal([]byte(text), a); err != nil {
				t.Fatal(err)
			}
		}
		o := (&Plan{app: a}).options()
		if got := fmt.Sprint(o.List, " ", o.Prune); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
