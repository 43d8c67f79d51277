package release

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// listedRecords returns records of three releases in two namespaces. The labels of web say its team only in the first
// revision.
func listedRecords(t *testing.T) []metav1.Object {
	store := func(namespace, name string, revision int, status helm.Status, own map[string]string) metav1.Object {
		rel := helmRelease(name, revision, status)
		rel.Labels = own
		s := helmSecret(t, rel)
		s.Namespace = namespace
		s.CreationTimestamp = metav1.NewTime(time.Unix(int64(1000+revision), 0))
		return s
	}
	return []metav1.Object{
		store("prod", "web", 10, helm.StatusDeployed, nil),
		store("prod", "web", 9, helm.StatusSuperseded, map[string]string{"team": "shop"}),
		store("dev", "web", 1, helm.StatusFailed, nil),
		store("dev", "db", 2, helm.StatusDeployed, map[string]string{"team": "shop"}),
	}
}

// summary describes records in one line.
func summary(listed []Listed) string {
	var all []string
	for _, l := range listed {
		text := fmt.Sprintf("%s/%s.%d %s", l.Namespace, l.Release, l.Revision, l.Status)
		if l.Problem != nil {
			text += " with a problem"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestList lists one namespace and all, in pages of two, with and without a selector, and again from the start when a
// page expires.
func TestList(t *testing.T) {
	s := newAPIServer(t, listedRecords(t)...)
	s.page = 2
	const all = "dev/db.2 deployed, dev/web.1 failed, prod/web.9 superseded, prod/web.10 deployed"
	for _, tc := range []struct {
		namespace, selector, want string
		expire                    bool
		requests                  int
	}{
		{want: all, requests: 2},
		{want: all, requests: 3, expire: true},
		{namespace: "prod", want: "prod/web.9 superseded, prod/web.10 deployed", requests: 1},
		{namespace: "none", requests: 1},
		{selector: "team=shop", want: "dev/db.2 deployed, prod/web.9 superseded", requests: 1},
		{selector: "team,status!=superseded", want: "dev/db.2 deployed", requests: 1},
		{selector: "owner=somebody", requests: 1},
	} {
		s.expire = tc.expire
		selector, err := labels.Parse(tc.selector)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.storage("").List(t.Context(), tc.namespace, selector)
		if err != nil {
			t.Fatal(err)
		}
		if summary(got) != tc.want {
			t.Errorf("namespace %q, selector %q:\n got %s\nwant %s", tc.namespace, tc.selector, summary(got), tc.want)
		}
		if asked := s.asked(); len(asked) != tc.requests || strings.Contains(fmt.Sprint(asked), "get") {
			t.Errorf("namespace %q, selector %q took requests %q", tc.namespace, tc.selector, asked)
		}
	}
	if got, err := s.storage("").List(t.Context(), "", labels.Nothing()); len(got) != 0 || err != nil {
		t.Errorf("nothing selected: %s, error %v", summary(got), err)
	}
}

// TestListed checks everything that is known of one record.
func TestListed(t *testing.T) {
	got, err := newAPIServer(t, listedRecords(t)...).storage("secret").List(t.Context(), "dev", labels.Set{"team": "shop"}.AsSelector())
	if err != nil || len(got) != 1 {
		t.Fatalf("%d records, error %v", len(got), err)
	}
	if got[0].Labels["createdAt"] == "" {
		t.Errorf("labels %v", got[0].Labels)
	}
	delete(got[0].Labels, "createdAt")
	want := Listed{
		Entry:     Entry{Name: "sh.helm.release.v1.db.v2", Release: "db", Revision: 2, Status: "deployed", ResourceVersion: "4"},
		Namespace: "dev",
		Labels:    map[string]string{"name": "db", "owner": "helm", "status": "deployed", "version": "2", "team": "shop"},
		Created:   time.Unix(1002, 0),
	}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestListProblems checks that a record of unknown revision is listed with the problem.
func TestListProblems(t *testing.T) {
	records := listedRecords(t)
	for _, namespace := range []string{"dev", "prod"} {
		odd := helmSecret(t, helmRelease("web", 11, helm.StatusDeployed))
		odd.Namespace = namespace
		odd.Labels["version"] = "eleven"
		if namespace == "dev" {
			delete(odd.Labels, "name")
		}
		records = append(records, odd)
	}
	listed, err := newAPIServer(t, records...).storage("").List(t.Context(), "", labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	const want = "dev/.0 deployed with a problem, dev/db.2 deployed, dev/web.1 failed, prod/web.0 deployed with a problem, " +
		"prod/web.9 superseded, prod/web.10 deployed"
	if summary(listed) != want {
		t.Fatalf("\n got %s\nwant %s", summary(listed), want)
	}
	wantError(t, listed[0].Problem, "correct the labels", "Secret dev/sh.helm.release.v1.web.v11", "it has no label name")
	wantError(t, listed[3].Problem, "correct the labels", "Secret prod/sh.helm.release.v1.web.v11", `its label version is "eleven"`)
}

// TestListForbidden checks the error for a user who may read some namespaces but not all.
func TestListForbidden(t *testing.T) {
	s := newAPIServer(t)
	s.forbid = "list"
	_, err := s.storage("").List(t.Context(), "", labels.Everything())
	wantError(t, err, "kubectl auth can-i list secrets -A", "find releases: list secrets in all namespaces: ")
}
