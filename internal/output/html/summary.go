package html

import (
	"fmt"

	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxPlain is how many objects and fields the page lists without scripts. The objects beyond are counted.
const maxPlain = 1000

// tile is a number at the top of the page.
type tile struct {
	Number int
	Of     string
	Label  string
	// Tone is the class of its colour: "bad", "drift", "change" or "calm".
	Tone string
	// Filter is the filter that the tile sets, as in a link: "drifted=1". It is empty for a number that no filter selects.
	Filter string
}

// tilesOf returns the numbers at the top of the page. It leaves out zeros that tell the reader nothing.
func tilesOf(r *report.Report) []tile {
	s := r.Summary
	drifted := tile{s.DriftedObjects, fmt.Sprintf("of %d", s.Objects), "objects drifted", "drift", "drifted=1"}
	if s.DriftedObjects == 0 {
		drifted.Tone, drifted.Filter = "calm", ""
	}
	all := []tile{drifted}
	for _, t := range []struct {
		n         int
		one, many string
		tone      string
		filter    string
	}{
		{counts.Of(r.Releases).ObjectErrors, "object not compared", "objects not compared", "bad", "verdict=error"},
		{s.Missing, "object missing", "objects missing", "drift", "verdict=missing"},
		{s.Terminating, "object being deleted", "objects being deleted", "drift", "verdict=terminating"},
		{s.Fields.Conflict, "conflict", "conflicts", "bad", "verdict=conflict"},
		{s.Downtime, "workload goes down", "workloads go down", "bad", ""},
		{s.Restarts, "pod restarts", "pods restart", "change", ""},
		{s.Unmanaged, "field unmanaged", "fields unmanaged", "change", "unmanaged=1"},
		{s.Ignored, "ignored", "ignored", "calm", "ignored=1"},
	} {
		switch t.n {
		case 0:
		case 1:
			all = append(all, tile{1, "", t.one, t.tone, t.filter})
		default:
			all = append(all, tile{t.n, "", t.many, t.tone, t.filter})
		}
	}
	return all
}

// plain is what the page shows without scripts.
type plain struct {
	Releases []plainRelease
	// More is how many objects are not listed.
	More int
}

// plainRelease is a release with its objects.
type plainRelease struct {
	release
	Objects []plainObject
}

// plainObject is an object with its findings that are not silenced. Said are its remarks.
type plainObject struct {
	object
	Said  []string
	Found []plainField
}

// plainField is a finding in words. Said are its remarks, and what differs inside documents.
type plainField struct {
	Verdict, Path, By string
	Sides             []plainSide
	Said              []string
}

// plainSide is a side of a finding.
type plainSide struct {
	Title string
	Parts []plainPart
}

// plain returns what the page shows without scripts.
func (d *data) plain() plain {
	out, listed := plain{}, 0
	for _, r := range d.Releases {
		out.Releases = append(out.Releases, plainRelease{release: r})
	}
	for _, o := range d.Objects {
		var found []plainField
		for _, f := range o.Fields {
			if !f.Silenced {
				found = append(found, d.plainField(f))
			}
		}
		isFound := o.Whole != "" && !o.Silenced
		if len(found) == 0 && !isFound {
			continue
		}
		if listed >= maxPlain {
			out.More++
			continue
		}
		listed += 1 + len(found)
		r := &out.Releases[o.Release]
		r.Objects = append(r.Objects, plainObject{o, d.texts(o.Remarks), found})
	}
	return out
}

// plainField returns a finding in words. The desired side is left out if it is as the old one.
func (d *data) plainField(f field) plainField {
	out := plainField{Verdict: f.Verdict, Path: f.Path, Said: append(d.texts(f.Inside), d.texts(f.Remarks)...)}
	for i, index := range f.Owners {
		if i > 0 {
			out.By += ", "
		}
		o := d.Owners[index]
		out.By += o.Manager
		if o.Time != "" {
			out.By += " at " + o.Time
		}
	}
	if f.Masked {
		out.Sides = []plainSide{{"value", partsOf("hidden: secret", nil, "")}}
		return out
	}
	m := f.Marked
	if m == nil {
		m = &marked{}
	}
	out.Sides = append(out.Sides, plainSide{"old", partsOf(plainText(f.Old), m.Old, "was")})
	if f.Desired != true {
		out.Sides = append(out.Sides, plainSide{"desired", partsOf(plainText(f.Desired), m.Desired, "will")})
	}
	out.Sides = append(out.Sides, plainSide{"live", partsOf(plainText(f.Live), m.Live, "is")})
	return out
}

// plainText returns a side of the data as a text.
func plainText(side any) string {
	switch v := side.(type) {
	case lines:
		return v.Lines
	case tree:
		return v.Tree
	case string:
		return v
	}
	return "absent"
}

// texts returns the remarks with indexes.
func (d *data) texts(indexes []int) []string {
	var out []string
	for _, i := range indexes {
		out = append(out, d.Remarks[i])
	}
	return out
}
