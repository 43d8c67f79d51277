package absorb

// switches returns the attempts that flip a switch, alone and together with a likely value that the switch may hide. An autoscaler that is
// on hides the number of replicas: neither the switch nor the number alone shows in the field then.
func (f *fieldSearch) switches(nodes []leaf) []attempt {
	var flips, values []attempt
	for _, l := range nodes {
		if b, ok := l.value.(bool); ok && l.read && len(flips) < maxSwitch {
			flips = append(flips, attempt{edits: []Edit{{Path: l.path, Value: !b}}, score: l.score})
		} else if len(values) < 4 && l.score > 0 {
			values = append(values, f.direct(l)...)
		}
	}
	out := flips
	for _, flip := range flips {
		for _, v := range values {
			out = append(out, attempt{edits: append(flip.edits[:1:1], v.edits...), score: flip.score + v.score - enoughLeft})
		}
	}
	return out
}
