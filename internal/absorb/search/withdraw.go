package search

import "slices"

// Withdraw returns a result without the edits for some fields. It also withdraws a field whose edits touch the same values, and adds it to
// fields: its edits were found on top of the withdrawn ones, and may contain list items of theirs.
func Withdraw(p Problem, r Result, fields map[int]bool) Result {
	var gone []Edit
	for again := true; again; {
		for i, f := range r.Found {
			if f.Status == Absorbed && !fields[i] && touchesAny(f.Edits, gone) {
				fields[i] = true
			}
		}
		var all []Edit
		for i, f := range r.Found {
			if fields[i] {
				all = append(all, f.Edits...)
			}
		}
		again, gone = len(all) > len(gone), all
	}
	edited, values := p.Edited, p.Values
	for i, f := range r.Found {
		if f.Status == Absorbed && !fields[i] {
			edited, values = Apply(edited, values, f.Edits), seen(values, f.Edits)
		}
	}
	r.Edited, r.Edits = edited, difference(p.Edited, edited, nil)
	return r
}

// touchesAny reports whether an edit touches a value of others.
func touchesAny(edits, others []Edit) bool {
	return slices.ContainsFunc(edits, func(a Edit) bool {
		return slices.ContainsFunc(others, func(b Edit) bool { return touch(a.Path, b.Path) })
	})
}
