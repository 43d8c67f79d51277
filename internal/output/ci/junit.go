package ci

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// These are the elements of a JUnit report that Jenkins, GitLab and Azure all know. There is no standard.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Error     *junitProblem `xml:"error"`
		Failure   *junitProblem `xml:"failure"`
		Skipped   *junitProblem `xml:"skipped"`
		Output    string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",cdata"`
	}
)

// JUnit returns a report as tests. Each release is a suite. It has a case for each object that has something to say, and one for the
// release itself, so a clean release is a passed test. A case fails if the object sets the exit code, is an error if the object could not
// be compared, and is skipped if everything found is silenced.
func JUnit(r *report.Report, o Options) ([]byte, error) {
	out := junitSuites{Name: "helmdrift"}
	at := r.Time.UTC().Format("2006-01-02T15:04:05")
	if len(r.Errors) > 0 {
		suite := junitSuite{Name: "search", Timestamp: at}
		for _, e := range entriesOf(&report.Report{Errors: r.Errors}) {
			suite.add(junitCase{Name: e.subject, ClassName: "search", Error: problem([]entry{e})})
		}
		out.add(suite)
	}
	for i := range r.Releases {
		out.add(junitRelease(&r.Releases[i], at, o))
	}
	if claims := claimEntries(r.Scan); len(claims) > 0 {
		suite := junitSuite{Name: "claims", Timestamp: at}
		for _, e := range claims {
			c := junitCase{Name: e.subject, ClassName: e.rule}
			if o.FailsOn != nil && o.FailsOn(e.rule) && e.level == levelWarning {
				c.Failure = problem([]entry{e})
			} else {
				c.Output = e.says
			}
			suite.add(c)
		}
		out.add(suite)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s%s\n", xml.Header, text), nil
}

// add adds a suite and its counts.
func (s *junitSuites) add(suite junitSuite) {
	s.Suites = append(s.Suites, suite)
	s.Tests, s.Failures, s.Errors, s.Skipped = s.Tests+suite.Tests, s.Failures+suite.Failures, s.Errors+suite.Errors, s.Skipped+suite.Skipped
}

// add adds a case and counts it.
func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// junitRelease returns the suite of a release.
func junitRelease(r *report.Release, at string, o Options) junitSuite {
	class := line(strings.Trim(r.Cluster+"/"+cmp.Or(r.StorageNamespace, r.Namespace)+"/"+r.Name, "/"))
	suite := junitSuite{Name: class, Timestamp: at}
	whole := junitCase{Name: "release " + line(r.Name), ClassName: class, Output: english.Count(r.Compared, "object") + " compared"}
	failing := releaseEntries(&report.Release{
		Name: r.Name, Namespace: r.Namespace, StorageNamespace: r.StorageNamespace, Cluster: r.Cluster, Errors: r.Errors,
		Terminating: r.Terminating, Deployer: r.Deployer,
	})
	switch {
	case len(r.Errors) > 0:
		whole.Error = problem(failing)
	case o.lacks(r):
		whole.Error = &junitProblem{Message: "the exit code depends on effects that are not known", Type: report.CodeEffects}
	case !o.fails(r, nil):
	case len(failing) > 0:
		whole.Failure = problem(failing)
	case r.Effect != nil:
		whole.Failure = &junitProblem{Message: line(r.Effect.Text), Type: "release"}
	default:
		whole.Failure = &junitProblem{Message: "the release sets the exit code", Type: "release"}
	}
	suite.add(whole)
	for i := range r.Objects {
		object := &r.Objects[i]
		if entries := objectEntries(r, object); len(entries) > 0 {
			suite.add(junitObject(r, object, entries, class, o))
		}
	}
	return suite
}

// junitObject returns the case of an object.
func junitObject(r *report.Release, object *report.Object, entries []entry, class string, o Options) junitCase {
	c := junitCase{Name: entries[0].subject, ClassName: class}
	loud := slices.DeleteFunc(slices.Clone(entries), entry.isSilent)
	switch {
	case object.Error != nil, object.Disputed():
		c.Error = problem(entries)
	case o.fails(r, object) && len(loud) > 0:
		c.Failure = problem(loud)
	case o.fails(r, object):
		c.Failure = problem(entries) // such as a write of what an ignore rule silences, with --fail-on effect
	case len(loud) == 0:
		c.Skipped = &junitProblem{Message: "silenced: " + entries[0].silencedBy}
	default:
		c.Output = lines(loud)
	}
	return c
}

// problem returns entries as the problem of a case. The message is the first entry.
func problem(entries []entry) *junitProblem {
	first := entries[0]
	message := first.text()
	if n := len(entries) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d more)", n)
	}
	return &junitProblem{Message: message, Type: first.rule, Text: lines(entries)}
}

// lines returns entries as a list, one in each line. No line begins with a value.
func lines(entries []entry) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, e := range entries {
		b.WriteString("- " + e.text() + "\n")
	}
	return b.String()
}
