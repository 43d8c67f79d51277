package report

import (
	"slices"
	"time"
)

// New puts compared releases into one report, in order, and counts them.
func New(version string, now time.Time, releases []Release) *Report {
	r := &Report{APIVersion: APIVersion, Kind: KindReport, Helmdrift: version, Time: now.UTC().Truncate(time.Second), Releases: releases}
	for _, release := range releases {
		r.Summary.add(release)
	}
	return r
}

func (s *Summary) add(r Release) {
	s.Releases++
	s.Objects += r.Compared
	s.Errors += len(r.Errors)
	if r.Drifted {
		s.DriftedReleases++
	}
	for _, o := range r.Objects {
		if o.Drifted {
			s.DriftedObjects++
		}
		if o.Missing && o.IgnoredBy == nil {
			s.Missing++
		}
		if o.Terminating && o.IgnoredBy == nil {
			s.Terminating++
		}
		if o.Error != nil {
			s.Errors++
		}
		for _, f := range o.Fields {
			s.addField(f)
		}
	}
}

func (s *Summary) addField(f Finding) {
	if f.Silenced() {
		s.Ignored++
		return
	}
	if f.Managed {
		s.Managed++
	} else {
		s.Unmanaged++
	}
	switch f.Verdict {
	case Add:
		s.Fields.Add++
	case Remove:
		s.Fields.Remove++
	case Overwrite:
		s.Fields.Overwrite++
	case Ignore:
		s.Fields.Ignore++
	case Conflict:
		s.Fields.Conflict++
	}
}

// Silenced tells whether the finding is listed and counted as ignored only. A volatile finding is silenced where live has
// not left old.
func (f Finding) Silenced() bool {
	return f.IgnoredBy != nil || f.Class == ClassAutoscaled || f.Class == ClassVolatile && f.Cause == CauseChange
}

// Drifted reports whether the finding makes its object drifted: managed, and live has moved. Where live means the same as old, it has
// moved only if Helm fails on it.
func (f Finding) Drifted() bool {
	return f.Managed && f.Cause != CauseChange && !(f.Equivalent && f.Verdict != Conflict) && !f.Silenced()
}

// HasError tells whether anything could not be seen.
func (r *Report) HasError() bool {
	return slices.ContainsFunc(r.Releases, func(rel Release) bool {
		return len(rel.Errors) > 0 || slices.ContainsFunc(rel.Objects, func(o Object) bool { return o.Error != nil })
	})
}

// Disputed tells whether the API server, where it was asked, said otherwise of an object of which all was certain.
func (r *Report) Disputed() bool {
	return slices.ContainsFunc(r.Releases, func(rel Release) bool { return slices.ContainsFunc(rel.Objects, Object.disputed) })
}

func (o Object) disputed() bool {
	return o.DryRun != nil && o.DryRun.Result == DryRunDisagrees && !slices.ContainsFunc(o.Fields, func(f Finding) bool { return !f.Certain })
}
