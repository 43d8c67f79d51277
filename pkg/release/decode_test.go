package release

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"

	"github.com/helmdrift/helmdrift/pkg/report"
)

func TestDecodeHelm3(t *testing.T) {
	text := helmSecret(t, helmRelease("web", 2, helm.StatusDeployed)).Data["release"]
	want := &Record{
		Name: "web", Namespace: "prod", Revision: 2, Status: "deployed",
		ChartName: "web", ChartVersion: "1.2.0", Manifest: manifest,
		Hooks:  []Hook{{Name: "web-migrate", Kind: "Job", Path: "web/templates/job.yaml", Events: []string{"pre-upgrade"}, Manifest: "kind: Job\n"}},
		Writer: WriterHelm3,
	}
	got, err := Decode(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("without values (-want +got):\n%s", d)
	}
	if got, err = Decode(text, Options{Values: true}); err != nil {
		t.Fatal(err)
	}
	config, about, err := got.Values.Decode()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]any{"replicas": 3.0}, config); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	wantAbout := Chart{
		Metadata: &chart.Metadata{Name: "web", Version: "1.2.0", APIVersion: "v2"},
		Values:   map[string]any{"replicas": 2.0},
	}
	if d := cmp.Diff(wantAbout, about); d != "" {
		t.Errorf("chart (-want +got):\n%s", d)
	}
}

func TestDecodeHelm4(t *testing.T) {
	got, err := Decode(pack(t, helm4JSON(t)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &Record{
		Name: "web", Namespace: "prod", Revision: 2, Status: "deployed",
		ChartName: "web", ChartVersion: "1.2.0", Manifest: manifest,
		Hooks:       []Hook{{Name: "web-migrate", Kind: "Job", Path: "web/templates/job.yaml", Events: []string{"pre-upgrade"}, Manifest: "kind: Job\n"}},
		ApplyMethod: report.ApplyServerSide, Writer: WriterHelm4,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err = Decode(pack(t, helm4JSON(t)), Options{Chart: true}); err != nil {
		t.Fatal(err)
	}
	var stored struct{ Templates []struct{ Name string } }
	if err := json.Unmarshal(got.StoredChart, &stored); err != nil || len(stored.Templates) == 0 {
		t.Errorf("the chart has the templates %v, %v", stored.Templates, err)
	}
}

// TestDecodeTolerates decodes records that are unusual but valid.
func TestDecodeTolerates(t *testing.T) {
	plain := marshal(t, helmRelease("web", 2, helm.StatusDeployed))
	var folded bytes.Buffer
	for text := pack(t, plain); len(text) > 0; text = text[min(76, len(text)):] {
		folded.Write(append(text[:min(76, len(text)):min(76, len(text))], "\r\n"...))
	}
	for name, text := range map[string][]byte{
		"not compressed":      b64(plain),
		"line breaks":         folded.Bytes(),
		"spaces around":       []byte("\n  " + string(pack(t, plain)) + "\n"),
		"two gzip members":    b64(append(zip(t, plain[:99]), zip(t, plain[99:])...)),
		"unknown fields":      pack(t, append([]byte(`{"later":{"a":[1,"x",null]},`), plain[1:]...)),
		"white space":         b64(append([]byte("\n\t "), plain...)),
		"at the limit":        pack(t, append(bytes.Repeat([]byte(" "), 1<<20-len(plain)), plain...)),
		"plain, at the limit": b64(append(bytes.Repeat([]byte(" "), 1<<20-len(plain)), plain...)),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Decode(text, Options{Limit: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if r.Manifest != manifest || r.Revision != 2 {
				t.Errorf("got revision %d and manifest %q", r.Revision, r.Manifest)
			}
		})
	}
}

// TestDecodeShapes decodes small records.
func TestDecodeShapes(t *testing.T) {
	for _, tc := range []struct {
		name, json string
		want       Record
	}{
		{"no manifest", `{"name":"web","version":1}`, Record{}},
		{"nulls", `{"name":"web","version":1,"info":null,"chart":null,"config":null,"manifest":null,"hooks":null}`, Record{}},
		{"client-side by Helm 4", `{"name":"web","version":1,"apply_method":"csa"}`, Record{ApplyMethod: report.ApplyClientSide, Writer: "4"}},
		{"Helm 3's record rewritten by Helm 4", `{"name":"web","version":1,"chart":{"schemamodtime":"0001-01-01T00:00:00Z"}}`, Record{Writer: "4"}},
		{"uninstalled, by either", `{"name":"web","version":1,"info":{"status":"uninstalled","deleted":"2026-01-02T03:04:05Z"}}`, Record{Status: "uninstalled"}},
		{"hook with nothing in it", `{"name":"web","version":1,"hooks":[null,{}]}`, Record{Hooks: []Hook{{}, {}}}},
		{"hooks given twice", `{"name":"web","version":1,"hooks":[{},{}],"hooks":[{"name":"a"}]}`, Record{Hooks: []Hook{{Name: "a"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Decode(pack(t, []byte(tc.json)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Name, tc.want.Revision = "web", 1
			if d := cmp.Diff(&tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got, err = Decode(pack(t, []byte(tc.json)), Options{Values: true}); err != nil || got.Values == nil {
				t.Fatalf("with values: %v, error %v", got, err)
			}
			if _, _, err := got.Values.Decode(); err != nil {
				t.Errorf("values: %v", err)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	const nobody, later = "Helm cannot read it either", "latest helmdrift"
	packed := func(text string) []byte { return pack(t, []byte(text)) }
	corrupt := zip(t, helm4JSON(t))
	corrupt[len(corrupt)-6] ^= 1 // in the checksum
	for _, tc := range []struct {
		name       string
		text       []byte
		hint, want string
	}{
		{"nothing", nil, nobody, "the record is empty"},
		{"white space", []byte("\n \n"), nobody, "the record is empty"},
		{"not base64", []byte("{\"name\":\"web\"}"), nobody, "the record is not base64"},
		{"base64 of text", b64([]byte("hello")), later, "neither gzip nor a JSON object"},
		{"base64 of zstd", b64([]byte("\x28\xb5\x2f\xfd\x00")), later, "neither gzip nor a JSON object"},
		{"gzip of nothing", pack(t, nil), later, "neither gzip nor a JSON object"},
		{"gzip of base64", pack(t, b64([]byte("{}"))), later, "neither gzip nor a JSON object"},
		{"list", packed("[]"), later, "neither gzip nor a JSON object"},
		{"null", packed("null"), later, "neither gzip nor a JSON object"},
		{"magic only", b64([]byte(gzipMagic)), nobody, "the record is cut short"},
		{"checksum", b64(corrupt), nobody, "gzip: invalid checksum"},
		{"garbage after gzip", b64(append(zip(t, []byte("{}")), "trailing garbage"...)), nobody, "the compressed record is damaged"},
		{"garbage after JSON", packed(`{"name":"web","version":1}x`), nobody, "invalid character 'x' after top-level value"},
		{"two records", packed(`{"name":"web","version":1}{"name":"web","version":2}`), nobody, "after top-level value"},
		{"cut JSON", packed(`{"name":"web","version":1,"manifest":"a`), nobody, "unexpected end of JSON"},
		{"other JSON", packed(`{"kind":"Secret"}`), nobody, "it lacks a name or a version"},
		{"no version", packed(`{"name":"web"}`), nobody, "it lacks a name or a version"},
		{"negative version", packed(`{"name":"web","version":-1}`), nobody, "it lacks a name or a version"},
		{"version is text", packed(`{"name":"web","version":"1"}`), nobody, "version holds a JSON string where int is expected"},
		{"version is a fraction", packed(`{"name":"web","version":1.5}`), nobody, "version holds a JSON number where int is expected"},
		{"version is huge", packed(`{"name":"web","version":1e99}`), nobody, "version holds a JSON number where int is expected"},
		{"manifest is a number", packed(`{"name":"web","version":1,"manifest":1}`), nobody, "manifest holds a JSON number where string is expected"},
		{"manifest is a map", packed(`{"name":"web","version":1,"manifest":{}}`), nobody, "manifest holds a JSON object where string is expected"},
		{"chart is text", packed(`{"name":"web","version":1,"chart":"x"}`), nobody, "chart holds a JSON string"},
		{"chart name is a list", packed(`{"name":"web","version":1,"chart":{"metadata":{"name":[]}}}`), nobody, "chart.metadata.name holds a JSON array"},
		{"hooks is a map", packed(`{"name":"web","version":1,"hooks":{}}`), nobody, "hooks is not a list"},
		{"hook name is a list", packed(`{"name":"web","version":1,"hooks":[{"name":[]}]}`), nobody, "hooks.name holds a JSON array"},
		{"hook is text", packed(`{"name":"web","version":1,"hooks":["x"]}`), nobody, "hooks holds a JSON string"},
		{"too many hooks", packed(`{"name":"web","version":1,"hooks":[` + strings.Repeat("{},", 10_000) + `{}]}`), nobody, "more than 10000 hooks"},
		{"deep", packed(`{"x":` + strings.Repeat("[", 20_000)), nobody, "exceeded max depth"},
		{"apply method", packed(`{"name":"web","version":1,"apply_method":"dsa"}`), later, `apply_method is "dsa"`},
		{"too large", packed(`{"name":"web","version":1,"manifest":"` + strings.Repeat("a", 1<<20) + `"}`), "--show-managed-fields", "larger than 1 MiB unpacked"},
		{"too large, plain", b64([]byte(`{"name":"web","version":1,"manifest":"` + strings.Repeat("a", 1<<20) + `"}`)), "--show-managed-fields", "larger than 1 MiB unpacked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Decode(tc.text, Options{Limit: 1 << 20})
			wantError(t, err, tc.hint, tc.want)
		})
	}
}

// TestDecodeRefusesValues checks that wrong types of values are errors, but only for those who ask for values.
func TestDecodeRefusesValues(t *testing.T) {
	for field, text := range map[string]string{
		"config":       `{"name":"web","version":1,"config":[1]}`,
		"chart.values": `{"name":"web","version":1,"chart":{"values":"x"}}`,
	} {
		if _, err := Decode(pack(t, []byte(text)), Options{}); err != nil {
			t.Errorf("%s fails without Options.Values: %v", field, err)
		}
		r, err := Decode(pack(t, []byte(text)), Options{Values: true})
		if err == nil {
			_, _, err = r.Values.Decode()
		}
		wantError(t, err, "backup", field+" holds a JSON")
	}
}

// TestDecodeTruncated checks that no part of a record decodes, wherever it is cut.
func TestDecodeTruncated(t *testing.T) {
	plain := marshal(t, helmRelease("web", 2, helm.StatusDeployed))
	for name, text := range map[string][]byte{"gzip": pack(t, plain), "plain": b64(plain)} {
		for n := range len(text) {
			if r, err := Decode(text[:n], Options{}); err == nil {
				t.Fatalf("%s cut to %d of %d bytes decodes to %+v", name, n, len(text), r)
			}
		}
	}
	packed := zip(t, plain)
	for n := range len(packed) {
		if r, err := Decode(b64(packed[:n]), Options{}); err == nil {
			t.Fatalf("gzip data cut to %d of %d bytes decodes to %+v", n, len(packed), r)
		}
	}
}

// TestDecodeBomb checks that a text that fits into a Secret and unpacks to 750 MiB is refused at the limit, and that
// the memory stays within a multiple of the limit.
func TestDecodeBomb(t *testing.T) {
	member := zip(t, bytes.Repeat([]byte(" "), 10<<20))
	for _, tc := range []struct {
		name    string
		members int
		limit   int64
		want    string
	}{
		{"beyond the default", 75, 0, "larger than 64 MiB unpacked"},
		{"one member with its true size", 1, 2 << 20, "larger than 2 MiB unpacked"},
	} {
		text := b64(bytes.Repeat(member, tc.members))
		if len(text) > 1<<20 {
			t.Fatalf("%s: the bomb has %d bytes, too many for a Secret", tc.name, len(text))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(text, Options{Limit: tc.limit})
		runtime.ReadMemStats(&after)
		wantError(t, err, "--show-managed-fields", tc.want)
		// Growing the buffer up to the limit takes three times the limit, and more with the race detector.
		bound := 6 * stdcmp.Or(tc.limit, DefaultLimit)
		if got := int64(after.TotalAlloc - before.TotalAlloc); got > bound {
			t.Errorf("%s: %d MiB were allocated, want no more than %d", tc.name, got>>20, bound>>20)
		}
	}
}
