package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// command is a call of helmdrift in a code block of a page: at the beginning of a line, after a prompt, or as a step of a job.
var command = regexp.MustCompile(`(?m)^[ \t]*(?:\$ |- |sh ')?helmdrift ([^\n|;>#]*)`)

// codeBlock is a fenced block of a page, with its language.
var codeBlock = regexp.MustCompile("(?ms)^```(\\w*)\\n(.*?)^```$")

// TestCommandsInDocs checks that every call of helmdrift in the pages has a command and flags that exist.
func TestCommandsInDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	calls := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			joined := strings.ReplaceAll(block[2], "\\\n", " ")
			for _, call := range command.FindAllStringSubmatch(joined, -1) {
				if strings.Contains(call[1], "…") || strings.Contains(call[1], " puts back ") { // a sketch, or a line that helmdrift prints
					continue
				}
				calls++
				args := strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(call[1]))
				cmd, rest, err := newRoot(streams{env: func(string) string { return "" }}).Find(args)
				if err == nil {
					err = cmd.ParseFlags(rest)
				}
				if err != nil && !errors.Is(err, pflag.ErrHelp) {
					t.Errorf("%s: helmdrift %s: %v", filepath.Base(page), call[1], err)
				}
			}
		}
	}
	if calls < 20 {
		t.Errorf("%d calls were found", calls)
	}
}

// TestYAMLInDocs checks that every YAML of the pages can be read. The cases of verdicts.md have tests of their own.
func TestYAMLInDocs(t *testing.T) {
	pages, _ := filepath.Glob("../../docs/*.md")
	for _, page := range append(pages, "../../README.md") {
		if filepath.Base(page) == "verdicts.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			var document any
			if block[1] != "yaml" {
				continue
			}
			if err := yaml.Unmarshal([]byte(block[2]), &document); err != nil {
				t.Errorf("%s: %v\n%s", filepath.Base(page), err, block[2])
			}
		}
	}
}
