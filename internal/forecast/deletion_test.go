package forecast

import (
	"math"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestClaimsOfManyReplicas looks for lost claims of a StatefulSet that keeps more replicas than a loop can count, and loses one.
func TestClaimsOfManyReplicas(t *testing.T) {
	set := func(start int64) map[string]any {
		return map[string]any{"spec": map[string]any{
			"replicas": int64(1) << 62, "ordinals": map[string]any{"start": start},
			"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
		}}
	}
	o := &Object{Action: report.ActionUpdate, Before: set(0), After: set(1)}
	o.Key = object.Key{Group: "apps", Kind: "StatefulSet", Name: "db"}
	if lost := lostClaims(o); lost.count != 1 || len(lost.names) != 1 || lost.names[0] != "data-db-0" {
		t.Errorf("lost %+v", lost)
	}
	o.Before = o.After
	if lost := lostClaims(o); lost.count > 0 || len(lost.names) > 0 {
		t.Errorf("lost %+v", lost)
	}
	o.After = nil
	if lost := lostClaims(o); lost.count != math.MaxInt32 || len(lost.names) != maxClaims || !lost.retained {
		t.Errorf("%d lost, %d names", lost.count, len(lost.names))
	}
	e := &report.Effect{}
	Input{}.claimsOf(e, o)
	if want := "2147483647 claims stay: data-db-1, data-db-2, data-db-3 and 2147483644 more"; len(e.Notes) != 1 || e.Notes[0] != want {
		t.Errorf("notes %q", e.Notes)
	}
	object.Child(o.Before, "spec")["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": "Delete"}
	e = &report.Effect{}
	Input{}.claimsOf(e, o)
	if len(e.Lost) != maxClaims+1 || e.Lost[maxClaims] != "2147482647 more claims" {
		t.Errorf("%d lost, %q", len(e.Lost), e.Lost[len(e.Lost)-1])
	}
}

// TestClaimsOfOddReplicas looks for lost claims of a StatefulSet whose live numbers do not fit into 32 bits, or are negative. An API server
// may answer with any number.
func TestClaimsOfOddReplicas(t *testing.T) {
	for name, c := range map[string]struct{ replicas, start any }{
		"far too many": {1e300, int64(0)}, "far too few": {-1e300, int64(0)}, "a negative ordinal": {int64(3), int64(math.MinInt64)},
		"ordinals that end beyond all": {int64(math.MaxInt64), int64(math.MaxInt64)}, "a far ordinal": {int64(3), 1e300},
	} {
		set := func(replicas, start any) map[string]any {
			return map[string]any{"spec": map[string]any{
				"replicas": replicas, "ordinals": map[string]any{"start": start},
				"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
			}}
		}
		for _, after := range []map[string]any{nil, set(int64(3), int64(0))} {
			o := &Object{Action: report.ActionUpdate, Before: set(c.replicas, c.start), After: after}
			o.Key = object.Key{Group: "apps", Kind: "StatefulSet", Name: "db"}
			lost := lostClaims(o)
			if lost.count < 0 || lost.count > math.MaxInt32 || len(lost.names) > lost.count || len(lost.names) < min(lost.count, 3) {
				t.Errorf("%s: %d lost, %d names", name, lost.count, len(lost.names))
			}
			Input{}.claimsOf(&report.Effect{}, o)
		}
	}
}

// TestRestartedIsAboutTexts compares images that no API server allows: they are no texts.
func TestRestartedIsAboutTexts(t *testing.T) {
	pod := func(image any) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": image}}}}
	}
	for _, image := range []any{map[string]any{}, []any{"a"}} {
		if n := restarted(pod(image), pod(image), nil); n != 0 {
			t.Errorf("%v: %d containers restart", image, n)
		}
	}
}
