package owners

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestFindDeployer has one text per object: a list of "manager operation field minute". The field * stands for all fields, and
// annotation for the annotations that Helm itself writes.
func TestFindDeployer(t *testing.T) {
	known := func(manager string) Deployer { return Deployer{Manager: manager, Known: true} }
	unknown := func(manager string, others ...string) Deployer {
		return Deployer{Manager: manager, Others: others}
	}
	for name, c := range map[string]struct {
		objects []string
		want    Deployer
	}{
		"helm":             {[]string{"helm Apply *"}, known("helm")},
		"client-side helm": {[]string{"helm Update *"}, known("helm")},
		"the base name of a program": {[]string{"terraform-provider-helm_v3.0.2_x5 Apply *"},
			known("terraform-provider-helm_v3.0.2_x5")},
		"client-side under another name":    {[]string{"mytool Update *", "mytool Update *, kubectl-edit Update data"}, known("mytool")},
		"an operator that uses the library": {[]string{"my-operator Apply *"}, known("my-operator")},
		"adopted by hand":                   {[]string{"kubectl Apply *, helm Apply *"}, known("helm")},
		"adopted by hand under another name": {[]string{"kubectl Apply *, mytool Apply *",
			"kubectl-annotate Update annotation, mytool Apply data"},
			known("mytool")},
		"a person alone":                   {[]string{"kubectl Apply *"}, unknown("helm")},
		"a controller applies it as well":  {[]string{"kustomize-controller Apply * 5, helm Apply * 1"}, known("helm")},
		"one object restored":              {[]string{"velero-server Update *", "mytool Apply *"}, known("mytool")},
		"all objects restored":             {[]string{"velero-server Update *", "velero-server Update *"}, unknown("helm")},
		"one object missing":               {[]string{"", "mytool Apply *"}, known("mytool")},
		"one object without managedFields": {[]string{"cleared", "mytool Apply *"}, known("mytool")},
		"all missing":                      {[]string{"", ""}, unknown("helm")},
		"they disagree":                    {[]string{"mytool Apply *", "helm Apply *"}, unknown("helm", "mytool")},
		"two unknown names":                {[]string{"yourtool Apply *", "mytool Apply *"}, unknown("mytool", "yourtool")},
		"another program took over": {[]string{"helm Apply * 1, helm-controller Apply * 2", "helm-controller Apply * 2"},
			known("helm-controller")},
		"in the same second": {[]string{"helm Apply *, helm-controller Apply *"}, unknown("helm", "helm-controller")},
		"in the same second, and a later object": {[]string{"helm Apply *, helm-controller Apply *", "helm-controller Apply *"},
			unknown("helm", "helm-controller")},
		"migrated":                            {[]string{"helm Update data 1, mytool Apply * 2"}, known("mytool")},
		"a repair that was interrupted":       {[]string{"helmdrift Update annotation, helm Apply data"}, known("helm")},
		"annotation removed, a known name":    {[]string{"bare helm Apply data, kubectl-edit Update annotation"}, known("helm")},
		"annotation removed, an unknown name": {[]string{"bare mytool Apply data"}, unknown("helm", "mytool")},
		"forgotten writers":                   {[]string{"before-first-apply Update *, helm Apply *"}, known("helm")},
		"Argo CD alone":                       {[]string{"argocd-controller Apply *"}, unknown("helm")},
		"Argo CD took over":                   {[]string{"mytool Apply * 1, argocd-controller Apply * 2"}, known("mytool")},
		"a status that somebody wrote":        {[]string{"mytool Apply *, kubelet Update status"}, known("mytool")},
	} {
		t.Run(name, func(t *testing.T) {
			var live []map[string]any
			for _, text := range c.objects {
				live = append(live, writtenBy(text))
			}
			got := FindDeployer(live, nil, "r", false)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (got.Uncertainty() == "") != got.Known {
				t.Errorf("known %t, and %q", got.Known, got.Uncertainty())
			}
		})
	}
}

// TestFindDeployerOfAnInstall checks that the helm command is the deployer of a release that is being installed, even over objects of an
// application of Argo CD.
func TestFindDeployerOfAnInstall(t *testing.T) {
	for _, live := range [][]map[string]any{nil, {writtenBy("bare argocd-controller Update *")}} {
		if got := FindDeployer(live, nil, "r", true); !cmp.Equal(got, Deployer{Manager: "helm", Known: true}) {
			t.Errorf("%v: %+v", live, got)
		}
	}
}

// writtenBy returns a live object with the writers of a text of TestFindDeployer, or nil for an empty text.
func writtenBy(text string) map[string]any {
	if text == "" {
		return nil
	}
	text, isBare := strings.CutPrefix(text, "bare ")
	annotations := map[string]any{object.ReleaseNameAnnotation: "r"}
	if isBare {
		annotations = nil
	}
	var entries []any
	for line := range strings.SplitSeq(text, ", ") {
		words := append(strings.Fields(line), "0")
		if len(words) < 4 {
			continue
		}
		fields := map[string]any{}
		if words[2] != "annotation" {
			fields["f:data"] = map[string]any{"f:a": map[string]any{}}
		}
		if words[2] == "*" || words[2] == "annotation" {
			fields["f:metadata"] = map[string]any{"f:annotations": map[string]any{"f:" + object.ReleaseNameAnnotation: map[string]any{}}}
		}
		entry := map[string]any{
			"manager": words[0], "operation": words[1], "apiVersion": "v1", "fieldsV1": fields, "time": "2026-11-20T10:0" + words[3] + ":00Z",
		}
		if words[2] == "status" {
			entry["subresource"] = "status"
		}
		entries = append(entries, entry)
	}
	return map[string]any{"metadata": map[string]any{"annotations": annotations, "managedFields": entries}}
}
