package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// judgement is one report held against one end of Helm's.
type judgement struct {
	*telling
	said *report
	// of is what the report says of the story's objects, by name.
	of map[string]objectReport
	// text is Helm's error; empty where it went through.
	text string
}

// failing are the objects that the report lets fail, also those of which the story knows no name.
func (j *judgement) failing() []objectReport {
	return slices.DeleteFunc(slices.Clone(j.said.Releases[0].Objects), func(o objectReport) bool { return o.Action != "fail" })
}

// unsure tells that the report leaves open what happens to an object.
func unsure(o objectReport) bool {
	return slices.ContainsFunc(o.Fields, func(f fieldReport) bool { return !f.Certain })
}

// judgeFailure: Helm fails exactly on the objects that the report lets fail, for the reasons it gives, and stops where it says.
func (j *judgement) judgeFailure() {
	failing := j.failing()
	j.failures += len(failing)
	if j.text == "" {
		for _, o := range failing {
			if !unsure(o) {
				j.miss(o.Name, "said to fail (%s), Helm goes through", o.Reason)
			}
		}
		return
	}
	for _, o := range j.telling.of.objects {
		if said := j.of[o.name]; said.Action != "fail" && namesObject(j.text, o.name) && !unsure(said) {
			j.miss(o.name, "Helm fails on it, said: %q", said.Action)
		}
	}
	if len(failing) == 0 && !slices.ContainsFunc(j.said.Releases[0].Objects, unsure) {
		j.miss("", "Helm fails, nothing is said to")
		return
	}
	switch {
	case stopsBefore(j.text):
		j.judgeStopBefore(failing)
	case stopsThere(j.text):
		j.judgeStopThere(failing)
	default:
		j.judgeAll(failing)
	}
}

// stopsBefore tells whether Helm ended before it wrote anything: it checks what it is to take over, and builds everything first.
func stopsBefore(text string) bool {
	return strings.Contains(text, "nable to continue with ") || strings.Contains(text, "unable to build kubernetes objects") ||
		strings.HasPrefix(text, "invalid operation: ") || strings.Contains(text, "ValidationError(") || strings.Contains(text, `unknown object type "nil"`)
}

// stopsThere tells whether Helm ended at the first error of its visit of the objects: a creation, or a read.
func stopsThere(text string) bool {
	return strings.HasPrefix(text, "failed to create resource") || strings.HasPrefix(text, "could not get information about the resource")
}

// judgeStopBefore: one of those that were said to fail is the one, the others of them would have been the next to stop it, and
// nothing is reached.
func (j *judgement) judgeStopBefore(failing []objectReport) {
	named := 0
	for _, o := range failing {
		switch {
		case j.isNamed(o):
			named++
			j.judgeReason(o)
		case stopsBefore(o.Reason) || strings.Contains(o.Reason, "cannot be imported") || strings.Contains(o.Reason, noName):
			j.unreached++
		default:
			j.miss(o.Name, "said to fail (%s), Helm stops before it writes anything", o.Reason)
		}
	}
	if named == 0 {
		j.miss("", "Helm stops on none of those that are said to fail")
	}
	for _, o := range j.telling.of.objects {
		if said := j.of[o.name]; said.Action != "skip" && said.Action != "fail" {
			j.miss(o.name, "Helm stops before it writes anything, said: %q", said.Action)
		}
	}
}

// noName is what Helm says of an object without a name.
const noName = "resource name may not be empty"

// judgeStopThere: the object at which Helm stops is one of those that were said to fail, those after it are said to be skipped or to
// fail, those before it are not skipped.
func (j *judgement) judgeStopThere(failing []objectReport) {
	at := slices.IndexFunc(failing, j.isNamed)
	if at < 0 {
		j.miss("", "Helm stops on none of those that are said to fail")
		return
	}
	stop := failing[at]
	j.judgeReason(stop)
	j.unreached += len(failing) - 1
	stored, err := j.c.stored()
	if err != nil {
		j.miss("", "%v", err)
		return
	}
	reached := true
	for _, obj := range stored {
		name := obj.GetName()
		said, known := j.of[name]
		switch {
		case name == stop.Name && obj.GetGenerateName() == stop.Generate:
			reached = false
		case name == "":
		case reached && said.Action == "skip":
			j.miss(name, "said to be skipped, Helm comes to it before it stops at %s", stop.Name+stop.Generate)
		case !reached && (!known || said.Action != "skip" && said.Action != "fail"):
			j.miss(name, "comes after %s, at which Helm stops; said: %q", stop.Name+stop.Generate, said.Action)
		case !reached && said.Action == "skip" && !blamed(said, stop):
			j.miss(name, "is skipped because of %s, said: %v", stop.Name+stop.Generate, said.BlockedBy)
		}
	}
	j.judgeNoDeletion()
}

// blamed tells whether the report names the object that keeps Helm from another.
func blamed(o, by objectReport) bool {
	return slices.ContainsFunc(o.BlockedBy, func(key string) bool { return strings.Contains(key, by.Kind) && strings.HasSuffix(key, by.Name) })
}

// judgeAll: Helm comes to all objects, and names each that fails. Nothing is deleted.
func (j *judgement) judgeAll(failing []objectReport) {
	for _, o := range failing {
		switch {
		case j.isNamed(o):
			j.judgeReason(o)
		case !unsure(o):
			j.miss(o.Name, "said to fail (%s), Helm does not fail on it", o.Reason)
		}
	}
	j.judgeNoDeletion()
}

func (j *judgement) judgeNoDeletion() {
	for _, o := range j.said.Releases[0].Objects {
		if o.Action == "delete" {
			j.miss(o.Name, "said to be deleted, though Helm fails on others")
		}
	}
}

// isNamed tells whether Helm's error is about an object. Some errors do not name it: one that has the very words that were foretold,
// and one of decoding, which has only the kind.
func (j *judgement) isNamed(o objectReport) bool {
	if o.Name == "" {
		return strings.Contains(j.text, noName)
	}
	nameless := o.Reason != "" && strings.Contains(j.text, o.Reason) ||
		strings.Contains(o.Reason, "does not decode") && strings.Contains(j.text, "cannot be handled as a "+o.Kind)
	return nameless || namesObject(j.text, o.Name)
}

// namesObject tells whether an error of Helm is about an object; both Helms and the API server name it in their own ways.
func namesObject(text, name string) bool {
	return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "/"+name+" ")
}

// errorStart matches where the error of one object begins in Helm's.
var errorStart = regexp.MustCompile(`(?:^| && )(?:cannot patch "|failed to replace object: |failed to create patch: |failed to create resource: |conflict occurred while applying object |server-side apply failed for object )`)

// part is what Helm's error has about one object.
func part(text, name string) string {
	var cuts []int
	for _, at := range errorStart.FindAllStringIndex(text, -1) {
		cuts = append(cuts, at[0])
	}
	cuts = append(cuts, len(text))
	for i := range cuts[:len(cuts)-1] {
		if piece := text[cuts[i]:cuts[i+1]]; namesObject(piece, name) {
			return piece
		}
	}
	return text
}

// conflictField matches the fields that the API server lists in a conflict: "conflict with "x" using v1: .data.a", or several
// as a list after "conflicts with".
var conflictField = regexp.MustCompile(`(?m)(?:^- |conflict with "[^"]*"(?: with subresource "\w+")?(?: using \S+)?(?: at [^ ]+)?: )(\..*?)(?: && |$)`)

// misnamed are fields that the API server calls by another name than the API does, or only speaks of (kubernetes v1.36.3
// pkg/apis/storage/validation ValidateCSIDriverUpdate, pkg/apis/core/validation ValidatePersistentVolumeUpdate and
// ValidateServiceClusterIPsRelatedFields).
var misnamed = strings.NewReplacer("spec.attachedRequired", "spec.attachRequired", "spec.persistentvolumesource", "spec",
	" nodeAffinity:", " spec.nodeAffinity:", " volumeMode:", " spec.volumeMode:", "indicated by `ipFamilies[0]`", "spec.ipFamilies: Invalid value")

// judgeReason holds a foretold reason against Helm's error. Where it is in the words of Helm or of the API server, these must be
// there; where it names fields, the server names them, too.
func (j *judgement) judgeReason(o objectReport) {
	text := part(j.text, o.Name)
	switch {
	case strings.Contains(o.Reason, "Apply failed with"):
		j.judgeConflicts(o, text)
	case hasWordsOfHelm(o.Reason):
		if !saysWords(text, o.Reason) {
			j.miss(o.Name, "fails otherwise than was said: %s", o.Reason)
		}
	default:
		if ours, theirs := ourFields(o.Reason), serverFields(misnamed.Replace(text)); !mentions(ours, theirs, strings.HasPrefix(o.Reason, "immutable: ")) {
			j.miss(o.Name, "fails on %v, said: %s", theirs, o.Reason)
		}
	}
}

// saysWords tells whether an error has the words of a reason, but for what we add. Two things cannot be foretold: the value that the
// server shows, and the resource that it names between Helm's words and its own.
func saysWords(text, reason string) bool {
	// The server's own release of the library names list items where a later one counts them.
	text, reason = inBrackets.ReplaceAllString(text, ""), inBrackets.ReplaceAllString(reason, "")
	words, _, _ := strings.Cut(reason, "another type stands there")
	words, _, _ = strings.Cut(words, "; does not decode: ")
	start, rest, patched := strings.Cut(words, ": metadata.resourceVersion: ")
	if patched {
		return strings.Contains(text, start) && strings.Contains(text, rest)
	}
	head, list, several := strings.Cut(words, " is invalid: [")
	if !several {
		return strings.Contains(text, words)
	}
	// Several faults come in no order.
	ends := serverFault.FindAllStringIndex(list, -1)
	for i := range ends {
		fault := list[ends[i][0]:]
		if i+1 < len(ends) {
			fault = list[ends[i][0]:ends[i+1][0]]
		}
		if !strings.Contains(text, strings.TrimRight(fault, "], ")) {
			return false
		}
	}
	return len(ends) > 1 && strings.Contains(text, head+" is invalid: [")
}

// TestSaysWords: several faults are the same in whatever order the server has them, and none may be another.
func TestSaysWords(t *testing.T) {
	const upgrade = `cannot patch "r" with kind Route: Route.ex.com "r" is invalid: [`
	faults := []string{
		`spec.hosts[0]: Too long: may not be more than 8 bytes`,
		`<nil>: Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found none valid`,
		`spec.code: Invalid value: "ABC": spec.code in body should match '^[a-z]+$'`,
		`spec.size: Unsupported value: "huge": supported values: "small", "medium"`,
		`spec.choice.a: Required value`,
		`spec.zones: Forbidden: failed rule: self == oldSelf`,
	}
	for first := range faults {
		turned := append(slices.Clone(faults[first:]), faults[:first]...)
		reason := `Route.ex.com "r" is invalid: [` + strings.Join(faults, ", ") + "]"
		if text := upgrade + strings.Join(turned, ", ") + "]"; !saysWords(text, reason) {
			t.Errorf("%s\nis not taken for\n%s", text, reason)
		}
		if text := upgrade + strings.Join(turned[1:], ", ") + "]"; saysWords(text, reason) {
			t.Errorf("%s\nis taken for\n%s", text, reason)
		}
	}
}

// serverFault matches where one of several faults begins.
var serverFault = regexp.MustCompile(`(?:<nil>|[A-Za-z][\w."-]*): (?:Invalid value|Required value|Duplicate value|Unsupported value|Forbidden|Too many|Too long)`)

// hasWordsOfHelm tells whether a reason claims to be what Helm or the API server will say.
func hasWordsOfHelm(reason string) bool {
	for _, words := range []string{
		"cannot be imported", "failed to create patch", "failed to replace object", "failed to create typed patch", "server-side apply failed",
		"cannot patch ", "namespaces \"", "could not get information", "is invalid: ", "ValidationError(", "unknown object type",
	} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return false
}

// serverField matches a field that validation complains of.
var serverField = regexp.MustCompile(`([A-Za-z][\w.\[\]/"-]*): (?:Invalid value|Forbidden|Required value|Duplicate value|Unsupported value|Not found|Too many|Too long|Internal error)`)

// goField matches a field that the server cannot decode.
var goField = regexp.MustCompile(`Go struct field \w+\.([\w.]+) of type`)

func serverFields(text string) []string {
	var out []string
	for _, pattern := range []*regexp.Regexp{serverField, goField} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if m[1] != "patch" { // what does not decode after a patch is said of the patch as a whole
				out = append(out, plainPath(m[1]))
			}
		}
	}
	return out
}

// pathInReason matches a path of several steps in a reason.
var pathInReason = regexp.MustCompile(`[A-Za-z]\w*(?:\[[^\]]*\])?(?:\.[A-Za-z][\w-]*(?:\[[^\]]*\])?)+`)

// ourFields are the paths that a reason of ours names.
func ourFields(reason string) []string {
	if list, ok := strings.CutPrefix(reason, "immutable: "); ok {
		list, _, _ = strings.Cut(list, " cannot be changed")
		paths := strings.Split(list, ", ")
		for i := range paths {
			paths[i] = plainPath(paths[i])
		}
		return paths
	}
	var out []string
	for _, path := range pathInReason.FindAllString(reason, -1) {
		out = append(out, plainPath(path))
	}
	return out
}

// inBrackets matches the name of a list item, and not the brackets around several errors.
var inBrackets = regexp.MustCompile(`\[[^\[\] ]*\]`)

// plainPath is a path without the names of list items.
func plainPath(path string) string { return inBrackets.ReplaceAllString(path, "") }

// mentions tells whether the server names each field that we name, or one above or below it; where not all need be, one of them: a
// reason may also name what a field does not go with. The server may name more, as one mistake leads to another. A side that names
// none says nothing of fields.
func mentions(ours, theirs []string, all bool) bool {
	if len(ours) == 0 || len(theirs) == 0 {
		return true
	}
	near := func(a, b string) bool {
		return a == b || a+"s" == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".") // clusterIP, clusterIPs
	}
	known := func(a string, others []string) bool {
		return slices.ContainsFunc(others, func(b string) bool { return near(a, b) })
	}
	unknown := slices.DeleteFunc(slices.Clone(ours), func(our string) bool { return known(our, theirs) })
	return len(unknown) == 0 || !all && len(unknown) < len(ours)
}

// judgeConflicts compares the fields in conflict with those that the server names for this object, but for what is not certain.
func (j *judgement) judgeConflicts(o objectReport, text string) {
	var ours, theirs, open []string
	for _, f := range o.Fields {
		switch {
		case !f.Certain:
			open = append(open, bare(f.Path))
		case f.Verdict == "conflict":
			ours = append(ours, bare(f.Path))
		}
	}
	for _, m := range conflictField.FindAllStringSubmatch(text, -1) {
		at := bare(m[1])
		if !slices.ContainsFunc(open, func(path string) bool { return strings.HasPrefix(path, at) || strings.HasPrefix(at, path) }) {
			theirs = append(theirs, at)
		}
	}
	if !covers(ours, theirs) {
		j.miss(o.Name, "conflicts on %v, said: %v", theirs, ours)
	}
}

// covers tells whether each of the server's conflicts is at or below one of ours, and each of ours has one.
func covers(ours, theirs []string) bool {
	at := func(our, their string) bool { return strings.HasPrefix(their, our) }
	for _, their := range theirs {
		if !slices.ContainsFunc(ours, func(our string) bool { return at(our, their) }) {
			return false
		}
	}
	for _, our := range ours {
		if !slices.ContainsFunc(theirs, func(their string) bool { return at(our, their) }) {
			return false
		}
	}
	return true
}

// bare is a path without the marks in which the API server's way to write one and ours differ.
func bare(path string) string {
	return strings.NewReplacer(`"`, "", ".", "", "[", "", "]", "", `\`, "", "=", "").Replace(path)
}
