package jobs

import (
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestWeight weighs a list of a thousand maps with one key.
func TestWeight(t *testing.T) {
	m := render.Parse("kind: A\napiVersion: v1\nmetadata: {name: a}\ndata: ["+strings.Repeat("{a},", 1000)+"]\n", render.ParseOptions{})
	if w := weight(m); w < 2000*weightOfValue || w > 2100*weightOfValue {
		t.Errorf("weight %d", w)
	}
}
