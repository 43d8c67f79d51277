package owners

import (
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestGroups: names that programs really write, and those that nobody may take for a controller.
func TestGroups(t *testing.T) {
	for group, names := range map[report.ManagerGroup][]string{
		report.ManagerDeployer: {
			"helm", "Helm", "helm-controller", "terraform-provider-helm_v2.12.1_x5", "pulumi-resource-kubernetes", "argocd-controller",
			"argocd-application-controller", "fleetagent", "helmdrift",
		},
		report.ManagerPerson: {
			"kubectl", "kubectl-edit", "kubectl-client-side-apply", "kubectl-rollout", "kubectl-set", "kubectl-patch", "kubectl-label",
			"kubectl-annotate", "kubectl-scale", "kubectl-create", "kubectl-replace", "kubectl-last-applied", "kubectl-argo-rollouts",
			"kubectl-cert_manager", "kubectl.exe", "oc", "k9s", "Lens", "OpenLens", "freelens", "node-fetch", "Headlamp", "rancher", "agent",
			"Mozilla", "dashboard", "kubernetes-dashboard-api", "octant", "curl", "PostmanRuntime", "insomnia", "portainer",
			"istioctl", "calicoctl", "velero",
		},
		report.ManagerController: {
			"kube-controller-manager", "kube-scheduler", "kubelet", "cloud-controller-manager", "hcloud-cloud-controller-manager", "k3s", "kubelite",
			"manager", "operator", "controller", "PrometheusOperator", "keda", "keda-operator", "keda-adapter", "cainjector", "cert-manager-cainjector",
			"cert-manager-certificates-trigger", "pilot-discovery", "istiod", "istio-cni", "linkerd-destination", "external-secrets", "aws-load-balancer-controller",
			"nginx-ingress-controller", "vpa-updater", "cluster-autoscaler", "argo-rollouts", "rollouts-controller", "flagger", "kustomize-controller",
			"cilium-agent-l2-announcer", "cilium-operator-generic", "calico", "calico-node", "velero-server", "kyverno", "kyverno-background-controller",
			"openshift.io/image-registry-pull-secrets_service-account-controller", "service-ca-operator", "kube-webhook-certgen", "Reloader",
		},
		report.ManagerUnknown: {
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
		report.ManagerController: {"rancher", "our-*"}, report.ManagerPerson: {"*-operator", "*-deployer", "helm", "my-*"}, report.ManagerDeployer: {"kubectl-client-side-apply", "kubelet"},
	}
	for name, want := range map[string]report.ManagerGroup{
		"Rancher": report.ManagerController, "our-program": report.ManagerController, "x-operator": report.ManagerController, "my-controller": report.ManagerController,
		"kubectl-client-side-apply": report.ManagerDeployer, "kubectl-edit": report.ManagerPerson, "helm": report.ManagerDeployer, "their-program": report.ManagerUnknown, "their-deployer": report.ManagerPerson,
		"my-program": report.ManagerPerson, "kubelet": report.ManagerController, "kube-controller-manager": report.ManagerController, "manager": report.ManagerController,
	} {
		if got := own.groupOf(name); got != want {
			t.Errorf("%q is in group %q, not %q", name, got, want)
		}
	}
}

// TestKnownManagersAreRefused: a configuration that names a known controller or deployer in another group is an error, which names one.
func TestKnownManagersAreRefused(t *testing.T) {
	for _, c := range []struct {
		group      report.ManagerGroup
		name, want string
	}{
		{report.ManagerPerson, "*", `managers: person: "*" takes kube-controller-manager, which is known as a controller`},
		{report.ManagerPerson, "kube*", `managers: person: "kube*" takes kube-controller-manager, which is known as a controller`},
		{report.ManagerPerson, "*-controller", `managers: person: "*-controller" takes *-controller, which is known as a controller`},
		{report.ManagerPerson, "*r", `managers: person: "*r" takes kube-controller-manager, which is known as a controller`},
		{report.ManagerPerson, "Prometheus-Operator", `managers: person: "Prometheus-Operator" takes prometheus-operator, which is known as a controller`},
		{report.ManagerPerson, "istio-c*", `managers: person: "istio-c*" takes istio-c*, which is known as a controller`},
		{report.ManagerPerson, "helm", `managers: person: "helm" takes helm, which is known as a deployer`},
		{report.ManagerController, "*", `managers: controller: "*" takes helm, which is known as a deployer`},
		{report.ManagerDeployer, "*", `managers: deployer: "*" takes kube-controller-manager, which is known as a controller`},
		{report.ManagerDeployer, "kubelet", `managers: deployer: "kubelet" takes kubelet, which is known as a controller`},
		{report.ManagerPerson, "our-*", ""},
		{report.ManagerPerson, "ops-console", ""},
		{report.ManagerController, "*-operator", ""},
		{report.ManagerController, "velero", ""},
		{report.ManagerController, "*-reconciler", ""},
		{report.ManagerDeployer, "kubectl*", ""},
		{report.ManagerDeployer, "our-deployer", ""},
		{report.ManagerController, "istio-*", ""},
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
	seen := map[string]report.ManagerGroup{}
	for group, names := range builtInManagers() {
		if !slices.Contains([]report.ManagerGroup{report.ManagerDeployer, report.ManagerPerson, report.ManagerController}, group) {
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
