package release

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const manifest = "---\n# Source: web/templates/cm.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"

// helmRelease returns a release as Helm 3 has it before it stores it.
func helmRelease(name string, revision int, status helm.Status) *helm.Release {
	at := helmtime.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return &helm.Release{
		Name: name, Namespace: "prod", Version: revision,
		Info: &helm.Info{FirstDeployed: at, LastDeployed: at, Status: status, Description: "Upgrade complete"},
		Chart: &chart.Chart{
			Metadata:  &chart.Metadata{Name: "web", Version: "1.2.0", APIVersion: "v2"},
			Values:    map[string]any{"replicas": 2},
			Templates: []*chart.File{{Name: "templates/cm.yaml", Data: []byte("kind: ConfigMap\n")}},
		},
		Config:   map[string]any{"replicas": 3},
		Manifest: manifest,
		Hooks: []*helm.Hook{{
			Name: "web-migrate", Kind: "Job", Path: "web/templates/job.yaml",
			Manifest: "kind: Job\n", Events: []helm.HookEvent{helm.HookPreUpgrade},
		}},
	}
}

// secretSink and configMapSink store what Helm's own storage drivers create.
type secretSink struct {
	typedcorev1.SecretInterface
	got *corev1.Secret
}

func (s *secretSink) Create(_ context.Context, o *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	s.got = o
	return o, nil
}

type configMapSink struct {
	typedcorev1.ConfigMapInterface
	got *corev1.ConfigMap
}

func (s *configMapSink) Create(_ context.Context, o *corev1.ConfigMap, _ metav1.CreateOptions) (*corev1.ConfigMap, error) {
	s.got = o
	return o, nil
}

// helmSecret returns the Secret that Helm's own driver creates for a release.
func helmSecret(tb testing.TB, rel *helm.Release) *corev1.Secret {
	tb.Helper()
	sink := &secretSink{}
	if err := driver.NewSecrets(sink).Create(objectName(rel.Name, rel.Version), rel); err != nil {
		tb.Fatal(err)
	}
	return sink.got
}

// helmConfigMap returns the ConfigMap that Helm's own driver creates for a release.
func helmConfigMap(tb testing.TB, rel *helm.Release) *corev1.ConfigMap {
	tb.Helper()
	sink := &configMapSink{}
	if err := driver.NewConfigMaps(sink).Create(objectName(rel.Name, rel.Version), rel); err != nil {
		tb.Fatal(err)
	}
	return sink.got
}

// helm4JSON returns a record that was marshalled with Helm 4.3.1's own types.
func helm4JSON(tb testing.TB) []byte {
	tb.Helper()
	data, err := os.ReadFile("testdata/helm4.json")
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// pack encodes JSON as Helm stores it.
func pack(tb testing.TB, data []byte) []byte { return b64(zip(tb, data)) }

func b64(data []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(data)) }

func zip(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func marshal(tb testing.TB, v any) []byte {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// wantError checks that an error contains the given pieces of text, and that its hint contains hint.
func wantError(t *testing.T, err error, hint string, pieces ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", pieces)
	}
	for _, p := range pieces {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
	var h interface{ Hint() string }
	if !errors.As(err, &h) {
		if hint != "" {
			t.Errorf("error %q has no hint, want %q", err, hint)
		}
		return
	}
	if hint == "" || !strings.Contains(h.Hint(), hint) {
		t.Errorf("hint %q lacks %q", h.Hint(), hint)
	}
	if strings.Contains(fmt.Sprint(err), h.Hint()) {
		t.Errorf("error %q repeats its hint", err)
	}
}
