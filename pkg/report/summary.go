package report

import "slices"

// Recount decides again what drifted, and counts the summary again. It is needed after a change to the findings of a report, for
// example by package accept.
func (r *Report) Recount() {
	r.Summary = Summary{Errors: len(r.Errors)}
	for i := range r.Releases {
		release := &r.Releases[i]
		release.Errors = slices.DeleteFunc(release.Errors, release.isExcused)
		for j := range release.Objects {
			release.Objects[j].Drifted = release.Objects[j].HasDrifted()
		}
		release.Drifted = release.HasDrifted()
		r.Summary.add(*release)
	}
}

// isExcused reports whether an error is about replicas that a rule silences, so that their cause does not matter. A baseline silences
// only what is known, and nobody knows whether these replicas are drift.
func (r *Release) isExcused(e Message) bool {
	silences := func(rule *IgnoreRule) bool { return rule != nil && rule.KnownSince == nil && !rule.LeftOut }
	return e.Code == CodeAutoscalers && slices.ContainsFunc(r.Objects, func(o Object) bool {
		return o.Key().String() == e.Object && slices.ContainsFunc(o.Fields, func(f Finding) bool {
			return f.Path == "spec.replicas" && silences(f.IgnoredBy)
		})
	})
}

func (s *Summary) add(r Release) {
	s.Releases++
	s.Objects += r.Compared
	s.Errors += len(r.Errors)
	if r.Drifted {
		s.DriftedReleases++
	}
	if r.Effect != nil {
		s.Restarts += r.Effect.Restarts
		s.Downtime += len(r.Effect.Downtime)
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

// HasError reports whether anything could not be read or compared. Such a report may lack drift that exists, so it must not pass as
// clean.
func (r *Report) HasError() bool {
	return len(r.Errors) > 0 || slices.ContainsFunc(r.Releases, Release.HasError)
}

// HasError reports whether anything of the release could not be read or compared.
func (r Release) HasError() bool {
	return len(r.Errors) > 0 || slices.ContainsFunc(r.Objects, func(o Object) bool { return o.Error != nil })
}
