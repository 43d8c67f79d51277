package argo

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestForbiddenHook has the annotations of a Job that the project does not permit, how the Application is synced, and whether the sync
// fails.
func TestForbiddenHook(t *testing.T) {
	const synced = "operationState: {phase: Succeeded, syncResult: {revision: " + commitNow + ", source: {repoURL: 'https://192.0.2.1/shop', path: web, targetRevision: main}}}"
	for name, c := range map[string]struct {
		annotations, status string
		fails               bool
	}{
		"before a sync":               {"argocd.argoproj.io/hook: PreSync", "", true},
		"when a sync fails":           {"argocd.argoproj.io/hook: 'PostDelete,SyncFail'", "", true},
		"of Helm":                     {"helm.sh/hook: 'test,post-upgrade'", "", true},
		"of Helm, and of Argo CD":     {"helm.sh/hook: pre-install, argocd.argoproj.io/hook: Sync", "", true},
		"no sync runs it":             {"argocd.argoproj.io/hook: PostDelete", "", false},
		"a test":                      {"helm.sh/hook: test", "", false},
		"a sync of the objects alone": {"argocd.argoproj.io/hook: PreSync", synced, false},
	} {
		r := newRepository(t, map[string]map[string]string{"main": {
			"web/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}",
			"web/b.yaml": "{apiVersion: batch/v1, kind: Job, metadata: {name: web, annotations: {" + c.annotations + "}}}",
		}})
		project := contentOf(t, "{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: default, namespace: argocd}, spec: {sourceRepos: ['*'], "+
			"destinations: [{server: '*', namespace: '*'}], namespaceResourceBlacklist: [{group: batch, kind: Job}]}}")
		from := drift.Connection{Cluster: keptCluster{fakeCluster{objects: map[object.Ref]map[string]any{object.RefOf(project): project}}}}
		app := api.Decoded(contentOf(t, head+"metadata: {name: web, namespace: argocd}, spec: {destination: {namespace: shop, server: 'https://kubernetes.default.svc'}, "+
			"syncPolicy: {automated: {selfHeal: true}}, source: {repoURL: 'https://192.0.2.1/shop', path: web, targetRevision: main}}, status: {"+c.status+"}}"))
		p, err := newPlan(t.Context(), from, r.question(), app)
		if err != nil {
			t.Fatal(err)
		}
		if fails := strings.Contains(p.forbidden, "AppProject default does not permit Job.batch shop/web"); fails != c.fails || !fails && p.forbidden != "" || p.unmade != nil {
			t.Errorf("%s: %q, %v", name, p.forbidden, p.unmade)
		}
		p.Close()
	}
}
