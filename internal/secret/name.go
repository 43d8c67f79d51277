package secret

import (
	"slices"
	"strings"
	"unicode"
)

// Name reports whether a name announces a secret. It may be the name of a field, a key of a map, a variable, a flag, or an HTTP header.
func Name(name string) bool {
	words := wordsOf(name)
	own := wordsOf(name[strings.LastIndexByte(name, '.')+1:]) // the words of the last field of a path
	if len(words) == 0 || len(own) > 1 && optionWords()[own[0]] || endsLikeReference(words) {
		return false
	}
	return slices.ContainsFunc(words, isAnnouncing) || announcesLast(words) || announcesPair(words)
}

// isSecretHeader reports whether a name is an HTTP header that carries credentials.
func isSecretHeader(name string) bool { return headers()[strings.ToLower(name)] || Name(name) }

// isAnnouncing reports whether a word announces a secret at any position in a name.
func isAnnouncing(word string) bool {
	if referringWords()[word] {
		return false
	}
	if announcing()[word] {
		return true
	}
	// In mypasswordfile, the part after "password" decides.
	if _, after, found := strings.Cut(word, "password"); found {
		return !attributeWords()[after]
	}
	return slices.ContainsFunc(announcingEnds, func(end string) bool { return strings.HasSuffix(word, end) })
}

// announcesLast reports whether the last word announces a secret: DB_PASS, InviteSalt.
func announcesLast(words []string) bool {
	last := len(words) - 1
	return announcingLast()[words[last]] && !(last > 0 && words[last] == "pass" && otherPassWords()[words[last-1]])
}

// announcesPair reports whether two adjacent words announce a secret: apiKey, connection string.
func announcesPair(words []string) bool {
	for i := 1; i < len(words); i++ {
		a, b := words[i-1], words[i]
		isPublic := i > 1 && words[i-2] == "public"
		if (b == "key" || b == "keys") && keyKinds()[a] && !isPublic || announcingPairs()[a+"+"+b] {
			return true
		}
	}
	return words[len(words)-1] == "key" && slices.ContainsFunc(words, func(w string) bool { return w == "encryption" || w == "signing" })
}

// endsLikeReference reports whether a name ends like the names of references: secretName, passwordKey, tlsSecret,
// passwordSecretKey, secretUsernameKey.
func endsLikeReference(words []string) bool {
	n := len(words)
	if referringWords()[words[n-1]] || n > 1 && attributeWords()[words[n-1]] {
		return true
	}
	// word returns the nth word from the end.
	word := func(back int) string {
		if back > n {
			return ""
		}
		return words[n-back]
	}
	switch word(1) {
	case "secret", "secrets":
		return secretHolders()[word(2)]
	case "key", "keys":
		ofSecret := word(2) == "secret" && secretKeyWords()[word(3)]
		inSecret := n > 2 && slices.ContainsFunc(words[:n-2], func(w string) bool { return w == "secret" || w == "secrets" })
		return ofSecret || inSecret && !keyKinds()[word(2)] || strings.HasPrefix(word(2), "pass") || strings.HasPrefix(word(2), "cred")
	}
	return false
}

// wordsOf splits a name at case, underscore, dash, dot and the like, into lower-case words. It ignores the domain of
// a qualified name (example.com/token), and numbers at the end, which only count names.
func wordsOf(name string) []string {
	if domain, rest, qualified := strings.Cut(name, "/"); qualified && strings.Contains(domain, ".") {
		name = rest
	}
	var words []string
	runes := []rune(name)
	start := -1 // where the current word begins
	flush := func(end int) {
		if start >= 0 {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = -1
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && beginsWord(runes, i):
			flush(i)
			start = i
		}
	}
	flush(len(runes))
	return withoutNumbers(words)
}

// beginsWord reports whether the capital letter at i begins a word: the T of accessToken and of APIToken does, the
// letters after the T of TOKEN do not.
func beginsWord(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	isPlural := i+2 == len(runes) && runes[i+1] == 's' // URLs, DSNs
	return i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !isPlural
}

// withoutNumbers removes the numbers after the last word: password1, TOKEN_2.
func withoutNumbers(words []string) []string {
	for n := len(words); n > 0; n-- {
		if word := strings.TrimRight(words[n-1], "0123456789"); word != "" {
			words[n-1] = word
			return words[:n]
		}
	}
	return nil
}
