package applied

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestDropped lays trees over a cluster with the Kustomizations root, which makes itself and apps, and apps, which made the HelmRelease web
// and the ConfigMap values.
func TestDropped(t *testing.T) {
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: %s, namespace: shop, labels: " +
		"{kustomize.toolkit.fluxcd.io/name: root, kustomize.toolkit.fluxcd.io/namespace: shop}, annotations: {%s}}, spec: {%s}, " +
		"status: {inventory: {entries: [%s]}}}"
	const inventory = "{id: shop_apps_kustomize.toolkit.fluxcd.io_Kustomization}, {id: shop_web_helm.toolkit.fluxcd.io_HelmRelease}, " +
		"{id: shop_values__ConfigMap}"
	const of = "metadata: {namespace: shop, name: %s, labels: {kustomize.toolkit.fluxcd.io/name: apps, " +
		"kustomize.toolkit.fluxcd.io/namespace: shop}, annotations: {%s}}"
	const prunes = "the tree drops the HelmRelease, and Kustomization shop/apps prunes it"
	const goes = "the tree drops the HelmRelease, and Kustomization shop/apps, which made it, goes"
	for _, tt := range []struct {
		name string
		// live is spec of apps in the cluster, and annotations are those of what it made. An empty spec in the tree means that the tree has no
		// apps. Makes is set if the tree has the HelmRelease and the ConfigMap.
		live, tree, annotations, kept string
		// listed is the inventory of apps, if it has not everything.
		listed  string
		makes   bool
		problem tree.Problem
		// isLeft is set if a limit left something out of what apps makes.
		isLeft bool
		// want is why web goes, and values is set if the ConfigMap is there.
		want   string
		values bool
	}{
		{name: "made", live: "prune: true", tree: "prune: true", makes: true, values: true},
		{name: "pruned", live: "prune: true", tree: "prune: true", want: prunes},
		{name: "pruned from now on", live: "prune: false", tree: "prune: true", want: prunes},
		{name: "left by another Kustomization of this name", live: "prune: true", tree: "prune: true", listed: "{id: shop_db__Secret}", values: true},
		{name: "the Kustomization goes, and it made something else", live: "prune: true", listed: "{id: shop_db__Secret}", values: true},
		{name: "not pruned", live: "prune: true", tree: "prune: false", values: true},
		{name: "kept", live: "prune: true", tree: "prune: true", annotations: "kustomize.toolkit.fluxcd.io/prune: disabled", values: true},
		{name: "kept in other letters", live: "prune: true", tree: "prune: true", annotations: "kustomize.toolkit.fluxcd.io/ssa: ignore",
			values: true},
		{name: "not built", live: "prune: true", tree: "prune: true", values: true,
			problem: tree.Problem{Severity: tree.Failed, Where: "Kustomization shop/apps"}},
		{name: "not built as a whole", live: "prune: true", tree: "prune: true", isLeft: true, values: true},
		{name: "suspended by hand", live: "prune: true, suspend: true", tree: "prune: true", values: true},
		{name: "resumed by the tree", live: "prune: true, suspend: true", tree: "prune: true, suspend: false", want: prunes},
		{name: "the Kustomization goes", live: "prune: true", want: goes},
		{name: "the Kustomization goes and leaves what it made", live: "prune: true, deletionPolicy: Orphan", values: true},
		{name: "the Kustomization goes without prune", live: "prune: false", values: true},
		{name: "the Kustomization goes with a policy", live: "prune: false, deletionPolicy: Delete", want: goes},
		{name: "the Kustomization goes while it is suspended", live: "prune: true, suspend: true", values: true},
		{name: "the Kustomization stays", live: "prune: true", kept: "kustomize.toolkit.fluxcd.io/prune: disabled", values: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2", "kustomize.toolkit.fluxcd.io/v1", "/v1"},
				Objects: map[object.Ref]map[string]any{}}
			answer := tree.Answer{Problems: []tree.Problem{tt.problem}}
			root, apps := tree.Maker{Namespace: "shop", Name: "root"}, tree.Maker{Namespace: "shop", Name: "apps"}
			if tt.isLeft {
				answer.Left = []tree.Maker{apps}
			}
			has := func(by tree.Maker, isLive, isMade bool, format string, args ...any) (object.Ref, map[string]any) {
				ref, content := fluxtest.Decoded(t, format, args...)
				if isLive {
					from.Objects[ref] = content
				}
				if isMade {
					answer.Objects = append(answer.Objects, tree.Object{JSON: fmt.Appendf(nil, format, args...), Maker: by})
					text, err := yaml.YAMLToJSON(answer.Objects[len(answer.Objects)-1].JSON)
					if err != nil {
						t.Fatal(err)
					}
					answer.Objects[len(answer.Objects)-1].JSON = text
				}
				return ref, content
			}
			has(root, true, true, kustomization, "root", "", "prune: true", inventory)
			if tt.listed == "" {
				tt.listed = inventory
			}
			has(root, true, false, kustomization, "apps", tt.kept, tt.live, tt.listed)
			if tt.tree != "" {
				has(root, false, true, kustomization, "apps", "", tt.tree, "")
			}
			_, web := has(apps, true, tt.makes, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, "+of+"}", "web", tt.annotations)
			values, _ := has(apps, true, tt.makes, "{apiVersion: v1, kind: ConfigMap, "+of+"}", "values", tt.annotations)
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
				func(context.Context, Questions) (tree.Answer, error) {
					return answer, nil
				})
			if err != nil {
				t.Fatal(err)
			}
			why := ""
			for _, h := range laid.Dropped(t.Context(), []map[string]any{web}) {
				why = h.Dropped
			}
			if why != tt.want {
				t.Errorf("it goes because of %q, want %q", why, tt.want)
			}
			if found := laid.Over.Read(t.Context(), []object.Ref{values})[values].Object != nil; found != tt.values {
				t.Errorf("the ConfigMap is there: %t; problems: %v", found, laid.Problems())
			}
		})
	}
}

// TestDroppedSets drops ResourceSets of Flux Operator that the Kustomization apps made.
func TestDroppedSets(t *testing.T) {
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps, namespace: shop}, " +
		"spec: {prune: true}, status: {inventory: {entries: [%s]}}}"
	const set = "{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: %s, namespace: shop, annotations: {%s}, " +
		"labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: shop}}, spec: {%s}}"
	inventory, from := "", fluxtest.Served{Versions: []string{"kustomize.toolkit.fluxcd.io/v1", "fluxcd.controlplane.io/v1"},
		Objects: map[object.Ref]map[string]any{}}
	for _, s := range []struct{ name, annotations, spec string }{
		{"made", "", "resourcesTemplate: x"}, {"dropped", "", "resourcesTemplate: x"}, {"namespaces", "", "resources: [{kind: Namespace}]"},
		{"kept", "kustomize.toolkit.fluxcd.io/prune: disabled", "resourcesTemplate: x"},
	} {
		ref, content := fluxtest.Decoded(t, set, s.name, s.annotations, s.spec)
		from.Objects[ref] = content
		inventory += "{id: shop_" + s.name + "_fluxcd.controlplane.io_ResourceSet}, "
	}
	var answer tree.Answer
	ref, apps := fluxtest.Decoded(t, kustomization, inventory+"{id: shop_absent_fluxcd.controlplane.io_ResourceSet}")
	from.Objects[ref] = apps
	for _, content := range []string{fmt.Sprintf(kustomization, ""), fmt.Sprintf(set, "made", "", "")} {
		text, err := yaml.YAMLToJSON([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		answer.Objects = append(answer.Objects, tree.Object{JSON: text})
	}
	laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{}, nil,
		func(context.Context, Questions) (tree.Answer, error) { return answer, nil })
	const want = "[ResourceSet shop/dropped: the tree drops it, and Kustomization shop/apps prunes it: Flux Operator deletes what it made " +
		"of it, maybe HelmReleases or what they use]"
	if said := fmt.Sprint(laid.Problems()); err != nil || said != want || laid.Problems()[0].Severity != tree.Unbuilt {
		t.Errorf("%v %s, want %s", err, said, want)
	}
}

// TestDroppedBelow has a tree whose Kustomization root made apps and makes it no longer. Apps made the ResourceSet tenants and the
// Kustomization team, which made the ResourceSet deep and the HelmRelease web.
func TestDroppedBelow(t *testing.T) {
	const by = "namespace: shop, labels: {kustomize.toolkit.fluxcd.io/namespace: shop, kustomize.toolkit.fluxcd.io/name: %s}"
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: %s, " + by + "}, spec: {%s}, " +
		"status: {inventory: {entries: [%s]}}}"
	const set = "{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: %s, " + by + "}, spec: {resourcesTemplate: x}}"
	const helmRelease = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, " + by + "}}"
	for _, tt := range []struct {
		name, denied, apps, team string
		want                     []string
	}{
		{name: "all of them go", apps: "prune: true", team: "prune: true", want: []string{
			"ResourceSet shop/deep: the tree drops it, and Kustomization shop/team, which made it, goes",
			"ResourceSet shop/tenants: the tree drops it, and Kustomization shop/apps, which made it, goes",
			"web: the tree drops the HelmRelease, and Kustomization shop/team, which made it, goes"}},
		{name: "the inner one leaves what it made", apps: "prune: true", team: "prune: false", want: []string{
			"ResourceSet shop/tenants: the tree drops it, and Kustomization shop/apps, which made it, goes"}},
		{name: "the outer one leaves what it made", apps: "prune: false", team: "prune: true"},
		{name: "the inner one may not be read", denied: "team", apps: "prune: true", want: []string{
			"Kustomization shop/team: whether the tree drops it is not known: forbidden",
			"ResourceSet shop/tenants: the tree drops it, and Kustomization shop/apps, which made it, goes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			versions := []string{"helm.toolkit.fluxcd.io/v2", "kustomize.toolkit.fluxcd.io/v1", "fluxcd.controlplane.io/v1"}
			from := asked{fluxtest.Served{Versions: versions, Objects: map[object.Ref]map[string]any{}}, map[object.Ref]int{}, tt.denied}
			add := func(format string, args ...any) map[string]any {
				ref, content := fluxtest.Decoded(t, format, args...)
				from.Objects[ref] = content
				return content
			}
			add(kustomization, "root", "root", "prune: true", "{id: shop_apps_kustomize.toolkit.fluxcd.io_Kustomization}")
			add(kustomization, "apps", "root", tt.apps, "{id: shop_tenants_fluxcd.controlplane.io_ResourceSet}, "+
				"{id: shop_team_kustomize.toolkit.fluxcd.io_Kustomization}")
			add(kustomization, "team", "apps", tt.team, "{id: shop_deep_fluxcd.controlplane.io_ResourceSet}, "+
				"{id: shop_web_helm.toolkit.fluxcd.io_HelmRelease}, {id: shop_apps_kustomize.toolkit.fluxcd.io_Kustomization}")
			add(set, "tenants", "apps")
			add(set, "deep", "team")
			web := add(helmRelease, "team")
			text, err := yaml.YAMLToJSON(fmt.Appendf(nil, kustomization, "root", "root", "prune: true", ""))
			if err != nil {
				t.Fatal(err)
			}
			answer := tree.Answer{Objects: []tree.Object{{JSON: text, Maker: tree.Maker{Namespace: "shop", Name: "root"}}}}
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
				func(context.Context, Questions) (tree.Answer, error) { return answer, nil })
			if err != nil {
				t.Fatal(err)
			}
			gone := laid.Dropped(t.Context(), []map[string]any{web})
			var got []string
			for _, p := range laid.Problems() {
				said, _, _ := strings.Cut(p.String(), ": Flux Operator deletes what it made of it")
				got = append(got, said)
			}
			for _, h := range gone {
				got = append(got, h.Metadata.Name+": "+h.Dropped)
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// unread is a cluster whose Kustomizations the role may not read.
type unread struct{ fluxtest.Served }

// Read implements drift.Cluster.
func (u unread) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := u.Served.Read(ctx, wanted)
	for _, ref := range wanted {
		if ref.Group == kustomizeGroup {
			out[ref] = cluster.Live{Err: &report.ObjectError{Message: "forbidden"}}
		}
	}
	return out
}

// TestDroppedUnread asks whether a tree drops a HelmRelease whose Kustomization cannot be read. That is not known, and it says so once.
func TestDroppedUnread(t *testing.T) {
	const format = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: %s, namespace: shop, labels: " +
		"{kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: shop}}}"
	laid, err := New(t.Context(), drift.Connection{Cluster: unread{}}, tree.Order{Rendered: true}, nil,
		func(context.Context, Questions) (tree.Answer, error) {
			return tree.Answer{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	_, web := fluxtest.Decoded(t, format, "web")
	_, db := fluxtest.Decoded(t, format, "db")
	gone := laid.Dropped(t.Context(), []map[string]any{web, db})
	const want = "[Kustomization shop/apps: whether the tree drops it is not known: forbidden]"
	if said := fmt.Sprint(laid.Problems()); len(gone) > 0 || said != want {
		t.Errorf("%v; %s, want %s", gone, said, want)
	}
}
