package main

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestCommandLine: a command in a hint has the flags that were given, in their short form, and no token.
func TestCommandLine(t *testing.T) {
	fs := pflag.NewFlagSet("list", pflag.ContinueOnError)
	c, o := newConnection(func(string) string { return "" }), selectionOptions{}
	c.addFlags(fs)
	o.addFlags(fs)
	given := []string{"-Al", "team in (a, b)", "--status", "failed,deployed", "--all-contexts=false", "--kube-token", "canary", "--kube-as-user", "bob"}
	if err := fs.Parse(given); err != nil {
		t.Fatal(err)
	}
	const want = "helmdrift diff web --kube-as-user bob -A -l 'team in (a, b)' --status failed --status deployed --all-contexts=false"
	if got := commandLine([]string{"helmdrift", "diff", "web"}, fs, selectionFlags()...); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
