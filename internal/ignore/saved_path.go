package ignore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file matches patterns with the paths of saved reports. A report has a path as a text for people, and the pointer into live. The two
// together say nearly all of it; what they do not say is unknown, and never guessed.

// answer is what is known of whether a pattern matches.
type answer int

// The answers. The least of several is that of all together.
const (
	no answer = iota
	unknown
	yes
)

// answerOf returns a known answer.
func answerOf(matches bool) answer {
	if matches {
		return yes
	}
	return no
}

// savedPath is a path of a saved report; nil if its text cannot be read.
type savedPath []savedStep

// savedStep is a step of a savedPath.
type savedStep struct {
	// quoted is set if name stands in brackets and quotes: it is a field or the member of a set. Else keys, isIndex or a plain name is set.
	name    string
	quoted  bool
	keys    []tokenKey
	isIndex bool
	index   int
	// liveToken is the token of the pointer into live, escaped; empty if live lacks the place.
	liveToken string
}

// savedPathOf reads the path of a finding.
func savedPathOf(f report.Finding) savedPath {
	var out savedPath
	for rest := f.Path; rest != ""; {
		step, after, ok := cutStep(rest)
		if !ok {
			return nil
		}
		out, rest = append(out, step), after
	}
	if live := strings.Split(strings.TrimPrefix(f.Pointer, "/"), "/"); len(live) == len(out) {
		for i := range out {
			out[i].liveToken = live[i]
		}
	}
	if last := len(out) - 1; last >= 0 && out[last].keys != nil && (f.Masked || isList(f.Live)) {
		out[last].liveToken = "" // several items have these keys, and the pointer is that of the first
	}
	return out
}

func isList(v any) bool {
	_, is := v.([]any)
	return is
}

// cutStep reads the first step of a path as object.Path.String writes it.
func cutStep(text string) (step savedStep, rest string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		text = strings.TrimPrefix(text, ".")
		end := strings.IndexAny(text+".", ".[")
		return savedStep{name: text[:end]}, text[end:], end > 0
	}
	if quoted, err := strconv.QuotedPrefix(text[1:]); err == nil {
		name, _ := strconv.Unquote(quoted)
		rest, ok = strings.CutPrefix(text[1+len(quoted):], "]")
		return savedStep{name: name, quoted: true}, rest, ok
	}
	end := endOfBrackets(text)
	if end < 0 {
		return step, "", false
	}
	inner, rest := text[1:end], text[end+1:]
	if index, err := strconv.Atoi(inner); err == nil {
		return savedStep{isIndex: true, index: index}, rest, true
	}
	step.keys, ok = savedKeys(inner)
	return step, rest, ok
}

// endOfBrackets returns the index of the bracket that ends the first step of a path; -1 if there is none, or if it cannot be told from
// a bracket in the value of a key.
func endOfBrackets(text string) int {
	end := strings.IndexByte(text, ']')
	if end < 0 || end+1 < len(text) && text[end+1] != '.' && text[end+1] != '[' {
		return -1
	}
	return end
}

// savedKeys reads the keys of a list item. A value with a comma cannot be told from two keys unless what follows has no equals sign.
func savedKeys(text string) (out []tokenKey, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, false
		}
		out = append(out, tokenKey{name: name, value: value})
	}
	return out, true
}

// coversSaved is covers for the path of a saved report. A pattern that may reach into a finding with parts is unknown.
func (p Pattern) coversSaved(path savedPath, hasParts bool) answer {
	if len(p.tokens) == 0 {
		return yes
	}
	if path == nil {
		return unknown
	}
	out := yes
	for i, t := range p.tokens {
		if i == len(path) {
			return min(out, unknownIf(hasParts))
		}
		out = min(out, t.matchesSaved(path[i]))
	}
	return out
}

// unknownIf returns unknown, or no.
func unknownIf(isUnknown bool) answer {
	if isUnknown {
		return unknown
	}
	return no
}

// matchesSaved reports whether the token names a step of a saved path.
func (t token) matchesSaved(s savedStep) answer {
	switch {
	case t.form == tokenAny:
		return yes
	case s.keys != nil || s.isIndex:
		return t.matchesSavedItem(s)
	case t.form == tokenKeys:
		return no
	case s.quoted && isHidden(s.name):
		return unknown
	case t.form == tokenIndex && s.quoted && s.name != t.name && s.name != s.liveToken:
		return t.matchesLiveIndex(s)
	}
	return answerOf(object.MatchName(t.name, s.name))
}

// matchesSavedItem is matchesSaved for an item that is named by its keys or its index.
func (t token) matchesSavedItem(s savedStep) answer {
	switch {
	case t.form == tokenIndex:
		return t.matchesLiveIndex(s)
	case t.form != tokenKeys:
		return no
	}
	out := yes
	for _, want := range t.keys {
		out = min(out, want.matchesSaved(s))
	}
	return out
}

// matchesSaved reports whether an item has the key. The path of a report names an item by some of its fields; the others are unknown.
func (k tokenKey) matchesSaved(s savedStep) answer {
	n := slices.IndexFunc(s.keys, func(has tokenKey) bool { return has.name == k.name })
	if n < 0 || isHidden(s.keys[n].value) {
		return unknown
	}
	return answerOf(k.matches(s.keys[n].value))
}

// matchesLiveIndex reports whether an item is at the token's index of live's list. It is unknown if live lacks the item.
func (t token) matchesLiveIndex(s savedStep) answer {
	switch {
	case s.isIndex && s.index != t.index:
		return no
	case s.liveToken == "":
		return unknown
	}
	return answerOf(s.liveToken == fmt.Sprint(t.index))
}

// isHidden reports whether a text of a report may stand for a secret.
func isHidden(text string) bool { return strings.Contains(text, secret.Mask) }
