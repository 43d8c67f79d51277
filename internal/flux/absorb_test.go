package flux

import (
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestKeepRefuses says what Flux does next with a release that absorb cannot compare.
func TestKeepRefuses(t *testing.T) {
	h := &api.HelmRelease{}
	h.Metadata.Namespace, h.Metadata.Name = "shop", "web"
	for action, want := range map[report.DeployerAction]string{
		report.DeployerInstall: "the release of HelmRelease shop/web is not installed yet, so nothing of it has drifted",
		report.DeployerReinstall: "HelmRelease shop/web: Flux uninstalls it and installs it anew next, " +
			"so absorb has no upgrade to compare the release with: why",
		report.DeployerUninstall: "HelmRelease shop/web: Flux uninstalls it next, so absorb has no upgrade to compare the release with: why",
		report.DeployerRollback:  "HelmRelease shop/web: Flux rolls it back next, so absorb has no upgrade to compare the release with: why",
	} {
		p := Plan{release: h, decision: decision{action: action, reason: "why"}}
		if err := p.Keep(); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", action, err, want)
		}
	}
}
