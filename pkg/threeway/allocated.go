package threeway

import (
	"strings"
	"sync"
)

// allocation is one line of the table of fields that the server or a controller fills in after Helm wrote the object.
type allocation struct {
	// kind is "Kind" or "Kind.group"; "*" is every kind.
	kind string
	// path has a dot between fields and [] for any item of a list; a key with dots stands last, after a slash.
	path string
	// when names a condition; empty means always.
	when condition
	// even tells that a manifest's own value does not count: a controller overwrites it by design.
	even   bool
	reason string
}

// condition is what must hold of the live object for a line of the table to apply.
type condition func(live map[string]any) bool

// allocations is the table. A field in it is taken from live unless a manifest gives it a non-empty value.
var allocations = sync.OnceValue(func() []allocation {
	return []allocation{
		{kind: "Service", path: "spec.clusterIP", reason: "allocated by the API server"},
		{kind: "Service", path: "spec.clusterIPs", reason: "allocated by the API server"},
		{kind: "Service", path: "spec.ipFamilies", reason: "chosen by the API server from the cluster's networks"},
		{kind: "Service", path: "spec.ipFamilyPolicy", reason: "chosen by the API server from the cluster's networks"},
		{kind: "Service", path: "spec.healthCheckNodePort", reason: "allocated by the API server"},
		{kind: "Service", path: "spec.ports[].nodePort", reason: "allocated by the API server"},
		{kind: "Service", path: "metadata.finalizers", reason: "the service controller holds load balancers by it"},
		{kind: "Service", path: "spec.loadBalancerClass", reason: "a cloud's admission sets it"},
		{kind: "PersistentVolumeClaim", path: "spec.volumeName", reason: "the volume that the controller bound"},
		{kind: "PersistentVolumeClaim", path: "spec.storageClassName", reason: "the cluster's default class, set by admission"},
		{kind: "PersistentVolumeClaim", path: "spec.dataSourceRef", reason: "the API server copies dataSource"},
		{kind: "PersistentVolumeClaim", path: "spec.dataSource", reason: "the API server copies dataSourceRef"},
		{kind: "PersistentVolumeClaim", path: "metadata.annotations/pv.kubernetes.io/*", reason: "binding of the volume"},
		{kind: "PersistentVolumeClaim", path: "metadata.annotations/volume.kubernetes.io/*", reason: "provisioning of the volume"},
		{kind: "PersistentVolumeClaim", path: "metadata.annotations/volume.beta.kubernetes.io/*", reason: "provisioning of the volume"},
		{kind: "PersistentVolume", path: "spec.claimRef", reason: "the claim that the controller bound"},
		{kind: "PersistentVolume", path: "metadata.annotations/pv.kubernetes.io/*", reason: "binding of the volume"},
		{kind: "Job.batch", path: "spec.selector", reason: "made by the API server from the Job's uid"},
		{kind: "Job.batch", path: "metadata.annotations/batch.kubernetes.io/*", reason: "the job controller's bookkeeping"},
		{kind: "Job.batch", path: "spec.template.metadata.labels/controller-uid", reason: "the Job's uid, set by the API server"},
		{kind: "Job.batch", path: "spec.template.metadata.labels/job-name", reason: "the Job's name, set by the API server"},
		{kind: "Job.batch", path: "spec.template.metadata.labels/batch.kubernetes.io/*", reason: "the Job's uid and name, set by the API server"},
		{kind: "Job.batch", path: "metadata.labels/controller-uid", reason: "labels default to the template's"},
		{kind: "Job.batch", path: "metadata.labels/job-name", reason: "labels default to the template's"},
		{kind: "Job.batch", path: "metadata.labels/batch.kubernetes.io/*", reason: "labels default to the template's"},
		{kind: "Deployment.apps", path: "metadata.annotations/deployment.kubernetes.io/revision", reason: "the deployment controller counts rollouts"},
		{kind: "DaemonSet.apps", path: "metadata.annotations/deprecated.daemonset.template.generation", reason: "the daemon set controller counts rollouts"},
		{kind: "*", path: "spec.template.metadata.annotations/kubectl.kubernetes.io/restartedAt", reason: "kubectl rollout restart"},
		{kind: "*", path: "metadata.annotations/kubectl.kubernetes.io/last-applied-configuration", reason: "kubectl apply's memory"},
		{kind: "*", path: "metadata.annotations/kubectl.kubernetes.io/restartedAt", reason: "kubectl rollout restart"},
		{kind: "ClusterRole.rbac.authorization.k8s.io", path: "rules", when: aggregated, even: true, reason: "the aggregation controller fills the rules"},
		{kind: "MutatingWebhookConfiguration.admissionregistration.k8s.io", path: "webhooks[].clientConfig.caBundle", reason: "an injector fills it"},
		{kind: "MutatingWebhookConfiguration.admissionregistration.k8s.io", path: "webhooks[].clientConfig.caBundle", when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: "ValidatingWebhookConfiguration.admissionregistration.k8s.io", path: "webhooks[].clientConfig.caBundle", reason: "an injector fills it"},
		{kind: "ValidatingWebhookConfiguration.admissionregistration.k8s.io", path: "webhooks[].clientConfig.caBundle", when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: "CustomResourceDefinition.apiextensions.k8s.io", path: "spec.conversion.webhook.clientConfig.caBundle", reason: "an injector fills it"},
		{kind: "CustomResourceDefinition.apiextensions.k8s.io", path: "spec.conversion.webhook.clientConfig.caBundle", when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: "CustomResourceDefinition.apiextensions.k8s.io", path: "metadata.finalizers", reason: "the server removes custom resources by it"},
		{kind: "APIService.apiregistration.k8s.io", path: "spec.caBundle", reason: "an injector fills it"},
		{kind: "APIService.apiregistration.k8s.io", path: "spec.caBundle", when: injected, even: true, reason: "an injector named by an annotation fills it"},
		{kind: "APIService.apiregistration.k8s.io", path: "metadata.labels/kube-aggregator.kubernetes.io/automanaged", reason: "the aggregator's bookkeeping"},
		{kind: "Namespace", path: "spec.finalizers", reason: "set by the API server"},
		{kind: "Namespace", path: "metadata.labels/kubernetes.io/metadata.name", reason: "set by the API server"},
		{kind: "Namespace", path: "metadata.annotations/openshift.io/*", reason: "set by the cluster for the namespace"},
		{kind: "ServiceAccount", path: "secrets", reason: "the token controller's"},
		{kind: "Secret", path: "metadata.annotations/kubernetes.io/service-account.uid", reason: "the token controller's"},
		{kind: "Pod", path: "spec.nodeName", reason: "chosen by the scheduler"},
		{kind: "Pod", path: "spec.tolerations", reason: "admission adds the node's"},
		{kind: "Pod", path: "spec.priority", reason: "resolved by admission from the class"},
		{kind: "Pod", path: "spec.preemptionPolicy", reason: "resolved by admission from the class"},
		{kind: "Pod", path: "spec.serviceAccountName", reason: "set by admission"},
		{kind: "Pod", path: "spec.serviceAccount", reason: "set by admission"},
	}
})

// aggregated tells that a ClusterRole collects the rules of others.
func aggregated(live map[string]any) bool { return child(live, "aggregationRule") != nil }

// injected tells that an annotation asks a controller to fill in a CA.
func injected(live map[string]any) bool {
	for name := range child(child(live, "metadata"), "annotations") {
		if strings.HasPrefix(name, "cert-manager.io/inject-") || strings.HasSuffix(name, "/inject-cabundle") ||
			strings.HasSuffix(name, "/inject-ca-bundle") {
			return true
		}
	}
	return false
}

// fieldTree holds the lines of the table that apply to one object, by the steps of their paths.
type fieldTree struct {
	fields map[string]*fieldTree
	items  *fieldTree
	prefix map[string]*allocation
	here   *allocation
}

// allocatedFor picks the lines of the table for one object.
func allocatedFor(key Key, live map[string]any) *fieldTree {
	root := &fieldTree{}
	kind := key.Kind
	if key.Group != "" {
		kind += "." + key.Group
	}
	table := allocations()
	for i := range table {
		line := &table[i]
		if (line.kind == "*" || line.kind == kind) && (line.when == nil || line.when(live)) {
			root.add(line)
		}
	}
	return root
}

func (t *fieldTree) add(line *allocation) {
	path, key, keyed := strings.Cut(line.path, "/")
	for name := range strings.SplitSeq(path, ".") {
		name, list := strings.CutSuffix(name, "[]")
		t = t.child(name)
		if list {
			if t.items == nil {
				t.items = &fieldTree{}
			}
			t = t.items
		}
	}
	switch prefix, any := strings.CutSuffix(key, "*"); {
	case any:
		if t.prefix == nil {
			t.prefix = map[string]*allocation{}
		}
		t.prefix[prefix] = line
	case keyed:
		t.child(key).here = line
	default:
		t.here = line
	}
}

func (t *fieldTree) child(name string) *fieldTree {
	if t.fields == nil {
		t.fields = map[string]*fieldTree{}
	}
	if t.fields[name] == nil {
		t.fields[name] = &fieldTree{}
	}
	return t.fields[name]
}

// line finds the table's line for a path, nil where there is none.
func (t *fieldTree) line(path Path) *allocation {
	for i, s := range path {
		switch {
		case t == nil:
			return nil
		case s.Form != FieldStep:
			t = t.items
			continue
		case t.fields[s.Name] != nil:
			t = t.fields[s.Name]
			continue
		case i < len(path)-1:
			return nil
		}
		for prefix, line := range t.prefix {
			if strings.HasPrefix(s.Name, prefix) {
				return line
			}
		}
		return nil
	}
	if t == nil {
		return nil
	}
	return t.here
}

// isAllocated tells whether the place belongs to the server or a controller: the table has it, and no manifest gives it a
// value that would count.
func (w *walker) isAllocated(path Path, n sides) bool {
	line := w.allocated.line(path)
	return line != nil && (line.even || isZero(n.old.written) && isZero(n.desired.written))
}
