package flux

import (
	"archive/tar"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmdrift/helmdrift/internal/files/filestest"
	"github.com/helmdrift/helmdrift/internal/flux/api"
	"github.com/helmdrift/helmdrift/internal/flux/applied"
	"github.com/helmdrift/helmdrift/internal/flux/fluxtest"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/pkg/drift"
)

// TestEarlier checks that the files of a commit are below a folder of their own, without links, and that the folder goes at the end.
func TestEarlier(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "clusters", "prod"), 0o700); err != nil {
		t.Fatal(err)
	}
	order := tree.Order{Root: root, Dir: filepath.Join(root, "clusters", "prod")}
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
	done()
	if _, err := os.Stat(before.Root); !os.IsNotExist(err) {
		t.Errorf("the files are still there: %v", err)
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
	withSecret := release(`{"chartRef":{"kind":"OCIRepository","name":"web"},"valuesFrom":[{"kind":"Secret","name":"web"}]}`)
	for name, tt := range map[string]struct {
		before, now []string
		want        bool
	}{
		"nothing":                       {[]string{ofOCI, oci("1")}, []string{ofOCI, oci("1")}, false},
		"its spec":                      {[]string{ofOCI, oci("1")}, []string{release(`{"suspend":true,"chartRef":{"kind":"OCIRepository","name":"web"}}`), oci("1")}, true},
		"the tag of its OCIRepository":  {[]string{ofOCI, oci("1")}, []string{ofOCI, oci("2")}, true},
		"the version of its HelmChart":  {[]string{ofChart, chart("1"), repository("https://a")}, []string{ofChart, chart("2"), repository("https://a")}, true},
		"the source of its HelmChart":   {[]string{ofChart, chart("1"), repository("https://a")}, []string{ofChart, chart("1"), repository("https://b")}, true},
		"nothing of its HelmChart":      {[]string{ofChart, chart("1"), repository("https://a")}, []string{ofChart, chart("1"), repository("https://a")}, false},
		"its HelmRepository":            {[]string{ofRepository, repository("https://a")}, []string{ofRepository, repository("https://b")}, true},
		"data of its Secret":            {[]string{withSecret, oci("1"), secret("data", "YTogMQ==")}, []string{withSecret, oci("1"), secret("data", "YTogMg==")}, true},
		"stringData of its Secret":      {[]string{withSecret, oci("1"), secret("stringData", "a: 1")}, []string{withSecret, oci("1"), secret("stringData", "a: 2")}, true},
		"its Secret, which is the same": {[]string{withSecret, oci("1"), secret("data", "YTogMQ==")}, []string{withSecret, oci("1"), secret("stringData", "a: 1")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isTouched(t.Context(), laid(t, tt.now...), laid(t, tt.before...), api.HelmReleaseRef("shop", "web")); got != tt.want {
				t.Errorf("it is touched: %v, want %v", got, tt.want)
			}
		})
	}
}

// laid lays objects of a tree over a cluster without objects.
func laid(t *testing.T, objects ...string) *applied.Tree {
	t.Helper()
	from := fluxtest.Served{Versions: []string{"v1", "helm.toolkit.fluxcd.io/v2", "source.toolkit.fluxcd.io/v1"}}
	out, err := applied.New(t.Context(), drift.Connection{Cluster: from}, tree.Order{Rendered: true}, nil,
		func(context.Context, applied.Questions) (answer tree.Answer, err error) {
			for _, one := range objects {
				answer.Objects = append(answer.Objects, tree.Object{JSON: []byte(one)})
			}
			return answer, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
