package release

import (
	"errors"
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLoadUnlabelled checks that the error names a record that Helm does not find for lack of a label, and the labels that it needs.
func TestLoadUnlabelled(t *testing.T) {
	for _, lacks := range [][]string{{"owner"}, {"name"}, {"owner", "name", "status", "version"}} {
		for _, driver := range []string{"secret", "configmap"} {
			first, last := helmRelease("web", 1, helm.StatusSuperseded), helmRelease("web", 10, helm.StatusFailed)
			other := helmRelease("web.v1", 2, helm.StatusDeployed) // a release with a name that looks like a revision of this one
			var stored []metav1.Object
			for _, rel := range []*helm.Release{last, first, other} {
				object := metav1.Object(helmSecret(t, rel))
				if driver == "configmap" {
					object = helmConfigMap(t, rel)
				}
				for _, name := range lacks {
					delete(object.GetLabels(), name)
				}
				stored = append(stored, object)
			}
			kind := map[string]string{"secret": "Secret", "configmap": "ConfigMap"}[driver]
			wantHint := "kubectl label --overwrite -n prod " + driver + " sh.helm.release.v1.web.v10 owner=helm name=web version=10 status=failed"
			named := "there is no release web in namespace prod, but " + kind + " prod/sh.helm.release.v1.web.v10 (and 1 more) is named like a record"
			s := newAPIServer(t, stored...)
			_, err := s.open(driver).Load(t.Context(), "web", 0, Options{})
			wantError(t, err, wantHint, named)
			if _, installs := Installs(err); installs || !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: the error installs %v, is %v", driver, installs, err)
			}
			_, err = s.open(driver).LoadRollback(t.Context(), "web", -1, Options{})
			wantError(t, err, wantHint, named)
			later := newAPIServer(t, stored[0])
			_, err = later.open(driver).Load(t.Context(), "web", 0, Options{})
			if _, installs := Installs(err); !installs {
				t.Errorf("%s: an installation creates revision 1, which does not exist: %v", driver, err)
			}
		}
	}
}

// TestLoadNoRecord counts the requests for a release that does not exist.
func TestLoadNoRecord(t *testing.T) {
	s := newAPIServer(t, helmSecret(t, helmRelease("db", 1, helm.StatusDeployed)))
	_, err := s.open("").Load(t.Context(), "web", 0, Options{})
	wantError(t, err, "no Secret there holds a record of it", "there is no release web in namespace prod")
	if got := s.asked(); len(got) != 2 {
		t.Errorf("requests %s, want two lists", got)
	}
}
