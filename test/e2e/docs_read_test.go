package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docPage is a page of the documentation with the commands of its blocks sh and console.
type docPage struct {
	// file is the path from the root of the repository.
	file     string
	text     string
	commands []*docCommand
}

// docCommand is one command of a page, with what the page says that it prints.
type docCommand struct {
	// block counts the blocks of the page that have commands, from 1.
	block, line int
	text        string
	// shown is the output on the page. It is empty in a block sh, and for a command of a block console without lines below it.
	shown string
	// from and to enclose shown in the text of the page.
	from, to int
	// checked reports whether the next command prints the exit code.
	checked bool
}

// commandBlock is a fenced block with commands.
var commandBlock = regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```$")

// readDocPages reads README.md and the pages of docs and docs/dev.
func readDocPages(t *testing.T) []*docPage {
	t.Helper()
	var pages []*docPage
	for _, file := range docFiles(t) {
		text, err := os.ReadFile(file)
		must(t, err)
		name, _ := filepath.Rel("../..", file)
		p := &docPage{file: name, text: string(text)}
		p.readCommands()
		pages = append(pages, p)
	}
	return pages
}

// docFiles returns the paths of README.md and of the pages in docs and docs/dev.
func docFiles(t *testing.T) []string {
	t.Helper()
	files := []string{"../../README.md"}
	for _, dir := range []string{"docs", "docs/dev"} {
		found, err := filepath.Glob("../../" + dir + "/*.md")
		if err != nil || len(found) == 0 {
			t.Fatal(dir, found, err)
		}
		files = append(files, found...)
	}
	return files
}

// readCommands reads the commands of all blocks.
func (p *docPage) readCommands() {
	for i, at := range commandBlock.FindAllStringSubmatchIndex(p.text, -1) {
		if strings.HasPrefix(p.text[at[4]:at[5]], "#!") { // a script to save, and no commands to type
			continue
		}
		read := readShell
		if p.text[at[2]:at[3]] == "console" {
			read = readConsole
		}
		for _, c := range read(p.text[at[4]:at[5]]) {
			c.block, c.from, c.to = i+1, c.from+at[4], c.to+at[4]
			c.line = 1 + strings.Count(p.text[:c.from], "\n")
			p.commands = append(p.commands, c)
		}
	}
	for i, c := range p.commands[:max(len(p.commands)-1, 0)] {
		c.checked = strings.HasPrefix(p.commands[i+1].text, "echo $?")
	}
}

// hereDocument is the beginning of a text that ends with a line of its own.
var hereDocument = regexp.MustCompile(`<<-?'?(\w+)'?`)

// readShell splits the text of a block sh into commands. A command goes on after a backslash, and until the end of its here-document.
func readShell(text string) (out []*docCommand) {
	var current *docCommand
	end, at := "", 0
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		bare := strings.TrimRight(line, "\n")
		switch {
		case current == nil && (strings.TrimSpace(bare) == "" || strings.HasPrefix(bare, "#")):
			continue
		case current == nil:
			current = &docCommand{from: start, to: start}
			fallthrough
		default:
			current.text += line
		}
		if here := hereDocument.FindStringSubmatch(bare); here != nil && end == "" {
			end = here[1]
		} else if bare == end {
			end = ""
		}
		if end == "" && !strings.HasSuffix(bare, `\`) {
			out, current = append(out, current), nil
		}
	}
	return out
}

// readConsole splits the text of a block console into commands, which follow "$ " and "> ", and their output.
func readConsole(text string) (out []*docCommand) {
	var current *docCommand
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			current = &docCommand{text: command, from: at, to: at}
			out = append(out, current)
			continue
		}
		if current == nil {
			continue
		}
		if more, ok := strings.CutPrefix(line, "> "); ok && current.shown == "" {
			current.text += more
			current.from, current.to = at, at
			continue
		}
		current.shown += line
		current.to = at
	}
	return out
}

// notRun is a line of testdata/docs/not-run.txt: a command that is not run, and why.
type notRun struct {
	page, prefix, reason string
	used                 bool
}

// maxNotRun bounds the list: a command that can be run is run.
const maxNotRun = 24

// readNotRun reads the list of commands that are not run here.
func readNotRun(t *testing.T) (list []*notRun) {
	t.Helper()
	text, err := os.ReadFile("testdata/docs/not-run.txt")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Split(line, " | ")
		if len(words) != 3 {
			t.Fatalf("not-run.txt: %q is not PAGE | COMMAND | REASON", line)
		}
		list = append(list, &notRun{page: words[0], prefix: words[1], reason: words[2]})
	}
	if len(list) > maxNotRun {
		t.Errorf("%d commands of the documentation are not run; the limit is %d", len(list), maxNotRun)
	}
	return list
}

// find returns the entry for a command, or nil.
func find(list []*notRun, page string, c *docCommand) *notRun {
	for _, entry := range list {
		if entry.page == page && strings.HasPrefix(c.text, entry.prefix) {
			entry.used = true
			return entry
		}
	}
	return nil
}
