package object

import "strings"

// MatchName reports whether a name matches a pattern of a table or a rule. The pattern is the name itself, or a prefix of it followed by *.
func MatchName(pattern, name string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
