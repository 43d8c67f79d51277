// Command changelog keeps CHANGELOG.md from entries, one file of changelog.d for each change.
//
//	changelog check              reports whether all entries are well-formed
//	changelog assemble v0.2.0    moves the entries into CHANGELOG.md, as the section of a version
//	changelog notes v0.2.0       prints the section of a version as the text of its release
//	changelog api APIDIFF        compares the packages for programs with the last tag, by the program APIDIFF (golang.org/x/exp/cmd/apidiff);
//	                             an incompatible change that no entry names is an error
//
// It runs in the folder of the project.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(".", os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

func run(dir string, out io.Writer, args []string) error {
	entries, err := readEntries(dir)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "check":
		_, err := fmt.Fprintf(out, "changelog.d: %d entries\n", len(entries))
		return err
	case len(args) == 2 && args[0] == "assemble":
		return assemble(dir, args[1], time.Now(), entries)
	case len(args) == 2 && args[0] == "notes":
		text, err := notes(dir, args[1], entries)
		if err == nil {
			_, err = io.WriteString(out, text)
		}
		return err
	case len(args) == 2 && args[0] == "api":
		return checkAPI(dir, out, args[1], entries)
	}
	return errors.New("usage: changelog check | assemble VERSION | notes VERSION | api APIDIFF")
}

// kinds are the kinds of entries, in the order of a section.
var kinds = []string{"security", "added", "changed", "deprecated", "removed", "fixed"}

// entry is one file of changelog.d.
type entry struct {
	file, kind string
	// api are the incompatible changes for programs, as apidiff writes them.
	api  []string
	text string
}

func readEntries(dir string) ([]entry, error) {
	files, err := filepath.Glob(filepath.Join(dir, "changelog.d", "*.md"))
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, file := range files {
		if filepath.Base(file) == "README.md" {
			continue
		}
		text, failed := os.ReadFile(file)
		e, wrong := parseEntry(string(text))
		if failed = errors.Join(failed, wrong); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", file, failed))
		}
		e.file = file
		out = append(out, e)
	}
	return out, err
}

// parseEntry reads an entry: its head, an empty line, and the text.
func parseEntry(text string) (e entry, err error) {
	head, body, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "kind":
			e.kind = value
		case "api":
			e.api = append(e.api, value)
		default:
			err = errors.Join(err, fmt.Errorf("line %q is neither kind nor api", strings.TrimSpace(line)))
		}
	}
	e.text = strings.TrimSpace(body)
	if !slices.Contains(kinds, e.kind) {
		err = errors.Join(err, fmt.Errorf("kind %q is none of %s", e.kind, strings.Join(kinds, ", ")))
	}
	if e.text == "" || !regexp.MustCompile(`[.!:)\x60]$`).MatchString(e.text) || strings.Contains(e.text, "\n\n") {
		err = errors.Join(err, errors.New("the text is not one paragraph of whole sentences"))
	}
	for line := range strings.Lines(e.text) {
		if len(strings.TrimSpace(line)) > 140 {
			err = errors.Join(err, fmt.Errorf("longer than 140 columns: %q", line))
		}
	}
	return e, err
}

// assemble writes the entries into CHANGELOG.md, before the section of the latest version, and deletes their files. An existing
// unreleased section, as for the first version, gets its date if there are no entries.
func assemble(dir, version string, now time.Time, entries []entry) error {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[\w.]+)?$`).MatchString(version) {
		return fmt.Errorf("%q is no version such as v0.2.0", version)
	}
	file := filepath.Join(dir, "CHANGELOG.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	dated := fmt.Sprintf("\n## %s (%s)\n", version, now.UTC().Format(time.DateOnly))
	if unreleased := "\n## " + version + " (unreleased)\n"; len(entries) == 0 && strings.Contains(string(text), unreleased) {
		return os.WriteFile(file, []byte(strings.Replace(string(text), unreleased, dated, 1)), 0o644)
	}
	if len(entries) == 0 {
		return errors.New("changelog.d has no entries")
	}
	at := strings.Index(string(text), "\n## ")
	if at < 0 || strings.Contains(string(text), "\n## "+version+" ") {
		return fmt.Errorf("%s has no section, or has one of %s", file, version)
	}
	if err := os.WriteFile(file, []byte(string(text[:at])+dated+sectionOf(entries)+string(text[at:])), 0o644); err != nil {
		return err
	}
	for _, e := range entries {
		err = errors.Join(err, os.Remove(e.file))
	}
	return err
}

// sectionOf returns the entries by kind.
func sectionOf(entries []entry) string {
	var out strings.Builder
	for _, kind := range kinds {
		title := "\n### " + strings.ToUpper(kind[:1]) + kind[1:] + "\n\n"
		for _, e := range entries {
			if e.kind != kind {
				continue
			}
			out.WriteString(title + "* " + strings.ReplaceAll(e.text, "\n", "\n  ") + "\n")
			title = ""
			for _, change := range e.api {
				out.WriteString("  * for programs: `" + change + "`\n")
			}
		}
	}
	return out.String()
}
