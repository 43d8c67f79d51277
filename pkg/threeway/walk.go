package threeway

// walker goes through the four sides of one object and collects its findings.
type walker struct {
	shape  *shape
	engine Engine
	owners *ownership
	// live is the whole live object in normal form, for the question what the API would default in live's own context.
	live map[string]any
	// allocated are the fields that the server or a controller fills (allocated.go), for this kind.
	allocated *fieldTree
	// autoscaler names what governs the object's replicas, empty where nothing does.
	autoscaler string
	// lastRevision is the number of a last revision that is not old, 0 where there is none.
	lastRevision int
}

// entry is what one place of the walk came to.
type entry struct {
	Finding
	weight weight
	// presence says which of old, desired and live have the field.
	presence [3]bool
}

// weight tells what an entry means for the subtree it stands in.
type weight int

const (
	// silent is no finding, and does not keep a subtree from being one.
	silent weight = iota
	// soft is a finding that follows from others: a default that comes or goes with what holds it.
	soft
	// hard is a finding of its own.
	hard
)

// walk compares one place and everything below it.
func (w *walker) walk(path Path, n sides, s *shape) []entry {
	if n.converged() {
		return nil
	}
	if w.isAllocated(path, n) {
		return []entry{{weight: silent}}
	}
	rule := s.merges()
	switch {
	case n.maps():
		if names := n.names(); len(names) > 0 {
			return w.fold(path, n, w.walkMap(path, n, s, names))
		}
	case n.lists() && (rule.set || len(rule.keys) > 0):
		if steps, note := n.steps(rule); len(steps) > 0 {
			return w.fold(path, n, w.walkList(path, n, s, steps, note))
		}
	}
	e := w.classify(path, n)
	if e.weight == silent && !n.live.present {
		return nil
	}
	return []entry{e}
}

func (w *walker) walkMap(path Path, n sides, s *shape, names []string) []entry {
	var out []entry
	for _, name := range names {
		if s.prunes(name) && !has(n.live.value, name) {
			continue
		}
		out = append(out, w.walk(path.Field(name), n.at(name), s.field(name))...)
	}
	return out
}

func (w *walker) walkList(path Path, n sides, s *shape, steps []Step, note string) []entry {
	var out []entry
	for _, step := range steps {
		found := w.walk(path.with(step), n.item(step), s.item())
		for i := range found {
			found[i].addNote(note)
		}
		out = append(out, found...)
	}
	if len(s.merges().keys) > 0 && note == "" {
		out = append(out, w.order(path, n, steps)...)
	}
	return out
}

// fold makes one finding of a one-sided subtree whose findings agree in owner, class and side: an added container is one
// finding, not one for each of its fields. Folding never crosses from unmanaged to managed.
func (w *walker) fold(path Path, n sides, entries []entry) []entry {
	if len(path) == 0 || n.old.present && n.desired.present && n.live.present {
		return entries
	}
	loud := ofWeight(entries, hard)
	if len(loud) == 0 {
		loud = ofWeight(entries, soft)
	}
	if len(loud) == 0 {
		return entries
	}
	first := loud[0]
	for _, e := range loud[1:] {
		if !first.folds(e) {
			return entries
		}
	}
	if first.presence != n.presence() {
		return entries
	}
	whole := w.verdict(path, n, first.Managed)
	if whole.Verdict == "" {
		return entries
	}
	whole.Owners, whole.Class, whole.weight = first.Owners, first.Class, first.weight
	whole.Old, whole.Desired = n.old.text(whole.Old), n.desired.text(whole.Desired)
	if len(loud) == 1 || whole.Note == "" {
		whole.Note = first.Note
	}
	return []entry{whole}
}

func ofWeight(entries []entry, wanted weight) []entry {
	var out []entry
	for _, e := range entries {
		if e.weight == wanted {
			out = append(out, e)
		}
	}
	return out
}

// folds tells whether two findings may be parts of one.
func (e entry) folds(o entry) bool {
	return e.presence == o.presence && e.Managed == o.Managed && e.Class == o.Class && sameOwners(e.Owners, o.Owners)
}

func sameOwners(a, b []Owner) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Manager != b[i].Manager || a[i].Operation != b[i].Operation || a[i].Subresource != b[i].Subresource {
			return false
		}
	}
	return true
}

func (n sides) presence() [3]bool {
	return [3]bool{n.old.shown().present, n.desired.shown().present, n.live.present}
}

func (e *entry) addNote(note string) {
	switch {
	case note == "" || e.weight == silent:
	case e.Note == "":
		e.Note = note
	default:
		e.Note += "; " + note
	}
}

// order reports managed items of a keyed list whose order Helm's patch changes.
func (w *walker) order(path Path, n sides, steps []Step) []entry {
	both := func(s side) []any { return n.orderOf(s, steps) }
	live, result := both(n.live), both(n.result)
	if equalLists(live, result) || len(live) != len(result) {
		return nil
	}
	old, desired := both(n.old), both(n.desired)
	f := Finding{Path: path, Verdict: Overwrite, Managed: true, Certain: true, Class: ClassOrder, Old: old, Desired: desired, Live: live}
	f.Cause = causeOf(!equalLists(live, old), !equalLists(desired, old))
	f.Note = "Helm's patch puts the items in the manifest's order"
	f.Owners = w.owners.of(path)
	return []entry{{Finding: f, weight: hard, presence: n.presence()}}
}

// orderOf gives the names of the managed items that live and result share, in a side's order.
func (n sides) orderOf(s side, steps []Step) []any {
	list, _ := s.value.([]any)
	out := []any{}
	for i, v := range list {
		for _, step := range steps {
			item := n.item(step)
			if step.matches(i, v) && item.desired.named && item.live.present && item.result.present {
				out = append(out, joinKeys(step.Keys))
			}
		}
	}
	return out
}
