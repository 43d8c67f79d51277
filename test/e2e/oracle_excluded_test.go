package e2e

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// withoutServerChoices copies an object without the fields that the server maintains, chooses or stores twice.
func withoutServerChoices(obj map[string]any) map[string]any {
	out := withoutServerFields(obj)
	dropAdmitted(out)
	sortFinalizers(out)
	return out
}

// dropAdmitted removes the two tolerations that admission adds to every Pod in every write, exactly as it adds them (kubernetes v1.36.3
// plugin/pkg/admission/defaulttolerationseconds).
func dropAdmitted(obj map[string]any) {
	spec, _ := obj["spec"].(map[string]any)
	list, tolerates := spec["tolerations"].([]any)
	if obj["kind"] != "Pod" || !tolerates {
		return
	}
	spec["tolerations"] = slices.DeleteFunc(slices.Clone(list), func(item any) bool {
		toleration, _ := item.(map[string]any)
		key := toleration["key"]
		return (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable") && len(toleration) == 4 &&
			toleration["operator"] == "Exists" && toleration["effect"] == "NoExecute" && fmt.Sprint(toleration["tolerationSeconds"]) == "300"
	})
}

// sortSets sorts lists whose order has no meaning, after the reported fields have been checked.
func sortSets(obj map[string]any) {
	switch obj["kind"] {
	case "Route":
		fieldPath{{field: "spec"}, {field: "tags"}}.sortList(obj)
		fieldPath{{field: "spec"}, {field: "fixed"}, {field: "zones"}}.sortList(obj)
	case "HorizontalPodAutoscaler":
		fieldPath{{field: "spec"}, {field: "metrics"}}.sortList(obj)
	}
}

// sortFinalizers sorts the finalizers, whose order has no meaning.
func sortFinalizers(obj map[string]any) {
	path := fieldPath{{field: "metadata"}, {field: "finalizers"}}
	path.sortList(obj)
}

// dropNewNodePorts removes the node ports that the server chose meanwhile; charts name others.
func dropNewNodePorts(was, now map[string]any) {
	known := map[string]bool{}
	eachNodePort(was, func(_ map[string]any, number string) { known[number] = true })
	eachNodePort(now, func(port map[string]any, number string) {
		if !known[number] && len(number) == 5 && number > "30080" && number != "31999" {
			delete(port, "nodePort")
		}
	})
}

func eachNodePort(obj map[string]any, visit func(port map[string]any, number string)) {
	eachNode(obj, func(v any) {
		if port, ok := v.(map[string]any); ok && port["nodePort"] != nil {
			visit(port, fmt.Sprint(port["nodePort"]))
		}
	})
}

// dropNewAddress removes the address that the server chose for a Service that was an ExternalName.
func dropNewAddress(was, now map[string]any) {
	before, _ := was["spec"].(map[string]any)
	after, _ := now["spec"].(map[string]any)
	if now["kind"] != "Service" || before["type"] != "ExternalName" || after["type"] == "ExternalName" {
		return
	}
	for _, name := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
		if before[name] == nil {
			delete(after, name)
		}
	}
}

// dropAggregated removes the rules of a role that aggregates others, because a controller writes them at any time.
func dropAggregated(was, now map[string]any) {
	if was["aggregationRule"] != nil && now["aggregationRule"] != nil {
		delete(was, "rules")
		delete(now, "rules")
	}
}

// isInjected reports whether an annotation leaves the object's CA to an injector, as reports do.
func isInjected(obj map[string]any) bool {
	_, injected := fieldPath{{field: "metadata"}, {field: "annotations"}, {field: "cert-manager.io/inject-ca-from"}}.lookup(obj)
	return injected
}

// leavesBundle reports whether no chart sets a CA, so that an injector sets it, and the report has none. Reports then omit it by
// design. If the chart has an empty text for the CA, Helm empties it until the injector writes it again.
func leavesBundle(fields []fieldReport, charts ...map[string]any) bool {
	given := slices.ContainsFunc(fields, func(f fieldReport) bool { return strings.HasSuffix(f.Path, ".caBundle") })
	for _, chart := range charts {
		eachNode(chart, func(v any) {
			m, _ := v.(map[string]any)
			given = given || !isZero(m["caBundle"])
		})
	}
	return !given
}

// writesBundle reports whether a chart writes a CA, even an empty one.
func writesBundle(chart map[string]any) bool {
	written := false
	eachNode(chart, func(v any) {
		m, _ := v.(map[string]any)
		_, there := m["caBundle"]
		written = written || there
	})
	return written
}

func dropBundles(obj map[string]any) {
	eachNode(obj, func(v any) {
		if m, ok := v.(map[string]any); ok {
			delete(m, "caBundle")
		}
	})
}

func dropBothBundles(was, now map[string]any) {
	dropBundles(was)
	dropBundles(now)
}

// removeUnstored removes from an object of a chart what the server does not store as written: the times that generators write, the
// label that Helm sets itself, and the pool's fields that no kind has.
func removeUnstored(obj map[string]any) {
	metadata := fieldPath{{field: "metadata"}}
	append(metadata, pathStep{field: "creationTimestamp"}).remove(obj)
	managed := append(metadata, pathStep{field: "labels"}, pathStep{field: "app.kubernetes.io/managed-by"})
	if _, written := managed.lookup(obj); written {
		managed.put(obj, "Helm")
	}
	foldStringData(obj)
	eachNode(obj, func(v any) {
		m, _ := v.(map[string]any)
		delete(m, "unknownField")
		if m["sessionAffinity"] != "ClientIP" {
			delete(m, "sessionAffinityConfig")
		}
	})
}

// foldStringData moves the stringData of a Secret into data, as the API server does.
func foldStringData(secret map[string]any) {
	texts, _ := secret["stringData"].(map[string]any)
	delete(secret, "stringData")
	for key, text := range texts {
		fieldPath{{field: "data"}, {field: key}}.put(secret, base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(text))))
	}
}

// reportable copies an object without what reports omit.
func reportable(obj map[string]any) map[string]any {
	out := withoutServerChoices(obj)
	dropAggregated(out, out)
	nameOwnUID(out)
	metadata := fieldPath{{field: "metadata"}}
	for _, name := range []string{"uid", "creationTimestamp"} {
		append(metadata, pathStep{field: name}).remove(out)
	}
	eachNode(out, func(v any) {
		m, _ := v.(map[string]any)
		for _, name := range []string{"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt"} {
			delete(m, name)
		}
		maps.DeleteFunc(m, func(name string, _ any) bool { return managerAnnotation.MatchString(name) })
	})
	return out
}

// nameOwnUID gives the copies of the object's own uid that the API server writes into a Job the same text in every object. A Job that was
// deleted and created again has another uid. Reports omit the uid and its copies (kubernetes v1.36.3 pkg/registry/batch/job/strategy.go
// generateSelector).
func nameOwnUID(obj map[string]any) {
	uid := uidOf(obj)
	if obj["kind"] != "Job" || uid == nil {
		return
	}
	eachNode(obj, func(v any) {
		m, _ := v.(map[string]any)
		for name, value := range m {
			if value == uid && jobLabel.MatchString(name) {
				m[name] = "its own uid"
			}
		}
	})
}

// managerAnnotation matches what writeAsManyManagers writes: the API server forgets the writer of the first ones, and reports omit those.
var managerAnnotation = regexp.MustCompile(`^example\.com/.*-\d+$`)

// dropPullPolicies removes the pull policy of containers if it is unchanged or the default of the new image: it belongs to the image,
// which is reported.
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

// defaultPullPolicy returns the default of the API server (kubernetes v1.36.3 pkg/apis/core/v1/defaults.go SetDefaults_Container).
func defaultPullPolicy(image string) string {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !strings.Contains(image, "@") && (tag == "" || tag == "latest") {
		return "Always"
	}
	return "IfNotPresent"
}

// dropSamePolicyTypes removes the types of a NetworkPolicy if both states have the same. Otherwise they would be the default of one state
// and not of the other if somebody removed the egress and left the types.
func dropSamePolicyTypes(was, is map[string]any) {
	path := fieldPath{{field: "spec"}, {field: "policyTypes"}}
	before, found := path.lookup(was)
	after, _ := path.lookup(is)
	if found && cmp.Equal(before, after) {
		removeAll([]fieldPath{path}, was)
		removeAll([]fieldPath{path}, is)
	}
}

// dropDefaults removes defaults that come and go with another field, which is reported.
func dropDefaults(obj map[string]any) {
	spec, _ := obj["spec"].(map[string]any)
	defaults := map[string]any{}
	switch obj["kind"] {
	case "Service": // kubernetes v1.36.3 pkg/apis/core/v1/defaults.go SetDefaults_Service
		defaults["sessionAffinityConfig"] = map[string]any{"clientIP": map[string]any{"timeoutSeconds": int64(10800)}}
		defaults["externalTrafficPolicy"] = "Cluster"
		defaults["allocateLoadBalancerNodePorts"] = true
	case "NetworkPolicy": // pkg/apis/networking/v1/defaults.go SetDefaults_NetworkPolicy
		defaults["policyTypes"] = []any{"Ingress"} // it stays when somebody adds egress
		if egress, _ := spec["egress"].([]any); len(egress) > 0 && !cmp.Equal(spec["policyTypes"], defaults["policyTypes"]) {
			defaults["policyTypes"] = []any{"Ingress", "Egress"}
		}
	case "Job": // pkg/apis/batch/v1/defaults.go SetDefaults_Job: a Job without labels gets those of its template
		labels, _ := (fieldPath{{field: "metadata"}, {field: "labels"}}).lookup(obj)
		m, _ := labels.(map[string]any)
		maps.DeleteFunc(m, func(name string, _ any) bool { return jobLabel.MatchString(name) })
	}
	for name, value := range defaults {
		if cmp.Equal(spec[name], value) {
			delete(spec, name)
		}
	}
	for _, name := range []string{"strategy", "updateStrategy"} {
		strategy, _ := spec[name].(map[string]any)
		if rolling := rollingDefaults[fmt.Sprint(obj["kind"])]; rolling != nil && cmp.Equal(strategy["rollingUpdate"], any(rolling)) {
			delete(strategy, "rollingUpdate")
		}
	}
}

// rollingDefaults are the defaults of rollingUpdate in a strategy, which come with the type RollingUpdate (kubernetes v1.36.3
// pkg/apis/apps/v1/defaults.go SetDefaults_Deployment, SetDefaults_StatefulSet, SetDefaults_DaemonSet).
var rollingDefaults = map[string]map[string]any{
	"Deployment":  {"maxSurge": "25%", "maxUnavailable": "25%"},
	"StatefulSet": {"partition": int64(0)},
	"DaemonSet":   {"maxSurge": int64(0), "maxUnavailable": int64(1)},
}

// jobLabel matches what the API server adds to the template of a Job.
var jobLabel = regexp.MustCompile(`^(batch\.kubernetes\.io/)?(controller-uid|job-name)$`)

// dropReplicas removes the replicas: scaling a custom resource leaves no owner, and reports omit values there that nobody owns.
func dropReplicas(obj map[string]any) {
	fieldPath{{field: "spec"}, {field: "replicas"}}.remove(obj)
}

// keepNamed removes what a chart does not name, and lists of maps, whose items cannot be identified here.
func keepNamed(chart, obj map[string]any) {
	for name, value := range obj {
		chartValue, inChart := chart[name]
		below, isMap := value.(map[string]any)
		above, alsoMap := chartValue.(map[string]any)
		list, _ := value.([]any)
		switch {
		case !inChart, len(list) > 0 && isMapValue(list[0]):
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

// dropNulls removes zero values where a chart has a null: live may have a zero value there or nothing.
func dropNulls(chart, obj map[string]any) {
	for name, value := range chart {
		below, _ := obj[name].(map[string]any)
		switch value := value.(type) {
		case map[string]any:
			dropNulls(value, below)
		case nil:
			if isZero(obj[name]) {
				delete(obj, name)
			}
		}
	}
}

// removeProtection removes the finalizers that controllers add to volumes and claims at any time, also after somebody removed them
// (kubernetes v1.36.3 pkg/controller/volume/pvprotection, pvcprotection).
func removeProtection(obj map[string]any) {
	finalizers := fieldPath{{field: "metadata"}, {field: "finalizers"}}
	if held, ok := finalizers.lookup(obj); ok {
		finalizers.put(obj, withoutProtection(held))
	}
}

// withoutProtection returns a list of finalizers without these, or nil if there are no others.
func withoutProtection(v any) any {
	list, isList := v.([]any)
	if !isList {
		return v
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == "kubernetes.io/pv-protection" || v == "kubernetes.io/pvc-protection" })
	if len(kept) == 0 {
		return nil
	}
	return kept
}
