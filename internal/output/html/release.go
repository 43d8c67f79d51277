package html

import (
	"cmp"
	"fmt"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

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
		texts = append(texts, d.phrases.MessageOf(m))
	}
	return texts
}

// forecast joins what an effect is and why it is not exact.
func forecast(text, inexact string) string {
	if inexact == "" {
		return text
	}
	return text + " (not exact: " + inexact + ")"
}
