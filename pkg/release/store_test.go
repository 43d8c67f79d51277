package release

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestOpen(t *testing.T) {
	s := newAPIServer(t)
	for driver, kind := range map[string]string{
		"": kindSecret, "secret": kindSecret, "secrets": kindSecret, "configmap": kindConfigMap, "configmaps": kindConfigMap,
	} {
		if got := s.open(driver).backend.Kind(); got != kind {
			t.Errorf("driver %q opens %s, want %s", driver, got, kind)
		}
	}
	for driver, want := range map[string]string{
		"memory":  "storage driver memory holds nothing",
		"Secrets": `unknown driver "Secrets"`,
		"etcd":    `unknown driver "etcd"`,
	} {
		_, err := Open(driver, nil, nil)
		wantError(t, err, "secret (the default), configmap and sql", want)
	}
	_, err := Open("sql", nil, nil)
	wantError(t, err, "", "pkg/release/postgres")
	_, err = s.storage("").Namespace("")
	wantError(t, err, "", "no namespace given")
}

// TestHistory checks that twelve revisions among other releases are ordered by number, in pages of five, and that no
// record is read.
func TestHistory(t *testing.T) {
	var objects []metav1.Object
	for revision := 1; revision <= 12; revision++ {
		status := helm.StatusSuperseded
		if revision == 12 {
			status = helm.StatusDeployed
		}
		objects = append(objects, helmSecret(t, helmRelease("web", revision, status)))
	}
	objects = append(objects, helmSecret(t, helmRelease("web2", 1, helm.StatusDeployed)),
		helmConfigMap(t, helmRelease("web", 13, helm.StatusDeployed)),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"name": "web"}}})
	s := newAPIServer(t, objects...)
	s.page = 5

	for _, expire := range []bool{false, true} {
		s.expire = expire
		h, err := s.open("").History(t.Context(), "web")
		if err != nil {
			t.Fatal(err)
		}
		want := history(t, "1 superseded, 2 superseded, 3 superseded, 4 superseded, 5 superseded, 6 superseded, "+
			"7 superseded, 8 superseded, 9 superseded, 10 superseded, 11 superseded, 12 deployed")
		for i := range want.Entries {
			want.Entries[i].ResourceVersion = fmt.Sprint(i + 1)
		}
		if d := cmp.Diff(want, h); d != "" {
			t.Errorf("expire %v (-want +got):\n%s", expire, d)
		}
		if got, want := strings.Join(s.asked(), ", "), "list secrets, list secrets, list secrets"; got != want {
			t.Errorf("expire %v: requests %s", expire, got)
		}
	}
}

func TestHistoryEmpty(t *testing.T) {
	h, err := newAPIServer(t).open("configmap").History(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Choose(0)
	wantError(t, err, "no ConfigMap there", noRelease)
}

// TestHistoryRefusesNames checks that a name never reaches the label selector as an expression.
func TestHistoryRefusesNames(t *testing.T) {
	s := newAPIServer(t)
	for _, name := range []string{"", "Web", "web,owner!=helm", "../web", strings.Repeat("a", 54)} {
		_, err := s.open("").History(t.Context(), name)
		wantError(t, err, "", "release name is invalid: "+name)
	}
	if got := s.asked(); got != nil {
		t.Errorf("requests %s", got)
	}
}

// TestHistoryMislabelled checks that a record without a valid revision is an error, because it could be the last one.
func TestHistoryMislabelled(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Secret)
		hint   string
		want   string
	}{
		"no version": {func(s *corev1.Secret) { delete(s.Labels, "version") }, "correct the labels",
			"Secret prod/sh.helm.release.v1.web.v2 is labelled as a release record of Helm, but it has no label version"},
		"empty":    {func(s *corev1.Secret) { s.Labels["version"] = "" }, "correct the labels", `its label version is ""`},
		"text":     {func(s *corev1.Secret) { s.Labels["version"] = "v2" }, "correct the labels", `its label version is "v2"`},
		"zero":     {func(s *corev1.Secret) { s.Labels["version"] = "0" }, "correct the labels", `its label version is "0"`},
		"too long": {func(s *corev1.Secret) { s.Labels["version"] = "99999999999999999999" }, "correct the labels", "not a revision"},
		"newer": {func(s *corev1.Secret) { s.Name = "sh.helm.release.v2.web.v2" }, "latest helmdrift",
			"Secret prod/sh.helm.release.v2.web.v2 is a release record of an unknown format"},
	} {
		t.Run(name, func(t *testing.T) {
			odd := helmSecret(t, helmRelease("web", 2, helm.StatusDeployed))
			tc.change(odd)
			s := newAPIServer(t, helmSecret(t, helmRelease("web", 1, helm.StatusSuperseded)), odd)
			_, err := s.open("").History(t.Context(), "web")
			wantError(t, err, tc.hint, "find release web: ", tc.want)
		})
	}
}

// TestLoad loads records that Helm's own drivers create, with both drivers.
func TestLoad(t *testing.T) {
	for driver, kind := range map[string]string{"": kindSecret, "configmap": kindConfigMap} {
		var objects []metav1.Object
		for revision, status := range []helm.Status{helm.StatusSuperseded, helm.StatusDeployed, helm.StatusFailed} {
			rel := helmRelease("web", revision+1, status)
			// Flux can keep the records in another namespace than the objects.
			rel.Namespace = "apps"
			if kind == kindSecret {
				objects = append(objects, helmSecret(t, rel))
			} else {
				objects = append(objects, helmConfigMap(t, rel))
			}
		}
		s := newAPIServer(t, objects...)
		for _, tc := range []struct{ revision, old, requests int }{{0, 2, 3}, {1, 1, 3}, {3, 3, 2}} {
			l, err := s.open(driver).Load(t.Context(), "web", tc.revision, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if l.Old.Revision != tc.old || l.Last.Revision != 3 || l.Choice.Old.Revision != tc.old {
				t.Errorf("%s: wanted %d, got old %d and last %d", kind, tc.revision, l.Old.Revision, l.Last.Revision)
			}
			if (l.Old == l.Last) != (tc.old == 3) {
				t.Errorf("%s: old and last are the same record: %v", kind, l.Old == l.Last)
			}
			if got, want := l.Old.StoredAs, fmt.Sprintf("%s prod/sh.helm.release.v1.web.v%d", kind, tc.old); got != want {
				t.Errorf("stored as %q, want %q", got, want)
			}
			if l.Old.Namespace != "apps" || l.Old.Manifest != manifest {
				t.Errorf("%s: namespace %q, manifest %q", kind, l.Old.Namespace, l.Old.Manifest)
			}
			if got := s.asked(); len(got) != tc.requests {
				t.Errorf("%s: revision %d took requests %s", kind, tc.revision, got)
			}
		}
	}
}

// TestLoadUsesTheRecordsStatus checks that the status inside the last record decides, not its label, as in
// Helm.
func TestLoadUsesTheRecordsStatus(t *testing.T) {
	edited := helmSecret(t, helmRelease("web", 2, helm.StatusPendingUpgrade))
	edited.Labels["status"] = "deployed"
	s := newAPIServer(t, helmSecret(t, helmRelease("web", 1, helm.StatusDeployed)), edited)
	_, err := s.open("").Load(t.Context(), "web", 0, Options{})
	wantError(t, err, "--revision 1", inProgress)
	l, err := s.open("").Load(t.Context(), "web", 1, Options{})
	if err != nil || l.Old.Revision != 1 || l.Last.Status != "pending-upgrade" {
		t.Errorf("with a revision: %+v, error %v", l, err)
	}
}

func TestLoadNothing(t *testing.T) {
	_, err := newAPIServer(t).open("").Load(t.Context(), "web", 0, Options{})
	wantError(t, err, "no Secret there", noRelease)
}

// TestLoadNeverSkips checks that a broken last record is an error, and never makes an older one the last. If the
// caller asks for another revision, Load only reports the broken one.
func TestLoadNeverSkips(t *testing.T) {
	torn := helmSecret(t, helmRelease("web", 2, helm.StatusDeployed))
	torn.Data["release"] = torn.Data["release"][:100]
	s := newAPIServer(t, helmSecret(t, helmRelease("web", 1, helm.StatusDeployed)), torn)
	const problem = "read revision 2 of web from Secret prod/sh.helm.release.v1.web.v2: the record is cut short"
	for _, revision := range []int{0, 2} {
		_, err := s.open("").Load(t.Context(), "web", revision, Options{})
		wantError(t, err, "Restore it from a backup", problem)
	}
	for _, to := range []int{-1, 1, 2} {
		_, err := s.open("").LoadRollback(t.Context(), "web", to, Options{})
		wantError(t, err, "Restore it from a backup", problem)
	}
	l, err := s.open("").Load(t.Context(), "web", 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, l.LastProblem, "Restore it from a backup", problem)
	if l.Old.Revision != 1 || l.Last != l.Old || l.Choice.Last.Revision != 2 || l.Choice.Last.Status != "deployed" {
		t.Errorf("loaded %+v", l)
	}
	_, err = s.open("").Load(t.Context(), "web", 3, Options{})
	wantError(t, err, "", "release web has no revision 3; its revisions are 1-2")
}

// TestLoadForbiddenLast checks that a last record that cannot be read does not count as broken.
func TestLoadForbiddenLast(t *testing.T) {
	s := newAPIServer(t, helmSecret(t, helmRelease("web", 1, helm.StatusDeployed)), helmSecret(t, helmRelease("web", 2, helm.StatusDeployed)))
	s.forbid = "get"
	if l, err := s.open("").Load(t.Context(), "web", 1, Options{}); !apierrors.IsForbidden(err) {
		t.Errorf("loaded %+v, error %v", l, err)
	}
}

func TestLoadRollback(t *testing.T) {
	first, last := helmRelease("web", 1, helm.StatusSuperseded), helmRelease("web", 4, helm.StatusPendingUpgrade)
	first.Manifest = "kind: ConfigMap\n"
	s := newAPIServer(t, helmSecret(t, first), helmSecret(t, helmRelease("web", 3, helm.StatusDeployed)), helmSecret(t, last))
	for _, tc := range []struct{ to, target, requests int }{{1, 1, 3}, {3, 3, 3}, {-1, 3, 3}, {-3, 1, 3}, {4, 4, 2}} {
		l, err := s.open("").LoadRollback(t.Context(), "web", tc.to, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Old != l.Last || l.Old.Revision != 4 || l.Target.Revision != tc.target || (l.Target == l.Old) != (tc.target == 4) {
			t.Errorf("to %d: old %d, last %d, target %d", tc.to, l.Old.Revision, l.Last.Revision, l.Target.Revision)
		}
		if got := s.asked(); len(got) != tc.requests {
			t.Errorf("to %d took requests %s", tc.to, got)
		}
	}
	l, err := s.open("").LoadRollback(t.Context(), "web", 1, Options{})
	if err != nil || l.Target.Manifest != first.Manifest || l.History.LastStatus != "pending-upgrade" {
		t.Errorf("loaded %+v, error %v", l, err)
	}
	_, err = s.open("").LoadRollback(t.Context(), "web", 2, Options{})
	wantError(t, err, "", "release web has no revision 2; its revisions are 1, 3-4")
	_, err = s.open("").LoadRollback(t.Context(), "db", -1, Options{})
	wantError(t, err, "holds a record of it; helmdrift list", "there is no release db")
	if _, installs := Installs(err); installs {
		t.Error("a rollback of nothing installs")
	}
}

func TestGetRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Secret)
		hint   string
		want   string
	}{
		"no key":     {func(s *corev1.Secret) { s.Data = map[string][]byte{"other": nil} }, "backup", `its data has no text under "release"`},
		"no data":    {func(s *corev1.Secret) { s.Data = nil }, "backup", `its data has no text under "release"`},
		"empty":      {func(s *corev1.Secret) { s.Data["release"] = []byte{} }, "backup", "the record is empty"},
		"opaque":     {func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }, "--type=helm.sh/release.v1", `its type is "Opaque", not helm.sh/release.v1`},
		"newer type": {func(s *corev1.Secret) { s.Type = "helm.sh/release.v2" }, "latest helmdrift", `its type is "helm.sh/release.v2"`},
		"one layer":  {func(s *corev1.Secret) { s.Data["release"], _ = unbase64(s.Data["release"]) }, "backup", "the record is not base64"},
		"three layers": {func(s *corev1.Secret) { s.Data["release"] = b64(s.Data["release"]) }, "latest helmdrift",
			"neither gzip nor a JSON object"},
		"other release": {func(s *corev1.Secret) {
			s.Data = helmSecret(t, helmRelease("db", 2, helm.StatusDeployed)).Data
		}, "correct its name and labels", `the record inside is of release "db"`},
		"other revision": {func(s *corev1.Secret) {
			s.Data = helmSecret(t, helmRelease("web", 1, helm.StatusDeployed)).Data
		}, "correct its name and labels", "the record inside is of revision 1"},
		"other name": {func(s *corev1.Secret) { s.Name = "copy" }, "correct its name and labels",
			"a record of that revision is called sh.helm.release.v1.web.v2"},
	} {
		t.Run(name, func(t *testing.T) {
			odd := helmSecret(t, helmRelease("web", 2, helm.StatusDeployed))
			tc.change(odd)
			s := newAPIServer(t, odd)
			_, err := s.open("").Load(t.Context(), "web", 0, Options{})
			wantError(t, err, tc.hint, "read revision 2 of web from Secret prod/"+odd.Name+": ", tc.want)
		})
	}
}

// TestGetNotBase64 checks a record that is not base64. For a Secret, the API server guarantees the outer layer of base64, and the client
// removes it.
func TestGetNotBase64(t *testing.T) {
	odd := helmConfigMap(t, helmRelease("web", 2, helm.StatusDeployed))
	odd.Data["release"] = "%%%"
	_, err := newAPIServer(t, odd).open("configmap").Load(t.Context(), "web", 0, Options{})
	wantError(t, err, "backup", "ConfigMap prod/sh.helm.release.v1.web.v2", "the record is not base64")
}

// TestGetOptions reads values, and a record that names no namespace.
func TestGetOptions(t *testing.T) {
	rel := helmRelease("web", 1, helm.StatusDeployed)
	rel.Namespace = ""
	s := newAPIServer(t, helmSecret(t, rel))
	l, err := s.open("").Load(t.Context(), "web", 0, Options{Values: true})
	if err != nil {
		t.Fatal(err)
	}
	config, about, err := l.Old.Values.Decode()
	if err != nil || l.Old.Namespace != "prod" || config["replicas"] != 3.0 || about.Values["replicas"] != 2.0 {
		t.Errorf("got %+v, %v", l.Old, err)
	}
	_, err = s.open("").Load(t.Context(), "web", 0, Options{Limit: 100})
	wantError(t, err, "--show-managed-fields", "the record is larger than 100 bytes unpacked")
}

// TestGetLarge checks that neither a long line nor a large object is a problem: 12 MB pass through HTTP, JSON, base64
// and gzip.
func TestGetLarge(t *testing.T) {
	rel := helmRelease("web", 1, helm.StatusDeployed)
	rel.Manifest += "data:\n  a: " + string(bytes.Repeat([]byte("x"), 12<<20)) + "\n"
	l, err := newAPIServer(t, helmSecret(t, rel)).open("").Load(t.Context(), "web", 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Old.Manifest != rel.Manifest {
		t.Errorf("manifest of %d bytes came out with %d", len(rel.Manifest), len(l.Old.Manifest))
	}
}

func TestForbidden(t *testing.T) {
	s := newAPIServer(t, helmSecret(t, helmRelease("web", 1, helm.StatusDeployed)))
	s.forbid = "list"
	_, err := s.open("").Load(t.Context(), "web", 0, Options{})
	wantError(t, err, "verbs list and get on secrets in namespace prod", "find release web: list secrets in namespace prod: ")
	_, err = s.storage("configmaps").List(t.Context(), "prod", labels.Everything())
	wantError(t, err, "verbs list and get on configmaps in namespace prod", "list configmaps in namespace prod: ")
	s.forbid = "get"
	_, err = s.open("").Load(t.Context(), "web", 0, Options{})
	wantError(t, err, "kubectl auth can-i get secrets -n prod", "get Secret prod/sh.helm.release.v1.web.v1: ")
	if !apierrors.IsForbidden(err) {
		t.Errorf("%v does not wrap the server's error", err)
	}
}

// TestGetPruned checks that a record that was deleted after the list is not reported as broken.
func TestGetPruned(t *testing.T) {
	s := newAPIServer(t)
	_, err := s.open("").Get(t.Context(), Entry{Name: objectName("web", 1), Release: "web", Revision: 1}, Options{})
	wantError(t, err, "", "get Secret prod/sh.helm.release.v1.web.v1: ")
	if !apierrors.IsNotFound(err) {
		t.Errorf("%v does not wrap the server's error", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newAPIServer(t).open("").History(ctx, "web")
	wantError(t, err, "", "context canceled")
}

// TestEndlessPages checks that a server that always sends a token for another page causes an error, whatever the
// token is.
func TestEndlessPages(t *testing.T) {
	for name, token := range map[string]func(from int) string{
		"the same token":    func(int) string { return "7" },
		"always a new one":  func(from int) string { return strconv.Itoa(from + 1) },
		"a loop of several": func(from int) string { return strconv.Itoa(from%3 + 1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t, helmSecret(t, helmRelease("web", 1, helm.StatusDeployed)))
			s.endless = token
			_, err := s.open("").History(t.Context(), "web")
			wantError(t, err, "kubectl get secrets -n prod", "without an end")
			if n := len(s.asked()); n > maxPages {
				t.Errorf("%d requests", n)
			}
		})
	}
}
