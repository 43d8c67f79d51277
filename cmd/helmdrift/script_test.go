package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the program itself a command of the scripts, in this process.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"helmdrift": main})
}

// TestScripts runs testdata/script: what a user types and sees where no cluster answers. What needs one is in test/e2e.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// Nothing of the machine's own configuration may leak in.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("KUBECONFIG", env.WorkDir+"/kubeconfig")
			return nil
		},
	})
}
