package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// TestRun writes the bill of this test, and reads it again. It has the modules of the test, and is the same each time.
func TestRun(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]string
	for i := range texts {
		file := filepath.Join(t.TempDir(), "bill.json")
		if err := run(program, file); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] {
		t.Error("the same program has two bills")
	}
	bom := new(cyclonedx.BOM)
	if err := cyclonedx.NewBOMDecoder(strings.NewReader(texts[0]), cyclonedx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range *bom.Components {
		name, version, _ := strings.Cut(c.PackageURL, "@")
		found[name] = strings.HasPrefix(version, "v")
	}
	if !found["pkg:golang/stdlib"] || !found["pkg:golang/github.com/CycloneDX/cyclonedx-go"] {
		t.Errorf("the bill has %v", found)
	}
	if bom.Metadata.Component.Name != "github.com/helmdrift/helmdrift/tools/release" || bom.Metadata.Timestamp != "" {
		t.Errorf("the bill is about %+v", bom.Metadata.Component)
	}
}

// TestRefused checks that a file which is no program has no bill.
func TestRefused(t *testing.T) {
	if err := run("main.go", filepath.Join(t.TempDir(), "bill.json")); err == nil {
		t.Error("a file that is no program has a bill")
	}
}
