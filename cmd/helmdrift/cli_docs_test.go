package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/cli"
)

var (
	updateDocs = flag.Bool("update-docs", false, "write docs/cli.md again")
	manFolder  = flag.String("man", "", "write the manual pages to this folder; a release has them")
)

// emptyEnv is an environment without variables, so that flags have the defaults of a new machine.
func emptyEnv(string) string { return "" }

// TestCLIReference checks that docs/cli.md has the help of every command.
func TestCLIReference(t *testing.T) {
	const file = "../../docs/cli.md"
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page has the help of every command. [environment.md](environment.md) has the exit codes and the environment variables.\n" +
		"(`make docs` writes this page.)\n")
	for _, cmd := range documented() {
		var help bytes.Buffer
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n", cmd.CommandPath(), strings.Trim(help.String(), "\n"))
	}
	if *updateDocs {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != b.String() {
		t.Errorf("docs/cli.md is not what the commands say (%v): go test ./cmd/helmdrift -run TestCLIReference -args -update-docs", err)
	}
}

// documented returns the root command and the visible commands below it.
func documented() []*cobra.Command {
	root := newRoot(cli.Streams{Env: emptyEnv})
	all := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			all = append(all, cmd)
		}
	}
	return all
}

// TestManPages makes the manual pages, and checks that each names all visible flags of its command.
func TestManPages(t *testing.T) {
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	root := newRoot(cli.Streams{Env: emptyEnv})
	root.DisableAutoGenTag = true // it has today's date
	released := time.Unix(0, 0).UTC()
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "helmdrift", Manual: "helmdrift", Date: &released}, folder); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range documented() {
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !bytes.Contains(page, []byte("--"+f.Name+`\fP`)) {
				t.Errorf("the manual page of %s lacks --%s", cmd.CommandPath(), f.Name)
			}
		})
	}
}
