package history

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Builder collects the history of releases. The zero value is ready to use. It is not safe for concurrent use.
type Builder struct {
	// Selects reports whether a release belongs to the history; nil selects all.
	Selects func(report.Release) bool

	out      report.History
	releases map[releaseKey]*release
	// point is the state at the time of the latest report.
	point report.HistoryPoint
}

// releaseKey identifies a release.
type releaseKey struct{ cluster, namespace, name string }

// release is a release and what is known of its findings.
type release struct {
	report.ReleaseHistory
	findings map[findingKey]*finding
	// latest is the part of the release in the current point.
	latest report.HistoryPoint
}

// errOrder refuses reports that are not in the order of their times.
var errOrder = errors.New("the report is older than the one before it")

// Add adds a report, of which it keeps the findings and not the report. Reports come in the order of their times; one that is older
// than the one before it is an error and is not added.
func (b *Builder) Add(r *report.Report) error {
	at := r.Time.UTC()
	switch {
	case b.out.Reports == 0:
		b.out.From, b.releases, b.point.Time = at, map[releaseKey]*release{}, at
	case at.Before(b.out.Time):
		return errOrder
	case at.After(b.out.Time):
		b.endPoint(at)
	}
	b.out.Reports++
	b.out.Time = at
	for _, rel := range r.Releases {
		if b.Selects == nil || b.Selects(rel) {
			b.addRelease(rel, at)
		}
	}
	return nil
}

// endPoint keeps the point of the reports so far, and begins that of a later time. Before the first comparison there is no point.
func (b *Builder) endPoint(next time.Time) {
	if b.point.Releases > 0 {
		b.out.Points = append(b.out.Points, b.point)
	}
	b.point.Time = next
}

// addRelease adds the comparison of one release.
func (b *Builder) addRelease(r report.Release, at time.Time) {
	if r.Operation != report.OperationDrift {
		b.out.Previews++
		return
	}
	key := releaseKey{r.Cluster, cmp.Or(r.StorageNamespace, r.Namespace), r.Name}
	rel := b.releases[key]
	if rel == nil {
		rel = &release{ReleaseHistory: report.ReleaseHistory{Versions: report.CustomVersions{}}, findings: map[findingKey]*finding{}}
		rel.Name, rel.Namespace, rel.Cluster, rel.FirstSeen = r.Name, key.namespace, r.Cluster, at
		b.releases[key] = rel
	}
	rel.LastSeen = at
	rel.Reports++
	if r.HasError() {
		rel.Unknown++
	}
	rel.add(r, at)
	addPoint(&b.point, rel.latest, -1)
	rel.latest = rel.pointOf(r)
	addPoint(&b.point, rel.latest, 1)
}

// History returns the history of all reports so far. Helmdrift is the version of the program. Reports may be added afterwards.
func (b *Builder) History(helmdrift string) *report.History {
	out := b.out
	out.APIVersion, out.Kind, out.Helmdrift = report.APIVersion, report.KindHistory, helmdrift
	out.Points, out.Releases = slices.Clone(out.Points), []report.ReleaseHistory{}
	if b.point.Releases > 0 {
		out.Points = append(out.Points, b.point)
	}
	if out.Points == nil {
		out.Points = []report.HistoryPoint{}
	}
	for _, rel := range b.releases {
		out.Releases = append(out.Releases, rel.history())
	}
	slices.SortFunc(out.Releases, func(a, b report.ReleaseHistory) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return &out
}

// history returns the history of the release, with the findings in the order of their objects and paths.
func (r *release) history() report.ReleaseHistory {
	out := r.ReleaseHistory
	out.Versions = maps.Clone(r.Versions) // reports that are added later change those of the builder
	out.Findings = []report.FindingHistory{}
	byName := func(a, b findingKey) int {
		return cmp.Or(cmp.Compare(a.object.String(), b.object.String()), cmp.Compare(a.path, b.path), cmp.Compare(a.absence, b.absence))
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.findings), byName) {
		out.Findings = append(out.Findings, r.findings[key].history())
	}
	return out
}

// add adds what a comparison says of each finding: those that it lists are there or ignored, and the others are gone if they were looked
// for.
func (r *release) add(rel report.Release, at time.Time) {
	revision := 0
	if rel.Old != nil {
		revision = rel.Old.Revision
	}
	listed := map[findingKey]bool{}
	// unseen are the objects whose findings may be there although they are not listed, and gone those that live lacks.
	unseen, gone := map[object.Key]bool{}, map[object.Key]bool{}
	for _, o := range rel.Objects {
		unseen[o.Key()] = o.Error != nil
		gone[o.Key()] = o.Missing
		r.Versions.Add(report.ObjectKey{Key: o.Key()}, o.APIVersion, o.Engine)
		for key, seen := range observations(o) {
			listed[key] = true
			r.observe(key, seen, at, revision)
		}
	}
	if len(rel.Errors) > 0 {
		return
	}
	for key, f := range r.findings {
		if !listed[key] && !unseen[key.object] && !(gone[key.object] && key.path != "") {
			f.end(report.FindingGone, at, revision)
		}
	}
}

// observe adds what a report says of one finding. A finding that was silenced from the beginning has no history.
func (r *release) observe(key findingKey, seen observation, at time.Time, revision int) {
	f := r.findings[key]
	switch {
	case f == nil && seen.silenced:
	case seen.silenced:
		f.end(report.FindingIgnored, at, revision)
	case f == nil:
		f = &finding{}
		f.Object, f.Path, f.Absence, f.FirstSeen = report.ObjectKey{Key: key.object}, key.path, key.absence, at
		r.findings[key] = f
		fallthrough
	default:
		f.see(seen, at, revision)
	}
}

// pointOf returns the part of the release in a point. A comparison with an error leaves what is known of its findings.
func (r *release) pointOf(rel report.Release) report.HistoryPoint {
	out := report.HistoryPoint{Releases: 1}
	if rel.HasError() {
		out.Unknown = 1
	}
	for _, f := range r.findings {
		if f.State == report.FindingThere && f.Drifted {
			out.Findings++
		}
	}
	if rel.Drifted || out.Findings > 0 {
		out.Drifted = 1
	}
	return out
}

// addPoint adds the counts of a part to a point, or removes them with sign -1.
func addPoint(p *report.HistoryPoint, part report.HistoryPoint, sign int) {
	p.Releases += sign * part.Releases
	p.Unknown += sign * part.Unknown
	p.Drifted += sign * part.Drifted
	p.Findings += sign * part.Findings
}
