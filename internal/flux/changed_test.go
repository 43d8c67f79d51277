package flux

import (
	"archive/tar"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/files/filestest"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestEarlier checks that the files of a commit are below a folder of their own, without links, and that the folder goes at the end.
func TestEarlier(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "clusters", "prod"), 0o700); err != nil {
		t.Fatal(err)
	}
	order := tree.Order{Root: root, Dir: filepath.Join(root, "clusters", "prod"), Sources: []tree.LocalSource{
		{Kind: "GitRepository", Namespace: "shop", Name: "apps", Dir: filepath.Join(root, "clusters")},
	}}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		order.Root = real
	}
	before, done, err := earlier(order, filestest.Tar(t,
		tar.Header{Name: "apps/web.yaml", Typeflag: tar.TypeReg},
		tar.Header{Name: "apps/link.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
	))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(before.Root, "apps", "web.yaml")); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(before.Root, "apps", "link.yaml")); !os.IsNotExist(err) {
		t.Errorf("the link: %v", err)
	}
	if inside, err := filepath.Rel(before.Root, before.Dir); err != nil || filepath.ToSlash(inside) != "clusters/prod" {
		t.Errorf("the folder of the user is %s, %v", inside, err)
	}
	if info, err := os.Stat(before.Dir); err != nil || !info.IsDir() {
		t.Errorf("a folder that the change adds: %v", err)
	}
	if inside, err := filepath.Rel(before.Root, before.Sources[0].Dir); err != nil || inside != "clusters" {
		t.Errorf("the folder of the source is %s, %v", inside, err)
	}
	if now := order.Sources[0].Dir; now != filepath.Join(root, "clusters") {
		t.Errorf("the folder of the source has moved to %s", now)
	}
	done()
	if _, err := os.Stat(before.Root); !os.IsNotExist(err) {
		t.Errorf("the files are still there: %v", err)
	}
}

// TestEarlierOutside checks that a source whose files the commit does not have is refused.
func TestEarlierOutside(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	source := tree.LocalSource{Kind: "GitRepository", Namespace: "shop", Name: "apps", Dir: elsewhere}
	order := tree.Order{Root: root, Dir: root, Sources: []tree.LocalSource{source}}
	_, done, err := earlier(order, filestest.Tar(t))
	done()
	want := "--local-source GitRepository/shop/apps: " + elsewhere + " is outside of the working tree " + root
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestChangedUnbuilt drops the HelmRelease old and makes web as before. What its Kustomization made before the change is not always known,
// and then nothing is left out because of that.
func TestChangedUnbuilt(t *testing.T) {
	const kustomization = `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization",` +
		`"metadata":{"name":"apps","namespace":"shop"},"spec":{"prune":true},` +
		`"status":{"inventory":{"entries":[{"id":"shop_old_helm.toolkit.fluxcd.io_HelmRelease"}]}}}`
	const release = `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":"%s","namespace":"shop","labels":` +
		`{"kustomize.toolkit.fluxcd.io/name":"apps","kustomize.toolkit.fluxcd.io/namespace":"shop"}},` +
		`"spec":{"chartRef":{"kind":"OCIRepository","name":"web"}}}`
	const charts = `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"OCIRepository","metadata":{"name":"web","namespace":"shop"},"spec":{}}`
	web, old := fmt.Sprintf(release, "web"), fmt.Sprintf(release, "old")
	for _, tt := range []struct {
		name   string
		before []string
		fault  tree.Severity
		want   string
	}{
		{"both are as before", []string{kustomization, web, charts}, tree.Note, ""},
		{"old was made", []string{kustomization, web, charts, old}, tree.Note, "old"},
		{"nothing was built", []string{kustomization}, tree.Failed, "old web"},
		{"nothing was looked at", []string{kustomization}, tree.Skipped, "old web"},
		{"the source was not made", []string{kustomization, web}, tree.Note, "web"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := fluxtest.Served{Objects: map[object.Ref]map[string]any{}, Versions: []string{"helm.toolkit.fluxcd.io/v2",
				"kustomize.toolkit.fluxcd.io/v1", "source.toolkit.fluxcd.io/v1"}}
			var items []map[string]any
			for _, text := range []string{kustomization, charts, web, old} {
				ref, content := fluxtest.Decoded(t, "%s", text)
				from.Objects[ref] = content
				if ref.GVK() == api.Kind() {
					items = append(items, content)
				}
			}
			problem := tree.Problem{Severity: tt.fault, Where: "Kustomization shop/apps"}
			f := Fleet{before: laidOver(t, from, problem, tt.before...)}
			f.Tree = laidOver(t, from, tree.Problem{}, kustomization, web, charts)
			f.On.Cluster = from
			f.On.List = func(_ context.Context, kind schema.GroupVersionKind, _ string) ([]map[string]any, error) {
				if kind == api.Kind() {
					return items, nil
				}
				return nil, nil
			}
			found, err := f.list(t.Context(), f.Tree.Over)
			var got []string
			for _, h := range found {
				got = append(got, h.Metadata.Name)
			}
			if said := strings.Join(got, " "); err != nil || said != tt.want {
				t.Errorf("%q is compared, want %q; %v", said, tt.want, err)
			}
		})
	}
}

// TestIsTouched has a HelmRelease with what its release is made of, and says of each change whether it touches the HelmRelease.
func TestIsTouched(t *testing.T) {
	const shop = `"metadata":{"name":"web","namespace":"shop"}`
	ofKind := func(group, kind, rest string) string {
		return `{"apiVersion":"` + group + `","kind":"` + kind + `",` + shop + `,` + rest + `}`
	}
	const helm, source = "helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"
	release := func(spec string) string { return ofKind(helm, "HelmRelease", `"spec":`+spec) }
	oci := func(tag string) string {
		return ofKind(source, "OCIRepository", `"spec":{"url":"oci://registry.example.com/web","ref":{"tag":"`+tag+`"}}`)
	}
	chart := func(version string) string {
		return ofKind(source, "HelmChart", `"spec":{"chart":"web","version":"`+version+`","sourceRef":{"kind":"HelmRepository","name":"web"}}`)
	}
	repository := func(url string) string {
		return ofKind(source, "HelmRepository", `"spec":{"url":"`+url+`"}`)
	}
	secret := func(field, value string) string {
		return ofKind("v1", "Secret", `"`+field+`":{"values.yaml":"`+value+`"}`)
	}
	ofOCI := release(`{"chartRef":{"kind":"OCIRepository","name":"web"}}`)
	ofChart := release(`{"chartRef":{"kind":"HelmChart","name":"web"}}`)
	ofRepository := release(`{"chart":{"spec":{"chart":"web","sourceRef":{"kind":"HelmRepository","name":"web"}}}}`)
	ofGit := release(`{"chart":{"spec":{"chart":"web","sourceRef":{"kind":"GitRepository","name":"web"}}}}`)
	git := func(ref string) string {
		return ofKind(source, "GitRepository", `"spec":{"url":"https://git.example.com/shop/web","ref":{`+ref+`}}`)
	}
	annotated := func(annotations string) string {
		return `{"apiVersion":"` + helm + `","kind":"HelmRelease","metadata":{"name":"web","namespace":"shop","annotations":` + annotations +
			`},"spec":{"chartRef":{"kind":"OCIRepository","name":"web"}}}`
	}
	const before, now = `"reconcile.fluxcd.io/requestedAt":"1"`, `"reconcile.fluxcd.io/requestedAt":"2"`
	withSecret := release(`{"chartRef":{"kind":"OCIRepository","name":"web"},"valuesFrom":[{"kind":"Secret","name":"web"}]}`)
	for name, tt := range map[string]struct {
		before, now []string
		want        bool
	}{
		"nothing":  {[]string{ofOCI, oci("1")}, []string{ofOCI, oci("1")}, false},
		"its spec": {[]string{ofOCI, oci("1")}, []string{release(`{"suspend":true,"chartRef":{"kind":"OCIRepository","name":"web"}}`), oci("1")}, true},
		"its annotations, which force": {[]string{annotated("{" + before + "}"), oci("1")},
			[]string{annotated("{" + now + `,"reconcile.fluxcd.io/forceAt":"2"}`), oci("1")}, true},
		"none of its annotations":         {[]string{annotated("{" + before + "}"), oci("1")}, []string{annotated("{" + before + "}"), oci("1")}, false},
		"the tag of its OCIRepository":    {[]string{ofOCI, oci("1")}, []string{ofOCI, oci("2")}, true},
		"the version of its HelmChart":    {[]string{ofChart, chart("1"), repository("https://a")}, []string{ofChart, chart("2"), repository("https://a")}, true},
		"the source of its HelmChart":     {[]string{ofChart, chart("1"), repository("https://a")}, []string{ofChart, chart("1"), repository("https://b")}, true},
		"nothing of its HelmChart":        {[]string{ofChart, chart("1"), repository("https://a")}, []string{ofChart, chart("1"), repository("https://a")}, false},
		"the commit of its GitRepository": {[]string{ofGit, git(`"branch":"a","commit":"1"`)}, []string{ofGit, git(`"branch":"a","commit":"2"`)}, true},
		"the branch of its GitRepository": {[]string{ofGit, git(`"branch":"a"`)}, []string{ofGit, git(`"branch":"b"`)}, true},
		"the name of its GitRepository":   {[]string{ofGit, git(`"name":"refs/a"`)}, []string{ofGit, git(`"name":"refs/b"`)}, true},
		"the tag of its GitRepository":    {[]string{ofGit, git(`"tag":"a"`)}, []string{ofGit, git(`"tag":"b"`)}, true},
		"nothing of its GitRepository":    {[]string{ofGit, git(`"commit":"1"`)}, []string{ofGit, git(`"commit":"1"`)}, false},
		"its HelmRepository":              {[]string{ofRepository, repository("https://a")}, []string{ofRepository, repository("https://b")}, true},
		"data of its Secret":              {[]string{withSecret, oci("1"), secret("data", "YTogMQ==")}, []string{withSecret, oci("1"), secret("data", "YTogMg==")}, true},
		"stringData of its Secret":        {[]string{withSecret, oci("1"), secret("stringData", "a: 1")}, []string{withSecret, oci("1"), secret("stringData", "a: 2")}, true},
		"its Secret, which is the same":   {[]string{withSecret, oci("1"), secret("data", "YTogMQ==")}, []string{withSecret, oci("1"), secret("stringData", "a: 1")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isTouched(t.Context(), laid(t, tt.now...), laid(t, tt.before...), api.HelmReleaseRef("shop", "web")); got != tt.want {
				t.Errorf("it is touched: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestIsTouchedByEachCommit has a chart in the tree that is the same as before. With the strategy Revision, its version ends with the
// commit, so each commit touches the HelmRelease.
func TestIsTouchedByEachCommit(t *testing.T) {
	for _, tt := range []struct {
		name, strategy, kind string
		byRef, isElsewhere   bool
		want                 bool
	}{
		{name: "the default strategy", kind: "GitRepository"},
		{name: "ChartVersion", strategy: "ChartVersion", kind: "GitRepository"},
		{name: "Revision", strategy: "Revision", kind: "GitRepository", want: true},
		{name: "Revision of a Bucket", strategy: "Revision", kind: "Bucket", want: true},
		{name: "Revision of a HelmChart", strategy: "Revision", kind: "GitRepository", byRef: true, want: true},
		{name: "ChartVersion of a HelmChart", strategy: "ChartVersion", kind: "GitRepository", byRef: true},
		{name: "Revision of another repository", strategy: "Revision", kind: "GitRepository", isElsewhere: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const of = `{"apiVersion":"%s.toolkit.fluxcd.io/%s","kind":"%s","metadata":{"name":"%s","namespace":"shop"},"spec":%s}`
			chart := fmt.Sprintf(`{"chart":"charts/web","reconcileStrategy":%q,"sourceRef":{"kind":%q,"name":"apps"}}`, tt.strategy, tt.kind)
			release := `{"chart":{"spec":` + chart + `}}`
			if tt.byRef {
				release = `{"chartRef":{"kind":"HelmChart","name":"web"}}`
			}
			laid := func() *applied.Tree {
				root := t.TempDir()
				if err := os.MkdirAll(filepath.Join(root, "charts", "web"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, "charts", "web", "Chart.yaml"), []byte("name: web\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				order := tree.Order{Root: root, Dir: root}
				if !tt.isElsewhere {
					order.Sources = []tree.LocalSource{{Kind: tt.kind, Namespace: "shop", Name: "apps", Dir: root}}
				}
				from := fluxtest.Served{Versions: []string{"helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"}}
				return laidFor(t, order, from, tree.Problem{},
					fmt.Sprintf(of, "helm", "v2", "HelmRelease", "web", release), fmt.Sprintf(of, "source", "v1", "HelmChart", "web", chart),
					fmt.Sprintf(of, "source", "v1", tt.kind, "apps", `{"url":"https://git.example.com/shop/apps"}`))
			}
			if got := isTouched(t.Context(), laid(), laid(), api.HelmReleaseRef("shop", "web")); got != tt.want {
				t.Errorf("it is touched: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestIsAsBefore has a ResourceSet among others, and says of each change whether it may change what Flux Operator makes of it.
func TestIsAsBefore(t *testing.T) {
	of := func(kind, name, rest string) string {
		return `{"apiVersion":"fluxcd.controlplane.io/v1","kind":"` + kind + `","metadata":{"name":"` + name + `","namespace":"shop"},` +
			`"spec":{` + rest + `}}`
	}
	set, other, inputs := of("ResourceSet", "apps", ""), of("ResourceSet", "other", ""), of("ResourceSetInputProvider", "tenants", "")
	problem := tree.Problem{Severity: tree.Unbuilt, Where: "ResourceSet shop/apps"}
	before := laidOver(t, fluxtest.Served{}, problem, set, other, inputs)
	for _, tt := range []struct {
		name    string
		before  *applied.Tree
		now     []string
		problem string
		want    bool
	}{
		{"nothing", before, []string{set, other, inputs}, "", true},
		{"another one", before, []string{inputs, set, of("ResourceSet", "other", `"steps":[]`)}, "", true},
		{"the ResourceSet", before, []string{of("ResourceSet", "apps", `"steps":[]`), other, inputs}, "", false},
		{"what may have its inputs", before, []string{set, other, of("ResourceSetInputProvider", "tenants", `"type":"Static"`)}, "", false},
		{"it goes", before, []string{other, inputs}, "the tree drops it", false},
		{"it goes, and the earlier tree was not built", laid(t), nil, "the tree drops it", false},
		{"without an earlier tree", nil, []string{set, other, inputs}, "", false},
	} {
		problem.Message = tt.problem
		if got := isAsBefore(laid(t, tt.now...), tt.before, problem); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// laid lays objects of a tree over a cluster without objects.
func laid(t *testing.T, objects ...string) *applied.Tree {
	t.Helper()
	from := fluxtest.Served{Versions: []string{"v1", "helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"}}
	return laidOver(t, from, tree.Problem{}, objects...)
}

// laidOver lays objects that the Kustomization apps makes over a cluster. The build of the tree has a problem, unless it is empty.
func laidOver(t *testing.T, from fluxtest.Served, problem tree.Problem, objects ...string) *applied.Tree {
	t.Helper()
	return laidFor(t, tree.Order{Rendered: true}, from, problem, objects...)
}

// laidFor is laidOver for an order.
func laidFor(t *testing.T, order tree.Order, from fluxtest.Served, problem tree.Problem, objects ...string) *applied.Tree {
	t.Helper()
	out, err := applied.New(t.Context(), drift.Connection{Cluster: from}, order, nil,
		func(context.Context, applied.Questions) (answer tree.Answer, err error) {
			for _, one := range objects {
				made := tree.Object{JSON: []byte(one)}
				made.Maker = tree.MakerOf(made.Map())
				answer.Objects = append(answer.Objects, made)
			}
			answer.Problems = []tree.Problem{problem}
			return answer, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
