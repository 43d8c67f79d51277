package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// reasonFault compares the reason of a predicted failure with Helm's error about the object; it returns "" if they agree. A reason in the
// words of Helm or of the API server must occur in the error; otherwise both must name the same fields.
func reasonFault(o objectReport, text string, tolerated tolerances) string {
	if o.Name != "" {
		text = errorOf(text, o)
	}
	switch {
	case o.Kind != "Namespace" && strings.Contains(o.Reason, " /v1, Kind=Namespace: Apply failed with"): // --create-namespace applies it
		if text != o.Reason {
			return "fails with another error than predicted: " + o.Reason
		}
	case strings.Contains(o.Reason, "Apply failed with"):
		return conflictFault(o, text)
	case o.Name == "" && strings.Contains(o.Reason, noName):
		if !strings.Contains(text, noName) {
			return "fails with another error than predicted: " + o.Reason
		}
	case quotesHelmOrServer(o.Reason):
		if !hasWordsOf(text, o.Reason) {
			return "fails with another error than predicted: " + o.Reason
		}
	default:
		return fieldsFault(o.Reason, text, tolerated)
	}
	return ""
}

// fieldsFault compares the fields that a reason of helmdrift names with those that the server names.
func fieldsFault(reason, text string, tolerated tolerances) string {
	ours, theirs := ourFields(reason), serverFields(misnamed.Replace(text))
	switch {
	case len(ours) == 0:
		return "the reason names no field: " + reason
	case len(theirs) == 0 && strings.Contains(reason, "does not decode: ") && fieldlessDecoder.MatchString(text):
		tolerated.count(tolerateNoField)
		return ""
	case len(theirs) == 0:
		return "Helm's error names no field, predicted: " + reason
	}
	if !namesEach(ours, theirs) {
		return fmt.Sprintf("fails on %v, predicted: %s", theirs, reason)
	}
	vague := func(group []string) bool { // the server forbids changes of a whole spec, except some fields
		return !slices.ContainsFunc(group, func(our string) bool { return slices.Contains(theirs, our) || slices.Contains(theirs, our+"s") })
	}
	if slices.ContainsFunc(ours, vague) {
		tolerated.count(tolerateVague)
	}
	for _, their := range theirs {
		if !slices.ContainsFunc(slices.Concat(ours...), func(our string) bool { return nearPath(our, their) }) {
			tolerated.count(tolerateMore)
			break
		}
	}
	return ""
}

// namesEach reports whether the server names a field of each group, or one above or below it.
func namesEach(ours [][]string, theirs []string) bool {
	for _, group := range ours {
		near := func(our string) bool {
			return slices.ContainsFunc(theirs, func(their string) bool { return nearPath(our, their) })
		}
		if !slices.ContainsFunc(group, near) {
			return false
		}
	}
	return true
}

// fieldlessDecoder matches errors of the API server's decoder that name no field, because the decoder does not know it (encoding/json and
// k8s.io/apimachinery pkg/api/resource, Quantity.UnmarshalJSON).
var fieldlessDecoder = regexp.MustCompile(`illegal base64 data|quantities must match the regular expression|unable to parse quantity|parsing time|cannot unmarshal \w+ into Go value|cannot convert .* to|cannot restore`)

// nearPath reports whether two plain paths are one, or one is above the other; the server writes clusterIPs for clusterIP.
func nearPath(a, b string) bool {
	return a == b || a+"s" == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// These are the reasons in helmdrift's own words. The server names at least one field of a group: a decoder stops at the first value, and
// if two fields contradict each other, the server names one.
var (
	immutableWords = regexp.MustCompile(`^immutable: (.*) cannot be changed$`)
	decodeWords    = regexp.MustCompile(`^does not decode: the API has another type at (.*)$`)
	bothWords      = regexp.MustCompile(`^(\S+) cannot have both (.*)$`)
	oneOfWords     = regexp.MustCompile(`^(\S+) must have one of (.*)$`)
	twiceWords     = regexp.MustCompile(`^(\w+) and (\w+) cannot both have `)
	pathFirst      = regexp.MustCompile(`^([a-z][A-Za-z0-9]*(?:\[[^\]]*\])*(?:\.[A-Za-z][\w-]*(?:\[[^\]]*\])*)*) (?:may|can|cannot|must|has|is|mounts|does)\b`)
)

// ourFields returns the fields that a reason in helmdrift's own words names, in groups. The server names at least one field of
// each group.
func ourFields(reason string) [][]string {
	var out [][]string
	for note := range strings.SplitSeq(reason, "; ") {
		var group []string
		switch {
		case immutableWords.MatchString(note):
			out = append(out, singly(immutableWords.FindStringSubmatch(note)[1])...)
		case decodeWords.MatchString(note):
			group = slices.Concat(singly(decodeWords.FindStringSubmatch(note)[1])...)
		case twiceWords.MatchString(note):
			group = twiceWords.FindStringSubmatch(note)[1:]
		case bothWords.MatchString(note):
			m := bothWords.FindStringSubmatch(note)
			group = members(m[1], strings.Split(m[2], " and "))
		case oneOfWords.MatchString(note):
			m := oneOfWords.FindStringSubmatch(note)
			group = members(m[1], strings.Split(m[2], ", "))
		default:
			if m := pathFirst.FindStringSubmatch(note); m != nil {
				group = append(group, plainPath(m[1]))
			}
			for _, path := range pathInReason.FindAllString(note, -1) {
				group = append(group, plainPath(path))
			}
		}
		if len(group) > 0 {
			out = append(out, group)
		}
	}
	return out
}

// singly returns a group for each path of a list.
func singly(list string) [][]string {
	var out [][]string
	for path := range strings.SplitSeq(list, ", ") {
		out = append(out, []string{plainPath(path)})
	}
	return out
}

// members returns the fields of a union, and the union itself.
func members(at string, names []string) []string {
	out := []string{plainPath(at)}
	for _, name := range names {
		out = append(out, plainPath(at+"."+name))
	}
	return out
}

// pathInReason matches a path of several steps in a reason.
var pathInReason = regexp.MustCompile(`[A-Za-z]\w*(?:\[[^\]]*\])?(?:\.[A-Za-z][\w-]*(?:\[[^\]]*\])?)+`)

// inBrackets matches the name of a list item, and not the brackets around several errors.
var inBrackets = regexp.MustCompile(`\[[^\[\] ]*\]`)

// plainPath returns a path without the names of list items.
func plainPath(path string) string { return inBrackets.ReplaceAllString(path, "") }

// conflictFault compares the predicted conflicts with the fields that the server names for the object, except uncertain ones.
func conflictFault(o objectReport, text string) string {
	var ours, theirs, open []string
	for _, f := range o.Fields {
		switch {
		case !f.Certain:
			open = append(open, segments(f.Path))
		case f.Verdict == "conflict":
			ours = append(ours, segments(f.Path))
		}
	}
	all := conflictField.FindAllStringSubmatch(text, -1)
	for _, m := range all {
		at := segments(m[1])
		if o.Kind == "Secret" { // what an apply sends as stringData is reported as data, where it is stored
			at = stringDataFirst.ReplaceAllString(at, "data$1")
		}
		if !slices.ContainsFunc(open, func(path string) bool { return isBelow(path, at) || isBelow(at, path) }) {
			theirs = append(theirs, at)
		}
	}
	if len(all) == 0 || !covers(ours, theirs) {
		return fmt.Sprintf("conflicts on %v, predicted: %v", theirs, ours)
	}
	return ""
}

// stringDataFirst matches the first segment of a path to stringData.
var stringDataFirst = regexp.MustCompile(`^stringData(\x00|$)`)

// covers reports whether each of the server's conflicts is at or below one of ours, and each of ours has one.
func covers(ours, theirs []string) bool {
	for _, their := range theirs {
		if !slices.ContainsFunc(ours, func(our string) bool { return isBelow(their, our) }) {
			return false
		}
	}
	for _, our := range ours {
		if !slices.ContainsFunc(theirs, func(their string) bool { return isBelow(their, our) }) {
			return false
		}
	}
	return true
}

// isBelow reports whether a path in segments is another one or below it.
func isBelow(path, above string) bool { return path == above || strings.HasPrefix(path, above+"\x00") }

// pathMarks matches what separates the steps of a path; a name may contain some of these characters, and the server does not quote it.
var pathMarks = regexp.MustCompile(`[.\[\]"\\=]+`)

// segments returns the steps of a path without the characters that the API server and helmdrift write differently.
func segments(path string) string {
	return strings.Trim(pathMarks.ReplaceAllString(path, "\x00"), "\x00")
}
