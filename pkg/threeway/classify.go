package threeway

import "fmt"

// Finding is one field with a verdict, its values in clear. A nil value is an absent side. It never leaves the process:
// Comparison.Report masks it.
type Finding struct {
	Path    Path
	Verdict Verdict
	Cause   Cause
	// Managed tells whether the manifest of old or desired names the field.
	Managed bool
	// Certain is false where the verdict could not be decided read-only; Note says why.
	Certain bool
	Class   Class
	// Old, Desired and Live are the sides; After is what an upgrade leaves where that is none of them.
	Old, Desired, Live, After any
	Note                      string
	Owners                    []Owner
	// Blocked tells that nothing happens to the field because its object fails or is not reached.
	Blocked bool
}

// Drifted tells whether the finding makes its object drifted: managed, and live has moved.
func (f Finding) Drifted() bool {
	return f.Managed && f.Cause != CauseChange && !f.Silenced()
}

// Silenced tells whether the finding is listed and counted as ignored only.
func (f Finding) Silenced() bool {
	return f.Class == ClassAutoscaled || f.Class == ClassVolatile && equal(f.Old, f.Live)
}

// classify decides one place that the walk does not go below.
func (w *walker) classify(path Path, n sides) entry {
	e := w.verdict(path, n, n.managed())
	switch {
	case e.Verdict == "":
		return entry{weight: silent}
	case e.Managed:
		e.weight = hard
		w.noteLast(&e, n)
		return e
	case e.Verdict == Ignore:
		return w.unmanaged(e, n)
	case defaulted(n):
		e.weight = soft
	default:
		e.weight = hard
	}
	return e
}

// verdict says what becomes of one place, by the table of design section 2 and by Helm's own patch; Verdict is empty where
// there is nothing to say.
func (w *walker) verdict(path Path, n sides, managed bool) entry {
	dropped := n.old.named && !n.desired.named
	n = n.withoutNulls()
	e := entry{presence: n.presence()}
	if n.converged() {
		return e
	}
	drifted, changed := !n.live.same(n.old), dropped || !n.desired.same(n.old)
	word, note := ignoreWord(n, drifted, managed), ""
	if !n.live.same(n.result) {
		word, note = patchWord(n, dropped)
	}
	if word == "" {
		return e
	}
	e.Finding = Finding{
		Path: path, Verdict: word, Cause: causeOf(drifted, changed), Managed: managed, Certain: true,
		Old: n.old.shown().orNil(), Desired: n.desired.shown().orNil(), Live: n.live.orNil(), Note: note,
	}
	if dropped {
		e.Desired = nil
	}
	if word != Ignore && n.result.present && !n.result.same(n.desired) || dropped && n.result.present {
		e.After = n.result.value
	}
	if note == "" && word == Ignore {
		e.Note = w.ignoreNote(n, drifted, managed)
	}
	if n.live.present {
		e.Owners = w.owners.of(path)
	}
	if w.autoscaler != "" && path.String() == "spec.replicas" {
		e.Class = ClassAutoscaled
		e.addScalerNote(w.autoscaler)
	}
	return e
}

func (e *entry) addScalerNote(autoscaler string) {
	e.Note = autoscaler + " sets the replicas"
	if e.Verdict == Overwrite || e.Verdict == Remove {
		e.Note += "; helm upgrade resets them until it scales again"
	}
}

// withoutNulls resolves nulls that a manifest writes into a map of a native kind. The server stored the zero value at install
// and Helm's next upgrade deletes the key, so both count as undrifted.
func (n sides) withoutNulls() sides {
	if _, null := n.old.value.(nullKey); null {
		n.old.value, n.old.present = nil, false
		if n.live.present && isZero(n.live.value) {
			n.old.value, n.old.present = n.live.value, true
		}
	}
	if _, null := n.desired.value.(nullKey); null {
		n.desired.value, n.desired.present = nil, false
	}
	return n
}

// causeOf says which side moved. Where neither did and Helm's patch changes live all the same, the change is Helm's.
func causeOf(drifted, changed bool) Cause {
	switch {
	case drifted && changed:
		return CauseBoth
	case drifted:
		return CauseDrift
	}
	return CauseChange
}

// ignoreWord is the verdict where Helm's patch leaves live alone: R = L ≠ D.
func ignoreWord(n sides, drifted, managed bool) Verdict {
	if n.live.same(n.result) && !n.desired.same(n.live) && (drifted || managed) {
		return Ignore
	}
	return ""
}

// patchWord is the verdict where Helm's patch changes live: the table's word, unless the patch does something else.
func patchWord(n sides, dropped bool) (Verdict, string) {
	word, effect := tableWord(n, dropped), effectOf(n)
	if n.desired.named && n.desired.written == nil && effect == Remove {
		return Remove, "the manifest sets it to null, which Helm's patch sends as a removal"
	}
	if word == effect || word != Ignore && (dropped || n.result.same(n.desired)) {
		return word, ""
	}
	return effect, effectNote(n, effect)
}

// tableWord is the word of the table for client-side apply. A dropped field counts as absent in desired.
func tableWord(n sides, dropped bool) Verdict {
	desired := n.desired.shown().present && !dropped
	switch {
	case desired && (!n.live.present || !n.old.shown().present):
		return Add
	case desired:
		return Overwrite
	case n.old.shown().present:
		return Remove
	}
	return Ignore
}

// effectOf is what the patch visibly does to live.
func effectOf(n sides) Verdict {
	switch {
	case !n.live.present:
		return Add
	case !n.result.present:
		return Remove
	}
	return Overwrite
}

func effectNote(n sides, effect Verdict) string {
	switch {
	case !n.managed() && effect != Add:
		return "Helm's patch names what to keep here ($retainKeys or patchStrategy replace) and so takes this away"
	}
	return "Helm's patch does this, although the manifest asks for something else"
}

func (w *walker) ignoreNote(n sides, drifted, managed bool) string {
	switch {
	case !managed:
		return ""
	case w.engine == EngineMerge && drifted:
		return "helm upgrade (client-side) will not put this back: it does not look at live custom resources"
	case w.engine == EngineMerge:
		return "Helm sees no change here: it compares numbers of custom resources as floating point"
	case drifted:
		return "helm upgrade will not put this back: its patch does not reach this field"
	}
	return "this change will not happen: Helm's patch does not reach the field"
}

// defaulted tells that nobody wrote the field: it is a default that comes or goes with what holds it.
func defaulted(n sides) bool {
	return !n.live.present || n.old.present && n.old.same(n.live)
}

// unmanaged decides whether a field that only live has, or only a default, is anybody's edit (design section 5.4).
func (w *walker) unmanaged(e entry, n sides) entry {
	switch {
	case !n.live.present || w.isDefault(e.Path, n.live.value):
		return entry{weight: silent}
	case n.last.named && n.last.same(n.live):
		e.weight, e.Note = hard, fmt.Sprintf("left by failed revision %d", w.lastRevision)
		return e
	case w.isEdit(e.Owners):
		e.weight = hard
		return e
	}
	return entry{weight: silent}
}

// isEdit tells whether a live-only value was written by somebody other than the release: nobody's and the deployer's values
// are allocated, and forgotten writers prove nothing. Where the object names no writers at all, nobody can be ruled out.
func (w *walker) isEdit(owners []Owner) bool {
	if !w.owners.known() {
		return true
	}
	for _, o := range owners {
		if !w.owners.isDeployer(o.Manager) && !isForgotten(o.Manager) {
			return true
		}
	}
	return false
}

// isDefault tells whether the API would default the live value in live's own context.
func (w *walker) isDefault(path Path, value any) bool {
	without, ok := removeAt(w.live, path).(map[string]any)
	if !ok {
		return false
	}
	fillObject(without, w.shape)
	filled, ok := lookup(without, path)
	return ok && equal(filled, value)
}

// noteLast marks a value that a failed revision left.
func (w *walker) noteLast(e *entry, n sides) {
	if w.lastRevision > 0 && n.last.named && n.live.present && n.last.same(n.live) && !n.old.same(n.live) {
		e.addNote(fmt.Sprintf("written by failed revision %d", w.lastRevision))
	}
}
