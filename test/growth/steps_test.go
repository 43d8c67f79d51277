package growth

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/coverage"
	"strings"
	"testing"
)

// countsSteps is set if the test counts steps too. The program must have the counters of go test -cover -covermode=atomic.
var countsSteps = flag.Bool("steps", false, "count steps")

// TestMain runs the tests. The package testing makes the counters readable when its first run ends, so a short run comes first if the test
// counts.
func TestMain(m *testing.M) {
	flag.Parse()
	if *countsSteps {
		run := flag.Lookup("test.run").Value
		wanted := run.String()
		_ = run.Set("^TestFunctionsAreTried$")
		if code := m.Run(); code != 0 {
			os.Exit(code)
		}
		_ = run.Set(wanted)
	}
	os.Exit(m.Run())
}

// clearSteps sets the counters to 0.
func clearSteps(t *testing.T) {
	t.Helper()
	if !*countsSteps {
		return
	}
	if err := coverage.ClearCounters(); err != nil {
		t.Fatal(err)
	}
}

// steps returns how many steps the code of this module has taken since clearSteps. It reads the format of the counters (go1.26
// internal/coverage/defs.go).
func steps(t *testing.T) uint64 {
	t.Helper()
	if !*countsSteps {
		return 0
	}
	var file bytes.Buffer
	if err := coverage.WriteCounters(&file); err != nil {
		t.Fatal(err)
	}
	const header, flavour, uleb128 = 32, 24, 2
	if file.Bytes()[flavour] != uleb128 {
		t.Fatal("the counters have a format that this test cannot read")
	}
	var segment struct {
		Functions         uint64
		Strings, Argument uint32
	}
	file.Next(header)
	if err := binary.Read(&file, binary.LittleEndian, &segment); err != nil {
		t.Fatal(err)
	}
	file.Next(int(segment.Strings + segment.Argument))
	sum := uint64(0)
	next := func() uint64 {
		n, err := binary.ReadUvarint(&file)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range segment.Functions {
		counters, _, _ := next(), next(), next()
		for range counters {
			sum += next()
		}
	}
	return sum
}

// mostExecuted returns the statements that ran most often since clearSteps.
func mostExecuted(t *testing.T) string {
	t.Helper()
	if !*countsSteps {
		return ""
	}
	dir := t.TempDir()
	profile := filepath.Join(dir, "profile")
	if err := coverage.WriteMetaDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := coverage.WriteCountersDir(dir); err != nil {
		t.Fatal(err)
	}
	convert := exec.CommandContext(t.Context(), "go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile)
	if out, err := convert.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	place, most := "", 0
	for line := range strings.Lines(string(text)) {
		var at string
		var statements, count int
		if _, err := fmt.Sscan(line, &at, &statements, &count); err == nil && count > most {
			place, most = at, count
		}
	}
	return fmt.Sprintf(", %d of them at %s", most, place)
}
