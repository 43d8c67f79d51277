package fleet

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestSubjectOf finds the subject of a wrapped error, and none of an error that joins several.
func TestSubjectOf(t *testing.T) {
	plain := errors.New("no")
	about := report.About(plain, report.Subject{Verb: "get", Resource: "secrets", Name: "a"})
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":   {nil, ""},
		"none":      {plain, ""},
		"its own":   {about, "a"},
		"wrapped":   {fmt.Errorf("read: %w", about), "a"},
		"joined":    {errors.Join(nil, about), "a"},
		"of two":    {errors.Join(about, plain), ""},
		"the outer": {report.About(about, report.Subject{Name: "b"}), "b"},
	} {
		got := ""
		if s := subjectOf(c.err); s != nil {
			got = s.Name
		}
		if got != c.want {
			t.Errorf("%s: the subject is %q, want %q", name, got, c.want)
		}
	}
}

// TestSubjects checks that the error of a record says as data which record it is about, and why, without the names in the message.
func TestSubjects(t *testing.T) {
	s := &records{secrets: map[string]map[string]any{}, forbidden: "sh.helm.release.v1.locked.v1"}
	s.put("locked", 1, "deployed", nil)
	s.put("damaged.v1", 4, "deployed", nil)
	s.secrets["sh.helm.release.v1.damaged.v1.v4"]["data"] = map[string]any{"release": "AAAA"}
	s.put("relabelled", 3, "deployed", nil)
	s.secrets["sh.helm.release.v1.relabelled.v3"]["metadata"].(map[string]any)["labels"].(map[string]any)["version"] = "x"
	source := s.source(t)
	found, err := source.Find(t.Context(), Selection{Namespace: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := source.List(t.Context(), found, 1, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]report.Subject{}
	for _, r := range listed {
		if r.Error == nil || r.Error.Subject == nil {
			t.Fatalf("%s: %+v", r.Name, r.Error)
		}
		got[r.Name] = *r.Error.Subject
	}
	record := func(verb, name, reason string) report.Subject {
		return report.Subject{Verb: verb, Resource: "secrets", Namespace: "prod", Name: name, Reason: reason}
	}
	want := map[string]report.Subject{
		"locked": record("get", "sh.helm.release.v1.locked.v1", "forbidden"),
		"damaged.v1": record("read", "sh.helm.release.v1.damaged.v1.v4",
			"the record is not base64, or cut short: illegal base64 data at input byte 0"),
		"relabelled": record("read", "sh.helm.release.v1.relabelled.v3", `its label version is "x", not a revision`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
