package secret_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/internal/tokens"
)

// benchText is a manifest and a log of some 40 KB, without secrets, as most texts are.
func benchText() string {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-%d\n  labels: {app.kubernetes.io/name: web}\nspec:\n"+
			"  replicas: 2\n  template:\n    spec:\n      containers:\n      - name: web\n        image: registry.example.com/team/web:1.%d\n"+
			"        args: [--port, \"8080\", --config=/etc/web/web.yaml]\n", i, i)
	}
	return b.String()
}

// benchKnown knows as many secrets as the releases of one namespace have.
func benchKnown() *secret.Known {
	k := &secret.Known{}
	for i := range 100 {
		k.AddObject("", "Secret", map[string]any{"kind": "Secret", "data": map[string]any{
			"password": base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "correct-horse-%d-battery", i*7919)),
			"pin":      base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "pin%d", i)),
		}})
	}
	return k
}

func BenchmarkScrub(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secret.Scrub(text)
	}
}

func BenchmarkKnown(b *testing.B) {
	for b.Loop() {
		benchKnown().Scrub("x")
	}
}

func BenchmarkKnownScrub(b *testing.B) {
	text, k := benchText(), benchKnown()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		k.Scrub(text)
	}
}

func BenchmarkKnownScrubLine(b *testing.B) {
	k := benchKnown()
	for b.Loop() {
		k.Scrub("        image: registry.example.com/team/web:1.27")
	}
}

func BenchmarkHolds(b *testing.B) {
	text, k := benchText(), benchKnown()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		k.Holds(text)
	}
}

func BenchmarkMasker(b *testing.B) {
	text, m := benchText(), tokens.NewMasker(benchKnown(), nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Text(text)
	}
}
