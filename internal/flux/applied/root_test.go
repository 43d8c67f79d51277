package applied

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// asked is a cluster that counts how often each object is read, and denies one.
type asked struct {
	fluxtest.Served
	times  map[object.Ref]int
	denied string
}

// Read implements drift.Cluster.
func (a asked) Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live {
	out := a.Served.Read(ctx, wanted)
	for ref := range out {
		if a.times[ref]++; ref.Name == a.denied {
			out[ref] = cluster.Live{Err: &report.ObjectError{Message: "forbidden"}}
		}
	}
	return out
}

// TestRootOfTheCluster builds the folder apps/prod, which no file of it has the Kustomization for. The cluster has web and old, which the
// Kustomization apps made, and Flux Operator made apps.
func TestRootOfTheCluster(t *testing.T) {
	const git = "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: git, namespace: shop}, spec: {url: %s}}"
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: %s, namespace: shop, " +
		"labels: {%s}}, spec: {sourceRef: {kind: GitRepository, name: git}, %s}, status: {inventory: {entries: [%s]}}}"
	const helmRelease = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: %s, namespace: shop, labels: {%s}}, " +
		"spec: {values: {%s}}}"
	const by = "kustomize.toolkit.fluxcd.io/namespace: shop, kustomize.toolkit.fluxcd.io/name: "
	const inventory = "{id: shop_web_helm.toolkit.fluxcd.io_HelmRelease}, {id: shop_old_helm.toolkit.fluxcd.io_HelmRelease}, " +
		"{id: shop_team_kustomize.toolkit.fluxcd.io_Kustomization}"
	const prunes = "path: ./apps/prod, prune: true"
	const goes = ": the tree drops the HelmRelease, and Kustomization shop/"
	const made = "Kustomization shop/apps: it made HelmRelease shop/web, and "
	const patch = `{patch: "- {op: add, path: /spec/values/a, value: b}", target: {kind: HelmRelease}}`
	file := func(name, values string) string { return fmt.Sprintf(helmRelease, name, "", values) }
	for _, tt := range []struct {
		name string
		// spec is that of apps in the cluster, if it is there, and denied is an object that may not be read. URL is the address of its source.
		spec, denied, url string
		// labels are those of web and old in the cluster, and file is the text of the only file, unless it has web.
		labels, file string
		// want has what goes and why, the values of web, and the failures.
		want []string
	}{
		{name: "it prunes", spec: prunes, want: []string{"old" + goes + "apps prunes it"}},
		{name: "it does not prune", spec: "path: ./apps/prod"},
		{name: "it patches", spec: "path: ./apps/prod, patches: [" + patch + "]", want: []string{"web: map[a:b]"}},
		{name: "it has variables", spec: "path: ./apps/prod, postBuild: {substitute: {size: large}}", file: file("web", "size: '${size}'"),
			want: []string{"web: map[size:large]"}},
		{name: "what the folder makes is new", spec: prunes, file: file("new", ""),
			want: []string{"old" + goes + "apps prunes it", "web" + goes + "apps prunes it"}},
		{name: "the folder makes nothing", spec: prunes, file: "# nothing",
			want: []string{"old" + goes + "apps prunes it", "web" + goes + "apps prunes it"}},
		{name: "a Kustomization of the folder goes", spec: prunes, file: file("new", ""), labels: by + "team",
			want: []string{"old" + goes + "team, which made it, goes", "web" + goes + "team, which made it, goes"}},
		{name: "it builds another folder", spec: "path: ./apps, prune: true",
			want: []string{made + "it builds the folder apps of its source; name that folder, or the folder that has this Kustomization"}},
		{name: "its source is another repository", spec: prunes, url: "https://example.com/other",
			want: []string{made + "its source GitRepository shop/git is another repository; " +
				"--local-source GitRepository/shop/git=FOLDER says where its content is"}},
		{name: "it may not be read", spec: prunes, denied: "apps",
			want: []string{made + "whether it builds this folder is not known, nor what it changes and prunes: forbidden",
				"Kustomization shop/apps: whether the tree drops it is not known: forbidden"}},
		{name: "its source is another repository, and what the folder makes is new", spec: prunes, url: "https://example.com/other",
			file: file("new", "")},
		{name: "its source may not be read, and what the folder makes is new", spec: prunes, denied: "git", file: file("new", ""),
			want: []string{"Kustomization shop/apps: its source GitRepository shop/git is not known: forbidden; " +
				"--local-source GitRepository/shop/git=FOLDER says where its content is"}},
		{name: "it may not be read, and a Kustomization of the folder goes", spec: prunes, denied: "apps", file: file("new", ""),
			labels: by + "team",
			want:   []string{"Kustomization shop/apps: whether it builds this folder is not known, nor what it changes and prunes: forbidden"}},
		{name: "it is suspended", spec: prunes + ", suspend: true"},
		{name: "it is not there"},
		{name: "nobody made them", spec: prunes, labels: "team: shop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			versions := []string{"helm.toolkit.fluxcd.io/v2", "kustomize.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"}
			from := asked{fluxtest.Served{Versions: versions, Objects: map[object.Ref]map[string]any{}}, map[object.Ref]int{}, tt.denied}
			add := func(format string, args ...any) (object.Ref, map[string]any) {
				ref, content := fluxtest.Decoded(t, format, args...)
				from.Objects[ref] = content
				return ref, content
			}
			if tt.labels == "" {
				tt.labels = by + "apps"
			}
			if tt.url == "" {
				tt.url = "https://example.com/fleet"
			}
			add(git, tt.url)
			if tt.spec != "" {
				add(kustomization, "apps", "", tt.spec, inventory)
			}
			add(kustomization, "team", by+"apps", "path: ./team, prune: true", inventory)
			web, webNow := add(helmRelease, "web", tt.labels, "")
			old, oldNow := add(helmRelease, "old", tt.labels, "")
			if tt.file == "" {
				tt.file = file("web", "")
			}
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "apps", "prod"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "apps", "prod", "web.yaml"), []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			order := tree.Order{Dir: filepath.Join(root, "apps", "prod"), Root: root, Remotes: []string{"git@example.com:fleet"}}
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, order, []object.Ref{web, old},
				func(ctx context.Context, ask Questions) (tree.Answer, error) { return Build(ctx, order, ask) })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range laid.Dropped(t.Context(), []map[string]any{oldNow, webNow}) {
				got = append(got, h.Metadata.Name+": "+h.Dropped)
			}
			if values := object.Child(object.Child(laid.Over.Made(web), "spec"), "values"); len(values) > 0 {
				got = append(got, fmt.Sprintf("web: %v", values))
			}
			for _, p := range laid.Problems() {
				if p.Severity == tree.Failed {
					got = append(got, p.String())
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("%s\nwant\n%s\nproblems: %v", strings.Join(got, "\n"), strings.Join(tt.want, "\n"), laid.Problems())
			}
			for ref, n := range from.times {
				if n > 1 && ref.Kind != "GitRepository" {
					t.Errorf("%v is read %d times", ref, n)
				}
			}
		})
	}
}

// TestRootBesideUnread builds the folder apps/prod. The Kustomizations apps and other have made objects of it. The role may not read
// other, or it builds another folder: what it changes is not known, although apps is a root.
func TestRootBesideUnread(t *testing.T) {
	const git = "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: git, namespace: shop}, " +
		"spec: {url: 'https://example.com/fleet'}}"
	const kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: %s, namespace: shop, " +
		"labels: {%s}}, spec: {sourceRef: {kind: GitRepository, name: git}, path: %s}}"
	const helmRelease = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: shop, labels: {%s}}\n"
	const by = "kustomize.toolkit.fluxcd.io/namespace: shop, kustomize.toolkit.fluxcd.io/name: "
	for _, tt := range []struct{ name, path, denied, madeByOther, want string }{
		{"it may not be read", "./apps/prod", "other", "db", "[Kustomization shop/other: it made HelmRelease shop/db, and whether it builds " +
			"this folder is not known, nor what it changes and prunes: forbidden]"},
		{"it builds another folder", "./other", "", "db", "[Kustomization shop/other: it made HelmRelease shop/db, and it builds the folder " +
			"other of its source; name that folder, or the folder that has this Kustomization]"},
		{"it made only the root, and may not be read", "./other", "other", "", "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			versions := []string{"helm.toolkit.fluxcd.io/v2", "kustomize.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"}
			from := asked{fluxtest.Served{Versions: versions, Objects: map[object.Ref]map[string]any{}}, map[object.Ref]int{}, tt.denied}
			add := func(format string, args ...any) {
				ref, content := fluxtest.Decoded(t, format, args...)
				from.Objects[ref] = content
			}
			add(git)
			add(kustomization, "apps", by+"other", "./apps/prod")
			add(kustomization, "other", "", tt.path)
			files := ""
			for name, maker := range map[string]string{"web": "apps", tt.madeByOther: "other"} {
				if name != "" {
					files += "---\n" + fmt.Sprintf(helmRelease, name, "")
					add(helmRelease, name, by+maker)
				}
			}
			root := t.TempDir()
			dir := filepath.Join(root, "apps", "prod")
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(files), 0o600)); err != nil {
				t.Fatal(err)
			}
			order := tree.Order{Dir: dir, Root: root, Remotes: []string{"git@example.com:fleet"}}
			laid, err := New(t.Context(), drift.Connection{Cluster: from}, order, nil,
				func(ctx context.Context, ask Questions) (tree.Answer, error) { return Build(ctx, order, ask) })
			if err != nil {
				t.Fatal(err)
			}
			if said := fmt.Sprint(laid.Problems()); said != tt.want || len(laid.answer.Roots) != 1 {
				t.Errorf("%s, want %s; roots %v", said, tt.want, laid.answer.Roots)
			}
		})
	}
}
