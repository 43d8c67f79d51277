package project

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE again")

// root is the folder of the project.
const root = "../.."

// platforms are the systems of a release.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// linkedModule is a module with at least one package in a released binary.
type linkedModule struct {
	path, version, dir string
	// files are the linked Go files by folder, relative to the module.
	files map[string][]string
}

var linkedOnce = sync.OnceValues(func() ([]*linkedModule, error) {
	byPath := map[string]*linkedModule{}
	for _, platform := range platforms {
		if err := addLinked(byPath, platform); err != nil {
			return nil, fmt.Errorf("%s: %w", platform, err)
		}
	}
	var out []*linkedModule
	for _, m := range byPath {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *linkedModule) int { return strings.Compare(a.path, b.path) })
	return out, nil
})

// linked returns the modules of the binaries of all platforms, by path.
func linked(t *testing.T) []*linkedModule {
	t.Helper()
	modules, err := linkedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return modules
}

// addLinked adds the packages that the binary of a platform has.
func addLinked(to map[string]*linkedModule, platform string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,GoFiles,Module", "./cmd/helmdrift")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir     string
			GoFiles []string
			Module  *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || p.Module.Main {
			continue // the standard library and this module
		}
		m := to[p.Module.Path]
		if m == nil {
			m = &linkedModule{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir, files: map[string][]string{}}
			to[m.path] = m
		}
		folder, err := filepath.Rel(m.dir, p.Dir)
		if err != nil {
			return err
		}
		m.files[folder] = append(m.files[folder], p.GoFiles...)
		slices.Sort(m.files[folder])
		m.files[folder] = slices.Compact(m.files[folder])
	}
}

// licences returns the licences of a module, and fails the test on one that it must not have.
func (m *linkedModule) licences(t *testing.T) []string {
	t.Helper()
	files, err := m.licenceFiles()
	if err == nil && len(files) == 0 {
		err = errors.New("has no licence file")
	}
	var out []string
	for _, file := range files {
		found, failed := classify(m.read(t, file))
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s %w", file, failed))
		}
		for _, licence := range found {
			if !slices.Contains(permissive, licence) && reciprocal[m.path] != licence {
				err = errors.Join(err, fmt.Errorf("%s has %s, and reciprocal does not list the module", file, licence))
			}
		}
		out = append(out, found...)
	}
	if err != nil {
		t.Errorf("%s@%s: %v", m.path, m.version, err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *linkedModule) read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

const noticeHead = `helmdrift
Copyright 2026 The helmdrift authors

helmdrift is licensed under the Apache License, Version 2.0; the file LICENSE has its text.

The binaries of helmdrift contain the standard library of Go, which has the licence of golang.org/x/sys below, and packages of the
modules below, unchanged. A test writes this file from the licence files of these modules (go test ./test/project -args -update).
The source of a module, also of those under MPL-2.0, is what "go mod download MODULE@VERSION" fetches.

`

// TestNotice compares NOTICE with the licences of all linked modules.
func TestNotice(t *testing.T) {
	var out, notices strings.Builder
	out.WriteString(noticeHead)
	texts := &licenceTexts{holders: map[string][]string{}, known: map[string]string{}}
	for _, m := range linked(t) {
		fmt.Fprintf(&out, "%s %s  %s\n", m.path, m.version, strings.Join(m.licences(t), " AND "))
		texts.add(t, m)
		addNotice(t, &notices, m)
	}
	out.WriteString("\n" + ruler + "\nNotices that come with modules\n" + ruler + "\n" + notices.String())
	out.WriteString("\n" + ruler + "\nLicences of modules; the Apache License, Version 2.0, is in the file LICENSE\n" + ruler + "\n")
	out.WriteString(texts.String())
	compareFile(t, "NOTICE", out.String())
}

const ruler = "================================================================================"

// addNotice adds the NOTICE files of a module, which section 4(d) of the Apache License wants carried along.
func addNotice(t *testing.T, to *strings.Builder, m *linkedModule) {
	t.Helper()
	files, err := m.named(regexp.MustCompile(`(?i)^notice(\.txt|\.md)?$`))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		fmt.Fprintf(to, "\n--- %s, %s\n\n%s\n", m.path, file, trimmed(m.read(t, file)))
	}
}

// licenceTexts are the texts of licences, each once, with the modules that have it and the lines that name their holders.
type licenceTexts struct {
	texts   []string
	holders map[string][]string
	// known has the first text by its words.
	known map[string]string
}

func (l *licenceTexts) add(t *testing.T, m *linkedModule) {
	t.Helper()
	files, err := m.licenceFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text := trimmed(apacheTerms.ReplaceAllString(m.read(t, file), "[the terms of the Apache License, Version 2.0]\n"))
		if strings.HasPrefix(text, "[the terms") && !strings.Contains(text, "Redistribution") && !strings.Contains(text, "hereby granted") {
			continue // it has nothing but the Apache License
		}
		holder := m.path
		if dir := filepath.Dir(file); dir != "." {
			holder += "/" + dir
		}
		for _, line := range ownLines.FindAllString(text, -1) {
			if strings.Contains(line, "opyright") {
				holder += "\n    " + strings.TrimSpace(line)
			}
		}
		l.hold(trimmed(ownLines.ReplaceAllString(text, "")), holder)
	}
}

// hold adds a holder of a text.
func (l *licenceTexts) hold(text, holder string) {
	words := normalize(text)
	if l.known[words] == "" {
		l.known[words], l.texts = text, append(l.texts, text)
	}
	l.holders[l.known[words]] = append(l.holders[l.known[words]], holder)
}

// ownLines matches the lines that differ between otherwise equal licences: the title and the names of the holders.
var ownLines = regexp.MustCompile(`(?mi)^[ \t>]*(\(?(The )?(MIT|ISC) License( \(MIT\))?\)?|` +
	`(Portions )?Copyright (\(c\)|©|\d).*|All rights reserved\.?)[ \t]*(\n|$)`)

// apacheTerms matches the terms of the Apache License.
var apacheTerms = regexp.MustCompile(`(?s)[ \t]*Apache License\s+Version 2\.0, January 2004.*?END OF TERMS AND CONDITIONS\s*`)

func (l *licenceTexts) String() string {
	var out strings.Builder
	for _, text := range l.texts {
		fmt.Fprintf(&out, "\n--- %s\n\n%s\n", strings.Join(l.holders[text], "\n--- "), text)
	}
	return out.String()
}

// trimmed returns a text without empty lines around it and without space at the ends of lines.
func trimmed(text string) string {
	return strings.Trim(regexp.MustCompile(`(?m)[ \t\f]+$`).ReplaceAllString(text, ""), "\n")
}

// compareFile compares a file of the project with what it must be, or writes it.
func compareFile(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(root, name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		have, need := lineAt(gotLines, i), lineAt(wantLines, i)
		if have != need {
			t.Fatalf("%s is not current (go test ./test/project -args -update); line %d is\n%s\nwant\n%s", name, i+1, have, need)
		}
	}
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "the end"
	}
	return lines[i]
}
