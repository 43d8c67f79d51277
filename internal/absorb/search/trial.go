package search

import "slices"

// groupSize is how many attempts share a rendering if most of them are expected to do nothing. If one attempt of a group does something,
// finding it costs twice the logarithm of this number in further renderings, so larger groups save little.
const groupSize = 16

// leaf is a value that may change: a scalar, a null, or a whole map or list.
type leaf struct {
	path  []any
	value any
	// score says how likely it controls the field, and read says whether the template of the object may read it.
	score int
	read  bool
}

// attempt is a list of edits to render.
type attempt struct {
	edits []Edit
	score int
	// leaf is the value that the attempt replaces by the text put, if that can show how the field is composed.
	leaf *leaf
	put  string
	// mark is set if the attempt puts a mark into the map at this path, under the key markKey.
	mark    []any
	markKey string
}

// trial is one rendering: an attempt, or several that do not touch each other. If a rendering with several attempts does not change the
// field, none of them controls it, and the trial has saved their own renderings. Otherwise the trial is split.
//
// Two attempts may cancel each other out, so that the field does not change although one of them alone would change it. That loses a
// candidate, but proposes nothing wrong, because a rendering of its own proves each proposal. Therefore the likely values are tried alone.
type trial []attempt

// edits returns the edits of all attempts.
func (t trial) edits() []Edit {
	var out []Edit
	for _, a := range t {
		out = append(out, a.edits...)
	}
	return out
}

// split returns the attempts in two halves, or each alone if the rendering was given up: each further rendering that is given up may
// cost a new child process.
func (t trial) split(alone bool) []trial {
	if alone {
		return grouped(t, 1)
	}
	half := len(t) / 2
	return []trial{t[:half:half], t[half:]}
}

// grouped puts attempts into trials of at most a given size, in their order. Attempts that touch the same value go to different trials.
func grouped(attempts []attempt, most int) []trial {
	var out []trial
	for len(attempts) > 0 {
		t := trial{attempts[0]}
		var left []attempt
		for _, a := range attempts[1:] {
			if len(t) < most && t.takes(a) {
				t = append(t, a)
			} else {
				left = append(left, a)
			}
		}
		out, attempts = append(out, t), left
	}
	return out
}

// takes reports whether an attempt touches no value of a trial. Marks share a trial only with marks, because these do not change the field.
func (t trial) takes(a attempt) bool {
	return !slices.ContainsFunc(t, func(b attempt) bool {
		return (a.mark == nil) != (b.mark == nil) || touchesAny(a.edits, b.edits)
	})
}

// touch reports whether one path leads through the value at the other. Two items of a list do, because removing one moves the other.
func touch(a, b []any) bool {
	for i := range min(len(a), len(b)) {
		_, isItem := a[i].(int)
		if isItem || a[i] != b[i] {
			return isItem
		}
	}
	return true
}
