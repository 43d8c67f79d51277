package threeway

import "fmt"

// ValueScrubber gives a function that removes values from a text, such as the error of a template. Of the values that a user gave
// every text goes that is long enough to be a secret, whatever its name: a chart prints what it likes. Of others, a chart's defaults
// for one, only what stands under a name that looks secret, or looks secret itself.
func ValueScrubber(given map[string]any, others ...map[string]any) func(string) string {
	s := secrets{}
	s.addLong(given)
	s.addAnnounced(given)
	for _, v := range others {
		s.addAnnounced(v)
	}
	replacer := s.replacer()
	return replacer.Replace
}

// addLong adds every text and number that is no short word.
func (s secrets) addLong(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			s.addLong(below)
		}
	case []any:
		for _, below := range v {
			s.addLong(below)
		}
	case nil, bool:
	default:
		if text := fmt.Sprint(v); len(text) >= leastScrubbedLine {
			s.add(text)
		}
	}
}
