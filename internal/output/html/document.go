package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/pkg/report"
)

//go:embed page
var files embed.FS

// Phrases are the words of a report as the text format has them. Each phrase is escaped; only those of messages may have several lines.
type Phrases interface {
	// Escape returns a text as it may stand within a line.
	Escape(text string) string
	// Value returns a value on one line: a string as it is if that is clear, everything else as JSON.
	Value(value any) string
	// Answer returns what the report says as a whole.
	Answer(r *report.Report) Answer
	// Release returns the name of a release, what is said of it in one clause, what was found in it, and with what it was compared.
	Release(r report.Release) ReleasePhrases
	// Object returns the name of an object, and what Helm does with it.
	Object(o report.Object, r report.Release) ObjectPhrases
	// Remarks returns what signs, values and owners do not say about a finding.
	Remarks(f report.Finding) []string
	// Inside returns a line for each change inside the documents that the sides of a finding are.
	Inside(f report.Finding) []string
	// Message returns a warning or an error.
	Message(m report.Message) string
}

// Answer is what a report says as a whole.
type Answer struct {
	// Drift answers whether the cluster has left what Helm deployed, and Operation what Helm will do. One of them may be empty.
	Drift, Operation string
	// Effect says what the operation means for pods; empty if it means nothing for them.
	Effect string
	// Others count what is neither, such as what rules ignore.
	Others []string
	// Unseen says what could not be searched, read or compared. It is empty only if everything was seen.
	Unseen []string
}

// ReleasePhrases are the words about a release.
type ReleasePhrases struct {
	Name, Answer, Found string
	Origin              []string
}

// ObjectPhrases are the words about an object. Kind includes the API version of a custom resource, and Name the namespace if that is not
// the namespace of the release.
type ObjectPhrases struct{ Kind, Name, Fate string }

// page is what the template of the page takes.
type page struct {
	Policy  string
	Style   template.CSS
	Script  template.JS
	Data    template.JS
	Title   string
	Version string
	Time    time.Time
	Answer  Answer
	Tiles   []tile
	Plain   plain
}

// Document returns the page of a report.
func Document(r *report.Report, phrases Phrases) ([]byte, error) {
	style, err := asset("style.css")
	if err != nil {
		return nil, err
	}
	script, err := asset(scripts()...)
	if err != nil {
		return nil, err
	}
	answer := phrases.Answer(r)
	all := newData(r, phrases)
	encoded, err := all.encode()
	if err != nil {
		return nil, err
	}
	p := page{
		Policy: policy(style, script), Style: template.CSS(style), Script: template.JS(script), Data: template.JS(encoded),
		Title: title(all, answer), Version: phrases.Escape(r.Helmdrift), Time: r.Time.UTC(), Answer: answer,
		Tiles: tilesOf(r), Plain: all.plain(),
	}
	split := func(text string) []string { return strings.Split(text, "\n") }
	parsed, err := template.New("page.html").Funcs(template.FuncMap{"split": split}).ParseFS(files, "page/page.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// scripts returns the files of the script in the order in which they run.
func scripts() []string {
	return []string{"dom.js", "data.js", "link.js", "filter.js", "value.js", "list.js", "detail.js", "print.js", "keys.js", "main.js"}
}

// asset returns files of the page as one text.
func asset(names ...string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		text, err := files.ReadFile("page/" + name)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// policy returns the Content-Security-Policy of the page: it runs one script and applies one style, loads nothing, sends nothing, and
// never parses a text as HTML.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; "+
		"require-trusted-types-for 'script'; trusted-types 'none'", hash(style), hash(script))
}

// hash returns the hash of an inline element as a policy names it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// title returns the title of the page, by which a person finds its tab.
func title(all *data, answer Answer) string {
	said := answer.Drift
	if said == "" {
		said = answer.Operation
	}
	if len(all.Releases) == 1 {
		said = all.Releases[0].Name + ": " + said
	}
	return said + " · helmdrift"
}
