package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helmdrift/helmdrift/internal/cli"
	"github.com/helmdrift/helmdrift/internal/output"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// These are the size of a picture: characters in a line, and the size of a character in units of the picture.
const (
	pictureColumns = 112
	cellWidth      = 8.4
	cellHeight     = 20
)

// maxPicture is the limit for the size of a picture in bytes.
const maxPicture = 60_000

// TestPictures checks that the pictures of the terminal in docs are what the commands print: the report of the snapshot of the README, and
// a scan and a fix with the results in internal/output/testdata.
func TestPictures(t *testing.T) {
	t.Chdir("../..")
	looks := output.Options{Text: text.Options{Color: true, Unicode: true, Width: pictureColumns}}
	var out bytes.Buffer
	snapshot := "diff --snapshot testdata/snapshots/web.json.gz"
	run(t.Context(), append(strings.Fields(snapshot), "-o", "json"), cli.Streams{Out: &out, Err: io.Discard, Env: emptyEnv})
	single, scan, fix := readResult[report.Report](t, out.Bytes()), &report.Report{}, &report.FixResult{}
	for file, result := range map[string]any{"scan": scan, "fix/done": fix} {
		raw, err := os.ReadFile("internal/output/testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, result); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []struct {
		name, command string
		write         func(io.Writer) error
	}{
		{"diff", snapshot, func(w io.Writer) error { return output.Write(w, output.Text, single, looks) }},
		{"scan", "diff -A", func(w io.Writer) error { return output.Write(w, output.Text, scan, looks) }},
		{"fix", "fix web -n prod", func(w io.Writer) error {
			if err := output.WriteFixPlan(w, fix, looks); err != nil {
				return err
			}
			if err := output.WriteFixQuestion(w, fix, looks); err != nil {
				return err
			}
			fmt.Fprintln(w, "y")
			return output.WriteFix(w, output.Text, fix, looks)
		}},
	} {
		var terminal bytes.Buffer
		fmt.Fprintf(&terminal, "\x1b[1m$ helmdrift %s\x1b[0m\n", p.command)
		if err := p.write(&terminal); err != nil {
			t.Fatal(err)
		}
		checkPicture(t, "docs/"+p.name+".svg", picture(terminal.String()))
	}
}

// readResult decodes a document.
func readResult[T any](t *testing.T, doc []byte) *T {
	t.Helper()
	result := new(T)
	if err := json.Unmarshal(doc, result); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return result
}

// checkPicture compares a picture with its file, or writes the file.
func checkPicture(t *testing.T, file, svg string) {
	t.Helper()
	if *updateDocs {
		if err := os.WriteFile(file, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != svg {
		t.Errorf("%s is not what the command prints (%v): go test ./cmd/helmdrift -run TestPictures -args -update-docs", file, err)
	}
	if len(svg) > maxPicture {
		t.Errorf("%s has %d bytes; the limit is %d", file, len(svg), maxPicture)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// colors has the SGR codes of the colours in reports, with their classes and their colours by day and by night.
func colors() []struct{ code, class, day, night string } {
	return []struct{ code, class, day, night string }{
		{"31", "r", "#cf222e", "#ff7b72"}, {"32", "g", "#116329", "#7ee787"},
		{"33", "y", "#7d4e00", "#e3b341"}, {"36", "c", "#1b7c83", "#56d4dd"},
	}
}

// selectGraphic is a control sequence that changes how the text after it looks (ECMA-48, SGR).
var selectGraphic = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// picture returns the content of a terminal as SVG. The picture follows the light or dark theme and the font of its reader. Each part of a
// line has a place and a width, so that columns stay aligned in every font.
func picture(terminal string) string {
	lines := strings.Split(strings.TrimRight(terminal, "\n"), "\n")
	width, height := pictureColumns*cellWidth+32, len(lines)*cellHeight+32
	var day, night, b strings.Builder
	for _, c := range colors() {
		fmt.Fprintf(&day, ".%s{fill:%s}", c.class, c.day)
		fmt.Fprintf(&night, ".%s{fill:%s}", c.class, c.night)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}.b{font-weight:bold}
rect{fill:#f6f8fa;stroke:#d0d7de}%s
@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#0d1117;stroke:#30363d}%s}
</style>
<rect x=".5" y=".5" width="%.0f" height="%d" rx="6"/>
`, width, height, width, height, &day, &night, width-1, height-1)
	for i, line := range lines {
		writeLine(&b, line, 16+i*cellHeight+14)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// writeLine writes the parts of a line, each with one look.
func writeLine(b *strings.Builder, line string, y int) {
	column, look, rest := 0, "", line
	for rest != "" {
		at := selectGraphic.FindStringSubmatchIndex(rest)
		part := rest
		if at != nil {
			part = rest[:at[0]]
		}
		for _, word := range columns(part) {
			if text := strings.TrimLeft(word, " "); text != "" {
				column += len(word) - len(text) // blanks move the place of the next part
				word = text
				var escaped bytes.Buffer
				_ = xml.EscapeText(&escaped, []byte(word))
				cells := utf8.RuneCountInString(word)
				x, width := 16+float64(column)*cellWidth, float64(cells)*cellWidth
				fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", x, y, width, look, &escaped)
			}
			column += utf8.RuneCountInString(word)
		}
		if at == nil {
			return
		}
		look = class(rest[at[2]:at[3]])
		rest = rest[at[1]:]
	}
}

// severalBlanks separates columns.
var severalBlanks = regexp.MustCompile(` {2,}`)

// columns splits a text into columns and the blanks between them.
func columns(text string) (out []string) {
	at := 0
	for _, blank := range severalBlanks.FindAllStringIndex(text, -1) {
		out = append(out, text[at:blank[0]], text[blank[0]:blank[1]])
		at = blank[1]
	}
	return append(out, text[at:])
}

// class returns the attribute of a look.
func class(codes string) string {
	var classes []string
	for code := range strings.SplitSeq(codes, ";") {
		i := slices.IndexFunc(colors(), func(c struct{ code, class, day, night string }) bool { return c.code == code })
		switch {
		case i >= 0:
			classes = append(classes, colors()[i].class)
		case code == "1":
			classes = append(classes, "b")
		}
	}
	if classes == nil {
		return ""
	}
	return fmt.Sprintf(` class=%q`, strings.Join(classes, " "))
}
