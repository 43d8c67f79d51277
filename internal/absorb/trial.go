package absorb

// groupSize is how many attempts share a rendering if most of them are expected to do nothing. A group of which one attempt does something
// costs twice the logarithm of this number in further renderings, so a larger one saves less.
const groupSize = 16

// trial is one rendering: an attempt, or several that do not touch each other. If a rendering with several of them leaves the field as it
// is, none of them controls it, and the trial has saved the renderings of each. Otherwise the trial is split.
//
// Two attempts may hide each other, so that the field stays as it is although one of them alone would move it. That loses a candidate and
// proposes nothing wrong, because each proposal is proved by a rendering of its own. The likely values are therefore tried alone.
type trial []attempt

// edits returns the edits of all attempts.
func (t trial) edits() []Edit {
	var out []Edit
	for _, a := range t {
		out = append(out, a.edits...)
	}
	return out
}

// split returns the attempts in two halves; or each alone if the rendering was given up, since each further one that is may cost a new
// child process.
func (t trial) split(alone bool) []trial {
	if alone {
		return grouped(t, 1)
	}
	half := len(t) / 2
	return []trial{t[:half:half], t[half:]}
}

// grouped puts attempts into trials of at most a number of them, in their order. Attempts that touch one value go to different trials.
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

// takes reports whether an attempt touches none of the values of a trial. A mark only takes marks, which do not show in the field.
func (t trial) takes(a attempt) bool {
	for _, b := range t {
		if (a.mark == nil) != (b.mark == nil) {
			return false
		}
		for _, x := range a.edits {
			for _, y := range b.edits {
				if touch(x.Path, y.Path) {
					return false
				}
			}
		}
	}
	return true
}

// touch reports whether one path leads through the value at the other. Two items of one list touch each other, because the removal of one
// moves the other.
func touch(a, b []any) bool {
	for i := range min(len(a), len(b)) {
		_, isItem := a[i].(int)
		if isItem || a[i] != b[i] {
			return isItem
		}
	}
	return true
}
