package deployer

import (
	"context"
	"net/netip"
	"testing"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// TestCharts checks that a chart is fetched once for the same source, and again for one that may not be fetched from this machine.
func TestCharts(t *testing.T) {
	var f Fetched
	calls := 0
	charts := f.Charts(func(context.Context, string, fetch.Options) (string, func(), error) {
		calls++
		return "", nil, nil
	})
	refusing := func(inTree bool) func(netip.Addr) error {
		return func(ip netip.Addr) error { return address.Check(ip, "spec.url", inTree) }
	}
	for i, one := range []struct {
		refuse func(netip.Addr) error
		calls  int
	}{{nil, 1}, {refusing(false), 1}, {refusing(true), 2}, {refusing(true), 2}, {refusing(false), 2}} {
		if _, _, err := charts(t.Context(), "web", fetch.Options{RepoURL: "https://ex.com", Refuse: one.refuse}); err != nil || calls != one.calls {
			t.Errorf("%d: %d calls, %v", i, calls, err)
		}
	}
}
