package terraform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// decision is what the provider does with a release, and why. Otherwise is what it would do if nothing kept it from acting.
type decision struct {
	action, otherwise report.DeployerAction
	reason            string
	// upgradesFirst is set if the resource is created, and the provider upgrades a release that is there already.
	upgradesFirst bool
}

// decide returns what the provider does with a release whose records are known (terraform-provider-helm v3.1.2
// helm/resource_helm_release.go Create, Update, Delete).
func (r *Release) decide(history release.History) decision {
	why := r.why()
	switch r.Change {
	case Creates:
		return r.decideNew(history, why)
	case Updates:
		return decision{action: report.DeployerUpgrade, reason: why}
	case Deletes:
		return decision{action: report.DeployerUninstall, reason: why}
	case Replaces:
		return decision{action: report.DeployerReinstall, reason: why}
	case ReplaceLast:
		if r.Before == r.Now.Place {
			return r.decideInPlace(history, why)
		}
		return decision{action: report.DeployerReinstall, reason: why}
	case Forgets:
		return decision{action: report.DeployerNone, reason: "it forgets the release, which stays as it is"}
	}
	return decision{action: report.DeployerNone,
		reason: "the plan changes no argument, and Terraform does not look at the objects in the cluster"}
}

// decideInPlace returns what the provider does with a release that it creates before it destroys the one of the same name. If it can create
// it, it then uninstalls the release that it has created.
func (r *Release) decideInPlace(history release.History, why string) decision {
	out := decision{action: report.DeployerUninstall}
	switch r.decideNew(history, why).action {
	case report.DeployerUpgrade:
		out.reason = "create_before_destroy with upgrade_install upgrades the release and then uninstalls it; " + why
	case report.DeployerInstall:
		out.reason = "create_before_destroy with replace installs the release anew and then uninstalls it; " + why
	default:
		out = decision{action: report.DeployerBlocked, otherwise: report.DeployerReinstall,
			reason: "create_before_destroy installs before it uninstalls, and Helm refuses a name that is in use; " + why}
	}
	return out
}

// decideNew returns what the provider does to create a release. Helm refuses a name that has records, unless replace is set and the last of
// them failed or was uninstalled (helm v3.22.0 pkg/action/install.go availableName).
func (r *Release) decideNew(history release.History, why string) decision {
	n := len(history.Entries)
	if n == 0 {
		return decision{action: report.DeployerInstall, reason: why}
	}
	last := history.Entries[n-1]
	isFree := last.Status == "uninstalled" || last.Status == "failed"
	switch {
	case r.Now.UpgradeInstall:
		return decision{action: report.DeployerUpgrade, upgradesFirst: true,
			reason: fmt.Sprintf("%s, the release has revision %d already, and upgrade_install is set", why, last.Revision)}
	case r.Now.Replace && isFree:
		return decision{action: report.DeployerInstall, reason: fmt.Sprintf("%s, and replace takes over the name from revision %d, which is %s",
			why, last.Revision, last.Status)}
	}
	return decision{action: report.DeployerBlocked, otherwise: report.DeployerInstall,
		reason: fmt.Sprintf("it would install the release, whose name has revision %d already, and Helm refuses that; "+
			"terraform import or upgrade_install takes it over", last.Revision)}
}

// why says why Terraform acts, as far as the plan does.
func (r *Release) why() string {
	reasons := map[string]string{
		"replace_because_tainted":           "the resource is tainted",
		"replace_because_cannot_update":     r.changedPlace(),
		"replace_by_request":                "-replace asks for it",
		"replace_by_triggers":               "replace_triggered_by asks for it",
		"delete_because_no_resource_config": "the configuration no longer has the resource",
		"delete_because_no_module":          "the configuration no longer has its module",
		"delete_because_wrong_repetition":   "the configuration has the resource with another count or for_each",
		"delete_because_count_index":        "count no longer has its index",
		"delete_because_each_key":           "for_each no longer has its key",
		"delete_because_no_move_target":     "the configuration no longer has the target of its move",
	}
	if said := reasons[r.Reason]; said != "" {
		return said
	}
	return map[Change]string{
		Creates: "the state does not have it", Updates: r.changes(), Deletes: "the plan deletes it", Replaces: "the plan replaces it",
		ReplaceLast: "the plan replaces it",
	}[r.Change]
}

// changes says what an update changes. With the experiment manifest, the provider also updates because of what a chart renders or a cluster
// has.
func (r *Release) changes() string {
	const most = 4
	of := func(names ...string) bool {
		return len(r.Changed) > 0 && !slices.ContainsFunc(r.Changed, func(name string) bool { return !slices.Contains(names, name) })
	}
	switch {
	case of("status"):
		return "its last revision has not succeeded"
	case of("manifest", "resources", "status"):
		return "what the chart renders, or what the cluster has, is not what the state has"
	case len(r.Changed) == 0:
		return "the plan changes it"
	}
	arguments := slices.DeleteFunc(slices.Clone(r.Changed), func(name string) bool {
		return slices.Contains([]string{"manifest", "resources", "status"}, name)
	})
	return "the plan changes " + strings.Join(english.AtMost(arguments, most), ", ")
}

// changedPlace says which argument makes Terraform replace the release.
func (r *Release) changedPlace() string {
	var out []string
	for _, changed := range []struct{ what, from, to string }{
		{"namespace", r.Before.Namespace, r.Now.Namespace}, {"name", r.Before.Name, r.Now.Name},
	} {
		if changed.from != changed.to {
			out = append(out, fmt.Sprintf("its %s changes from %s to %s", changed.what, changed.from, changed.to))
		}
	}
	if len(out) == 0 {
		return "the provider cannot update it"
	}
	return strings.Join(out, ", and ")
}
