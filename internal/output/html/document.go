package html

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/environments"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/internal/output/text"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// page is what the template of the page takes.
type page struct {
	Policy  string
	Style   template.CSS
	Script  template.JS
	Data    template.JS
	Title   string
	Version string
	Time    time.Time
	Answer  text.Answer
	// Errors counts what could not be read. It is empty if there was nothing.
	Errors string
	Tiles  []tile
	Plain  plain
	// Environments is the table of one release in several environments. It is nil for other reports.
	Environments *environments.Table
	// Claims are the orphans and overlaps.
	Claims []text.ClaimPhrases
}

// Document returns the page of a report. Fix is the command that puts back what drifted in its only release, as the user has to type it. It
// is empty if only the report is known.
func Document(r *report.Report, fix string) ([]byte, error) {
	phrases := text.NewPhrases(r)
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
	if fix != "" && len(all.Releases) == 1 && all.Releases[0].Fix != "" {
		all.Releases[0].Fix = phrases.Escape(fix)
	}
	encoded, err := all.encode()
	if err != nil {
		return nil, err
	}
	p := page{
		Policy: policy(style, script), Style: template.CSS(style), Script: template.JS(script), Data: template.JS(encoded),
		Title: title(all, answer), Version: phrases.Escape(r.Helmdrift), Time: r.Time.UTC(), Answer: answer,
		Errors: errorsOf(r), Tiles: tilesOf(r), Plain: all.plain(), Claims: phrases.Claims(r),
	}
	if environments.Are(r.Releases) {
		table := environments.Of(phrases.Text, r.Releases)
		p.Environments = &table
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

// title returns the title of the page. People find the tab by it.
func title(all *data, answer text.Answer) string {
	said := answer.Drift
	if said == "" {
		said = answer.Operation
	}
	if len(all.Releases) == 1 {
		said = all.Releases[0].Name + ": " + said
	}
	return said + " · helmdrift"
}

// errorsOf counts what could not be read.
func errorsOf(r *report.Report) string {
	if r.Summary.Errors == 0 {
		return ""
	}
	return english.Count(r.Summary.Errors, "error")
}

// data is what the script shows. Owners and remarks repeat, so each is stored once, and findings have their indexes.
type data struct {
	Time     time.Time
	Owners   []owner
	Remarks  []string
	Releases []release
	Objects  []object

	phrases   text.Phrases
	ownerAt   map[owner]int
	remarkAt  map[string]int
	slugs     map[string]int
	objectIDs map[string]int
}

// owner is a field manager, and when it wrote.
type owner struct {
	Manager     string `json:"manager"`
	Group       string `json:"group,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Time        string `json:"time,omitempty"`
}

// release is what the page says of a release.
type release struct {
	// Slug stands for the release in links.
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	State  string `json:"state"`
	Answer string `json:"answer"`
	// Deployer says what the controller does next, and By names it if not all releases have the same.
	Deployer    string   `json:"deployer,omitempty"`
	By          string   `json:"by,omitempty"`
	Found       string   `json:"found,omitempty"`
	Origin      []string `json:"origin,omitempty"`
	Effect      string   `json:"effect,omitempty"`
	Down        []string `json:"down,omitempty"`
	Errors      []string `json:"errors,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	NotCompared []string `json:"notCompared,omitempty"`
	// Fix is the command that puts back what drifted.
	Fix     string   `json:"fix,omitempty"`
	Oldest  string   `json:"oldest,omitempty"`
	Editors []string `json:"editors,omitempty"`
}

// newData returns the data of a report. Releases stand in the order of their urgency, as in text.
func newData(r *report.Report, phrases text.Phrases) *data {
	d := &data{
		Time: r.Time.UTC(), phrases: phrases, Owners: []owner{}, Remarks: []string{}, Releases: []release{}, Objects: []object{},
		ownerAt: map[owner]int{}, remarkAt: map[string]int{}, slugs: map[string]int{}, objectIDs: map[string]int{},
	}
	releases, urgency := slices.Clone(r.Releases), report.States()
	slices.SortStableFunc(releases, func(a, b report.Release) int {
		return cmp.Compare(slices.Index(urgency, a.State()), slices.Index(urgency, b.State()))
	})
	several := slices.ContainsFunc(releases, func(rel report.Release) bool { return rel.Deployer.Tool() != releases[0].Deployer.Tool() })
	for i, rel := range releases {
		out := d.release(rel)
		if several {
			out.By = d.phrases.Escape(rel.Deployer.Tool())
		}
		d.Releases = append(d.Releases, out)
		for _, o := range rel.Objects {
			d.Objects = append(d.Objects, d.object(i, o, rel))
		}
	}
	return d
}

// release returns what the page says of a release.
func (d *data) release(r report.Release) release {
	said := d.phrases.Release(r)
	out := release{
		Slug: unique(d.slugs, d.slug(r)), Name: said.Name, State: string(r.State()), Answer: said.Answer, Found: said.Found, Origin: said.Origin,
		Errors: d.messages(r.Errors), Warnings: d.messages(r.Warnings), Fix: layout.FixCommand(r),
	}
	if r.Deployer != nil {
		out.Deployer = d.phrases.Escape(r.Deployer.Says())
	}
	if e := r.Effect; e != nil {
		out.Effect = d.phrases.Escape(forecast(e.Text, e.Inexact))
		for _, key := range e.Downtime {
			out.Down = append(out.Down, d.phrases.Escape(key.String()))
		}
	}
	for _, n := range r.NotCompared {
		out.NotCompared = append(out.NotCompared, d.phrases.Escape(fmt.Sprintf("%s %s (%s)", n.Kind, n.Name, n.Reason)))
	}
	if at, known := r.OldestEdit(); known {
		out.Oldest = stamp(&at)
	}
	for _, name := range r.Editors() {
		out.Editors = append(out.Editors, d.phrases.Escape(name))
	}
	return out
}

// slug returns the text that stands for a release in links: the cluster if it is known, then the namespace and the name.
func (d *data) slug(r report.Release) string {
	name := cmp.Or(r.StorageNamespace, r.Namespace) + "~" + r.Name
	if r.Cluster != "" {
		name = r.Cluster + "~" + name
	}
	return d.phrases.Escape(name)
}

// messages returns the texts of warnings or errors.
func (d *data) messages(all []report.Message) []string {
	var texts []string
	for _, m := range all {
		texts = append(texts, d.phrases.Message(m))
	}
	return texts
}

// owner returns the index of a field manager.
func (d *data) owner(o report.Owner) int {
	escape := d.phrases.Escape
	return index(&d.Owners, d.ownerAt, owner{escape(o.Manager), escape(string(o.Group)), escape(o.Subresource), stamp(o.Time)})
}

// remarks returns the indexes of remarks.
func (d *data) remarks(texts []string) []int {
	var all []int
	for _, text := range texts {
		if text != "" {
			all = append(all, index(&d.Remarks, d.remarkAt, text))
		}
	}
	return all
}

// index returns the index of a value in a table, and adds the value if it is not there.
func index[T comparable](table *[]T, at map[T]int, value T) int {
	i, known := at[value]
	if !known {
		i = len(*table)
		at[value] = i
		*table = append(*table, value)
	}
	return i
}

// unique returns a name that was not returned for the same table before.
func unique(seen map[string]int, name string) string {
	seen[name]++
	if n := seen[name]; n > 1 {
		return unique(seen, fmt.Sprintf("%s-%d", name, n))
	}
	return name
}

// stamp returns a time as the data has it; empty if there is none.
func stamp(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// forecast joins what an effect is and why it is not exact.
func forecast(text, inexact string) string {
	if inexact == "" {
		return text
	}
	return text + " (not exact: " + inexact + ")"
}

// encode returns the data as JSON that may stand in a script element: the encoder writes <, >, & and the line separators of Unicode as
// escapes. Each release and each object is a line, so that two pages can be compared.
func (d *data) encode() (string, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"time\":%q", stamp(&d.Time))
	for _, write := range []func() error{
		func() error { return writeLines(&out, "owners", d.Owners) },
		func() error { return writeLines(&out, "remarks", d.Remarks) },
		func() error { return writeLines(&out, "releases", d.Releases) },
		func() error { return writeLines(&out, "objects", d.Objects) },
	} {
		if err := write(); err != nil {
			return "", err
		}
	}
	out.WriteString("}")
	return out.String(), nil
}

// writeLines writes a key with a list of values, each in a line of its own. A line begins with a quote or a brace and never with a value.
func writeLines[T any](out *bytes.Buffer, key string, values []T) error {
	fmt.Fprintf(out, ",\n%q:[", key)
	for i, value := range values {
		encoded, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n")
		out.Write(encoded)
	}
	out.WriteString("]")
	return nil
}
