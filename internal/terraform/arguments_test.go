package terraform

import "testing"

// TestWriteOnly checks that a set_wo_revision that is known only after the apply may grow, whatever it was: beyond 2^53, a float64 of one
// more is the same number.
func TestWriteOnly(t *testing.T) {
	for _, was := range []float64{0, 1, 1 << 53, 1e18} {
		r := Release{Change: Updates}
		before := arguments{now: map[string]any{"set_wo_revision": was}}
		now := arguments{now: map[string]any{}, unknown: map[string]any{"set_wo_revision": true}}
		if err := now.checkWriteOnly(&r, before); err != nil || !r.Whole || !r.WriteOnly || len(r.Notes) > 0 {
			t.Errorf("%.0f: %v, %+v", was, err, r)
		}
	}
}
