package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/internal/output/counts"
	"github.com/helmdrift/helmdrift/internal/output/environments"
	"github.com/helmdrift/helmdrift/internal/output/found"
	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxDetails is how many releases of a scan have their details listed. With more, nobody would find the overview above, so none has.
const maxDetails = 3

// scan writes the report of a selection of releases: the answer, the overview, what could not be compared, the details of what drifted if
// that is little, and what could not be searched.
func (t *text) scan(r *report.Report, head answer, opts layout.Options) {
	all := entriesOf(r.Releases)
	detailed, others, more := t.divide(all)
	writers := []func(){
		func() { t.answer(head) },
		func() { t.overview(all, len(clustersOf(r))) },
		func() { t.deployers(r.Releases) },
		func() { t.claims(r) },
		func() {
			if environments.Are(r.Releases) {
				environments.Write(t.Text, r.Releases)
			}
		},
		func() { t.troubles("error: ", t.releaseTroubles(others)) },
	}
	for _, e := range detailed {
		writers = append(writers, func() { t.release(e.Release, t.releaseAnswer(e.Release, opts)) })
	}
	writers = append(writers,
		func() {
			if advice := "-v, or helmdrift diff NAME -n NAMESPACE"; more > 0 {
				if slices.ContainsFunc(r.Releases, func(one report.Release) bool { return one.Deployer != nil }) {
					advice = "-v" // one of them may be compared as hr/NAME, app/NAME, or of a file
				}
				t.Prose(fmt.Sprintf("details of %d: %s", more, advice))
			}
		},
		func() { t.tally(r, all, others) },
	)
	t.Blocks(writers...)
}

// divide returns the entries whose details are written, all others, and how many of the others drifted or changed, so that -v lists their
// details. The errors and warnings of the others are written or counted elsewhere.
func (t *text) divide(all []entry) (detailed, others []entry, more int) {
	for _, e := range all {
		if t.hasDetails(e) {
			detailed = append(detailed, e)
		} else {
			others = append(others, e)
		}
	}
	if len(detailed) > maxDetails && !t.Verbose {
		detailed, others = nil, all
	}
	for _, e := range others {
		more += layout.OneIf(e.Drifted || e.state == report.StateUninstall || e.state == report.StateBlocked || e.state == report.StateChanged)
	}
	return detailed, others, more
}

// hasDetails reports whether there is more to say about a release than its line in the overview says, and the reader wants to know it.
func (t *text) hasDetails(e entry) bool {
	switch {
	case e.Drifted:
		return true
	case t.Verbose:
		return e.state != report.StateClean || len(e.Warnings) > 0 || len(t.shown(e.Release).Objects) > 0
	}
	return t.ShowIgnored && found.In(e.Release).Ignored > 0
}

// clustersOf returns the clusters that the report is about: those that were searched, and those of its releases and errors.
func clustersOf(r *report.Report) []string {
	all := slices.Clone(r.Scan.Clusters)
	for _, rel := range r.Releases {
		all = append(all, rel.Cluster)
	}
	for _, e := range r.Errors {
		all = append(all, e.Cluster)
	}
	return slices.DeleteFunc(layout.Distinct(all, func(name string) string { return name }), func(name string) bool { return name == "" })
}

// searchedClusters returns the clusters that were searched at least in part.
func searchedClusters(r *report.Report) []string {
	return slices.DeleteFunc(clustersOf(r), func(name string) bool {
		return slices.ContainsFunc(r.Errors, func(e report.ScanError) bool {
			return e.Cluster == name && e.Namespace == "" && !counts.WasSearched(e)
		})
	})
}

// scanAnswer returns the answer for a selection of releases.
func (t *text) scanAnswer(r *report.Report, all []entry, opts layout.Options) answer {
	unread := answerLine{}
	if countOfState(all, report.StateError)+len(withoutUnknownNames(r.Errors)) > 0 {
		unread = t.stateLine(report.StateError, r.Releases, "not everything could be searched and read")
	}
	if len(all) == 0 {
		return answer{t.noReleases(r), []answerLine{unread, {label: "do", said: "helmdrift list -A lists the releases of all namespaces"}}}
	}
	c := counts.Of(r.Releases)
	first := t.stateLine(all[0].state, r.Releases, c.Drift(r))
	switch drift := found.In(r.Releases...).Drift(r.Summary.Objects); {
	case drift != "":
		first = t.stateLine(report.StateDrifted, r.Releases, layout.JoinNonEmpty("; ", drift, t.newestEdit(r.Releases)))
	case unread.said != "":
		first, unread = t.stateLine(report.StateError, r.Releases, c.Drift(r)), answerLine{}
	}
	a := answer{t.states(r, all), []answerLine{
		deployersLine(r.Releases),
		first,
		unread,
		t.editorsLine(r.Releases),
		t.operationLine(r.Releases, c),
		serverLine(c),
		claimsLine(r.Scan),
	}}
	advice := "nothing"
	drifted := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return !e.Drifted })
	switch {
	case len(drifted) == 0 && first.state == report.StateError:
		advice = "resolve the errors, then compare again"
	case len(all) == 1 || len(drifted) == 1:
		one := slices.Concat(drifted, all)[0].Release
		advice = t.advice(one, counts.Of([]report.Release{one}), opts)
	case len(drifted) > 0:
		advice = "one release: helmdrift diff NAME -n NAMESPACE, then helmdrift fix"
	}
	if advice == "nothing" && claimsLine(r.Scan).isLoud {
		advice = "look at the claims below"
	}
	a.lines = append(a.lines, doLine(advice))
	return a
}

// tally writes the last lines: what is only counted, and what could not be searched. What could not be searched comes last, because a
// reader of only the last line must not take the report for complete.
func (t *text) tally(r *report.Report, all, others []entry) {
	if len(all) > 0 {
		t.summary(r)
	}
	warnings, warned := 0, 0
	for _, e := range others {
		warnings += len(e.Warnings)
		warned += layout.OneIf(len(e.Warnings) > 0)
	}
	if warnings > 0 {
		t.Prose(english.Count(warnings, "warning") + " about " + english.Count(warned, "release") + " (see -v)")
	}
	t.unsearched(r.Errors, "report")
}

// unsearched writes what could not be searched, and that its releases are not in this document. A source of releases is not the cluster:
// its error says itself what is missing.
func (t *text) unsearched(errors []report.ScanError, document string) {
	isPlain := func(e report.ScanError) bool { return counts.WasSearched(e) || e.Code == report.ErrorSource }
	for _, e := range errors {
		if isPlain(e) {
			t.Prose("error: " + t.Message(e.Message))
		}
	}
	errors = slices.DeleteFunc(slices.Clone(errors), isPlain)
	t.troubles("could not search ", t.scanTroubles(errors))
	if unsearched := counts.Unsearched(errors); unsearched != "" {
		t.Prose("incomplete: the releases of " + unsearched + " are not in this " + document)
	}
}

// isUnknownName reports whether the error says that a name, or the value of a flag, names nothing. In that case the place was searched.
func isUnknownName(e report.ScanError) bool {
	return e.Code == report.ErrorNotFound || e.Code == report.ErrorSelection
}

// withoutUnknownNames returns the errors about what could not be searched.
func withoutUnknownNames(errors []report.ScanError) []report.ScanError {
	return slices.DeleteFunc(slices.Clone(errors), isUnknownName)
}

// states counts the releases in each state: "200 releases: 12 drifted, 3 changed, 1 error, 184 clean · 4.1 s". A release with an error may
// have drifted too.
func (t *text) states(r *report.Report, all []entry) string {
	n, drifted := map[report.State]int{}, 0
	for _, e := range all {
		n[e.state]++
		drifted += layout.OneIf(e.state == report.StateError && e.Drifted)
	}
	var said layout.Clauses
	for _, state := range []report.State{
		report.StateDrifted, report.StateUninstall, report.StateBlocked, report.StateChanged, report.StateError, report.StateClean,
	} {
		word := fmt.Sprintf("%d %s", n[state], state)
		if state == report.StateError {
			word = english.Count(n[state], "error")
			if drifted > 0 {
				word += fmt.Sprintf(" (%d drifted)", drifted)
			}
		}
		said.AddIf(n[state] > 0, word)
	}
	subject := english.Count(len(all), "release")
	if clusters := len(searchedClusters(r)); clusters > 1 {
		subject += " on " + english.Count(clusters, "cluster")
	}
	return subject + shardOf(r.Scan) + ": " + layout.JoinNonEmpty(t.Dot, strings.Join(said, ", "), took(r.Scan.Seconds))
}

// shardOf names the part of the selection that was compared. It is empty if all of it was.
func shardOf(scan *report.Scan) string {
	if scan.Shard == nil {
		return ""
	}
	return fmt.Sprintf(" in shard %d/%d", scan.Shard.Index, scan.Shard.Count)
}

// took says how long a scan took. It is empty if the time is not known.
func took(seconds float64) string {
	switch {
	case seconds <= 0:
		return ""
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 600:
		return fmt.Sprintf("%.0f s", seconds)
	}
	return layout.Span(time.Duration(seconds * float64(time.Second)))
}

// noReleases says where no release was found. It names only searched clusters.
func (t *text) noReleases(r *report.Report) string {
	said := "no releases found"
	searched := searchedClusters(r)
	for i, name := range searched {
		searched[i] = t.Label(name)
	}
	if len(searched) > 0 {
		said += " on " + layout.Enumerate(t.FirstNames(searched, layout.MaxNames))
	}
	said += shardOf(r.Scan)
	if len(withoutUnknownNames(r.Errors)) > 0 {
		said += ", but not everything could be searched"
	}
	return layout.JoinNonEmpty(t.Dot, said, took(r.Scan.Seconds))
}

const (
	// maxTroubles is how many different messages a scan writes. The others are counted.
	maxTroubles = 20
	// maxAlike is how many things with the same message as the first are named.
	maxAlike = 3
)

// trouble is a message about a release, an object of it or something that could not be searched. The texts are escaped.
type trouble struct {
	subject, message string
	cause            cause
}

// cause is what troubles have in common if they have one cause. Their messages are written once. An error without a subject, such as one
// in a report of an older version, has its message instead of a verb, a resource and a reason.
type cause struct{ code, verb, resource, reason, message string }

func causeOf(code, message string, about *report.Subject) cause {
	if about == nil {
		return cause{code: code, message: message}
	}
	return cause{code: code, verb: about.Verb, resource: about.Resource, reason: about.Reason}
}

// releaseTroubles returns the errors of releases and of their objects, in the order of the overview.
func (t *text) releaseTroubles(all []entry) []trouble {
	var troubles []trouble
	for _, e := range all {
		release := t.ReleaseName(e.Release, namespaceOf(e.Release))
		for _, m := range e.Errors {
			said := t.MessageOf(m)
			troubles = append(troubles, trouble{release, said, causeOf(m.Code, said, m.Subject)})
		}
		for _, o := range e.Objects {
			if o.Error == nil {
				continue
			}
			said := t.Message(o.Error.Message)
			troubles = append(troubles, trouble{
				t.ObjectName(o, e.Release) + " of " + release, said, causeOf(o.Error.Code, said, o.Error.Subject),
			})
		}
	}
	return troubles
}

// scanTroubles returns what could not be searched: "namespace ops on eu-1".
func (t *text) scanTroubles(errors []report.ScanError) []trouble {
	troubles := make([]trouble, len(errors))
	for i, e := range errors {
		var places layout.Clauses
		places.AddIf(e.Namespace != "", "namespace "+t.Label(e.Namespace))
		switch {
		case e.Code == report.ErrorSelection: // the message names the flag
		case e.Namespace == "" && e.Cluster == "":
			places = append(places, "the cluster")
		case e.Namespace == "":
			places = append(places, "cluster "+t.Label(e.Cluster))
		case e.Cluster != "":
			places = append(places, "on "+t.Label(e.Cluster))
		}
		said := t.Message(e.Message)
		c := causeOf(e.Code, said, e.Subject)
		if e.Subject != nil && e.Subject.Name != "" {
			c.message = said // about one record: the place that is named does not say which
		}
		troubles[i] = trouble{strings.Join(places, " "), said, c}
	}
	return troubles
}

// troubles writes one message for each cause, and below it the other things that it concerns. One cause, such as a missing right
// or an API that is down, often concerns hundreds of things. Then it names only a few, because the overview has a line for each.
func (t *text) troubles(lead string, all []trouble) {
	alike := map[cause][]trouble{}
	for _, x := range all {
		alike[x.cause] = append(alike[x.cause], x)
	}
	causes := layout.Distinct(all, func(x trouble) cause { return x.cause })
	for i, c := range causes {
		if i == maxTroubles && !t.Verbose {
			t.Prose(fmt.Sprintf("%s%s (see -v)", lead, english.Count(len(causes)-i, "more message")))
			return
		}
		first := alike[c][0]
		t.Prose(lead + layout.JoinNonEmpty(": ", first.subject, first.message))
		others := layout.Distinct(alike[c], func(x trouble) string { return x.subject })
		others = slices.DeleteFunc(others, func(subject string) bool { return subject == first.subject })
		if len(others) == 0 {
			continue
		}
		named := others
		if !t.Verbose {
			named = english.AtMost(others, maxAlike)
		}
		t.Continuation("", fmt.Sprintf("the same for %d more: %s", len(others), strings.Join(named, ", ")))
	}
}
