package owners

import (
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestGroups checks the groups of names that programs really use, and of names that must not pass as a controller.
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
			"kube-controller-manager", "kube-scheduler", "kubelet", "cloud-controller-manager",
			"hcloud-cloud-controller-manager", "k3s", "kubelite", "manager", "operator", "controller", "PrometheusOperator",
			"keda", "keda-operator", "keda-adapter", "cainjector", "cert-manager-cainjector",
			"cert-manager-certificates-trigger", "pilot-discovery", "istiod", "istio-cni", "linkerd-destination",
			"external-secrets", "aws-load-balancer-controller", "nginx-ingress-controller", "vpa-updater", "cluster-autoscaler",
			"argo-rollouts", "rollouts-controller", "flagger", "kustomize-controller", "cilium-agent-l2-announcer",
			"cilium-operator-generic", "calico", "calico-node", "velero-server", "kyverno", "kyverno-background-controller",
			"openshift.io/image-registry-pull-secrets_service-account-controller", "service-ca-operator",
			"kube-webhook-certgen", "Reloader",
		},
		report.ManagerUnknown: {
			"", "ancient-changes", "before-first-apply", "Go-http-client", "OpenAPI-Generator", "Swagger-Codegen", "okhttp",
			"unknown", "python-requests", "our-program", "helmfile", "helm-diff", "kustomize", "cilium", "cilium-cli",
			"linkerd", "consul-k8s", "crossplane", "terraform", "Terraform", "terraform-provider-kubernetes_v2",
			"pulumi-kubernetes-1a2b3c", "pulumi", "ansible-playbook", "lens-agent", "my-agent", "controller-gen", "manager-cli",
			"operator-sdk", "cmctl", "dashboard-sync", "vault", "gator", "keda2prom", "kyvernoctl",
		},
	} {
		for _, name := range names {
			if got := Managers(nil).groupOf(name); got != group {
				t.Errorf("%q is in group %q, not %q", name, got, group)
			}
		}
	}
}

// TestGroupsOfTheConfiguration checks that the names of a configuration come first, except for programs that are known to deploy or to
// run in the cluster.
func TestGroupsOfTheConfiguration(t *testing.T) {
	own := Managers{
		report.ManagerController: {"rancher", "our-*"},
		report.ManagerPerson:     {"*-operator", "*-deployer", "helm", "my-*"},
		report.ManagerDeployer:   {"kubectl-client-side-apply", "kubelet"},
	}
	for group, names := range map[report.ManagerGroup][]string{
		report.ManagerDeployer:   {"kubectl-client-side-apply", "helm"},
		report.ManagerPerson:     {"kubectl-edit", "their-deployer", "my-program"},
		report.ManagerController: {"Rancher", "our-program", "x-operator", "my-controller", "kubelet", "kube-controller-manager", "manager"},
		report.ManagerUnknown:    {"their-program"},
	} {
		for _, name := range names {
			if got := own.groupOf(name); got != group {
				t.Errorf("%q is in group %q, not %q", name, got, group)
			}
		}
	}
}

// TestCheck checks that a configuration must not put a known controller or deployer into another group, and that the error names one.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		group      report.ManagerGroup
		name, want string
	}{
		{report.ManagerPerson, "*", `managers: person: "*" matches kube-controller-manager, which is known as a controller`},
		{report.ManagerPerson, "kube*", `managers: person: "kube*" matches kube-controller-manager, which is known as a controller`},
		{report.ManagerPerson, "*-controller", `managers: person: "*-controller" matches *-controller, which is known as a controller`},
		{report.ManagerPerson, "*r", `managers: person: "*r" matches kube-controller-manager, which is known as a controller`},
		{report.ManagerPerson, "Prometheus-Operator",
			`managers: person: "Prometheus-Operator" matches prometheus-operator, which is known as a controller`},
		{report.ManagerPerson, "istio-c*", `managers: person: "istio-c*" matches istio-c*, which is known as a controller`},
		{report.ManagerPerson, "helm", `managers: person: "helm" matches helm, which is known as a deployer`},
		{report.ManagerController, "*", `managers: controller: "*" matches helm, which is known as a deployer`},
		{report.ManagerDeployer, "*", `managers: deployer: "*" matches kube-controller-manager, which is known as a controller`},
		{report.ManagerDeployer, "kubelet", `managers: deployer: "kubelet" matches kubelet, which is known as a controller`},
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

// TestManagersAreInOneGroup checks that no name is in two groups. It would have no effect in the second.
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
