package threeway

import "fmt"

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
	n = n.withoutNulls()
	if w.unpatched {
		n.result = n.live
		if managed {
			n.result = n.desired
		}
	}
	e := entry{presence: n.presence()}
	word, note := w.word(n, managed)
	if word == "" {
		return e
	}
	e.Finding = Finding{
		Path: path, Verdict: word, Cause: causeOf(n.drifted(), n.changed()), Managed: managed, Certain: true,
		Old: plain(n.old.shown().orNil()), Desired: plain(n.desired.shown().orNil()), Live: plain(n.live.orNil()), Note: note,
	}
	if n.dropped() {
		e.Desired = nil
	}
	if word != Ignore && n.result.present && (n.dropped() || !n.result.same(n.desired)) {
		e.After = plain(n.result.value)
	}
	if n.live.present {
		e.Owners = w.owners.of(path)
	}
	if w.autoscaler != "" && path.isReplicas() {
		e.Class = ClassAutoscaled
		e.Note = scalerNote(w.autoscaler, word)
	}
	return e
}

func scalerNote(autoscaler string, word Verdict) string {
	note := autoscaler + " sets the replicas"
	if word != Ignore {
		note += "; helm upgrade resets them until it scales again"
	}
	return note
}

// word is the verdict, and a note where it needs one; empty where there is nothing to say.
func (w *walker) word(n sides, managed bool) (Verdict, string) {
	switch {
	case n.converged():
		return "", ""
	case !n.live.same(n.result):
		return w.patchWord(n)
	case n.drifted() || managed:
		return Ignore, w.ignoreNote(n, managed)
	}
	return "", ""
}

// dropped tells that desired's manifest no longer names what old's does: it counts as absent even if it has a default.
func (n sides) dropped() bool { return n.old.named && !n.desired.named }

func (n sides) drifted() bool { return !n.live.same(n.old) }

func (n sides) changed() bool { return n.dropped() || !n.desired.same(n.old) }

// withoutNulls resolves nulls that a manifest writes into a map of a native kind. The server stored the zero value at install
// and Helm's next upgrade deletes the key, so both count as undrifted.
func (n sides) withoutNulls() sides {
	if null, ok := n.old.value.(nullKey); ok {
		n.old.value, n.old.present = nil, false
		if n.live.present && equal(n.live.value, null.zero) {
			n.old.value, n.old.present = n.live.value, true
		}
	}
	if _, ok := n.desired.value.(nullKey); ok {
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

// patchWord is the verdict where Helm's patch changes live: the table's word, unless the patch does something else.
func (w *walker) patchWord(n sides) (Verdict, string) {
	word, effect := tableWord(n), effectOf(n)
	agreed := word == effect || word != Ignore && (n.dropped() || n.result.same(n.desired))
	if n.desired.named && n.desired.written == nil && effect == Remove {
		return Remove, "the manifest sets it to null, which Helm's patch sends as a removal"
	}
	if !agreed {
		word = effect
	}
	return word, w.patchNote(n, effect)
}

// tableWord is the word of the table for client-side apply.
func tableWord(n sides) Verdict {
	old, desired := n.old.shown().present, n.desired.shown().present && !n.dropped()
	switch {
	case desired && n.live.present && old:
		return Overwrite
	case desired:
		return Add
	case old:
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

// patchNote says why a patch does what the manifests alone do not tell.
func (w *walker) patchNote(n sides, effect Verdict) string {
	switch {
	case n.leaving && !n.managed():
		return "goes with what holds it"
	case !n.managed() && effect == Add:
		return "a default that comes with another change"
	case !n.managed() && w.engine == EngineMerge:
		return "Helm's patch writes the whole list that holds it"
	case !n.managed():
		return "no manifest names it, but Helm's patch keeps here only what the manifest names ($retainKeys or patchStrategy: replace)"
	case n.dropped() || n.result.same(n.desired):
		return ""
	case w.engine == EngineMerge:
		return "Helm sends numbers of such objects as floating point, so another one arrives"
	}
	return "Helm's patch leaves another value here: it tells items of a list apart by fewer keys than the API does"
}

func (w *walker) ignoreNote(n sides, managed bool) string {
	switch {
	case !managed:
		return ""
	case w.engine == EngineMerge && n.drifted() && w.custom:
		return "helm upgrade (client-side) will not put this back: it does not look at live custom resources"
	case w.engine == EngineMerge && n.drifted():
		return "helm upgrade (client-side) will not put this back: it does not look at live objects of this kind"
	case n.drifted():
		return "helm upgrade will not put this back: its patch does not reach this field"
	case w.engine == EngineMerge && bothNumbers(n):
		return "this change will not happen: Helm compares numbers of such objects as floating point, where these are the same"
	}
	return "this change will not happen: live keeps the value after Helm's patch"
}

func bothNumbers(n sides) bool {
	_, desired := n.desired.value.(int64)
	_, live := n.live.value.(int64)
	return desired && live
}

// defaulted tells that nobody wrote the field: it is a default that comes or goes with what holds it.
func defaulted(n sides) bool {
	return !n.live.present || n.old.present && n.old.same(n.live)
}

// unmanaged decides whether a field that only live has, or only a default, is anybody's edit (design section 5.4).
func (w *walker) unmanaged(e entry, n sides) entry {
	switch {
	case !n.live.present:
		return entry{weight: silent}
	case w.isDefault(e.Path, n.live.value):
		return entry{weight: silent, isDefault: true}
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
	if holder := w.shape.along(path[:len(path)-1]); holder != nil && holder.form == formMap && holder.rule == nil {
		return false // keys of a map have no defaults
	}
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
