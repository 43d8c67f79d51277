package release

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
)

// FuzzDecodeRelease checks that Decode returns, for any text, a record with a name and a revision, or an error that
// quotes nothing. If Helm reads the text too, both must read the same.
func FuzzDecodeRelease(f *testing.F) {
	plain := marshal(f, helmRelease("web", 2, helm.StatusDeployed))
	f.Add(plain)
	f.Add(helm4JSON(f))
	f.Add(zip(f, plain))
	f.Add(pack(f, plain))
	f.Fuzz(func(t *testing.T, data []byte) {
		// It tries the same bytes at each layer, because the fuzzer would rarely get past the first.
		for _, text := range [][]byte{data, b64(data), pack(t, data)} {
			r, err := Decode(text, Options{Limit: 1 << 16, Values: true})
			switch {
			case err != nil:
				// In the seeds every text that could be a secret contains "canary".
				if strings.Contains(err.Error(), "canary") {
					t.Errorf("the error quotes the record: %v", err)
				}
			case r.Name == "" || r.Revision < 1 || r.Values == nil:
				t.Errorf("decoded to %+v", r)
			case len(r.Manifest) > 3<<16:
				t.Errorf("manifest of %d bytes is beyond the limit", len(r.Manifest))
			}
		}
		likeHelm(t, data)
	})
}

// likeHelm compares the records that Decode and Helm read from JSON (helm v3.22.0 pkg/storage/driver/util.go
// decodeRelease), if both accept it. Decode skips most of a record, so it accepts some that Helm refuses; it also
// refuses some that Helm accepts.
func likeHelm(t *testing.T, data []byte) {
	t.Helper()
	var want helm.Release
	if json.Unmarshal(data, &want) != nil {
		return
	}
	got, err := Decode(b64(data), Options{Limit: 1 << 16, Values: true})
	if err != nil {
		return
	}
	if got.Name != want.Name || got.Namespace != want.Namespace || got.Revision != want.Version || got.Manifest != want.Manifest {
		t.Errorf("helm reads %s %s %d %q, Decode %+v", want.Name, want.Namespace, want.Version, want.Manifest, got)
	}
	config, about, err := got.Values.Decode()
	if err != nil {
		t.Fatalf("helm reads the values, Decode says %v", err)
	}
	if !reflect.DeepEqual(config, want.Config) {
		t.Errorf("helm reads the values %v, Decode %v", want.Config, config)
	}
	if want.Info != nil && got.Status != want.Info.Status.String() {
		t.Errorf("helm reads the status %q, Decode %q", want.Info.Status, got.Status)
	}
	if want.Chart != nil && !reflect.DeepEqual(about.Values, want.Chart.Values) {
		t.Errorf("helm reads the defaults %v, Decode %v", want.Chart.Values, about.Values)
	}
	if len(got.Hooks) != len(want.Hooks) {
		t.Errorf("helm reads %d hooks, Decode %d", len(want.Hooks), len(got.Hooks))
	}
}
