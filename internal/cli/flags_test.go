package cli

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestCommandLine checks that a command in a hint has the given flags, in their short form, and no token.
func TestCommandLine(t *testing.T) {
	fs := pflag.NewFlagSet("list", pflag.ContinueOnError)
	c := NewConnection(Streams{Env: func(string) string { return "" }}, "")
	c.AddFlags(fs)
	fs.BoolP("all-namespaces", "A", false, "")
	fs.StringP("selector", "l", "", "")
	fs.StringSlice("status", nil, "")
	fs.Bool("all-contexts", false, "")
	given := []string{"-Al", "team in (a, b)", "--status", "failed,deployed", "--all-contexts=false", "--kube-token", "canary", "--kube-as-user", "bob"}
	if err := fs.Parse(given); err != nil {
		t.Fatal(err)
	}
	const want = "helmdrift diff web --kube-as-user bob -A -l 'team in (a, b)' --status failed --status deployed --all-contexts=false"
	if got := CommandLine([]string{"helmdrift", "diff", "web"}, fs, "all-namespaces", "selector", "status", "all-contexts"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
