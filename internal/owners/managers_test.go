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
