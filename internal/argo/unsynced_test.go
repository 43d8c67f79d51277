package argo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestUnsynced has a folder with more than a sync writes, and objects of the cluster: what the sources make, what counts as deployed, and
// what is said. The Application is in another namespace than Argo CD.
func TestUnsynced(t *testing.T) {
	const namespaced = "metadata: {name: %s, namespace: shop%s}"
	objectText := func(kind, name, annotations string) string {
		if annotations != "" {
			annotations = ", annotations: {" + annotations + "}"
		}
		return "{apiVersion: v1, kind: " + kind + ", " + fmt.Sprintf(namespaced, name, annotations) + "}"
	}
	files := map[string]string{
		"web/.argocd-source-team_web.yaml": "directory: {recurse: true, exclude: none.yaml}\n", "web/.argocd-source-web.yaml": "directory: {exclude: '*'}\n",
		"web/a.yaml": "---\n" + objectText("ConfigMap", "web", "") + "\n---\n" + objectText("Endpoints", "web", ""), "web/none.yaml": objectText("ConfigMap", "none", ""),
		"web/sub/b.yaml":  objectText("ConfigMap", "skipped", "argocd.argoproj.io/hook: Skip"),
		"web/values.yaml": "image: {tag: a, kind: b}\n", "web/broken.yaml": "a: [\n",
	}
	live := []string{
		objectText("ConfigMap", "web", "argocd.argoproj.io/tracking-id: 'team_web:/ConfigMap:shop/web'"),
		objectText("ConfigMap", "skipped", "argocd.argoproj.io/tracking-id: 'team_web:/ConfigMap:shop/skipped'"),
		objectText("ConfigMap", "old", "argocd.argoproj.io/tracking-id: 'team_web:/ConfigMap:shop/old'"),
		objectText("ConfigMap", "copied", "argocd.argoproj.io/tracking-id: 'team_web:/ConfigMap:elsewhere/copied'"),
		objectText("ConfigMap", "renamed", "argocd.argoproj.io/tracking-id: 'team_web:/ConfigMap:shop/old'"),
		objectText("Secret", "web", "argocd.argoproj.io/tracking-id: 'team_web:/ConfigMap:shop/web'"),
		objectText("ConfigMap", "unmarked", ""),
	}
	const all = "ConfigMap shop/copied, ConfigMap shop/old, ConfigMap shop/renamed, "
	for name, c := range map[string]struct{ tracking, goes, want string }{
		"annotation": {"annotation", "", "ConfigMap shop/old, ConfigMap shop/unmarked, ConfigMap shop/web"},
		"it goes":    {"annotation", ", deletionTimestamp: now", all + "ConfigMap shop/skipped, ConfigMap shop/unmarked, ConfigMap shop/web, Secret shop/web"},
		"label":      {"label", "", all + "ConfigMap shop/unmarked, ConfigMap shop/web, Secret shop/web"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, map[string]map[string]string{"main": files})
			from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{
				{Key: object.Key{Kind: "ConfigMap", Namespace: "argocd", Name: "argocd-cm"}, Version: "v1"}: {"data": map[string]any{
					"resource.exclusions": "[{kinds: [Endpoints]}]", "application.resourceTrackingMethod": c.tracking,
				}},
			}}}}
			var resources []string
			for _, text := range live {
				content := contentOf(t, text)
				ref := object.RefOf(content)
				from.Cluster.(keptCluster).objects[ref] = content
				resources = append(resources, fmt.Sprintf("{version: v1, kind: %s, namespace: shop, name: %s, status: Synced}", ref.Kind, ref.Name))
			}
			app := api.Decoded(contentOf(t, head+"metadata: {name: web, namespace: team"+c.goes+"}, spec: {destination: {namespace: shop}, "+
				"source: {repoURL: 'https://192.0.2.1/shop', path: web, targetRevision: main}}, status: {resources: ["+strings.Join(resources, ", ")+"]}}"))
			p, err := newPlan(t.Context(), from, r.question(), app)
			if err != nil || p.unmade != nil {
				t.Fatal(err, p.unmade)
			}
			defer p.Close()
			var made []string
			for _, o := range p.made.objects {
				made = append(made, o.Key.String()+" of "+o.Source)
			}
			if got := strings.Join(made, ", "); got != "ConfigMap shop/web of a.yaml" && c.goes == "" {
				t.Errorf("the sources make %s", got)
			}
			var old []string
			for key := range p.deployed.from {
				old = append(old, key.String())
			}
			slices.Sort(old)
			if got := strings.Join(old, ", "); got != c.want {
				t.Errorf("deployed are %s, want %s", got, c.want)
			}
			if got := fmt.Sprint(p.warnings); c.goes == "" && !strings.Contains(got, "Endpoints shop/web is not synced") || strings.Contains(got, "skipped") {
				t.Error(got)
			}
		})
	}
}

// TestShared has the mark of a live object, and whether a sync with FailOnSharedResource=true fails.
func TestShared(t *testing.T) {
	for name, c := range map[string]struct {
		tracking, metadata, installation string
		fails                            bool
	}{
		"its own":              {"annotation", "annotations: {argocd.argoproj.io/tracking-id: 'web:/ConfigMap:shop/web'}", "", false},
		"of another":           {"annotation", "annotations: {argocd.argoproj.io/tracking-id: 'api:/ConfigMap:shop/web'}", "", true},
		"of none":              {"annotation", "labels: {app.kubernetes.io/instance: api}", "", false},
		"of another, by label": {"label", "labels: {app.kubernetes.io/instance: api}", "", true},
		"of another Argo CD":   {"annotation", "annotations: {argocd.argoproj.io/tracking-id: 'api:/ConfigMap:shop/web'}", "one", false},
		"of the same Argo CD": {"annotation",
			"annotations: {argocd.argoproj.io/tracking-id: 'api:/ConfigMap:shop/web', argocd.argoproj.io/installation-id: one}", "one", true},
	} {
		p := planOf(t, "[]", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop, "+c.metadata+"}}")
		p.settings = api.Settings{Namespace: "argocd", Tracking: c.tracking, Label: "app.kubernetes.io/instance", Installation: c.installation}
		if got := p.shared(t.Context()); (got != "") != c.fails {
			t.Errorf("%s: %q", name, got)
		}
	}
}
