package layout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// PickAnswers are the answers to a question of --patch, behind the question; they are those of git add -p.
const PickAnswers = " [y,n,a,q,?]"

// Clauses are the predicates of one sentence, such as "deletes 2 objects".
type Clauses []string

// Add appends a predicate if there is anything to count.
func (c *Clauses) Add(verb string, n int, thing string) {
	if n > 0 {
		*c = append(*c, verb+" "+english.Count(n, thing))
	}
}

// AddIf appends a clause if a condition holds.
func (c *Clauses) AddIf(condition bool, clause string) {
	if condition {
		*c = append(*c, clause)
	}
}

// AddNonEmpty appends the clauses that are not empty.
func (c *Clauses) AddNonEmpty(clauses ...string) {
	for _, clause := range clauses {
		c.AddIf(clause != "", clause)
	}
}

// Verb is a verb and the number of things that it is about.
type Verb struct {
	Name string
	N    int
}

// AddVerbs appends one predicate for all verbs that have anything to count: "creates 1, deletes 2 objects".
func (c *Clauses) AddVerbs(thing string, verbs ...Verb) {
	verbs = slices.DeleteFunc(verbs, func(v Verb) bool { return v.N == 0 })
	said := ""
	for i, v := range verbs {
		if i < len(verbs)-1 {
			said += fmt.Sprintf("%s %d, ", v.Name, v.N)
		} else {
			*c = append(*c, said+v.Name+" "+english.Count(v.N, thing))
		}
	}
}

// Count appends a number of things if there are any.
func (c *Clauses) Count(n int, thing string) {
	if n > 0 {
		*c = append(*c, english.Count(n, thing))
	}
}

// OneIf returns 1 if a condition holds and 0 otherwise, for counting.
func OneIf(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

// CountLines counts the lines of a text. A line break at its end begins no further line.
func CountLines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// Distinct returns the different names of all, in the order of their first occurrence.
func Distinct[T any, K comparable](all []T, name func(T) K) []K {
	var names []K
	seen := map[K]bool{}
	for _, x := range all {
		if n := name(x); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

// Age says roughly how long ago something was. Clocks differ, so a time slightly in the future is now.
func Age(d time.Duration) string {
	if d < time.Minute {
		return "just now"
	}
	return Span(d) + " ago"
}

// Span says roughly how long something takes or took: "42 s", "3 min", "18 h", "2 d".
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, d)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/day)
	}
}

// RolloutClause says how far an object is: the counts of its pods, or what its status says.
func (s Style) RolloutClause(r report.Rollout) string {
	message := s.Escape(r.Message)
	if r.PodCounts == nil {
		return message
	}
	said := fmt.Sprintf("%d of %s updated, %d ready, %d unavailable", r.Updated, english.Count(int(r.Wanted), "pod"), r.Ready, r.Unavailable)
	if r.Updated == r.Wanted && r.Ready == r.Wanted && r.Unavailable == 0 {
		return JoinNonEmpty("; ", said, message)
	}
	return said
}

// ReasonClause says why an object is not up: where, and what the cluster says. It is empty if nothing is known.
func (s Style) ReasonClause(p report.RolloutProblem) string {
	var where Clauses
	where.AddIf(p.Pod != "", "pod "+s.Escape(p.Pod))
	where.AddIf(p.Container != "", "container "+s.Escape(p.Container))
	return JoinNonEmpty(": ", strings.Join(where, ", "), s.Escape(p.Reason))
}

// Enumerate joins clauses as a sentence does: "a, b and c".
func Enumerate(clauses []string) string {
	last := len(clauses) - 1
	if last < 1 {
		return strings.Join(clauses, "")
	}
	return strings.Join(clauses[:last], ", ") + " and " + clauses[last]
}

// JoinNonEmpty joins the parts that are not empty.
func JoinNonEmpty(separator string, parts ...string) string {
	var said Clauses
	said.AddNonEmpty(parts...)
	return strings.Join(said, separator)
}

// NoDrift says of releases that nothing in them drifted: "no drift", or "nothing new (11 known since 2026-11-20)" if a baseline knows
// findings. What is known is still there, so it must not look like no drift. If the baselines differ, all is known since the last of them.
func NoDrift(releases ...report.Release) string {
	known, since := 0, time.Time{}
	add := func(rule *report.IgnoreRule) {
		if rule != nil && rule.KnownSince != nil {
			known++
			if rule.KnownSince.After(since) {
				since = *rule.KnownSince
			}
		}
	}
	for _, r := range releases {
		for _, o := range r.Objects {
			add(o.IgnoredBy)
			for _, f := range o.Fields {
				add(f.IgnoredBy)
			}
		}
	}
	if known == 0 {
		return "no drift"
	}
	return fmt.Sprintf("nothing new (%d known since %s)", known, since.UTC().Format(time.DateOnly))
}

// Conflicts counts the conflicts of an object that fails on nothing else. Each stands at its field, so the reason of the failure does not
// repeat them.
func Conflicts(o report.Object) (n int) {
	for _, f := range o.Fields {
		n += OneIf(f.Verdict == report.Conflict)
	}
	return n * OneIf(o.OnlyConflicts)
}
