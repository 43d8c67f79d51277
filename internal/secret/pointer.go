package secret

import (
	"slices"
	"strings"
)

// longestHarmless bounds a switch or a pointer.
const longestHarmless = 1024

// isHarmless reports whether a text is not a secret even if its name announces one: it is empty, a switch or a
// pointer to the secret, or it is already masked (a masked list key is Mask with a number, such as ***#1).
func isHarmless(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > longestHarmless {
		return false
	}
	return text == "" || strings.HasPrefix(text, Mask+"#") || harmless()[strings.ToLower(text)] || isPointer(text)
}

// isPointer reports whether a text only says where a secret is: a variable, a template, a file, or a reference to a secret store. A
// password may look like that, so the text must contain a plausible identifier: one of several words, or one that announces a secret.
func isPointer(text string) bool {
	// A variable or a template. A variable with a default (":-") may contain the secret.
	for _, wrap := range []struct {
		open, end string
		is        func(string) bool
	}{
		{"$(", ")", isVariable}, {"${", "}", isVariable}, {"{{", "}}", isTemplate}, {"%(", ")s", isIdentifier}, {"<", ">", isPlaceholder},
	} {
		if inner, ok := strings.CutPrefix(text, wrap.open); ok {
			inner, ok = strings.CutSuffix(inner, wrap.end)
			return ok && !strings.ContainsAny(inner, "{}()<>") && !strings.Contains(inner, ":-") && wrap.is(inner)
		}
	}
	// $NAME; a password that begins with a dollar sign rarely has only capitals.
	if name, ok := strings.CutPrefix(text, "$"); ok {
		return strings.Trim(name, capitals) == "" && isIdentifier(name)
	}
	schemes := []string{"ref+", "op://", "file:///", "arn:aws:secretsmanager:", "secretref://"}
	return slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(text, scheme) }) || isFile(text)
}

// capitals are the bytes of the name of a variable.
const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// isIdentifier reports whether a text has several words, or one that announces a secret: db_password, PGPASSWORD, but not hunter2.
func isIdentifier(text string) bool {
	words := wordsOf(text)
	return len(words) > 1 || len(words) == 1 && (isAnnouncing(words[0]) || announcingLast()[words[0]])
}

// isVariable reports whether a text is the name of a variable, such as OTHER, or says where its value is: env:DB_PASSWORD.
func isVariable(text string) bool {
	return text != "" && strings.Trim(text, capitals) == "" || isIdentifier(text)
}

// isTemplate reports whether a text is an expression of a template: .Values.x, $x, include "x" .
func isTemplate(text string) bool {
	text = strings.Trim(text, " -")
	return strings.ContainsAny(text, ".$ ") || isIdentifier(text)
}

// isPlaceholder reports whether a text says that the value is elsewhere, or is yet to be chosen: your-password, redacted.
func isPlaceholder(text string) bool {
	return slices.ContainsFunc(wordsOf(text), func(word string) bool {
		return placeholders()[word] || isAnnouncing(word) || announcingLast()[word]
	})
}

// placeholders are words that are written in the place of a value.
var placeholders = set(`
	redacted hidden masked sensitive omitted removed nil none null unset empty absent unknown undefined value required todo changeme
	your my the set change replace insert enter fill paste name key path file from here see generated random
`)

// isFile reports whether a text is the path of a file. Other texts may begin with a slash too, so the directory must be a usual one,
// with another directory below it or a file whose name says what it is.
func isFile(text string) bool {
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, " \n=") {
		return false
	}
	dir, rest, found := strings.Cut(text[1:], "/")
	switch {
	case !found || rest == "":
		return false
	case slices.Contains([]string{"secrets", "certs", "vault"}, dir):
		return true
	case slices.Contains([]string{"etc", "var", "run", "opt", "home", "root", "mnt", "tmp", "usr", "srv"}, dir):
		return strings.ContainsAny(rest, "/.") || isIdentifier(rest)
	}
	return false
}

// isSentence reports whether a text says something about a secret without containing one: its first word is a word of prose. An article or
// a preposition may begin a passphrase too, so another word must be a verb or the like. A word of letters and digits may be the secret.
func isSentence(text string) bool {
	words := strings.Fields(text)
	says := false
	for i, word := range words {
		word = strings.ToLower(strings.Trim(word, ",.;:()\"'"))
		if i == 0 && !prose()[word] {
			return false
		}
		says = says || prose()[word] && !connecting()[word]
		if strings.ContainsAny(word, "0123456789") && strings.Trim(word, "0123456789.,-") != "" && !strings.Contains(word, "/") {
			return false
		}
	}
	return says
}

// connecting are the words of prose that do not suffice alone.
var connecting = set(`no a an the and or of in for to with without if from by on at this that too value values key keys name file`)
