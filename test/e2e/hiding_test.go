package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// hidingCase is one object. One of its fields decides whether another one is compared: an aggregationRule and the rules, the annotation of
// an injector and the CA, the type of a Service and what the server allocates for it, a map and what is folded into its line.
type hidingCase struct {
	// ref names the object, old and desired are its manifests.
	ref, old, desired string
	edits             []hidingEdit
}

// hidingEdit is what somebody does to the live object.
type hidingEdit struct {
	manager, body string
	// field is the place that the edit changes, and that must have a line unless a controller fills it in by design.
	field    string
	byDesign bool
	// leaves are the fields that the edit may change, in place of field. The changed ones are in changed, with their values.
	leaves  []hidingLeaf
	changed map[string]any
}

// maxLeftOut is how many of the cases of one kind may be left out, because nobody can judge them here: a controller would undo Helm's
// write, or the API server allocates something that the live object lacks.
const maxLeftOut = 45

// TestHiding makes each combination of such fields in what Helm deployed, in live and in the new chart. Every edit must have a line, and
// the upgrade must change exactly what was predicted. The control plane has no controllers, so the values that they fill in stay as in the
// case, and nobody undoes Helm's write before it is judged.
func TestHiding(t *testing.T) {
	t.Parallel()
	on := quietCluster(t).on
	groups := map[string]func(prefix string) (cases []hidingCase, leftOut int){
		"aggregated": aggregatedCases, "injected": injectedCases, "service types": serviceCases,
	}
	for group := range places {
		groups[group] = func(string) ([]hidingCase, int) { return placeCases(group), 0 }
	}
	for name, make := range groups {
		for _, by4 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, Helm 4 %v", name, by4), func(t *testing.T) {
				t.Parallel()
				c := newCase(t, on)
				cases, leftOut := make(c.ns)
				c.hide(t, by4, cases)
				t.Logf("%d objects, %d left out", len(cases), leftOut)
				if leftOut > maxLeftOut {
					t.Errorf("%d cases are left out, at most %d may be", leftOut, maxLeftOut)
				}
			})
		}
	}
}

// hide installs the objects, edits them, and lets Helm judge the predictions of the upgrade. Helm 4 first meets the conflicts, and then
// forces them.
func (c *Case) hide(t *testing.T, by4 bool, cases []hidingCase) {
	t.Helper()
	var old, desired []string
	for _, h := range cases {
		old, desired = append(old, h.old), append(desired, h.desired)
	}
	must(t, os.WriteFile(c.dir+"/old.yaml", []byte(strings.Join(old, "\n---\n")), 0o600))
	must(t, os.WriteFile(c.dir+"/new.yaml", []byte(strings.Join(desired, "\n---\n")), 0o600))
	must(t, c.helm(by4, "install", "old.yaml"))
	refused, before := 0, map[string]map[string]any{}
	for _, h := range cases {
		if slices.ContainsFunc(h.edits, func(e hidingEdit) bool { return e.leaves != nil }) {
			before[h.ref] = c.liveObject(t, h.ref)
		}
	}
	for i := range cases {
		h := &cases[i]
		h.edits = slices.DeleteFunc(h.edits, func(e hidingEdit) bool {
			err := c.patch(e.manager, h.ref, e.body)
			if apierrors.IsInvalid(err) {
				refused++
				return true
			}
			must(t, err)
			return false
		})
		for j := range h.edits {
			if e := &h.edits[j]; e.leaves != nil {
				e.changed = changedLeaves(e.leaves, before[h.ref], c.liveObject(t, h.ref))
			}
		}
	}
	t.Logf("the API server refused %d edits", refused)
	out, err := c.diff()
	must(t, err)
	for _, h := range cases {
		for _, e := range h.edits {
			for path, value := range e.changed {
				if !showsLeaf(out.report, h.ref, path, value) {
					t.Errorf("%s: %s changed %s, and the report has no line on it\nold %s\nedit %s", h.ref, e.manager, path, h.old, e.body)
				}
			}
			if e.leaves == nil && !e.byDesign && !hasLine(out.report, h.ref, e.field) {
				t.Errorf("%s: %s changed %s, and the report has no line on it\nold %s\nedit %s", h.ref, e.manager, e.field, h.old, e.body)
			}
		}
	}
	chart, err := c.chart("new.yaml")
	must(t, err)
	runs := [][]string{{c.release, chart}}
	if by4 {
		runs = append(runs, []string{c.release, chart, "--force-conflicts"})
	}
	for _, args := range runs {
		if _, err := c.diff(args...); err != nil {
			t.Fatal(err)
		}
		if err := c.proves(); err != nil {
			t.Errorf("diff %v: %v", args, err)
		}
	}
}

// liveObject reads an object.
func (c *Case) liveObject(t *testing.T, object string) map[string]any {
	t.Helper()
	r, err := c.ref(object)
	must(t, err)
	live, err := c.cluster.get(context.Background(), r)
	must(t, err)
	return live.Object
}

// hasLine reports whether a report has a line on a field of an object, or on something below it.
func hasLine(r *driftReport, object, field string) bool {
	_, name, _ := strings.Cut(object, "/")
	return slices.ContainsFunc(r.Releases[0].Objects, func(o objectReport) bool {
		return o.Name == name && slices.ContainsFunc(o.Fields, func(f fieldReport) bool { return strings.HasPrefix(f.Path, field) })
	})
}

// aggregatedCases are ClusterRoles that are aggregated or not, and whose rules the aggregation controller has filled in or not.
func aggregatedCases(prefix string) (out []hidingCase, leftOut int) {
	const rule, filled = "{clusterRoleSelectors: [{matchLabels: {part-of: none}}]}", `[{apiGroups: [""], resources: [configmaps], verbs: [get]}]`
	rules := []string{"", `[{apiGroups: [""], resources: [pods], verbs: [get]}]`, `[{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`}
	manifest := func(name string, isAggregated bool, rules string) string {
		text := fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s}\n", name)
		if isAggregated {
			text += "aggregationRule: " + rule + "\n"
		}
		if rules != "" {
			text += "rules: " + rules + "\n"
		}
		return text
	}
	for n := range 8 * 2 * 3 * 2 {
		was, live, will := n&1 > 0, n&2 > 0, n&4 > 0
		wasRules, willRules, isFilled := rules[n/8%2], rules[n/16%3], n/48 > 0
		if was && live && will && isFilled { // the controller writes its rules again
			leftOut++
			continue
		}
		name := fmt.Sprintf("%s-%d", prefix, n)
		h := hidingCase{ref: "clusterrole/" + name, old: manifest(name, was, wasRules), desired: manifest(name, will, willRules)}
		switch {
		case live && !was:
			h.edits = append(h.edits, hidingEdit{manager: "kubectl-edit", body: "{aggregationRule: " + rule + "}", field: "aggregationRule"})
		case was && !live:
			h.edits = append(h.edits, hidingEdit{manager: "kubectl-edit", body: "{aggregationRule: null}", field: "aggregationRule"})
		}
		if isFilled {
			h.edits = append(h.edits, hidingEdit{
				manager: "clusterrole-aggregation-controller", body: "{rules: " + filled + "}", field: "rules", byDesign: was && live || wasRules == "",
			})
		}
		out = append(out, h)
	}
	return out, leftOut
}

// injectedCases are webhooks with and without the annotation of an injector, and with a CA from the chart, an injector or a person.
func injectedCases(prefix string) (out []hidingCase, leftOut int) {
	const annotation = "cert-manager.io/inject-ca-from"
	cas := []string{"", "QQ==", "Qg=="}
	manifest := func(name string, isInjected bool, ca string) string {
		text := fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: %s\n", name)
		if isInjected {
			text += "  annotations: {" + annotation + ": a/b}\n"
		}
		return text + "webhooks:\n- name: a.ex.com\n  sideEffects: None\n  admissionReviewVersions: [v1]\n" +
			"  rules: [{apiGroups: [none.ex.com], apiVersions: [v1], operations: [CREATE], resources: [nones]}]\n" +
			"  clientConfig: {service: {name: a, namespace: a}" + map[bool]string{true: ", caBundle: " + ca}[ca != ""] + "}\n"
	}
	for n := range 8 * 2 * 3 * 3 {
		was, live, will := n&1 > 0, n&2 > 0, n&4 > 0
		wasCA, willCA, writer := cas[n/8%2], cas[n/16%3], []string{"", "cainjector", "kubectl-edit"}[n/48]
		if was && live && will && writer == "cainjector" { // it writes its CA again
			leftOut++
			continue
		}
		name := fmt.Sprintf("%s-%d", prefix, n)
		h := hidingCase{ref: "validatingwebhookconfiguration/" + name, old: manifest(name, was, wasCA), desired: manifest(name, will, willCA)}
		if was != live {
			body := fmt.Sprintf("{metadata: {annotations: {%s: %s}}}", annotation, map[bool]string{false: "null", true: "a/b"}[live])
			h.edits = append(h.edits, hidingEdit{manager: "kubectl-edit", body: body, field: "metadata.annotations"})
		}
		if writer != "" {
			byDesign := writer == "cainjector" && (was && live || wasCA == "")
			body := "{webhooks: [{name: a.ex.com, clientConfig: {caBundle: Q0E=}}]}"
			h.edits = append(h.edits, hidingEdit{manager: writer, body: body, field: "webhooks[name=a.ex.com].clientConfig", byDesign: byDesign})
		}
		out = append(out, h)
	}
	return out, leftOut
}

// serviceCases are Services of each type that somebody, the chart or both give another type.
func serviceCases(string) (out []hidingCase, leftOut int) {
	types := []string{
		"type: ClusterIP", "type: NodePort", "type: LoadBalancer", "type: ExternalName, externalName: ex.com", `type: ClusterIP, clusterIP: "None"`,
	}
	const external, headless = 3, 4
	hasNodePorts := func(kind int) bool { return kind == 1 || kind == 2 }
	manifest := func(name, spec string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {%s, ports: [{name: a, port: 80}]}\n", name, spec)
	}
	for n := range len(types) * len(types) * (len(types) + 1) {
		was, will, edit := n%5, n/5%5, n/25
		live := edit
		if edit == len(types) || edit == headless && was < external || was == headless && edit < external { // no edit, or a refused one
			live = was
		}
		if live == external && will != external || hasNodePorts(will) && live == 0 { // the server allocates addresses or ports
			leftOut++
			continue
		}
		name := fmt.Sprintf("s%d-%d-%d", was, will, edit)
		h := hidingCase{ref: "service/" + name, old: manifest(name, types[was]), desired: manifest(name, types[will])}
		if edit < len(types) && edit != was && !(was == headless && edit == 0) {
			h.edits = append(h.edits, hidingEdit{manager: "kubectl-edit", body: "{spec: {" + types[edit] + "}}", field: "spec"})
		}
		out = append(out, h)
	}
	return out, leftOut
}
