// Sbom writes the bill of materials of a Go program in CycloneDX's JSON: the modules that the linker recorded in the binary, and nothing
// that is merely in go.sum. The same binary always has the same bill, so it has no time and its serial number is made from the binary.
//
//	sbom BINARY FILE
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: sbom BINARY FILE")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatalf("sbom: %v", err)
	}
}

// run writes the bill of a binary to a file.
func run(binary, file string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.Encode(bill(info, sha256.Sum256(program))); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// bill returns the bill of a program with this sum. It depends on every module directly: the linker does not record who needs whom.
func bill(info *buildinfo.BuildInfo, sum [sha256.Size]byte) *cyclonedx.BOM {
	program := component(&info.Main, linkedVersion(info))
	program.Type = cyclonedx.ComponentTypeApplication
	program.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	// The standard library is named as vulnerability databases name it.
	modules := []*debug.Module{{Path: "stdlib", Version: "v" + strings.TrimPrefix(info.GoVersion, "go")}}
	var parts []cyclonedx.Component
	var refs []string
	for _, m := range append(modules, info.Deps...) {
		if m.Replace != nil {
			m = m.Replace
		}
		part := component(m, m.Version)
		parts, refs = append(parts, part), append(refs, part.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid(sum)
	bom.Metadata = &cyclonedx.Metadata{Component: &program}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bom
}

// uuid returns a UUID of version 8 (RFC 9562) that is made from a sum.
func uuid(sum [sha256.Size]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// component returns the entry of a module.
func component(m *debug.Module, version string) cyclonedx.Component {
	url := "pkg:golang/" + m.Path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: version, PackageURL: url}
}

// linkedVersion returns the version that the linker was told, or else the module's.
func linkedVersion(info *buildinfo.BuildInfo) string {
	for _, setting := range info.Settings {
		if setting.Key != "-ldflags" {
			continue
		}
		_, version, _ := strings.Cut(setting.Value, "main.version=")
		version, _, _ = strings.Cut(version, " ")
		if version = strings.Trim(version, `"'`); version != "" {
			return version
		}
	}
	return info.Main.Version
}
