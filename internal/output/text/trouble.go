package text

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/english"
	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// maxTroubles is how many different messages a scan writes. The others are counted.
	maxTroubles = 20
	// maxAlike is how many things are named that have the same message as the first.
	maxAlike = 3
)

// trouble is a message about a release, an object of it or something that could not be searched. The texts are escaped.
type trouble struct {
	subject, message string
	// kind is the message without the names in it. Messages of the same kind are written once.
	kind string
}

// releaseTroubles returns the errors of releases and of their objects, in the order of the overview.
func (t *text) releaseTroubles(all []entry) []trouble {
	var troubles []trouble
	for _, e := range all {
		release := t.releaseName(e.Release, namespaceOf(e.Release))
		for _, m := range e.Errors {
			said := t.messageOf(m)
			troubles = append(troubles, trouble{release, said, m.Code + withoutNames(said, e.Name, e.Namespace, e.StorageNamespace, e.Cluster)})
		}
		for _, o := range e.Objects {
			if o.Error == nil {
				continue
			}
			said := t.message(o.Error.Message)
			kind := o.Error.Code + withoutNames(said, o.Name, o.Namespace, e.Name, e.Namespace, e.StorageNamespace, e.Cluster)
			troubles = append(troubles, trouble{t.objectName(o, e.Release) + " of " + release, said, kind})
		}
	}
	return troubles
}

// scanTroubles returns what could not be searched: "namespace ops on eu-1".
func (t *text) scanTroubles(errors []report.ScanError) []trouble {
	troubles := make([]trouble, len(errors))
	for i, e := range errors {
		var places []string
		if e.Namespace != "" {
			places = append(places, "namespace "+t.label(e.Namespace))
		}
		switch {
		case e.Namespace == "" && e.Cluster == "":
			places = append(places, "the cluster")
		case e.Namespace == "":
			places = append(places, "cluster "+t.label(e.Cluster))
		case e.Cluster != "":
			places = append(places, "on "+t.label(e.Cluster))
		}
		said := t.message(e.Message)
		troubles[i] = trouble{strings.Join(places, " "), said, e.Code + withoutNames(said, e.Namespace, e.Cluster)}
	}
	return troubles
}

// troubles writes messages, each kind of them once, and below it the other things that it is about. One cause, such as a missing right or
// an API that is down, often has hundreds of them: then only a few are named, since the overview has a line for each.
func (t *text) troubles(lead string, all []trouble) {
	alike := map[string][]trouble{}
	for _, x := range all {
		alike[x.kind] = append(alike[x.kind], x)
	}
	kinds := distinct(all, func(x trouble) string { return x.kind })
	for i, kind := range kinds {
		if i == maxTroubles && !t.verbose {
			t.prose(fmt.Sprintf("%s%s (see -v)", lead, english.Count(len(kinds)-i, "more message")))
			return
		}
		first := alike[kind][0]
		t.prose(lead + english.JoinNonEmpty(": ", first.subject, first.message))
		others := distinct(alike[kind], func(x trouble) string { return x.subject })
		others = slices.DeleteFunc(others, func(subject string) bool { return subject == first.subject })
		if len(others) == 0 {
			continue
		}
		named := others
		if !t.verbose {
			named = english.AtMost(others, maxAlike)
		}
		t.continuation("", fmt.Sprintf("the same for %d more: %s", len(others), strings.Join(named, ", ")))
	}
}

// wordPattern matches what may be a name in a message: the name of a record, which has the name of a release and a number in it, or a word.
const wordPattern = `sh\.helm\.release\.v1\.[\w.-]+|[\w-]+`

// withoutNames returns a message with a mark in place of each name. Messages that differ only in names are then equal.
func withoutNames(message string, names ...string) string {
	return regexp.MustCompile(wordPattern).ReplaceAllStringFunc(message, func(word string) string {
		if strings.HasPrefix(word, "sh.helm.release.v1.") || slices.Contains(names, word) {
			return "\x00"
		}
		return word
	})
}
