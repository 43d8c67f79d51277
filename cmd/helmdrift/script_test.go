package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

// TestMain makes the program itself a command of the scripts, in this process, and its children too.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"helmdrift": main, childName: main})
}

// TestScripts runs testdata/script: what a user types and sees where no cluster answers, or one that only seems to be one (see
// plane). What needs a real one is in test/e2e.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// Nothing of the machine's own configuration may leak in.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", env.WorkDir+"/kubeconfig")
			env.Values[planeKey{}] = &plane{}
			return nil
		},
		Cmds:          commands(),
		UpdateScripts: *update,
	})
}

// commands are what scripts can say beside what testscript knows.
func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := planeCommands()
	all["terminal"] = onTerminal
	return all
}
