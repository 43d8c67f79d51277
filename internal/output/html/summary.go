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
	drifted := func(n, all int, thing string) tile {
		out := tile{n, fmt.Sprintf("of %d", all), thing + "s drifted", "drift"}
		if n == 0 {
			out.Tone = "calm"
		}
		return out
	}
	all := []tile{drifted(s.DriftedReleases, s.Releases, "release"), drifted(s.DriftedObjects, s.Objects, "object")}
	for _, t := range []struct {
		n         int
		one, many string
		tone      string
	}{
		{s.Errors, "error: not all was seen", "errors: not all was seen", "bad"},
		{s.Missing, "object missing", "objects missing", "drift"},
		{s.Terminating, "object being deleted", "objects being deleted", "drift"},
		{s.Fields.Conflict, "conflict", "conflicts", "bad"},
		{s.Downtime, "workload goes down", "workloads go down", "bad"},
		{s.Restarts, "pod restarts", "pods restart", "change"},
		{s.Unmanaged, "field unmanaged", "fields unmanaged", "change"},
		{s.Ignored, "field ignored", "fields ignored", "calm"},
	} {
		switch t.n {
		case 0:
		case 1:
			all = append(all, tile{1, "", t.one, t.tone})
		default:
			all = append(all, tile{t.n, "", t.many, t.tone})
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
