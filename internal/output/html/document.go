package html

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/order"
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
	return execute("page.html", p)
}

// execute returns the page that a template makes of data.
func execute(name string, data any) ([]byte, error) {
	split := func(text string) []string { return strings.Split(text, "\n") }
	parsed, err := template.New(name).Funcs(template.FuncMap{"split": split}).ParseFS(files, "page/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, data)
	return out.Bytes(), err
}

// title returns the title of the page. People find the tab by it.
func title(all *data, answer text.Answer) string {
	said := cmp.Or(answer.Drift, answer.Operation)
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
	objectIDs map[string]int // of one release
}

// owner is a field manager, and when it wrote.
type owner struct {
	Manager     string `json:"manager"`
	Group       string `json:"group,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Time        string `json:"time,omitempty"`
}

// object is what the page says of an object.
type object struct {
	// Release is the index of its release, and ID stands for the object in links.
	Release int    `json:"release"`
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Fate    string `json:"fate"`
	// Whole is what was found of the object as a whole, and Cause is its cause, as for a field; both are empty for most.
	Whole    string  `json:"whole,omitempty"`
	Cause    string  `json:"cause,omitempty"`
	Drifted  bool    `json:"drifted,omitempty"`
	Silenced bool    `json:"silenced,omitempty"`
	Source   string  `json:"source,omitempty"`
	Remarks  []int   `json:"remarks,omitempty"`
	Effect   *effect `json:"effect,omitempty"`
	Fields   []field `json:"fields,omitempty"`
}

// field is a finding. A side without the field has no key. Desired is true if the desired value equals the old one.
type field struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	Verdict  string `json:"verdict"`
	Cause    string `json:"cause"`
	Drifted  bool   `json:"drifted,omitempty"`
	Silenced bool   `json:"silenced,omitempty"`
	Masked   bool   `json:"masked,omitempty"`
	// Unmanaged is set if no manifest names the field.
	Unmanaged bool  `json:"unmanaged,omitempty"`
	Old       any   `json:"old,omitempty"`
	Desired   any   `json:"desired,omitempty"`
	Live      any   `json:"live,omitempty"`
	Owners    []int `json:"owners,omitempty"`
	Remarks   []int `json:"remarks,omitempty"`
	// Format is the format of the sides if they are documents, and Inside has the indexes of what differs inside them.
	Format string `json:"format,omitempty"`
	Inside []int  `json:"inside,omitempty"`
	// Marked are the lines of the sides that differ. It is nil if no side has several lines.
	Marked *marked `json:"marked,omitempty"`
}

// newData returns the data of a report. Releases stand in the order of their urgency, as in text.
func newData(r *report.Report, phrases text.Phrases) *data {
	d := &data{
		Time: r.Time.UTC(), phrases: phrases, Owners: []owner{}, Remarks: []string{}, Releases: []release{}, Objects: []object{},
		ownerAt: map[owner]int{}, remarkAt: map[string]int{}, slugs: map[string]int{},
	}
	releases, urgency := slices.Clone(r.Releases), report.States()
	order.Sort(releases, func(a, b report.Release) int {
		return cmp.Compare(slices.Index(urgency, a.State()), slices.Index(urgency, b.State()))
	})
	several := slices.ContainsFunc(releases, func(rel report.Release) bool { return rel.Deployer.Tool() != releases[0].Deployer.Tool() })
	for i, rel := range releases {
		out := d.release(rel)
		if several {
			out.By = d.phrases.Escape(rel.Deployer.Tool())
		}
		d.Releases = append(d.Releases, out)
		d.objectIDs = map[string]int{}
		for _, o := range rel.Objects {
			d.Objects = append(d.Objects, d.object(i, o, rel))
		}
	}
	return d
}

// object returns what the page says of an object of the release with the index.
func (d *data) object(release int, o report.Object, r report.Release) object {
	escape, said := d.phrases.Escape, d.phrases.Object(o, r)
	id := cmp.Or(escape(o.ID), "object") // reports of early versions have no ids
	out := object{
		Release: release, ID: unique(d.objectIDs, id),
		Kind: said.Kind, Name: said.Name, Fate: said.Fate, Drifted: o.Drifted, Source: escape(o.Source), Effect: d.effect(o.Effect),
		Remarks: d.remarks(d.objectRemarks(o)),
	}
	out.Whole, out.Cause = whole(o)
	out.Silenced = out.Whole != "" && o.Error == nil && (o.IgnoredBy != nil || o.Known)
	for _, f := range o.Fields {
		out.Fields = append(out.Fields, d.field(f))
	}
	return out
}

// field returns a finding.
func (d *data) field(f report.Finding) field {
	escape := d.phrases.Escape
	out := field{
		ID: escape(f.ID), Path: escape(f.Path), Verdict: escape(string(f.Verdict)), Cause: escape(string(f.Cause)), Drifted: f.Drifted(),
		Silenced: f.Silenced(), Masked: f.Masked, Unmanaged: !f.Managed, Remarks: d.remarks(d.phrases.Remarks(f)),
	}
	if !f.Masked {
		out.Old, out.Desired, out.Live = d.side(f.Old), d.side(f.Desired), d.side(f.Live)
		if out.Old != nil && out.Old == out.Desired {
			out.Desired = true
		}
		out.mark()
	}
	if f.Inside != nil {
		out.Format, out.Inside = escape(f.Inside.Format), d.remarks(d.phrases.Inside(f))
	}
	for _, o := range f.Owners {
		out.Owners = append(out.Owners, d.owner(o))
	}
	return out
}

// lines is a string of several lines, and tree a list or a map as indented JSON. Every other value is a text of one line.
type (
	lines struct {
		Lines string `json:"lines"`
	}
	tree struct {
		Tree string `json:"tree"`
	}
)

// side returns a value of a finding as the data has it; nil if the side lacks the field. Two sides are equal if they are written alike.
func (d *data) side(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		// Only text in quotes has escapes, so a text that needs one is written on one line.
		if escaped := d.escapeLines(v); strings.Contains(strings.TrimSuffix(v, "\n"), "\n") && escaped == v {
			return lines{escaped}
		}
	case map[string]any, []any:
		if text, err := layout.RawJSON(v, "  "); err == nil { // an error is for a value that no API server can have sent
			return tree{d.escapeLines(text)}
		}
	}
	return d.phrases.Value(value)
}

// escapeLines escapes each line of a text.
func (d *data) escapeLines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = d.phrases.Escape(all[i])
	}
	return strings.Join(all, "\n")
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

// encode returns the data as JSON that may stand in a script element: the encoder writes <, >, & and the line separators of Unicode as
// escapes. Each release and each object is a line, so that two pages can be compared.
func (d *data) encode() (string, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"time\":%q", stamp(&d.Time))
	err := errors.Join(
		writeLines(&out, "owners", d.Owners),
		writeLines(&out, "remarks", d.Remarks),
		writeLines(&out, "releases", d.Releases),
		writeLines(&out, "objects", d.Objects),
	)
	out.WriteString("}")
	return out.String(), err
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
