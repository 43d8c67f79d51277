package threeway

// ValueScrubber gives a function that removes from a text, such as the error of a template, what the given chart values hold
// under names that look secret, or what looks secret itself.
func ValueScrubber(values ...map[string]any) func(string) string {
	s := secrets{}
	for _, v := range values {
		s.addAnnounced(v)
	}
	replacer := s.replacer()
	return replacer.Replace
}
