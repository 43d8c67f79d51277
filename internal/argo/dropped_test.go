package argo

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestDropped has a cluster, a tree, and which Applications Argo CD then deletes. The tree has Application root, whose folder is children.
func TestDropped(t *testing.T) {
	const (
		resources  = "resources: [{group: argoproj.io, version: v1alpha1, kind: Application, namespace: argocd, name: web}]"
		root       = head + "metadata: {name: root, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}, spec: {}, status: {" + resources + "}}"
		web        = head + "metadata: {name: web, namespace: argocd}, spec: {}}"
		auto       = "  syncPolicy: {automated: {prune: true}}\n"
		ofSet      = head + "metadata: {name: a-web, namespace: argocd, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: a, controller: true}]}}"
		setHead    = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a, namespace: argocd}\n"
		template   = "template: {metadata: {name: 'a-{{x}}'}, spec: {destination: {name: in-cluster}}}"
		background = "  syncPolicy: {automated: {prune: true}, syncOptions: [PrunePropagationPolicy=background]}\n"
		parameters = "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cmd-params-cm, namespace: argocd}, data: {applicationsetcontroller.policy: create-only}}"
		liveSet    = "{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: a, namespace: argocd}, spec: {syncPolicy: {applicationsSync: "
	)
	// by is an Application that the tree does not make.
	by := strings.NewReplacer("name: root", "name: by", "spec: {}", "spec: {syncPolicy: {automated: {prune: true}}, source: {repoURL: 'https://git.example.com/shop', path: children}}").Replace(root)
	elsewhere := strings.NewReplacer("name: web, namespace: argocd", "name: web, namespace: team", "namespace: argocd, name: web", "namespace: team, name: web")
	rootOfSet := strings.Replace(root, "kind: Application, namespace: argocd, name: web", "kind: ApplicationSet, namespace: argocd, name: a", 1)
	for name, c := range map[string]struct {
		root     string
		children string
		live     []string
		want     []string
	}{
		"root prunes it":                   {root: auto, live: []string{root, web}, want: []string{"web: Application argocd/root prunes it"}},
		"root makes it":                    {root: auto, children: appOf("web", "x", ""), live: []string{root, web}},
		"root does not prune":              {root: "  syncPolicy: {automated: {}}\n", live: []string{root, web}},
		"root is synced by hand":           {live: []string{root, web}},
		"root never made it":               {root: auto, live: []string{strings.Replace(root, "name: web}", "name: other}", 1), web}},
		"it is kept":                       {root: auto, live: []string{root, strings.Replace(web, "name: web", "name: web, annotations: {argocd.argoproj.io/sync-options: Prune=false}", 1)}},
		"a source is elsewhere":            {root: "  sources: [{repoURL: 'https://git.example.com/shop', path: children}, {repoURL: 'https://other.example.com', path: x}]\n" + auto, live: []string{root, web}},
		"what makes them goes":             {root: auto, live: []string{root, strings.Replace(strings.Replace(root, "name: web}", "name: leaf}", 1), "name: root", "name: web", 1), strings.Replace(web, "name: web", "name: leaf", 1)}, want: []string{"web: Application argocd/root prunes it", "leaf: Application argocd/web, which made it, goes"}},
		"what makes them lets go":          {root: auto, live: []string{root, strings.Replace(web, "spec: {}", "spec: {}, status: {"+strings.Replace(resources, "web", "leaf", 1)+"}", 1), strings.Replace(web, "name: web", "name: leaf", 1)}, want: []string{"web: Application argocd/root prunes it"}},
		"a set makes others":               {children: setHead + "spec: {generators: [{list: {elements: [{x: b}]}}], " + template + "}\n", live: []string{ofSet}, want: []string{"a-web: ApplicationSet argocd/a deletes it"}},
		"a set makes it":                   {children: setHead + "spec: {generators: [{list: {elements: [{x: web}]}}], " + template + "}\n", live: []string{ofSet}},
		"a set makes it wrongly":           {children: setHead + "spec: {generators: [{list: {elements: [{x: web}, {x: web}]}}], " + template + "}\n", live: []string{ofSet}},
		"a set keeps it":                   {children: setHead + "spec: {syncPolicy: {applicationsSync: create-update}, generators: [{list: {elements: [{x: b}]}}], " + template + "}\n", live: []string{ofSet}, want: []string{"a-web stays: ApplicationSet argocd/a deletes none (applicationsSync: create-update)"}},
		"a set may delete, but not update": {children: setHead + "spec: {syncPolicy: {applicationsSync: create-delete}, generators: [{list: {elements: [{x: b}]}}], " + template + "}\n", live: []string{ofSet}, want: []string{"a-web: ApplicationSet argocd/a deletes it"}},
		"the controller keeps it":          {children: setHead + "spec: {syncPolicy: {applicationsSync: sync}, generators: [{list: {elements: [{x: b}]}}], " + template + "}\n", live: []string{ofSet, parameters}, want: []string{"a-web stays: ApplicationSet argocd/a deletes none (the policy create-only of its controller)"}},
		"a set that fails":                 {children: setHead + "spec: {generators: [{list: {elements: [{x: 1}]}}], " + template + "}\n", live: []string{ofSet}},
		"a set that asks":                  {children: setHead + "spec: {generators: [{clusters: {}}], " + template + "}\n", live: []string{ofSet}},
		"the set goes":                     {root: auto, live: []string{rootOfSet, ofSet, liveSet + "sync}}}"}, want: []string{"a-web: so does it drop ApplicationSet argocd/a, which made it: Application argocd/root prunes it"}},
		"the set goes and would keep":      {root: auto, live: []string{rootOfSet, ofSet, liveSet + "create-only}}}"}, want: []string{"a-web: so does it drop ApplicationSet argocd/a, which made it: Application argocd/root prunes it; applicationsSync: create-only does not keep it for certain, since the ApplicationSet is deleted in the foreground"}},
		"the set goes in the background":   {root: background, live: []string{rootOfSet, ofSet, liveSet + "create-only}}}"}, want: []string{"a-web: so does it drop ApplicationSet argocd/a, which made it: Application argocd/root prunes it; applicationsSync: create-only does not keep it, since the ApplicationSet lacks the finalizer resources-finalizer.argocd.argoproj.io"}},
		"the set goes and lets go":         {root: background, live: []string{rootOfSet, ofSet, strings.Replace(liveSet, "name: a", "name: a, finalizers: [resources-finalizer.argocd.argoproj.io]", 1) + "create-only}}}"}, want: []string{"a-web stays: ApplicationSet argocd/a, which goes, lets go of it (applicationsSync: create-only)"}},
		"the set goes and leaves orphans":  {root: strings.Replace(background, "background", "orphan", 1), live: []string{rootOfSet, ofSet, liveSet + "sync}}}"}, want: []string{"a-web stays: ApplicationSet argocd/a is deleted with PrunePropagationPolicy=orphan"}},
		"the set stays":                    {live: []string{rootOfSet, ofSet, liveSet + "sync}}}"}},
		"by hand":                          {root: auto, live: []string{web}},
		"one of the cluster prunes it":     {live: []string{by, web}, want: []string{"web: Application argocd/by prunes it"}},
		"one of the cluster prunes it in another namespace": {
			live: []string{elsewhere.Replace(by), elsewhere.Replace(web)}, want: []string{"web: Application argocd/by prunes it"},
		},
		"what makes them goes, in another namespace": {
			root: auto, live: []string{root, strings.Replace(elsewhere.Replace(root), "name: root", "name: web", 1), elsewhere.Replace(web)},
			want: []string{"web: Application argocd/root prunes it", "web: Application argocd/web, which made it, goes"},
		},
		"one of the cluster makes it":        {children: strings.Replace(appOf("web", "x", ""), "{name: web", "{namespace: argocd, name: web", 1), live: []string{by, web}},
		"one of the cluster is of elsewhere": {live: []string{strings.Replace(by, "path: children", "chart: children", 1), web}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"roots/x.yaml": appOf("root", "children", "") + c.root, "children/x.yaml": c.children}
			var live []map[string]any
			for _, text := range c.live {
				live = append(live, readYAML(t, text))
			}
			q := Question{ReadManifest: func(_ context.Context, r *release.Record) ([]render.Document, error) {
				return render.ReadDocuments(r.Manifest), nil
			}}
			var got []string
			gone, err := treeOf(t, files, nil, live...).dropped(t.Context(), drift.Connection{Cluster: clusterOf(live)}, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range gone {
				if got = append(got, a.Metadata.Name+": "+strings.TrimPrefix(a.Dropped, "the tree drops the Application, and ")); a.Kept != "" {
					got[len(got)-1] = a.Metadata.Name + " stays: " + strings.TrimPrefix(a.Kept, "the tree drops the Application, but it stays: ")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
