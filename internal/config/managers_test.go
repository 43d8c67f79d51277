package config

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/owners"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestCheckManagers checks that a configuration must not put a known controller or deployer into another group, and that the error names one.
func TestCheckManagers(t *testing.T) {
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
		err := checkManagers(owners.Managers{c.group: {c.name}})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s: %v", c.group, c.name, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s %s: %v, not %s", c.group, c.name, err, c.want)
		}
	}
}
