package api

import (
	"context"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestProjectForbids has what a project permits, and why it does not let an Application write a Deployment and a ClusterRole.
func TestProjectForbids(t *testing.T) {
	app := &Application{Metadata: Metadata{Name: "web", Namespace: "argocd"}}
	made := []object.Object{
		{Ref: object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}},
		{Ref: object.Ref{Key: object.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "web"}}},
	}
	const all = "{sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]}"
	for name, c := range map[string]struct{ spec, want string }{
		"everything":                   {"{}", ""},
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
		p := project{}
		for _, text := range []string{all, c.spec} {
			if err := yaml.Unmarshal([]byte("{spec: "+text+"}"), &p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := p.Forbids(app, Settings{}, made); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestProjectRejects has what a project permits, what an Application says, and why Argo CD does not accept it.
func TestProjectRejects(t *testing.T) {
	const open = "{sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}]}"
	for name, c := range map[string]struct{ project, application, want string }{
		"everything":         {"{}", "{}", ""},
		"another repository": {"{sourceRepos: ['https://git.example.com/other/*']}", "{}", "does not permit the repository"},
		"another one, by a Secret": {"{sourceRepos: []}",
			"{status: {sync: {status: Synced, comparedTo: {source: {repoURL: 'https://git.example.com/Team/shop.git'}}}}}", ""},
		"another one, and not compared": {"{sourceRepos: []}",
			"{status: {sync: {status: Unknown, comparedTo: {source: {repoURL: 'https://git.example.com/Team/shop.git'}}}}}", "does not permit the repository"},
		"the repository":                {"{sourceRepos: ['https://git.example.com/team/*']}", "{}", ""},
		"a denied repository":           {"{sourceRepos: ['!https://git.example.com/team/shop']}", "{}", "does not permit the repository"},
		"another one is denied":         {"{sourceRepos: ['!https://git.example.com/team/other']}", "{}", ""},
		"another destination":           {"{destinations: [{server: '*', namespace: other}]}", "{}", `does not permit the destination, namespace "shop"`},
		"another namespace of its own":  {"{}", "{metadata: {namespace: team}}", "sourceNamespaces of AppProject default do not permit Applications in namespace team"},
		"that namespace by a pattern":   {"{sourceNamespaces: [t*]}", "{metadata: {namespace: team}}", ""},
		"by an expression":              {"{sourceNamespaces: ['/^te[a-z]+$/']}", "{metadata: {namespace: team}}", ""},
		"by another expression":         {"{sourceNamespaces: ['/^te$/']}", "{metadata: {namespace: team}}", "sourceNamespaces"},
		"a server and a name":           {"{}", "{spec: {destination: {name: in-cluster}}}", "both a server and a name"},
		"no server":                     {"{}", "{spec: {destination: {server: ''}}}", "has no server"},
		"a chart without a revision":    {"{}", "{spec: {source: {path: '', chart: web}}}", "the chart web needs a targetRevision"},
		"neither a path nor a chart":    {"{}", "{spec: {source: {path: ''}}}", "needs a repoURL, and a path or a chart"},
		"one source that is only a ref": {"{}", "{spec: {source: {path: '', ref: values}}}", "needs a repoURL, and a path or a chart"},
		"such a one beside another":     {"{}", "{spec: {sources: [{repoURL: 'https://git.example.com/a', ref: values}]}}", ""},
	} {
		var p project
		var app Application
		for text, into := range map[string]any{
			"{spec: " + open + "}": &p,
			"{metadata: {name: web, namespace: argocd}, spec: {destination: {server: 'https://kubernetes.default.svc', namespace: shop}, " +
				"source: {repoURL: 'https://git.example.com/Team/shop.git', path: web}}}": &app,
		} {
			if err := yaml.Unmarshal([]byte(text), into); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for text, into := range map[string]any{"{spec: " + c.project + "}": &p, c.application: &app} {
			if err := yaml.Unmarshal([]byte(text), into); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := p.Rejects(&app, Settings{Namespace: "argocd"}); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestProjectVerifies has what a project says about signatures, and whether a sync of a commit, and of a chart, needs them.
func TestProjectVerifies(t *testing.T) {
	for spec, want := range map[string]bool{
		"{}": false, "{signatureKeys: []}": false, "{signatureKeys: [{keyID: a}]}": true, "{sourceIntegrity: {git: {policies: []}}}": true,
	} {
		var p project
		if err := yaml.Unmarshal([]byte("{spec: "+spec+"}"), &p); err != nil {
			t.Fatal(err)
		}
		app := &Application{}
		app.Spec.Source = &Source{Path: "web"}
		if got := p.Verifies(app); got != want {
			t.Errorf("%s: %t", spec, got)
		}
		app.Spec.Source = &Source{Chart: "web"}
		if p.Verifies(app) {
			t.Errorf("%s: a chart needs a signature", spec)
		}
	}
}

// TestSourceNamespaces has where Applications of a project may be, besides the namespace of Argo CD, and whether one in the namespace
// team-a may be synced.
func TestSourceNamespaces(t *testing.T) {
	for patterns, want := range map[string]bool{
		"[]": false, "[team-b]": false, "[team-a]": true, "['team-*']": true, "['/^team-[a-c]$/']": true, "['/^team$/']": false, "['/(/']": false,
	} {
		a := &Application{Metadata: Metadata{Name: "web", Namespace: "team-a"}}
		a.Spec.Source = &Source{RepoURL: "https://git.example.com/team/shop", Path: "web"}
		a.Spec.Destination = Destination{Server: InCluster, Namespace: "shop"}
		projects := inMemory{}
		for namespace, spec := range map[string]string{"team-a": "{}", "argo": "{sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}], sourceNamespaces: " + patterns + "}"} {
			var content map[string]any
			if err := yaml.Unmarshal([]byte("{spec: "+spec+"}"), &content); err != nil {
				t.Fatal(err)
			}
			projects[RefTo("AppProject", namespace, "default")] = content
		}
		p, err := ReadProject(t.Context(), projects, a, Settings{Namespace: "argo"})
		if err != nil {
			t.Fatal(err)
		}
		got := p.Rejects(a, Settings{Namespace: "argo"})
		if (got == "") != want || !want && got != "sourceNamespaces of AppProject default do not permit Applications in namespace team-a" {
			t.Errorf("%s: %q", patterns, got)
		}
	}
}

// TestAccounts has the accounts of a project, and whether Argo CD finds one if it impersonates, always or only if there is one.
func TestAccounts(t *testing.T) {
	app := &Application{Metadata: Metadata{Name: "web", Namespace: "argocd"}}
	app.Spec.Destination = Destination{Server: InCluster, Namespace: "shop"}
	for name, c := range map[string]struct {
		accounts          string
		always, sometimes bool
	}{
		"none":                  {"[]", false, true},
		"of the namespace":      {"[{server: 'https://kubernetes.default.svc', namespace: shop, defaultServiceAccount: deployer}]", true, true},
		"by patterns":           {"[{server: '*', namespace: 's*', defaultServiceAccount: 'other:deployer'}]", true, true},
		"of another namespace":  {"[{server: '*', namespace: other, defaultServiceAccount: deployer}]", false, true},
		"of another cluster":    {"[{server: 'https://192.0.2.1', namespace: '*', defaultServiceAccount: deployer}]", false, true},
		"the first one is none": {"[{server: '*', namespace: '*', defaultServiceAccount: ' '}, {server: '*', namespace: shop, defaultServiceAccount: deployer}]", false, false},
		"no name":               {"[{server: '*', namespace: '*', defaultServiceAccount: 'a/b'}]", false, false},
	} {
		p := project{}
		text := "{spec: {sourceRepos: ['*'], destinationServiceAccounts: " + c.accounts + "}}"
		if err := yaml.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range []struct {
			Settings
			want bool
		}{{Settings{}, true}, {Settings{impersonates: true}, c.sometimes}, {Settings{impersonates: true, impersonatesAlways: true}, c.always}} {
			if got := p.Forbids(app, s.Settings, nil); (got == "") != s.want {
				t.Errorf("%s, %+v: %q, want none: %t", name, s.Settings, got, s.want)
			}
		}
	}
}

// TestGlobalProjects has the global projects of argocd-cm, and what the project of an Application then does not permit.
func TestGlobalProjects(t *testing.T) {
	app := &Application{Metadata: Metadata{Name: "web", Namespace: "argocd"}}
	app.Spec.Source = &Source{RepoURL: "https://git.example.com/shop"}
	made := []object.Object{{Ref: object.Ref{Key: object.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "web"}}}}
	for name, c := range map[string]struct{ globals, want string }{
		"none":                  {"", "does not permit ClusterRole"},
		"for these labels":      {"[{projectName: base, labelSelector: {matchLabels: {team: shop}}}]", ""},
		"for other labels":      {"[{projectName: base, labelSelector: {matchLabels: {team: web}}}]", "does not permit ClusterRole"},
		"itself":                {"[{projectName: default, labelSelector: {}}, {projectName: base, labelSelector: {}}]", ""},
		"after one that is not": {"[{projectName: gone, labelSelector: {}}, {projectName: base, labelSelector: {}}]", "does not permit ClusterRole"},
	} {
		settings, err := ReadSettings(t.Context(), withSettings(map[string]any{"globalProjects": c.globals}), "argocd")
		if err != nil {
			t.Fatal(err)
		}
		from := inMemory{}
		for name, text := range map[string]string{
			"default": "{metadata: {labels: {team: shop}}, spec: {sourceRepos: ['*'], destinations: [{server: '*', namespace: '*'}]}}",
			"base":    "{spec: {clusterResourceWhitelist: [{group: '*', kind: '*'}], namespaceResourceWhitelist: [{group: '', kind: ConfigMap}]}}",
		} {
			var content map[string]any
			if err := yaml.Unmarshal([]byte(text), &content); err != nil {
				t.Fatal(err)
			}
			from[RefTo("AppProject", "argocd", name)] = content
		}
		p, err := ReadProject(t.Context(), from, app, settings)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Forbids(app, Settings{}, made); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if isGlobal := p.Spec.NamespaceWhitelist != nil; isGlobal != (c.want == "") {
			t.Errorf("%s: the kinds of namespaces are %v", name, p.Spec.NamespaceWhitelist)
		}
	}
}

// inMemory is a cluster with some objects.
type inMemory map[object.Ref]map[string]any

// Read implements deployer.Reader.
func (c inMemory) Read(_ context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := map[object.Ref]cluster.Live{}
	for _, ref := range wanted {
		out[ref] = cluster.Live{Object: c[ref]}
	}
	return out
}
