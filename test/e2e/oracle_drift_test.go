package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// judgeDrift: nothing has drifted that nobody touched, and where the chart stays, all that was edited is reported.
func (t *telling) judgeDrift(said *report, before map[string]map[string]any) {
	of := map[string]objectReport{}
	for _, o := range said.Releases[0].Objects {
		of[o.Name] = o
	}
	for _, o := range t.of.objects {
		was, is := t.pristine[o.name], before[o.name]
		switch {
		case t.stumbled || isHook(o.new) || t.of.rollback && sharesPort(o.new):
		case !t.of.touched(o):
			t.judgeSilence(o.name, of[o.name])
		case t.of.same && was != nil && is == nil && !of[o.name].Missing && of[o.name].Note == "":
			t.miss(o.name, "is gone, and not said to be missing")
		case t.of.same && was != nil && is != nil && entryOf(is, "ancient-changes", "") != nil: // whose edits were merged is silent
		case t.of.same && was != nil && is != nil:
			was, is := spokenOf(was), spokenOf(is)
			if o.kind.name == "route" && !strings.Contains(fmt.Sprint(before[o.name]["metadata"]), "f:replicas") {
				dropReplicas(was)
				dropReplicas(is)
			}
			dropNulls(o.old, was)
			dropNulls(o.old, is)
			// Of node ports that come and go with the type of a Service, which is reported, reports are silent.
			dropNewNodePorts(was, is)
			dropNewNodePorts(is, was)
			dropPullPolicies(was, is)
			if leavesBundle(of[o.name].Fields, o.old) {
				dropBundles(was)
				dropBundles(is)
			}
			t.judgeReported(o.name, of[o.name].Fields, was, is)
		}
	}
}

// sharesPort tells whether a Service has two ports of one number. Helm's own client-side upgrade to it mixes them up, and what it left
// has drifted from what it meant.
func sharesPort(obj map[string]any) bool {
	ports, _ := steps{{field: "spec"}, {field: "ports"}}.in(obj)
	seen := map[any]bool{}
	list, _ := ports.([]any)
	for _, item := range list {
		port, _ := item.(map[string]any)
		if seen[port["port"]] {
			return true
		}
		seen[port["port"]] = true
	}
	return false
}

func (t *telling) judgeSilence(name string, said objectReport) {
	if said.Drifted || said.Missing {
		t.miss(name, "nobody touched it, said to have drifted or to be missing")
	}
	limited := slices.ContainsFunc(t.of.objects, func(o *oracleObject) bool { return o.kind.name == "limitrange" })
	for _, f := range said.Fields {
		if limited && !f.Managed && strings.HasSuffix(f.Path, ".resources") {
			continue // a LimitRange gave a Pod what Helm's apply now takes away
		}
		if f.Cause != "change" {
			t.miss(name, "nobody touched it, said to have drifted: %s", f.line())
		}
	}
}

// defaultPullPolicy is what the API server gives a container (kubernetes v1.36.3 pkg/apis/core/v1/defaults.go SetDefaults_Container).
func defaultPullPolicy(image string) string {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !strings.Contains(image, "@") && (tag == "" || tag == "latest") {
		return "Always"
	}
	return "IfNotPresent"
}

// dropReplicas: scaling a custom resource leaves no owner, and of what nobody owns there reports are silent.
func dropReplicas(obj map[string]any) {
	steps{{field: "spec"}, {field: "replicas"}}.drop(obj)
}

// dropNulls: where a chart has a null, live may have a zero value or nothing (design section 5.1).
func dropNulls(chart, obj map[string]any) {
	for name, value := range chart {
		below, _ := obj[name].(map[string]any)
		switch value := value.(type) {
		case map[string]any:
			dropNulls(value, below)
		case nil:
			if zero(obj[name]) {
				delete(obj, name)
			}
		}
	}
}

// judgeReported: what differs between two states of an object is what the fields are about.
func (t *telling) judgeReported(name string, fields []fieldReport, was, is map[string]any) {
	var paths []steps
	for _, f := range fields {
		if path, err := parsePath(f.Path); err == nil {
			paths = append(paths, path)
			path.sortList(was)
			path.sortList(is)
		}
	}
	dropAll(paths, was)
	dropAll(paths, is)
	if diff := cmp.Diff(prune(was), prune(is)); diff != "" {
		t.miss(name, "was edited (-deployed +edited), the report says nothing of it:\n%s", diff)
	}
}

// crowded matches what a crowd writes: the API server forgets who wrote the first of it, and reports are silent of that.
var crowded = regexp.MustCompile(`^example\.com/.*-\d+$`)

// spokenOf is an object without what reports are silent of.
func spokenOf(obj map[string]any) map[string]any {
	out := settled(obj)
	metadata := steps{{field: "metadata"}}
	for _, name := range []string{"uid", "creationTimestamp"} {
		append(metadata, step{field: name}).drop(out)
	}
	eachNode(out, func(v any) {
		m, _ := v.(map[string]any)
		for _, name := range []string{"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt"} {
			delete(m, name)
		}
		maps.DeleteFunc(m, func(name string, _ any) bool { return crowded.MatchString(name) })
	})
	dropDefaults(out)
	sortSets(out)
	return out
}

// dropPullPolicies takes away the policy of containers in which it is as it was, or is the default of the new image: that goes with the
// image, of which the report speaks.
func dropPullPolicies(was, is map[string]any) {
	before := map[any]map[string]any{}
	eachNode(was, func(v any) {
		if m, _ := v.(map[string]any); m["imagePullPolicy"] != nil {
			before[m["name"]] = m
		}
	})
	eachNode(is, func(v any) {
		m, _ := v.(map[string]any)
		old := before[m["name"]]
		if policy := m["imagePullPolicy"]; policy != nil && (policy == old["imagePullPolicy"] || policy == defaultPullPolicy(fmt.Sprint(m["image"]))) {
			delete(m, "imagePullPolicy")
			delete(old, "imagePullPolicy")
		}
	})
}

// dropDefaults takes away defaults that come with another field, of which the report speaks, and go with it.
func dropDefaults(obj map[string]any) {
	spec, _ := obj["spec"].(map[string]any)
	defaults := map[string]any{}
	switch obj["kind"] {
	case "Service": // kubernetes v1.36.3 pkg/apis/core/v1/defaults.go SetDefaults_Service
		defaults["sessionAffinityConfig"] = map[string]any{"clientIP": map[string]any{"timeoutSeconds": int64(10800)}}
		defaults["externalTrafficPolicy"] = "Cluster"
		defaults["allocateLoadBalancerNodePorts"] = true
	case "NetworkPolicy": // pkg/apis/networking/v1/defaults.go SetDefaults_NetworkPolicy
		defaults["policyTypes"] = []any{"Ingress"} // which stays when somebody adds egress
		if egress, _ := spec["egress"].([]any); len(egress) > 0 && !cmp.Equal(spec["policyTypes"], defaults["policyTypes"]) {
			defaults["policyTypes"] = []any{"Ingress", "Egress"}
		}
	case "Job": // pkg/apis/batch/v1/defaults.go SetDefaults_Job: one that is left without labels gets its template's
		labels, _ := (steps{{field: "metadata"}, {field: "labels"}}).in(obj)
		m, _ := labels.(map[string]any)
		maps.DeleteFunc(m, func(name string, _ any) bool { return jobLabel.MatchString(name) })
	}
	for name, value := range defaults {
		if cmp.Equal(spec[name], value) {
			delete(spec, name)
		}
	}
	if strategy, _ := spec["updateStrategy"].(map[string]any); obj["kind"] == "StatefulSet" { // pkg/apis/apps/v1/defaults.go SetDefaults_StatefulSet
		if cmp.Equal(strategy["rollingUpdate"], any(map[string]any{"partition": int64(0)})) {
			delete(strategy, "rollingUpdate")
		}
	}
}

// jobLabel matches what the API server puts on the template of a Job.
var jobLabel = regexp.MustCompile(`^(batch\.kubernetes\.io/)?(controller-uid|job-name)$`)
