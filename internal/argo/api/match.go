package api

import (
	"path/filepath"
	"strings"

	"github.com/gobwas/glob"
)

// MatchesGlob reports whether a pattern as Argo CD has it matches a text: * crosses everything but separators.
func MatchesGlob(pattern, text string, separators ...rune) bool {
	if !strings.ContainsAny(pattern, `*?[]{}\`) {
		return pattern == text // most have none, and compiling takes time
	}
	compiled, err := glob.Compile(pattern, separators...)
	return err == nil && compiled.Match(text)
}

// MatchesPart reports whether a name matches a pattern without slashes.
func MatchesPart(pattern, name string) bool {
	matched, err := filepath.Match(pattern, name)
	return err == nil && matched
}
