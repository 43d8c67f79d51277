package search

import (
	"bytes"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/secret"
)

// TestNote checks that a message shows no secret: controllers and API servers say what it quotes.
func TestNote(t *testing.T) {
	var shown bytes.Buffer
	known := &secret.Known{}
	known.Add("canary-known")
	j := &Search{Streams: cli.Streams{Err: &shown, Env: func(string) string { return "" }, Known: known}}
	j.Note("fetching https://bot:canary-login@git.example.com/shop.git: canary-known is no branch")
	if got := shown.String(); strings.Contains(got, "canary") || !strings.Contains(got, "is no branch") {
		t.Errorf("it says %q", got)
	}
}
