package values

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// TestHCL writes values as HCL.
func TestHCL(t *testing.T) {
	got := HCL(&absorption.Result{Overlay: map[string]any{
		"replicas": 5, "image": map[string]any{"tag": "1.28", "pull.policy": nil}, "hosts": []any{"a", map[string]any{"b": true}},
		"none": []any{}, "empty": map[string]any{},
	}})
	want := `values = [
  yamlencode({
    "empty" = {}
    "hosts" = [
      "a",
      {
        "b" = true
      },
    ]
    "image" = {
      "pull.policy" = null
      "tag" = "1.28"
    }
    "none" = []
    "replicas" = 5
  }),
]
`
	if _, list, _ := strings.Cut(got, "instead.\n"); list != want {
		t.Errorf("got %s", got)
	}
}

// TestQuoteHCL quotes texts that HCL would otherwise evaluate, or that end its strings.
func TestQuoteHCL(t *testing.T) {
	for text, want := range map[string]string{
		`a`:                   `"a"`,
		`"\`:                  `"\"\\"`,
		"a\nb\tc\r":           `"a\nb\tc\u000d"`,
		`${file("/etc/x")}`:   `"$${file(\"/etc/x\")}"`,
		`%{if true}a%{endif}`: `"%%{if true}a%%{endif}"`,
		`$${a}`:               `"$\u0024{a}"`,
		`$ { %`:               `"$ { %"`,
		"\x1b[31m\u202e":      `"\u001b[31m\u202e"`,
		"é\U000e0001\xff":     `"é\U000e0001` + "\ufffd" + `"`,
	} {
		if got := quoteHCL(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
