package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// outcomeJudge compares one report with one outcome of Helm.
type outcomeJudge struct {
	*oracleRun
	report *driftReport
	// objects are the reported objects, by name.
	objects map[string]objectReport
	// helmError is Helm's error; empty if Helm succeeded.
	helmError string
	// stops are the objects where Helm stopped.
	stops map[string]bool
}

// isUncertain reports whether the report leaves open what happens to an object.
func isUncertain(o objectReport) bool {
	return slices.ContainsFunc(o.Fields, func(f fieldReport) bool { return !f.Certain })
}

// mispredictUnlessUncertain records a misprediction, or a tolerance if the report leaves open what happens to the object.
func (j *outcomeJudge) mispredictUnlessUncertain(o objectReport, format string, args ...any) {
	if isUncertain(o) {
		j.tolerated.count(tolerateUncertain)
		return
	}
	j.mispredict(o.Name, format, args...)
}

// judgeFailure checks that Helm fails exactly on the objects that the report says, for its reasons, and stops where it says.
func (j *outcomeJudge) judgeFailure() {
	failing := j.report.failing()
	j.failures += len(failing)
	if j.helmError == "" {
		for _, o := range failing {
			j.mispredictUnlessUncertain(o, "predicted to fail (%s), Helm succeeds", o.Reason)
		}
		return
	}
	open := false
	for _, o := range j.testCase.objects {
		if reported := j.objects[o.name]; reported.Action != "fail" && namesObject(j.helmError, o.name) {
			reported.Name, open = o.name, true
			j.mispredictUnlessUncertain(reported, "Helm fails on it, predicted: %q", reported.Action)
		}
	}
	if len(failing) == 0 {
		if !open {
			j.mispredict("", "Helm fails, no failure is predicted")
		}
		return
	}
	switch {
	case stopsBeforeWriting(j.helmError):
		j.judgeStopBeforeWriting(failing)
	case stopsAtFirstError(j.helmError):
		j.judgeStopAtFirstError(failing)
	default:
		j.judgeEachFailure(failing)
	}
}

// stopsBeforeWriting reports whether Helm ended before it wrote anything: it first checks what it takes over, and builds everything.
func stopsBeforeWriting(text string) bool {
	return strings.Contains(text, "nable to continue with ") || strings.Contains(text, "unable to build kubernetes objects") || strings.HasPrefix(text, "resource mapping not found ") ||
		strings.HasPrefix(text, "invalid operation: ") || strings.Contains(text, "ValidationError(") || strings.Contains(text, `unknown object type "nil"`)
}

// stopsAtFirstError reports whether Helm ended at the first error of a creation or a read.
func stopsAtFirstError(text string) bool {
	return strings.HasPrefix(text, "failed to create resource") || strings.HasPrefix(text, "could not get information about the resource")
}

// judgeStopBeforeWriting checks a stop before any write: Helm stops at one of the predicted failures, would have stopped at the others
// next, and reaches no object.
func (j *outcomeJudge) judgeStopBeforeWriting(failing []objectReport) {
	named := 0
	for _, o := range failing {
		switch {
		case isNamed(j.helmError, o):
			named++
			j.recordStop(o)
		case stopsBeforeWriting(o.Reason) || strings.Contains(o.Reason, "cannot be imported") || strings.Contains(o.Reason, noName):
			j.unreached = append(j.unreached, o.Name)
		default:
			j.mispredict(o.Name, "predicted to fail (%s), Helm stops before it writes anything", o.Reason)
		}
	}
	if named == 0 {
		j.mispredict("", "Helm stops at none of the predicted failures")
	}
	for _, o := range j.testCase.objects {
		if reported := j.objects[o.name]; reported.Action != "skip" && reported.Action != "fail" {
			j.mispredict(o.name, "Helm stops before it writes anything, predicted: %q", reported.Action)
		}
	}
}

// noName is Helm's error about an object without a name.
const noName = "resource name may not be empty"

// judgeStopAtFirstError checks that Helm stops at one of the predicted failures, that the objects after it are reported as skipped or
// failing, and that those before it are not reported as skipped.
func (j *outcomeJudge) judgeStopAtFirstError(failing []objectReport) {
	at := slices.IndexFunc(failing, func(o objectReport) bool { return isNamed(j.helmError, o) })
	if at < 0 {
		j.mispredict("", "Helm stops at none of the predicted failures")
		return
	}
	stop := failing[at]
	j.recordStop(stop)
	for i, o := range failing {
		if i != at {
			j.unreached = append(j.unreached, o.Name)
		}
	}
	stored, err := j.story.stored()
	if err != nil {
		j.mispredict("", "%v", err)
		return
	}
	reached := true
	for _, obj := range stored {
		name := obj.GetName()
		reported, known := j.objects[name]
		switch {
		case name == stop.Name && obj.GetGenerateName() == stop.Generate:
			reached = false
		case name == "":
		case reached && reported.Action == "skip":
			j.mispredict(name, "predicted to be skipped, Helm reaches it before it stops at %s", stop.Name+stop.Generate)
		case !reached && (!known || reported.Action != "skip" && reported.Action != "fail"):
			j.mispredict(name, "is after %s, at which Helm stops; predicted: %q", stop.Name+stop.Generate, reported.Action)
		case !reached && reported.Action == "skip" && !isBlockedBy(reported, stop):
			j.mispredict(name, "is skipped because of %s, predicted: %v", stop.Name+stop.Generate, reported.BlockedBy)
		}
	}
	j.judgeNoDeletion()
}

// isBlockedBy reports whether the report names the object that prevents another.
func isBlockedBy(o, by objectReport) bool {
	return slices.ContainsFunc(o.BlockedBy, func(key string) bool { return strings.Contains(key, by.Kind) && strings.HasSuffix(key, by.Name) })
}

// judgeEachFailure checks an outcome where Helm reaches all objects: Helm names each object that fails, and deletes nothing.
func (j *outcomeJudge) judgeEachFailure(failing []objectReport) {
	for _, o := range failing {
		switch {
		case isNamed(j.helmError, o):
			j.judgeReason(o)
		default:
			j.mispredictUnlessUncertain(o, "predicted to fail (%s), Helm does not fail on it", o.Reason)
		}
	}
	j.judgeNoDeletion()
}

// judgeNoDeletion checks that no object is predicted to be deleted, except by a hook that runs before Helm fails.
func (j *outcomeJudge) judgeNoDeletion() {
	if strings.HasPrefix(j.helmError, "post-") { // a hook that runs last fails after all deletions
		return
	}
	for _, o := range j.report.Releases[0].Objects {
		byHook := slices.ContainsFunc(j.testCase.objects, func(object *oracleObject) bool {
			return object.name == o.Name && object.becomesFirstHook(j.testCase.rollback)
		})
		if o.Action == "delete" && !byHook {
			j.mispredict(o.Name, "predicted to be deleted, although Helm fails on others")
		}
	}
}

// isNamed reports whether Helm's error is about an object. Some errors do not name it: one with exactly the predicted words, and one of
// decoding, which has only the kind.
func isNamed(text string, o objectReport) bool {
	if o.Name == "" {
		return strings.Contains(text, noName)
	}
	nameless := o.Reason != "" && strings.Contains(text, o.Reason) || quotesHelmOrServer(o.Reason) && hasWordsOf(text, o.Reason) ||
		strings.Contains(o.Reason, "does not decode") && strings.Contains(text, "cannot be handled as a "+o.Kind)
	return nameless || namesObject(text, o.Name)
}

// recordStop judges the reason of an object where Helm stopped, and records the object.
func (j *outcomeJudge) recordStop(o objectReport) {
	j.judgeReason(o)
	j.stops[o.Name] = true
}

// namesObject reports whether an error of Helm names an object; both Helms and the API server do so in their own ways.
func namesObject(text, name string) bool {
	return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "/"+name+" ")
}

// errorStart matches where the error about one object begins in Helm's error.
var errorStart = regexp.MustCompile(`(?:^| && )(?:cannot patch "|failed to replace object: |failed to create patch: |failed to create resource: |conflict occurred while applying object |server-side apply failed for object )`)

// errorOf returns the part of Helm's error about one object; objects of two kinds may have the same name.
func errorOf(text string, o objectReport) string {
	var cuts []int
	for _, at := range errorStart.FindAllStringIndex(text, -1) {
		cuts = append(cuts, at[0])
	}
	var pieces []string
	for i, at := range cuts {
		end := len(text)
		if i+1 < len(cuts) {
			end = cuts[i+1]
		}
		if piece := text[at:end]; namesObject(piece, o.Name) {
			pieces = append(pieces, piece)
		}
	}
	ofKind := slices.IndexFunc(pieces, func(piece string) bool {
		return strings.Contains(piece, "Kind="+o.Kind+":") || strings.Contains(piece, "kind "+o.Kind+":")
	})
	switch {
	case len(pieces) == 0:
		return text
	case ofKind >= 0:
		return pieces[ofKind]
	}
	return pieces[0]
}

// conflictField matches the fields that the API server lists in a conflict: "conflict with "x" using v1: .data.a", or several as a list
// after "conflicts with".
var conflictField = regexp.MustCompile(`(?m)(?:^- |conflict with "[^"]*"(?: with subresource "\w+")?(?: using \S+)?(?: at [^ ]+)?: )(\..*?)(?: && |$)`)

// misnamed replaces fields that the API server calls by another name than the API, or only mentions (kubernetes v1.36.3
// pkg/apis/storage/validation ValidateCSIDriverUpdate, pkg/apis/core/validation ValidatePersistentVolumeUpdate and
// ValidateServiceClusterIPsRelatedFields, ValidateService, pkg/registry/core/service/storage/alloc.go updateNodePorts).
var misnamed = strings.NewReplacer("spec.attachedRequired", "spec.attachRequired", "spec.persistentvolumesource", "spec",
	" nodeAffinity:", " spec.nodeAffinity:", " volumeMode:", " spec.volumeMode:", "indicated by `ipFamilies[0]`", "spec.ipFamilies: Invalid value",
	"spec.LoadBalancerSourceRanges", "spec.loadBalancerSourceRanges", "duplicate nodePort: ", "spec.ports.nodePort: Duplicate value: ")

// judgeReason compares a predicted reason with Helm's error.
func (j *outcomeJudge) judgeReason(o objectReport) {
	if fault := reasonFault(o, j.helmError, j.tolerated); fault != "" {
		j.mispredict(o.Name, "%s", fault)
	}
}

// hasWordsOf reports whether an error has the words of a reason, except what helmdrift adds. Two things cannot be predicted: the value
// that the server shows, and the resource that it names between Helm's words and its own.
func hasWordsOf(text, reason string) bool {
	// The library version of the server names list items, while a later version counts them.
	text, reason = inBrackets.ReplaceAllString(text, ""), inBrackets.ReplaceAllString(reason, "")
	text = strings.ReplaceAll(text, "1 error occurred:\n\t* ", "")                                                         // Helm 3 counts the errors of a hook
	if expected, key, keyless := strings.Cut(reason, "an item of a list does not contain declared merge key: "); keyless { // Helm prints the item
		return strings.Contains(text, expected) && strings.Contains(text, " does not contain declared merge key: "+key)
	}
	if m := kindlessWords.FindStringSubmatch(reason); m != nil { // Helm 4 names the object between the two; what follows is advice
		return strings.Contains(text, m[2]) && (m[1] != "" && strings.Contains(text, m[1]) || m[1] == "" && strings.HasPrefix(text, "resource mapping not found "))
	}
	if m := mergedWords.FindStringSubmatch(reason); m != nil { // the server prints the steps of its merge that led to the version
		return strings.Contains(text, m[1]) && strings.Contains(text, " at version "+m[3]+m[2])
	}
	expected, _, _ := strings.Cut(reason, "another type stands there")
	expected, _, _ = strings.Cut(expected, "; does not decode: ")
	start, rest, patched := strings.Cut(expected, ": metadata.resourceVersion: ")
	if patched {
		return strings.Contains(text, start) && strings.Contains(text, rest)
	}
	if head, faults, several := strings.Cut(expected, ": errors:\n"); several { // those of server-side apply have no fixed order
		for fault := range strings.Lines(faults) {
			if !strings.Contains(text, strings.TrimSpace(fault)) {
				return false
			}
		}
		return strings.Contains(text, head)
	}
	head, list, several := strings.Cut(expected, " is invalid: [")
	if !several {
		return strings.Contains(text, expected)
	}
	// Several faults have no fixed order.
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
	_, theirs, same := strings.Cut(text, head+" is invalid: [")
	return len(ends) > 1 && same && len(serverFault.FindAllString(theirs, -1)) == len(ends)
}

// kindlessWords matches a reason that a kind is not served: what Helm was doing, and the kind.
var kindlessWords = regexp.MustCompile(`^(?:(.*?): )?(no matches for kind "[^"]*" in version "[^"]*")`)

// mergedWords matches the reason for an apply that fails because another manager wrote at another version: the object, the fault, and
// the version.
var mergedWords = regexp.MustCompile(`^(.*?)(: \..*) \(of (.*), at which it was written too\)$`)

// TestHasWordsOf checks that several faults match in any order, and that no other fault matches.
func TestHasWordsOf(t *testing.T) {
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
		if text := upgrade + strings.Join(turned, ", ") + "]"; !hasWordsOf(text, reason) {
			t.Errorf("%s\ndoes not match\n%s", text, reason)
		}
		if text := upgrade + strings.Join(turned[1:], ", ") + "]"; hasWordsOf(text, reason) {
			t.Errorf("%s\nmatches\n%s", text, reason)
		}
		if text := upgrade + strings.Join(append(turned, "spec.more: Required value"), ", ") + "]"; hasWordsOf(text, reason) {
			t.Errorf("%s\nmatches\n%s", text, reason)
		}
	}
}

// serverFault matches the beginning of one of several faults.
var serverFault = regexp.MustCompile(`(?:<nil>|[A-Za-z][\w."-]*): (?:Invalid value|Required value|Duplicate value|Unsupported value|Forbidden|Too many|Too long)`)

// quotesHelmOrServer reports whether a reason claims to be the words of Helm or of the API server.
func quotesHelmOrServer(reason string) bool {
	for _, words := range []string{
		"cannot be imported", "failed to create patch", "failed to replace object", "failed to create typed patch", "server-side apply failed",
		"cannot patch ", "namespaces \"", "could not get information", "is invalid: ", "ValidationError(", "no matches for kind ", "unknown object type",
		"because it is being terminated", "already exists", "Operation cannot be fulfilled on", "strconv.ParseUint: ", "cannot both be set",
	} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return false
}

// serverField matches a field that validation rejects.
var serverField = regexp.MustCompile(`([A-Za-z][\w.\[\]/"-]*): (?:Invalid value|Forbidden|Required value|Duplicate value|Unsupported value|Not found|Too many|Too long|Internal error)`)

// goField matches a field that the server cannot decode.
var goField = regexp.MustCompile(`Go struct field \w+\.([\w.]+) of type`)

// typedField matches a field whose type server-side apply rejects.
var typedField = regexp.MustCompile(`failed to create typed patch object \([^)]*\): \.([^\s:]+): expected`)

func serverFields(text string) []string {
	var out []string
	for _, pattern := range []*regexp.Regexp{serverField, goField, typedField} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if m[1] != "patch" { // the server reports what does not decode after a patch for the whole patch
				out = append(out, plainPath(m[1]))
			}
		}
	}
	return out
}
