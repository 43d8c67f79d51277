package threeway

import (
	"slices"
	"testing"
)

// TestGroups: names that programs really write, and those that nobody may take for a controller.
func TestGroups(t *testing.T) {
	for group, names := range map[ManagerGroup][]string{
		ManagerDeployer: {
			"helm", "Helm", "helm-controller", "terraform-provider-helm_v2.12.1_x5", "pulumi-resource-kubernetes", "argocd-controller",
			"argocd-application-controller", "fleetagent", "helmdrift",
		},
		ManagerPerson: {
			"kubectl", "kubectl-edit", "kubectl-client-side-apply", "kubectl-rollout", "kubectl-set", "kubectl-patch", "kubectl-label",
			"kubectl-annotate", "kubectl-scale", "kubectl-create", "kubectl-replace", "kubectl-last-applied", "kubectl-argo-rollouts",
			"kubectl-cert_manager", "kubectl.exe", "oc", "k9s", "Lens", "OpenLens", "freelens", "node-fetch", "Headlamp", "rancher", "agent",
			"Mozilla", "dashboard", "kubernetes-dashboard-api", "octant", "curl", "PostmanRuntime", "insomnia", "portainer",
			"istioctl", "calicoctl", "velero",
		},
		ManagerController: {
			"kube-controller-manager", "kube-scheduler", "kubelet", "cloud-controller-manager", "hcloud-cloud-controller-manager", "k3s", "kubelite",
			"manager", "operator", "controller", "PrometheusOperator", "keda", "keda-operator", "keda-adapter", "cainjector", "cert-manager-cainjector",
			"cert-manager-certificates-trigger", "pilot-discovery", "istiod", "istio-cni", "linkerd-destination", "external-secrets", "aws-load-balancer-controller",
			"nginx-ingress-controller", "vpa-updater", "cluster-autoscaler", "argo-rollouts", "rollouts-controller", "flagger", "kustomize-controller",
			"cilium-agent-l2-announcer", "cilium-operator-generic", "calico", "calico-node", "velero-server", "kyverno", "kyverno-background-controller",
			"openshift.io/image-registry-pull-secrets_service-account-controller", "service-ca-operator", "kube-webhook-certgen", "Reloader",
		},
		ManagerUnknown: {
			"", "ancient-changes", "before-first-apply", "Go-http-client", "OpenAPI-Generator", "Swagger-Codegen", "okhttp", "unknown", "python-requests",
			"our-program", "helmfile", "helm-diff", "kustomize", "cilium", "cilium-cli", "linkerd", "consul-k8s", "crossplane", "terraform", "Terraform",
			"terraform-provider-kubernetes_v2", "pulumi-kubernetes-1a2b3c", "pulumi", "ansible-playbook", "lens-agent", "my-agent", "controller-gen",
			"manager-cli", "operator-sdk", "cmctl", "dashboard-sync", "vault", "gator", "keda2prom", "kyvernoctl",
		},
	} {
		for _, name := range names {
			if got := Managers(nil).groupOf(name); got != group {
				t.Errorf("%q is in group %q, not %q", name, got, group)
			}
		}
	}
}

// TestGroupsOfTheConfiguration: the names of a configuration come first, but for programs that are known to deploy or to run in the cluster.
func TestGroupsOfTheConfiguration(t *testing.T) {
	own := Managers{
		ManagerController: {"rancher", "our-*"}, ManagerPerson: {"*-operator", "*-deployer", "helm", "my-*"}, ManagerDeployer: {"kubectl-client-side-apply", "kubelet"},
	}
	for name, want := range map[string]ManagerGroup{
		"Rancher": ManagerController, "our-program": ManagerController, "x-operator": ManagerController, "my-controller": ManagerController,
		"kubectl-client-side-apply": ManagerDeployer, "kubectl-edit": ManagerPerson, "helm": ManagerDeployer, "their-program": ManagerUnknown, "their-deployer": ManagerPerson,
		"my-program": ManagerPerson, "kubelet": ManagerController, "kube-controller-manager": ManagerController, "manager": ManagerController,
	} {
		if got := own.groupOf(name); got != want {
			t.Errorf("%q is in group %q, not %q", name, got, want)
		}
	}
}

// TestKnownManagersAreRefused: a configuration that names a known controller or deployer in another group is an error, which names one.
func TestKnownManagersAreRefused(t *testing.T) {
	for _, c := range []struct {
		group      ManagerGroup
		name, want string
	}{
		{ManagerPerson, "*", `managers: person: "*" takes kube-controller-manager, which is known as a controller`},
		{ManagerPerson, "kube*", `managers: person: "kube*" takes kube-controller-manager, which is known as a controller`},
		{ManagerPerson, "*-controller", `managers: person: "*-controller" takes *-controller, which is known as a controller`},
		{ManagerPerson, "*r", `managers: person: "*r" takes kube-controller-manager, which is known as a controller`},
		{ManagerPerson, "Prometheus-Operator", `managers: person: "Prometheus-Operator" takes prometheus-operator, which is known as a controller`},
		{ManagerPerson, "istio-c*", `managers: person: "istio-c*" takes istio-c*, which is known as a controller`},
		{ManagerPerson, "helm", `managers: person: "helm" takes helm, which is known as a deployer`},
		{ManagerController, "*", `managers: controller: "*" takes helm, which is known as a deployer`},
		{ManagerDeployer, "*", `managers: deployer: "*" takes kube-controller-manager, which is known as a controller`},
		{ManagerDeployer, "kubelet", `managers: deployer: "kubelet" takes kubelet, which is known as a controller`},
		{ManagerPerson, "our-*", ""},
		{ManagerPerson, "ops-console", ""},
		{ManagerController, "*-operator", ""},
		{ManagerController, "velero", ""},
		{ManagerController, "*-reconciler", ""},
		{ManagerDeployer, "kubectl*", ""},
		{ManagerDeployer, "our-deployer", ""},
		{ManagerController, "istio-*", ""},
	} {
		err := Managers{c.group: {c.name}}.Check()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s: %v", c.group, c.name, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s %s: %v, not %s", c.group, c.name, err, c.want)
		}
	}
}

// TestManagersAreInOneGroup: a name that stands in two groups means nothing in the second.
func TestManagersAreInOneGroup(t *testing.T) {
	seen := map[string]ManagerGroup{}
	for group, names := range builtInManagers() {
		if !slices.Contains([]ManagerGroup{ManagerDeployer, ManagerPerson, ManagerController}, group) {
			t.Errorf("there is no group %q", group)
		}
		for _, name := range names {
			if other, twice := seen[name]; twice {
				t.Errorf("%s is in %s and %s", name, other, group)
			}
			seen[name] = group
		}
	}
}
