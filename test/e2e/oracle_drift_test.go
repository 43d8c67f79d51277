package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// judgeDrift: nothing has drifted that nobody touched, and where the report compares with what Helm deployed, all that was edited is in it.
// Plain reports that it does.
func (t *telling) judgeDrift(said *driftReport, before map[string]map[string]any, plain bool) {
	of := map[string]objectReport{}
	for _, o := range said.Releases[0].Objects {
		of[o.Name] = o
	}
	for _, o := range t.of.objects {
		was, known := t.deployedState(o)
		is := before[o.name]
		untouched := !t.of.touched(o) && equalJSON(spokenOf(was), spokenOf(t.pristine[o.name]))
		switch {
		case t.of.installs:
			t.judgeInstall(o, of[o.name])
		case t.of.rollback && isHook(o.new): // old does not have it, so nothing of it can have drifted, whoever touched it
			t.judgeSilence(o, of[o.name])
		case !known:
			t.let.let(tolerateStumble)
		case t.of.rollback && sharesPort(o.new) && !t.route.appliesServerSide():
			t.let.let(tolerateSharedPort)
		case untouched:
			t.judgeSilence(o, of[o.name])
		case !plain || was == nil:
		case is == nil:
			if said := of[o.name]; !said.Missing && !said.Terminating {
				t.miss(o.name, "is gone or being deleted, and not said to be")
			}
		default:
			t.judgeEdited(o, of[o.name], was, is)
		}
	}
}

// judgeInstall: what is not deployed yet cannot have drifted.
func (t *telling) judgeInstall(o *oracleObject, said objectReport) {
	if !t.of.touched(o) {
		t.judgeSilence(o, said)
	}
}

// deployedState is an object as the revision left it that Helm takes for old, nil where it did not have it; known is false where that
// cannot be told. After an upgrade that failed, old is the revision before it; for a rollback, it is the one that failed, and nobody can
// tell from outside whether Helm came to an object that the failed chart changes and that is as it was.
func (t *telling) deployedState(o *oracleObject) (was map[string]any, known bool) {
	switch {
	case !t.stumbled:
		return t.pristine[o.name], true
	case !t.of.rollback:
		return t.first[o.name], true
	case equalJSON(o.old, o.new), !equalJSON(spokenOf(t.first[o.name]), spokenOf(t.pristine[o.name])), t.cameTo(o):
		return t.pristine[o.name], true
	}
	return nil, false
}

// cameTo reports whether the upgrade that failed before the edits came to an object and did not fail on it: it stops at none where all that
// went wrong were patches.
func (t *telling) cameTo(o *oracleObject) bool {
	return !stopsBefore(t.stumble) && !stopsThere(t.stumble) && !namesObject(t.stumble, o.name)
}

// judgeEdited: the report speaks of what differs between two states of an object, but for what it is silent of by design.
func (t *telling) judgeEdited(o *oracleObject, said objectReport, was, is map[string]any) {
	j := fieldJudge{let: t.let}
	t.judgeLive(o.name, said.Fields, shownOf(was), shownOf(is))
	was, is = spokenOf(was), spokenOf(is)
	if o.kind.name == "route" && !strings.Contains(fmt.Sprint(t.now[o.name]["metadata"]), "f:replicas") {
		j.forgive(tolerateOwnerless, was, is, eachOf(dropReplicas))
	}
	if entryOf(t.now[o.name], "ancient-changes", "") != nil { // the server has merged what it knew of writers: reports are silent of what no chart has
		j.forgive(tolerateForgotten, was, is, eachOf(func(obj map[string]any) { keepNamed(o.old, obj) }))
	}
	j.forgive(tolerateNull, was, is, eachOf(func(obj map[string]any) { dropNulls(o.old, obj) }))
	j.forgive(tolerateNodePort, was, is, func(was, is map[string]any) {
		// Of node ports that come and go with the type of a Service, which is reported, reports are silent.
		dropNewNodePorts(was, is)
		dropNewNodePorts(is, was)
	})
	j.forgive(tolerateDefault, was, is, func(was, is map[string]any) {
		dropPullPolicies(was, is)
		dropDefaults(was)
		dropDefaults(is)
	})
	if leavesBundle(said.Fields, o.old) {
		j.forgive(tolerateInjected, was, is, dropBothBundles)
	}
	j.forgive(tolerateOrder, was, is, eachOf(sortSets))
	t.judgeReported(o.name, said.Fields, was, is)
}

// shownOf is an object as reports show it: lists of tolerations of Pods are without what admission adds to each of them.
func shownOf(obj map[string]any) map[string]any {
	out := quiet(obj)
	dropAdmitted(out)
	return out
}

// eachOf makes one drop of two states of a drop of one.
func eachOf(drop func(map[string]any)) func(was, is map[string]any) {
	return func(was, is map[string]any) {
		drop(was)
		drop(is)
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

func (t *telling) judgeSilence(o *oracleObject, said objectReport) {
	name := o.name
	if said.Drifted || said.Missing {
		t.miss(name, "nobody touched it, said to have drifted or to be missing")
	}
	limited := slices.ContainsFunc(t.of.objects, func(o *oracleObject) bool { return o.kind.name == "limitrange" })
	for _, f := range said.Fields {
		switch {
		case f.Cause == "change", f.Equivalent && f.Verdict != "conflict": // live means the same as what was deployed
		case limited && o.kind.name == "pod" && !f.Managed && strings.HasSuffix(f.Path, ".resources"):
			t.let.let(tolerateLimitRange) // a LimitRange gave a Pod what Helm's apply now takes away
		default:
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

// keepNamed takes away what a chart does not name, and lists of maps, whose items have no one to name them here.
func keepNamed(chart, obj map[string]any) {
	for name, value := range obj {
		named, spoken := chart[name]
		below, isMap := value.(map[string]any)
		above, alsoMap := named.(map[string]any)
		list, _ := value.([]any)
		switch {
		case !spoken, len(list) > 0 && isMapValue(list[0]):
			delete(obj, name)
		case isMap && alsoMap:
			keepNamed(above, below)
		}
	}
}

func isMapValue(v any) bool {
	_, isMap := v.(map[string]any)
	return isMap
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

// judgeLive: the values of live in a report are what live has.
func (t *telling) judgeLive(name string, fields []fieldReport, was, is map[string]any) {
	for _, f := range fields {
		path, err := parsePath(f.Path)
		if err != nil {
			t.miss(name, "%v", err)
			continue
		}
		if text := f.misstates(path, was, is); text != "" {
			t.miss(name, "%s", text)
		}
	}
}

// misstates says in what a finding is wrong about the value that live has; it is empty where nothing is. The value of a folded finding is
// whole, so nothing else may stand below its path but what was there before and defaults of the API, of which was has as many.
func (f fieldReport) misstates(path steps, was, is map[string]any) string {
	value, there := path.in(is)
	switch {
	case f.Class == "order" || f.Masked:
		return ""
	case f.Live == nil && there && !zero(value):
		if old, had := path.in(was); had && equalJSON(old, value) {
			return "" // it is as it was
		}
		return fmt.Sprintf("%s: the report says that live has nothing there, it has %v", f.Path, value)
	case f.Live == nil:
		return ""
	}
	live, err := decodeValue(f.Live)
	if err != nil || !holds(live, value) {
		return fmt.Sprintf("%s: the report says that live has %s there, it has %v", f.Path, f.Live, value)
	}
	old, _ := path.in(was)
	if extra := beyond(live, old, value, f.Path); len(extra) > 0 {
		return fmt.Sprintf("%s: live has %s, the report does not: %s", f.Path, strings.Join(extra, ", "), f.Live)
	}
	return ""
}

// crowded matches what a crowd writes: the API server forgets who wrote the first of it, and reports are silent of that.
var crowded = regexp.MustCompile(`^example\.com/.*-\d+$`)

// spokenOf is an object without what reports are silent of.
func spokenOf(obj map[string]any) map[string]any {
	out := settled(obj)
	dropAggregated(out, out)
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
