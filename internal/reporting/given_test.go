package reporting

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// TestGivenValues checks the values of a release by their paths, and that those that are secret by their name, their text or a Secret of
// the cluster are masked, also in a list.
func TestGivenValues(t *testing.T) {
	known := &secret.Known{}
	known.AddObject("", "Secret", map[string]any{"kind": "Secret", "stringData": map[string]any{
		"key": "canary-of-a-secret", "pin": "83915502"}})
	r := &drift.Result{
		Comparison: &threeway.Comparison{Input: threeway.Input{Known: known}},
		Loaded: &release.Loaded{Old: &release.Record{Values: &release.Values{Config: release.Texts{[]byte(
			`{"replicas": 3, "image": {"tag": "1.27", "pullPolicy": null}, "hosts": ["a", "b"], "empty": {}, "db": {"password": "canary-pass", "pin": 1},
			  "url": "redis://:canary-in-text@cache", "copied": "canary-of-a-secret", "number": 83915502, "all": ["x", {"token": "canary-token"}]}`)}}}},
	}
	masked := func(path string) report.GivenValue { return report.GivenValue{Path: path, Masked: true} }
	want := []report.GivenValue{
		masked("all"), masked("copied"), masked("db.password"), {Path: "db.pin", Value: 1.0}, {Path: "empty", Value: map[string]any{}},
		{Path: "hosts", Value: []any{"a", "b"}}, {Path: "image.pullPolicy"}, {Path: "image.tag", Value: "1.27"},
		masked("number"), {Path: "replicas", Value: 3.0}, masked("url"),
	}
	if diff := cmp.Diff(want, givenValues(r, threeway.Mask{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, v := range givenValues(r, threeway.Mask{Show: true}) {
		if v.Masked {
			t.Errorf("%s is masked though secrets are to be shown", v.Path)
		}
	}
	r.Loaded.Old.Values = nil
	if got := givenValues(r, threeway.Mask{}); got != nil {
		t.Errorf("values that were not read: %v", got)
	}
}
