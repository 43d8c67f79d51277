package history

import (
	"crypto/sha256"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// maxSteps is how many steps of a finding are kept, the latest ones.
	maxSteps = 20
	// maxValue is the length in JSON up to which a step keeps its live value.
	maxValue = 1 << 10
	// maxManagers is how many field managers of a finding are kept.
	maxManagers = 20
)

// findingKey identifies a finding within its release.
type findingKey struct {
	object  object.Key
	path    string
	absence report.Absence
}

// observation is what a report says of a finding.
type observation struct {
	id                        string
	drifted, masked, silenced bool
	live                      any
	managers                  []string
}

// observations returns what a report says of the findings on an object. What only a chart changes is none.
func observations(o report.Object) iter.Seq2[findingKey, observation] {
	return func(yield func(findingKey, observation) bool) {
		if absence := absenceOf(o); absence != "" {
			seen := observation{id: o.ID, drifted: true, silenced: o.IgnoredBy != nil}
			if !yield(findingKey{object: o.Key(), absence: absence}, seen) {
				return
			}
		}
		for _, f := range o.Fields {
			if f.Cause == report.CauseChange {
				continue
			}
			if !yield(findingKey{object: o.Key(), path: f.Path}, observationOf(f)) {
				return
			}
		}
	}
}

// absenceOf returns how an object is gone; empty if it is not.
func absenceOf(o report.Object) report.Absence {
	switch {
	case o.Missing:
		return report.AbsenceMissing
	case o.Terminating:
		return report.AbsenceTerminating
	}
	return ""
}

// observationOf returns what a report says of a field.
func observationOf(f report.Finding) observation {
	out := observation{id: f.ID, drifted: f.Drifted(), masked: f.Masked, silenced: f.Silenced(), live: f.Live}
	for _, owner := range f.Owners {
		if !slices.Contains(out.managers, owner.Manager) {
			out.managers = append(out.managers, owner.Manager)
		}
	}
	return out
}

// finding is the history of a finding so far.
type finding struct {
	report.FindingHistory
	// since is when the current period began, and before the length of the earlier ones.
	since  time.Time
	before time.Duration
	// value is the hash of the latest live value.
	value [sha256.Size]byte
	// wasMasked is set once a report masks the finding. Another one may have its value in clear.
	wasMasked bool
}

// see adds a report that has the finding.
func (f *finding) see(seen observation, at time.Time, revision int) {
	encoded, _ := json.Marshal(seen.live) // it was decoded from JSON
	value := sha256.Sum256(encoded)
	isThere := f.State == report.FindingThere
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
	step := report.HistoryStep{Time: at, State: report.FindingThere, Managers: seen.managers, Revision: revision}
	if len(encoded) <= maxValue && seen.live != (object.Null{}) {
		step.Live = seen.live
	}
	f.step(step)
	if changed {
		f.Changes++
		return
	}
	f.State, f.since = report.FindingThere, at
	f.Periods++
}

// end adds a report that has the finding no longer, or silences it.
func (f *finding) end(state report.FindingState, at time.Time, revision int) {
	if f.State != report.FindingThere {
		if f.State != state {
			f.step(report.HistoryStep{Time: at, State: state, Revision: revision})
		}
		f.State = state
		return
	}
	f.State, f.Ended = state, &at
	f.before += at.Sub(f.since)
	f.step(report.HistoryStep{Time: at, State: state, Revision: revision})
}

// step keeps a step, and forgets the oldest beyond maxSteps.
func (f *finding) step(s report.HistoryStep) {
	if len(f.Steps) == maxSteps {
		f.Steps = slices.Delete(f.Steps, 0, 1)
	}
	f.Steps = append(f.Steps, s)
}

// history returns the history of the finding so far.
func (f *finding) history() report.FindingHistory {
	out := f.FindingHistory
	out.Steps, out.Managers = slices.Clone(f.Steps), slices.Clone(f.Managers)
	if f.wasMasked {
		out.Masked = true
		for i := range out.Steps {
			out.Steps[i].Live = nil
		}
	}
	length := f.before
	if f.State == report.FindingThere {
		length += f.LastSeen.Sub(f.since)
	}
	out.Seconds = int64(length / time.Second)
	out.Flapping = f.Periods > 1 || f.Changes > 1
	return out
}
