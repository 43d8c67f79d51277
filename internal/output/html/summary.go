package html

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxPlain is how many objects the table without scripts lists. The others are counted.
const maxPlain = 1000

// tile is a number at the top of the page.
type tile struct {
	Number int
	Of     string
	Label  string
	// Tone is the class of its colour: "bad", "drift", "change" or "calm".
	Tone string
}

// tilesOf returns the numbers at the top of the page. What is zero and says nothing by that is left out.
func tilesOf(r *report.Report) []tile {
	s := r.Summary
	all := []tile{
		{s.DriftedReleases, fmt.Sprintf("of %d", s.Releases), "releases drifted", "drift"},
		{s.DriftedObjects, fmt.Sprintf("of %d", s.Objects), "objects drifted", "drift"},
	}
	for i := range all {
		if all[i].Number == 0 {
			all[i].Tone = "calm"
		}
	}
	for _, t := range []tile{
		{s.Errors, "", "errors: not seen", "bad"},
		{s.Missing, "", "objects missing", "drift"},
		{s.Terminating, "", "objects being deleted", "drift"},
		{s.Fields.Conflict, "", "conflicts: Helm fails", "bad"},
		{s.Downtime, "", "workloads go down", "bad"},
		{s.Restarts, "", "pods restart", "change"},
		{s.Unmanaged, "", "fields unmanaged", "change"},
		{s.Ignored, "", "fields ignored", "calm"},
	} {
		if t.Number > 0 {
			all = append(all, t)
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

// plainObject is an object of which something was found that is not silenced. Paths are those of the findings.
type plainObject struct {
	object
	Paths []string
}

// plain returns what the page shows without scripts.
func (d *data) plain() plain {
	out, listed := plain{}, 0
	for _, r := range d.Releases {
		out.Releases = append(out.Releases, plainRelease{release: r})
	}
	for _, o := range d.Objects {
		paths := []string{}
		for _, f := range o.Fields {
			if !f.Silenced {
				paths = append(paths, f.Verdict+" "+f.Path)
			}
		}
		isFound := o.Whole != "" && !o.Silenced
		if len(paths) == 0 && !isFound {
			continue
		}
		if listed == maxPlain {
			out.More++
			continue
		}
		listed++
		r := &out.Releases[o.Release]
		r.Objects = append(r.Objects, plainObject{o, paths})
	}
	return out
}
