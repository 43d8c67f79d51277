package release

import (
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
)

// FuzzDecode holds Decode to its promise: whatever comes in, a record with a name and a revision comes out, or an error.
func FuzzDecode(f *testing.F) {
	plain := marshal(f, helmRelease("web", 2, helm.StatusDeployed))
	f.Add(plain)
	f.Add(helm4JSON(f))
	f.Add(zip(f, plain))
	f.Add(pack(f, plain))
	f.Add([]byte(`{"name":"web","version":1,"hooks":[null],"apply_method":"csa"}`))
	f.Add([]byte(gzipMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The same bytes at each layer, or the fuzzer would rarely get past the first.
		for _, text := range [][]byte{data, b64(data), pack(t, data)} {
			r, err := Decode(text, Options{Limit: 1 << 16, Values: true})
			if err == nil && (r.Name == "" || r.Revision < 1 || r.Chart == nil) {
				t.Errorf("decoded to %+v", r)
			}
			if err == nil && len(r.Manifest) > 3<<16 {
				t.Errorf("manifest of %d bytes is beyond the limit", len(r.Manifest))
			}
		}
	})
}
