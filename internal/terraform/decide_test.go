package terraform

import (
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestDecide decides what the provider does with releases whose last record has a status. An empty status means that there is no record.
func TestDecide(t *testing.T) {
	here, there := Place{"shop", "web"}, Place{"other", "web"}
	for _, tt := range []struct {
		name    string
		release Release
		last    string
		want    report.DeployerAction
		reason  string
	}{
		{"a new one", Release{Change: Creates}, "", report.DeployerInstall, "the state does not have it"},
		{"a new one whose name is in use", Release{Change: Creates}, "deployed", report.DeployerBlocked, "Helm refuses that"},
		{"a new one that failed before", Release{Change: Creates}, "failed", report.DeployerBlocked, "Helm refuses that"},
		{"a new one that was uninstalled before", Release{Change: Creates}, "uninstalled", report.DeployerBlocked, "Helm refuses that"},
		{"with replace", Release{Change: Creates, Now: Arguments{Replace: true}}, "deployed", report.DeployerBlocked, "Helm refuses that"},
		{"with replace after a failure", Release{Change: Creates, Now: Arguments{Replace: true}}, "failed",
			report.DeployerInstall, "takes over the name"},
		{"with upgrade_install", Release{Change: Creates, Now: Arguments{UpgradeInstall: true}}, "deployed",
			report.DeployerUpgrade, "upgrade_install is set"},
		{"with upgrade_install and nothing there", Release{Change: Creates, Now: Arguments{UpgradeInstall: true}}, "",
			report.DeployerInstall, ""},
		{"an update", Release{Change: Updates, Changed: []string{"set", "status", "values"}}, "deployed",
			report.DeployerUpgrade, "the plan changes set, values"},
		{"an update of much", Release{Change: Updates, Changed: []string{"a", "b", "c", "d", "e", "f"}}, "deployed",
			report.DeployerUpgrade, "the plan changes a, b, c, d, 2 more"},
		{"an update after a failure", Release{Change: Updates, Changed: []string{"status"}}, "failed",
			report.DeployerUpgrade, "its last revision has not succeeded"},
		{"an update because of drift", Release{Change: Updates, Changed: []string{"resources"}}, "deployed",
			report.DeployerUpgrade, "what the cluster has, is not what the state has"},
		{"one that goes", Release{Change: Deletes, Reason: "delete_because_each_key"}, "deployed",
			report.DeployerUninstall, "for_each no longer has its key"},
		{"one that is destroyed", Release{Change: Deletes}, "deployed", report.DeployerUninstall, "the plan deletes it"},
		{"one that moves", Release{Change: Replaces, Reason: "replace_because_cannot_update", Before: here, Now: Arguments{Place: there}},
			"deployed", report.DeployerReinstall, "its namespace changes from shop to other"},
		{"one that moves before it goes", Release{Change: ReplaceLast, Reason: "replace_by_triggers", Before: here, Now: Arguments{Place: there}},
			"deployed", report.DeployerReinstall, "replace_triggered_by asks for it"},
		{"one that is replaced in its place", Release{Change: ReplaceLast,
			Reason: "replace_because_tainted", Before: here, Now: Arguments{Place: here}},
			"deployed", report.DeployerBlocked, "create_before_destroy installs before it uninstalls"},
		{"one that is replaced in its place, with upgrade_install", Release{Change: ReplaceLast,
			Reason: "replace_because_tainted", Before: here, Now: Arguments{Place: here, UpgradeInstall: true}},
			"deployed", report.DeployerUninstall, "upgrades the release and then uninstalls it; the resource is tainted"},
		{"one that is replaced in its place, with replace", Release{Change: ReplaceLast,
			Reason: "replace_by_request", Before: here, Now: Arguments{Place: here, Replace: true}},
			"deployed", report.DeployerBlocked, "Helm refuses a name that is in use"},
		{"one that is replaced in its place after a failure, with replace", Release{Change: ReplaceLast,
			Reason: "replace_because_tainted", Before: here, Now: Arguments{Place: here, Replace: true}},
			"failed", report.DeployerUninstall, "installs the release anew and then uninstalls it"},
		{"one that is replaced in its place after a failure", Release{Change: ReplaceLast,
			Reason: "replace_because_tainted", Before: here, Now: Arguments{Place: here}},
			"failed", report.DeployerBlocked, "Helm refuses a name that is in use"},
		{"one that is forgotten", Release{Change: Forgets}, "deployed", report.DeployerNone, "it forgets the release"},
		{"one that stays", Release{Change: Leaves}, "deployed", report.DeployerNone, "Terraform does not look at the objects"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			history := release.History{}
			if tt.last != "" {
				history.Entries = []release.Entry{{Revision: 4, Status: tt.last}}
			}
			got := tt.release.decide(history)
			if got.action != tt.want || !strings.Contains(got.reason, tt.reason) || strings.Contains(got.reason, "%") {
				t.Errorf("got %s: %s", got.action, got.reason)
			}
			acts := got.action == report.DeployerUpgrade || got.action == report.DeployerInstall
			if putsBack := got.putsBack() == report.PutsBackUpgrade; putsBack != acts {
				t.Errorf("it puts drift back %s", got.putsBack())
			}
		})
	}
}

// TestRecreatePods checks that the report of an upgrade says that pods go which it does not show, by the code that --fail-on restart and
// downtime look at.
func TestRecreatePods(t *testing.T) {
	for _, tt := range []struct {
		action     report.DeployerAction
		isSet, has bool
	}{
		{report.DeployerUpgrade, true, true},
		{report.DeployerUpgrade, false, false},
		{report.DeployerInstall, true, false},
		{report.DeployerNone, true, false},
	} {
		s := &Step{release: Release{Now: Arguments{Chart: "web", RecreatePod: tt.isSet}}, decision: decision{action: tt.action}}
		if s.chart(Question{Chart: &drift.Chart{}}) == nil {
			t.Fatal(s.problems)
		}
		has := slices.ContainsFunc(s.warnings, func(m report.Message) bool {
			return m.Code == report.CodeEffects && strings.HasPrefix(m.Message, "recreate_pods is set")
		})
		if has != tt.has {
			t.Errorf("%s, set %t: warnings %v", tt.action, tt.isSet, s.warnings)
		}
	}
}

// TestSource finds charts as the provider does.
func TestSource(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   Arguments
		// ref and repository are what is fetched, and version is the one that is asked for.
		ref, repository, version, title string
		isPath                          bool
	}{
		{"a folder", Arguments{Chart: "testdata/read", Version: "1.0.0"}, "testdata/read", "", "", "testdata/read", true},
		{"a folder that is not there", Arguments{Chart: "./charts/web", Version: "1.0.0"}, "./charts/web", "", "1.0.0", "./charts/web", true},
		{"a folder of a module", Arguments{Chart: "modules/web/charts/web"}, "modules/web/charts/web", "", "", "modules/web/charts/web", true},
		{"a repository", Arguments{Chart: "web", Repository: "https://charts.example.com", Version: " 1.0.0 "},
			"web", "https://charts.example.com", "1.0.0", "web", false},
		{"the name of a repository", Arguments{Chart: "web", Repository: "stable", Version: "1.0.0"},
			"stable/web", "", "1.0.0", "stable/web", false},
		{"a chart with the name of a repository", Arguments{Chart: "stable/web"}, "stable/web", "", "", "stable/web", false},
		{"a registry", Arguments{Chart: "web", Repository: "oci://registry.example.com/charts/", Version: "1.0.0"},
			"oci://registry.example.com/charts/web", "", "1.0.0", "oci://registry.example.com/charts/web", false},
		{"a chart in a registry", Arguments{Chart: "oci://registry.example.com/web", Version: "1.0.0"},
			"oci://registry.example.com/web", "", "1.0.0", "oci://registry.example.com/web", false},
		{"an address", Arguments{Chart: "https://u:hunter2@example.com/web-1.0.0.tgz?key=hunter2", Version: "2.0.0"},
			"https://u:hunter2@example.com/web-1.0.0.tgz?key=hunter2", "", "", "https://example.com/web-1.0.0.tgz", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.of.source(fetch.Options{Version: "9.9.9", RepoURL: "https://other.example.com", Username: "somebody", Password: "hunter3"})
			isFetched := got.ref == tt.ref && got.options.RepoURL == tt.repository && got.options.Version == tt.version
			if !isFetched || got.isPath != tt.isPath || got.title != tt.title {
				t.Errorf("got %+v", got)
			}
			if got.options.Username+got.options.Password != "" {
				t.Error("it has the login of the user")
			}
		})
	}
}

// TestChoose chooses releases by addresses and namespaces.
func TestChoose(t *testing.T) {
	plan := &Plan{}
	for _, r := range []struct{ address, namespace string }{
		{"helm_release.web", "shop"}, {"helm_release.web2", "shop"}, {`helm_release.many["a/b.c"]`, "shop"}, {`helm_release.many["d"]`, "other"},
		{"module.a.helm_release.web", "shop"}, {"module.a.module.b.helm_release.web[0]", "other"}, {"module.a2.helm_release.web", "shop"},
	} {
		plan.Releases = append(plan.Releases, Release{Address: r.address, Now: Arguments{Place: Place{r.namespace, "web"}}})
	}
	for _, tt := range []struct{ addresses, namespaces, want, err string }{
		{"", "", "helm_release.web helm_release.web2 helm_release.many[\"a/b.c\"] helm_release.many[\"d\"] module.a.helm_release.web " +
			"module.a.module.b.helm_release.web[0] module.a2.helm_release.web", ""},
		{"helm_release.web", "", "helm_release.web", ""},
		{"helm_release.many", "", `helm_release.many["a/b.c"] helm_release.many["d"]`, ""},
		{`helm_release.many["d"]`, "", `helm_release.many["d"]`, ""},
		{"module.a", "", "module.a.helm_release.web module.a.module.b.helm_release.web[0]", ""},
		{"module.a", "other", "module.a.module.b.helm_release.web[0]", ""},
		{"", "other", `helm_release.many["d"] module.a.module.b.helm_release.web[0]`, ""},
		{"helm_release.we", "", "", "helm_release.we: the plan has no such helm_release"},
		{"helm_release.web", "other", "", "helm_release.web: the plan has no such helm_release in namespace other"},
		{"helm_release.web helm_release.many", "other", "", "helm_release.web: the plan has no such helm_release in namespace other"},
		{"helm_release.web2 helm_release.many", "shop other", `helm_release.web2 helm_release.many["a/b.c"] helm_release.many["d"]`, ""},
		{"", "elsewhere", "", "the plan has no such helm_release in namespace elsewhere"},
	} {
		t.Run(tt.addresses+" "+tt.namespaces, func(t *testing.T) {
			got, err := plan.Choose(strings.Fields(tt.addresses), strings.Fields(tt.namespaces))
			var addresses []string
			for _, r := range got {
				addresses = append(addresses, r.Address)
			}
			if strings.Join(addresses, " ") != tt.want || err == nil && tt.err != "" || err != nil && err.Error() != tt.err {
				t.Errorf("got %q, %v", addresses, err)
			}
		})
	}
}
