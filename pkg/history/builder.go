package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/past"
)

// Builder collects the history of releases. The zero value is ready to use. It is not safe for concurrent use.
type Builder struct {
	// Selects reports whether a release belongs to the history; nil selects all.
	Selects func(report.Release) bool

	out      past.History
	releases map[releaseKey]*release
	// point is the state at the time of the latest report.
	point past.Point
}

// releaseKey identifies a release.
type releaseKey struct{ cluster, namespace, name, deployer string }

// release is a release with the findings so far.
type release struct {
	past.Release
	findings map[findingKey]*finding
	// latest is the part of the release in the current point.
	latest past.Point
}

// errOrder refuses reports that are not in the order of their times.
var errOrder = errors.New("the report is older than the one before it")

// Add adds the findings of a report. It does not keep the report. Reports must come in the order of their times; Add refuses a
// report that is older than the previous one. The releases of a merged report have the times of their clusters; those that are older than
// what is known of them already are left out.
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
			b.addRelease(rel, r.TimeOf(rel.Cluster).UTC())
		}
	}
	return nil
}

// endPoint stores the point of the reports so far, and begins the point of a later time. Before the first comparison there is no point.
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
	key := releaseKey{r.Cluster, cmp.Or(r.StorageNamespace, r.Namespace), r.Name, r.Deployer.Tool()}
	rel := b.releases[key]
	switch {
	case rel == nil:
		rel = &release{Release: past.Release{Versions: report.CustomVersions{}}, findings: map[findingKey]*finding{}}
		rel.Name, rel.Namespace, rel.Cluster, rel.Deployer, rel.FirstSeen = r.Name, key.namespace, r.Cluster, key.deployer, at
		b.releases[key] = rel
	case at.Before(rel.LastSeen):
		return
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

// History returns the history of all reports so far. Helmdrift is the version of the program. More reports may follow.
func (b *Builder) History(helmdrift string) *past.History {
	out := b.out
	out.APIVersion, out.Kind, out.Helmdrift = report.APIVersion, report.KindHistory, helmdrift
	out.Points, out.Releases = slices.Clone(out.Points), []past.Release{}
	if b.point.Releases > 0 {
		out.Points = append(out.Points, b.point)
	}
	if out.Points == nil {
		out.Points = []past.Point{}
	}
	for _, rel := range b.releases {
		out.Releases = append(out.Releases, rel.history())
	}
	order.Sort(out.Releases, func(a, b past.Release) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Deployer, b.Deployer))
	})
	return &out
}

// history returns the history of the release, with the findings in the order of their objects and paths.
func (r *release) history() past.Release {
	out := r.Release
	out.Versions = maps.Clone(r.Versions) // later reports change the builder's map
	out.Findings = []past.Finding{}
	byName := func(a, b findingKey) int {
		return cmp.Or(cmp.Compare(a.object.String(), b.object.String()), cmp.Compare(a.path, b.path), cmp.Compare(a.absence, b.absence))
	}
	for _, key := range order.Sorted(maps.Keys(r.findings), byName) {
		out.Findings = append(out.Findings, r.findings[key].history())
	}
	return out
}

// add adds what a comparison says about each finding. A listed one is there or ignored, unless somebody asked for others; any other is gone
// if the comparison looked for it.
func (r *release) add(rel report.Release, at time.Time) {
	revision := 0
	if rel.Old != nil {
		revision = rel.Old.Revision
	}
	listed := map[findingKey]bool{}
	// unseen has the objects whose findings may be there although they are not listed, and gone has the objects that live lacks.
	unseen, gone := map[object.Key]bool{}, map[object.Key]bool{}
	for _, o := range rel.Objects {
		unseen[o.Key()] = o.Error != nil
		gone[o.Key()] = o.Missing
		r.Versions.Add(report.ObjectKey{Key: o.Key()}, o.APIVersion, o.Engine)
		visit(o, func(key findingKey, seen observation) {
			listed[key] = true
			if !seen.leftOut {
				r.observe(key, seen, at, revision)
			}
		})
	}
	if len(rel.Errors) > 0 {
		return
	}
	for key, f := range r.findings {
		if !listed[key] && !unseen[key.object] && !(gone[key.object] && key.path != "") {
			f.end(past.Gone, at, revision)
		}
	}
}

// observe adds what a report says about one finding. A finding that was silenced from the beginning has no history.
func (r *release) observe(key findingKey, seen observation, at time.Time, revision int) {
	f := r.findings[key]
	switch {
	case f == nil && seen.silenced:
	case seen.silenced:
		f.end(past.Ignored, at, revision)
	case f == nil:
		f = &finding{}
		f.Object, f.Path, f.Absence, f.FirstSeen = report.ObjectKey{Key: key.object}, key.path, key.absence, at
		r.findings[key] = f
		fallthrough
	default:
		f.see(seen, at, revision)
	}
}

// pointOf returns the part of the release in a point. A comparison with an error does not change it.
func (r *release) pointOf(rel report.Release) past.Point {
	out := past.Point{Releases: 1}
	if rel.HasError() {
		out.Unknown = 1
	}
	for _, f := range r.findings {
		if f.State == past.There && f.Drifted {
			out.Findings++
		}
	}
	if rel.Drifted || out.Findings > 0 {
		out.Drifted = 1
	}
	return out
}

// addPoint adds the counts of a part to a point, or removes them with sign -1.
func addPoint(p *past.Point, part past.Point, sign int) {
	p.Releases += sign * part.Releases
	p.Unknown += sign * part.Unknown
	p.Drifted += sign * part.Drifted
	p.Findings += sign * part.Findings
}

const (
	// maxSteps is how many of a finding's latest steps are kept.
	maxSteps = 20
	// maxValue is the largest live value, in bytes of JSON, that a step keeps.
	maxValue = 1 << 10
	// maxManagers is how many field managers of a finding are kept.
	maxManagers = 20
)

// findingKey identifies a finding within its release.
type findingKey struct {
	object  object.Key
	path    string
	absence past.Absence
}

// observation is what a report says about a finding.
type observation struct {
	id                        string
	drifted, masked, silenced bool
	// leftOut is set if somebody asked for other findings. Such a report does not say that the finding has ended.
	leftOut  bool
	live     any
	managers []string
}

// visit calls found with what a report says about each finding on an object. A field that only the chart changes is not a finding.
func visit(o report.Object, found func(findingKey, observation)) {
	if absence := absenceOf(o); absence != "" {
		found(findingKey{object: o.Key(), absence: absence}, observation{
			id: o.ID, drifted: true, silenced: o.IgnoredBy != nil, leftOut: isLeftOut(o.IgnoredBy),
		})
	}
	for _, f := range o.Fields {
		if f.Cause != report.CauseChange {
			found(findingKey{object: o.Key(), path: f.Path}, observationOf(f))
		}
	}
}

// isLeftOut reports whether a flag such as --only or --since silences a finding.
func isLeftOut(rule *report.IgnoreRule) bool { return rule != nil && rule.LeftOut }

// absenceOf returns how an object is absent, or "" if it is not.
func absenceOf(o report.Object) past.Absence {
	switch {
	case o.Missing:
		return past.AbsenceMissing
	case o.Terminating:
		return past.AbsenceTerminating
	}
	return ""
}

// observationOf returns what a report says about a field.
func observationOf(f report.Finding) observation {
	out := observation{
		id: f.ID, drifted: f.Drifted(), masked: f.Masked, silenced: f.Silenced(), leftOut: isLeftOut(f.IgnoredBy), live: f.Live,
	}
	for _, owner := range f.Owners {
		if !slices.Contains(out.managers, owner.Manager) {
			out.managers = append(out.managers, owner.Manager)
		}
	}
	return out
}

// finding is the history of a finding so far.
type finding struct {
	past.Finding
	// since is when the current period began, and before is the length of the earlier periods.
	since  time.Time
	before time.Duration
	// value is the hash of the latest live value.
	value [sha256.Size]byte
	// wasMasked is set once a report masks the finding. Another report may have its value in clear.
	wasMasked bool
}

// see adds a report that has the finding.
func (f *finding) see(seen observation, at time.Time, revision int) {
	encoded, _ := json.Marshal(seen.live) // it was decoded from JSON
	value := sha256.Sum256(encoded)
	isThere := f.State == past.There
	changed := isThere && !seen.masked && !f.Masked && value != f.value
	f.wasMasked = f.wasMasked || seen.masked
	f.ID, f.Drifted, f.Masked, f.LastSeen, f.Ended, f.value = seen.id, seen.drifted, seen.masked, at, nil, value
	for _, name := range seen.managers {
		if !slices.Contains(f.Managers, name) && len(f.Managers) < maxManagers {
			f.Managers = append(f.Managers, name)
		}
	}
	if isThere && !changed {
		return
	}
	step := past.Step{Time: at, State: past.There, Managers: seen.managers, Revision: revision}
	if len(encoded) <= maxValue && seen.live != (object.Null{}) {
		step.Live = seen.live
	}
	f.step(step)
	if changed {
		f.Changes++
		return
	}
	f.State, f.since = past.There, at
	f.Periods++
}

// end adds a report that no longer has the finding, or silences it.
func (f *finding) end(state past.State, at time.Time, revision int) {
	if f.State == past.There {
		f.Ended = &at
		f.before += at.Sub(f.since)
	}
	if f.State != state {
		f.step(past.Step{Time: at, State: state, Revision: revision})
	}
	f.State = state
}

// step adds a step, and drops the oldest beyond maxSteps.
func (f *finding) step(s past.Step) {
	if len(f.Steps) == maxSteps {
		f.Steps = slices.Delete(f.Steps, 0, 1)
	}
	f.Steps = append(f.Steps, s)
}

// history returns the history of the finding so far.
func (f *finding) history() past.Finding {
	out := f.Finding
	out.Steps, out.Managers = slices.Clone(f.Steps), slices.Clone(f.Managers)
	if f.wasMasked {
		out.Masked = true
		for i := range out.Steps {
			out.Steps[i].Live = nil
		}
	}
	length := f.before
	if f.State == past.There {
		length += f.LastSeen.Sub(f.since)
	}
	out.Seconds = int64(length / time.Second)
	out.Flapping = f.Periods > 1 || f.Changes > 1
	return out
}
