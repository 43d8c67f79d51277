package choose

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/repair"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// stored are the objects of the release in these tests. live has what somebody made of them; an object that it lacks is missing.
var stored, live = []string{
	`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, paused: false, selector: {matchLabels: {app: web}},
	 template: {metadata: {labels: {app: web}, annotations: {a.b/c: x}}, spec: {containers: [{name: web, image: "a:1"}]}}}}`,
	`{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}, spec: {max: 1, limits: {a: {b: 1}}}}`,
	`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}`,
	`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "a:b"}, rules: [{verbs: [get]}]}`,
	`{apiVersion: v1, kind: ConfigMap, metadata: {name: unread}, data: {mode: a}}`,
}, []string{
	`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 5, paused: false, selector: {matchLabels: {app: web}},
	 template: {metadata: {labels: {app: web}, annotations: {a.b/c: y}}, spec: {containers: [{name: web, image: "a:2"}]}}}}`,
	`{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}, spec: {max: 2, limits: {a: {b: 2}}}}`,
	`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "a:b"}, rules: [{verbs: [list]}]}`,
}

// compare compares the objects.
func compare(t *testing.T) *threeway.Comparison {
	t.Helper()
	in := threeway.Input{
		Name: "r", Namespace: "d", StorageNamespace: "d", Operation: report.OperationDrift, ApplyMethod: report.ApplyClientSide,
		Old: &report.Revision{Revision: 1, Status: "deployed"}, Live: map[object.Ref]cluster.Live{},
	}
	for _, text := range stored {
		o := read(t, text)
		in.OldObjects = append(in.OldObjects, o)
		in.Live[o.Ref] = cluster.Live{Absence: cluster.AbsentObject}
		if o.Name == "unread" {
			in.Live[o.Ref] = cluster.Live{Err: &report.ObjectError{Code: "forbidden", Message: "no"}}
		}
	}
	for _, text := range live {
		o := read(t, text)
		in.Live[o.Ref] = cluster.Live{Object: object.HelmMetadata(o.Content, "r", "d")}
	}
	in.DesiredObjects, in.Last = in.OldObjects, in.Old
	return threeway.Compare(in)
}

func read(t *testing.T, text string) object.Object {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\t", "")), &content); err != nil {
		t.Fatal(err)
	}
	group, version, found := strings.Cut(content["apiVersion"].(string), "/")
	if !found {
		group, version = "", group
	}
	meta := content["metadata"].(map[string]any)
	meta["namespace"] = "d"
	key := object.Key{Group: group, Kind: content["kind"].(string), Namespace: "d", Name: meta["name"].(string)}
	return object.Object{Ref: object.Ref{Key: key, Version: version}, Content: content}
}

// counted returns what a report counts after a choice: the paths of findings, and the objects that are missing.
func counted(t *testing.T, c *threeway.Comparison, only, skip []string) string {
	t.Helper()
	choice, err := Parse(only, skip)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Report(threeway.Mask{})
	found := choice.In(c)
	if err := found.Err(); err != nil {
		t.Errorf("only %q skip %q: %v", only, skip, err)
	}
	found.Report(&r)
	var out []string
	for _, o := range r.Objects {
		for _, f := range o.Fields {
			if f.Drifted() {
				out = append(out, f.Path)
			}
		}
		if o.Missing && o.IgnoredBy == nil {
			out = append(out, "missing")
		}
		if o.Drifted != (o.Missing && o.IgnoredBy == nil || slices.ContainsFunc(o.Fields, report.Finding.Drifted)) {
			t.Errorf("only %q skip %q: %s is drifted: %v", only, skip, o.Kind, o.Drifted)
		}
		if o.Error != nil && !r.HasError() {
			t.Errorf("only %q skip %q: an error was left out", only, skip)
		}
	}
	return strings.Join(out, " ")
}

// TestOnly checks what each spelling of an object and of a path chooses, and that a path chooses what is below it, step by step.
func TestOnly(t *testing.T) {
	const (
		replicas   = "spec.replicas"
		annotation = `spec.template.metadata.annotations["a.b/c"]`
		image      = "spec.template.spec.containers[name=web].image"
		deploy     = replicas + " " + annotation + " " + image
		limits     = "spec.limits.a.b"
	)
	c := compare(t)
	for text, want := range map[string]string{
		"deploy/web": deploy, "deployment/web": deploy, "Deployment/web": deploy, "deployments/web": deploy, "DEPLOYMENT.apps/web": deploy,
		" deploy.apps/web ": deploy,

		// svc is the Service of the core group, which is missing; the kind alone is both.
		"svc/web": "missing", "service/web": "missing " + limits + " spec.max", "service.serving.knative.dev/web": limits + " spec.max",

		"spec.replicas": replicas, "/spec/replicas": replicas, "deploy/web:spec.replicas": replicas, "deploy/web:/spec/replicas": replicas,
		"deploy/web:spec.template": annotation + " " + image, "/spec/template/spec": image,
		"spec.template.spec.containers[name=web]": image,
		"/spec/template/spec/containers/0":        image, "/spec/template/spec/containers/[name=web]/image": image, "/spec/*/spec": image,
		annotation: annotation, "/spec/template/metadata/annotations/a.b~1c": annotation, "deploy/web:" + annotation: annotation,

		// The missing Service has a spec too, so its absence counts.
		"spec":               "missing " + limits + " spec.max " + deploy,
		"/spec":              "missing " + limits + " spec.max " + deploy,
		"svc/web:spec.ports": "missing", "svc/web:/spec/ports": "missing",

		// Names of roles have colons.
		"role/a:b": "rules", "role/a:b:rules": "rules", "role/a:b:/rules/0/verbs": "rules",

		// These are spelled right, and nothing drifted there.
		"deploy/web:spec.selector": "", "/spec/selector": "", "cm/unread": "", "cm/unread:data.mode": "", "cm/unread:/data/mode": "",
	} {
		if got := counted(t, c, []string{text}, nil); got != want {
			t.Errorf("--only %s counts %q, want %q", text, got, want)
		}
	}
}

// TestSkip checks that --skip is the complement of --only, except for values that hold what is named: they count both times.
func TestSkip(t *testing.T) {
	c := compare(t)
	all := counted(t, c, nil, nil)
	for _, text := range []string{"deploy/web", "svc/web", "spec.max", "/spec/template", "role/a:b:rules"} {
		only, skip := counted(t, c, []string{text}, nil), counted(t, c, nil, []string{text})
		sum := append(strings.Fields(only), strings.Fields(skip)...)
		want := strings.Fields(all)
		slices.Sort(sum)
		slices.Sort(want)
		if !slices.Equal(sum, want) {
			t.Errorf("%s: only %q skip %q", text, only, skip)
		}
	}
	if got := counted(t, c, nil, []string{"svc/web:spec.ports"}); got != all {
		t.Errorf("a path of a missing object leaves out something: %q", got)
	}
	if got := counted(t, c, []string{"deploy/web", "spec.max"}, []string{"spec.template", "spec.max"}); got != "spec.replicas" {
		t.Errorf("only and skip count %q", got)
	}
}

// TestRepair checks the selectors for a repair. If --only names nothing that differs, all objects are skipped, because a repair without a
// limit would put back everything.
func TestRepair(t *testing.T) {
	c := compare(t)
	for _, test := range []struct{ only, skip, wantOnly, wantSkip string }{
		{"deploy/web:/spec/replicas", "", "Deployment.apps/web:spec.replicas", ""},
		{"deploy/web", "/spec/template/spec/containers/0/image", "Deployment.apps/web",
			"Deployment.apps/web:spec.template.spec.containers[name=web].image"},
		{"spec.replicas", "", "Deployment.apps/web:spec.replicas", ""},
		{"/spec/selector/matchLabels", "", "", "Role.rbac.authorization.k8s.io/a:b ConfigMap/unread Service/web Deployment.apps/web " +
			"Service.serving.knative.dev/web"},
	} {
		choice, err := Parse(words(test.only), words(test.skip))
		if err != nil {
			t.Fatal(err)
		}
		found := choice.In(c)
		got, skip := texts(found.Only()), texts(found.Skip())
		for _, p := range found.Only() {
			if isNamed := strings.HasPrefix(test.only, "deploy/"); p.Named != isNamed {
				t.Errorf("only %q: %+v", test.only, p)
			}
		}
		slices.Sort(skip)
		want := words(test.wantSkip)
		slices.Sort(want)
		if !slices.Equal(got, words(test.wantOnly)) || !slices.Equal(skip, want) {
			t.Errorf("only %q skip %q: %q, %q", test.only, test.skip, got, skip)
		}
	}
}

func texts(places []Place) (out []string) {
	for _, p := range places {
		out = append(out, repair.Selector{Key: p.Key, Path: p.Path}.String())
	}
	return out
}

func words(text string) []string {
	if strings.Contains(text, "[") {
		return []string{text}
	}
	return strings.Fields(text)
}

// TestMisspelt checks that a value which names nothing is an error with a hint, and says what there is.
func TestMisspelt(t *testing.T) {
	c := compare(t)
	for text, want := range map[string]string{
		"deploy/wbe":                  `--only deploy/wbe matches nothing of the release, whose objects are `,
		"svc.serving.knative.dev/web": `--only svc.serving.knative.dev/web matches nothing of the release`,
		"deploy/web:spec.replica":     `--only deploy/web:spec.replica matches nothing: Deployment.apps d/web has no spec.replica`,
		"deploy/web:/spec/replica":    `--only deploy/web:/spec/replica matches nothing: Deployment.apps d/web has no /spec/replica`,
		"spec.repl":                   `--only spec.repl matches nothing: no object of the release has that path`,
		"/spec/repl":                  `--only /spec/repl matches nothing: no object of the release has that path`,
	} {
		choice, err := Parse([]string{text}, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := choice.In(c)
		if err = found.Err(); err == nil || !strings.HasPrefix(err.Error(), want) || hint.Of(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
		if idle := found.Idle(); len(idle) != 1 || !idle[0].Only || idle[0].Text != "--only "+text {
			t.Errorf("%s: %+v", text, idle)
		}
	}
	for _, text := range []string{"", "/", "Deployment/", "Deployment/:spec", "Deployment", "/spec/~x", "deploy/web:/spec/[a"} {
		if _, err := Parse(nil, []string{text}); err == nil || !strings.HasPrefix(err.Error(), "--skip: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLeaveOutConflicts checks that an object that fails on conflicts is only excused if all of them are left out, and not if an ignore
// rule silences one: the operation fails on it all the same.
func TestLeaveOutConflicts(t *testing.T) {
	left, ignored := &report.IgnoreRule{Rule: "--since", LeftOut: true}, &report.IgnoreRule{Rule: "replicas"}
	for name, test := range map[string]struct {
		fields  []*report.IgnoreRule // the rules of the conflicts before --skip leaves out those without one
		excused bool
	}{
		"left out":                    {[]*report.IgnoreRule{nil}, true},
		"all left out":                {[]*report.IgnoreRule{nil, left}, true},
		"ignored":                     {[]*report.IgnoreRule{ignored}, false},
		"one left out, one ignored":   {[]*report.IgnoreRule{nil, ignored}, false},
		"several ignored, and a left": {[]*report.IgnoreRule{ignored, left, ignored}, false},
	} {
		o := report.Object{Action: report.ActionFail, OnlyConflicts: true}
		for _, rule := range test.fields {
			o.Fields = append(o.Fields, report.Finding{Verdict: report.Conflict, IgnoredBy: rule})
		}
		r := report.Release{Objects: []report.Object{o}}
		LeaveOut(&r, &report.IgnoreRule{Rule: "--skip", LeftOut: true},
			func(*report.Object) bool { return false }, func(*report.Object, *report.Finding) bool { return true })
		if got := r.Objects[0].IgnoredBy != nil; got != test.excused {
			t.Errorf("%s: excused %t", name, got)
		}
	}
}
