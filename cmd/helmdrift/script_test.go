package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helmdrift/helmdrift/internal/cli"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

// TestMain makes the program and its children commands of the scripts; both are this test binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"helmdrift": main, cli.ChildName: main})
}

// TestScripts runs testdata/script: what a user types and sees without a cluster or with a fake one (see plane). Scripts that need a real
// cluster are in test/e2e.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// The machine's own configuration must have no effect.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", env.WorkDir+"/kubeconfig")
			env.Values[planeKey{}] = &plane{}
			return nil
		},
		Cmds:          commands(),
		UpdateScripts: *update,
	})
}

// commands are the commands of scripts in addition to those of testscript.
func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := planeCommands()
	all["terminal"] = onTerminal
	return all
}
