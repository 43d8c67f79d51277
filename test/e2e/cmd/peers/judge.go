package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// truth is what the real helm upgrade did on the real API server.
type truth struct {
	// failure is the error of helm; empty if the upgrade succeeded.
	failure string
	// words has all objects of the manifests before and after, by label.
	words map[string]word
}

// quiet reports whether the upgrade succeeded and changed nothing, so that silence is right whatever a command looks at.
func (t truth) quiet() bool {
	for _, w := range t.words {
		if w != unchanged {
			return false
		}
	}
	return t.failure == ""
}

// score is the judgement of one answer to one question.
type score struct {
	right bool
	// field says, for an edit, that its field is shown too, and undone that the upgrade changed or created the edited object.
	field, undone bool
	// failure says that the command has no answer.
	failure bool
	// wrong says what is wrong.
	wrong string
}

// judge judges the answer of a command to a question.
//
//   - Untouched: no object is named. Only releases are judged whose upgrade changed nothing.
//   - Edited: the edited object is named; the field is shown if one line of its difference has all marks of the edit. Edits that the
//     upgrade undoes are counted apart, because a preview of the upgrade leaves out the others on purpose.
//   - Upgrade: every object of the manifests has the word that it has in truth, and no other object is named. An upgrade that fails is
//     predicted by any command that fails or says so, whatever the reason, and the objects are not looked at then.
//
// A command that fails has not answered, except that it predicts an upgrade that fails.
func judge(q question, a answer, t truth, e *edit) score {
	s := score{failure: a.failure != ""}
	switch {
	case q == upgrade:
		s.wrong = a.mispredicts(t)
		s.failure = s.failure && s.wrong != ""
	case s.failure:
		s.wrong = a.failure
	case q == untouched && len(a.objects) > 0:
		s.wrong = "names " + a.objects[0].describe()
	case q == edited:
		s.wrong, s.field = a.misses(e)
	}
	s.undone = q == edited && (t.words[e.label()] == changed || t.words[e.label()] == created)
	s.right = s.wrong == ""
	return s
}

// misses says how an answer fails to show an edit; wrong is empty if it names the object.
func (a answer) misses(e *edit) (wrong string, field bool) {
	i := slices.IndexFunc(a.objects, func(n named) bool { return n.label == e.label() })
	if i < 0 {
		return "does not name " + e.label(), false
	}
	return "", len(e.marks) == 0 || slices.ContainsFunc(a.objects[i].lines, e.marked)
}

// mispredicts says how an answer differs from what the upgrade did; empty if it does not.
func (a answer) mispredicts(t truth) string {
	fails := a.failure != "" || slices.ContainsFunc(a.objects, func(n named) bool { return n.word == refused })
	switch {
	case t.failure != "" && !fails:
		return "does not predict that the upgrade fails: " + t.failure
	case t.failure != "":
		return ""
	case a.failure != "":
		return a.failure
	}
	said := map[string]word{}
	for _, n := range a.objects {
		said[n.label] = n.word
		if _, known := t.words[n.label]; !known {
			return "names " + n.label + ", which is not in the release"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.words)) {
		w, named := said[name]
		if !named {
			w = unchanged
		}
		if w != t.words[name] {
			return fmt.Sprintf("%s: says %s, is %s", name, w, t.words[name])
		}
	}
	return ""
}

// describe writes an object and its first line that may matter.
func (n named) describe() string {
	for _, line := range n.lines {
		if !strings.Contains(line, "generation:") {
			return n.label + ": " + line
		}
	}
	return n.label
}
