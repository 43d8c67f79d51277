package main

import (
	"os"
	"strings"
	"testing"
)

// TestDiffer runs differs of one line each. The first has no answer, the second changes nothing, like the default of the command, and
// the third says that Helm always fails.
func TestDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a program for each case")
	}
	const cases = "../../testdata/conformance"
	var plain strings.Builder
	unchanged, err := run(&plain, cases, nil)
	if err != nil || unchanged == 0 || !strings.Contains(plain.String(), " cases are predicted") {
		t.Fatalf("%v\n%s", err, plain.String())
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
	var out strings.Builder
	if _, err := run(&out, cases, []string{"false"}); err == nil {
		t.Error("a differ that fails is no error")
	}
	fails, err := run(&out, cases, []string{"echo", `{"error":"no"}`})
	if err != nil || fails == 0 || fails == unchanged {
		t.Errorf("%d wrong, %v", fails, err)
	}
	told, err := run(&out, cases, []string{"sed", "-n", `s/^"live": \(.*[^,]\),*$/{"after": \1}/p`})
	if err != nil || told != unchanged {
		t.Errorf("%d wrong, want %d: %v\n%s", told, unchanged, err, out.String())
	}
}
