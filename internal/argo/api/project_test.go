package api

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestProjectForbids has what a project permits, and why it does not let an Application write a Deployment and a ClusterRole.
func TestProjectForbids(t *testing.T) {
	app := &Application{Metadata: Metadata{Name: "web", Namespace: "argocd"}}
	app.Spec.Source = &Source{RepoURL: "https://git.example.com/Team/shop.git"}
	made := []object.Object{
		{Ref: object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}},
		{Ref: object.Ref{Key: object.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "web"}}},
	}
	const all = "{sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]}"
	for name, c := range map[string]struct{ spec, want string }{
		"everything":                   {"{}", ""},
		"another repository":           {"{sourceRepos: ['https://git.example.com/other/*']}", "does not permit the repository"},
		"the repository":               {"{sourceRepos: ['https://git.example.com/team/*']}", ""},
		"a denied repository":          {"{sourceRepos: ['!https://git.example.com/team/shop']}", "does not permit the repository"},
		"another one is denied":        {"{sourceRepos: ['!https://git.example.com/team/other']}", ""},
		"no cluster-scoped object":     {"{clusterResourceWhitelist: null}", "does not permit ClusterRole.rbac.authorization.k8s.io web"},
		"one cluster-scoped kind":      {"{clusterResourceWhitelist: [{group: rbac.*, kind: ClusterRole}]}", ""},
		"one cluster-scoped object":    {"{clusterResourceWhitelist: [{group: '*', kind: '*', name: api}]}", "does not permit ClusterRole"},
		"a denied kind":                {"{clusterResourceBlacklist: [{group: '*', kind: ClusterRole}]}", "does not permit ClusterRole"},
		"a denied kind of a namespace": {"{namespaceResourceBlacklist: [{group: apps, kind: Deployment}]}", "does not permit Deployment"},
		"no kind of a namespace":       {"{namespaceResourceWhitelist: []}", "does not permit Deployment"},
		"one kind of a namespace":      {"{namespaceResourceWhitelist: [{group: apps, kind: '*'}]}", ""},
		"another namespace":            {"{destinations: [{server: 'https://kubernetes.default.svc', namespace: other}]}", "objects in namespace shop"},
		"the namespace by a pattern":   {"{destinations: [{name: in-cluster, namespace: 'sh*'}]}", ""},
		"a denied namespace":           {"{destinations: [{server: '*', namespace: '!shop'}, {server: '*', namespace: '*'}]}", "objects in namespace shop"},
		"another namespace is denied":  {"{destinations: [{server: '*', namespace: '!other'}]}", ""},
		"another cluster is permitted": {"{destinations: [{server: 'https://192.0.2.1', namespace: '*'}]}", "objects in namespace shop"},
	} {
		var p project
		for _, text := range []string{all, c.spec} {
			if err := yaml.Unmarshal([]byte("{spec: "+text+"}"), &p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := p.Forbids(app, made); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
