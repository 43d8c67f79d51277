package secret

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// How short a secret may be to be taken out of a text.
const (
	// shortestMember is the length from which a member of a Secret is secret wherever it appears. Shorter ones are words: admin, true.
	shortestMember = 8
	// shortestInside is the length from which a secret is taken out of the middle of a word of a text.
	shortestInside = 8
	// shortestWord is the length from which a secret that stands as a word of its own is taken out of a text. One that is even shorter
	// goes where a text quotes it: "x", =x, (x).
	shortestWord = 4
)

// Known is what is known to be secret in one run. The zero Known knows nothing. It may be used by several goroutines.
type Known struct {
	mu sync.Mutex
	// pending are sources that were not looked at yet: most runs show no text that needs them.
	pending []func()
	// members are those values of Secrets that are secret wherever they appear.
	members map[string]bool
	// texts are all secrets, in every form in which a text may quote them; true for those that go wherever they stand.
	texts map[string]bool
	// long replaces texts that are taken out wherever they stand; short are the others, longest first.
	long  *strings.Replacer
	short []string
}

// AddObject adds an object, which must not change any more: all values of a Secret, and of other objects what their names, places and
// texts announce. Kind is what the object was asked for as, should it not say so itself.
func (k *Known) AddObject(group, kind string, object map[string]any) {
	if k == nil || object == nil {
		return
	}
	isSecret := Kind(group, kind) || object["kind"] == "Secret"
	if isSecret {
		k.AddMembers(object)
	}
	k.later(func() {
		root := Root(group, kind)
		if isSecret {
			root = Root("", "Secret")
		}
		root.Each(object, k.add)
	})
}

// AddMembers adds the values of a Secret.
func (k *Known) AddMembers(secret map[string]any) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, field := range []string{"data", "stringData"} {
		values, _ := secret[field].(map[string]any)
		for name, v := range values {
			text, _ := v.(string)
			if raw, err := base64.StdEncoding.DecodeString(text); field == "data" && err == nil {
				text = string(raw)
			}
			k.addMember(name, text)
		}
	}
}

// addMember adds one value of a Secret, unless it is public: a certificate, or the name of a user or a host.
func (k *Known) addMember(name, text string) {
	trimmed := strings.TrimSpace(text)
	if len(trimmed) < shortestMember || isPublicText(trimmed) || publicMembers()[lastWord(name)] && isPlain(trimmed) {
		return
	}
	if k.members == nil {
		k.members = map[string]bool{}
	}
	forms := append(formsOf(trimmed), base64.StdEncoding.EncodeToString([]byte(text)))
	for _, s := range spansOf(text) {
		if part := text[s.from:s.to]; len(part) >= shortestMember {
			forms = append(forms, part)
		}
	}
	for _, form := range forms {
		k.members[form] = true
		k.addForm(form)
	}
}

// publicMembers are the last words of the names of members that are often in Secrets and are none.
var publicMembers = set(`
	user username users host hostname port address addr server servers endpoint url uri database db dbname name namespace region bucket
	registry repository project tenant domain email issuer environment env type provider version path
`)

func lastWord(name string) string {
	words := wordsOf(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// isPublicText reports whether a text is nothing but certificates and public keys.
func isPublicText(text string) bool {
	return strings.HasPrefix(text, "-----BEGIN ") && !strings.Contains(text, "PRIVATE") && strings.HasSuffix(text, "-----") ||
		strings.HasPrefix(text, "ssh-")
}

// isPlain reports whether a text has the form of a name, a host or an address, without credentials: words of small letters or numbers. A
// word that mixes both may be made by chance, unless it is as short as ec2 or k8s.
func isPlain(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".-_/:", r) }) {
		isWord := strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
		isNumber := strings.Trim(word, "0123456789") == ""
		isShort := len(word) <= 4 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
		if !isWord && !isNumber && !isShort {
			return false
		}
	}
	return true
}

// AddAnnounced adds what names, places and texts of a value announce; the value must not change any more.
func (k *Known) AddAnnounced(v any) {
	if k != nil {
		k.later(func() { Place{}.Each(v, k.add) })
	}
}

// AddGiven adds every text and number of a value that is no short word: a chart prints what it likes of the values it is given.
func (k *Known) AddGiven(v any) {
	if k == nil {
		return
	}
	k.AddAnnounced(v)
	k.later(func() {
		Hidden().Each(v, func(text string) {
			if len(text) >= shortestMember {
				k.add(text)
			}
		})
	})
}

// Add adds texts that are credentials themselves, such as the password of a flag. They go from a text wherever they stand, unless they
// are very short.
func (k *Known) Add(texts ...string) {
	if k != nil {
		k.later(func() {
			for _, text := range texts {
				k.add(text)
				if _, added := k.texts[text]; added && len(text) >= shortestWord {
					k.texts[text] = true
				}
			}
		})
	}
}

func (k *Known) later(source func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, source)
}

// With returns a Known that knows what both know. The two stay as they are.
func (k *Known) With(other *Known) *Known {
	out := &Known{}
	out.AddKnown(k)
	out.AddKnown(other)
	return out
}

// add adds a secret in every form: as it is, line by line, as JSON quotes it, encoded, and decoded where it is base64.
func (k *Known) add(text string) {
	forms := formsOf(text)
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && len(raw) >= shortestWord && utf8.Valid(raw) {
		forms = append(forms, formsOf(string(raw))...)
	}
	for _, form := range forms {
		k.addForm(form)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= shortestInside && !isPublicText(line) && !strings.HasPrefix(line, "-----") {
			k.addForm(line)
		}
	}
}

// formsOf are the forms in which a text is quoted.
func formsOf(text string) []string {
	trimmed := strings.TrimSpace(text)
	forms := []string{trimmed}
	if quoted, err := json.Marshal(trimmed); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	if len(trimmed) >= shortestWord {
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(trimmed)))
	}
	return forms
}

func (k *Known) addForm(form string) {
	if form == "" || harmless()[strings.ToLower(form)] {
		return
	}
	if len(form) < shortestWord && strings.Trim(form, "0123456789") == "" {
		return // a number that a text may have for any reason
	}
	if k.texts == nil {
		k.texts = map[string]bool{}
	}
	k.texts[form], k.long = k.texts[form] || len(form) >= shortestInside, nil
}

// settle looks at the sources that came since the last time. The lock is held.
func (k *Known) settle() {
	if len(k.pending) == 0 && k.long != nil {
		return
	}
	for _, source := range k.pending {
		source()
	}
	k.pending, k.short = nil, nil
	all := make([]string, 0, len(k.texts))
	for text := range k.texts {
		all = append(all, text)
	}
	// The longest first, so that none is left in part.
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, text := range all {
		if k.texts[text] {
			pairs = append(pairs, text, Mask)
		} else {
			k.short = append(k.short, text)
		}
	}
	k.long = strings.NewReplacer(pairs...)
}

// Holds reports whether a value has a member of a Secret in it.
func (k *Known) Holds(v any) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.members) > 0 && k.holds(v)
}

func (k *Known) holds(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if k.holds(name) || k.holds(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, k.holds)
	case string:
		if len(v) < shortestMember {
			return false
		}
		for member := range k.members {
			if strings.Contains(v, member) {
				return true
			}
		}
	}
	return false
}

// Scrub takes out of a text what is known to be secret, and what has the form of it.
func (k *Known) Scrub(text string) string {
	if text == "" {
		return ""
	}
	if k != nil {
		k.mu.Lock()
		k.settle()
		text = k.long.Replace(text)
		for _, word := range k.short {
			text = withoutWord(text, word)
		}
		k.mu.Unlock()
	}
	return Scrub(text)
}

// withoutWord takes a short secret out of a text where it stands as a word of its own.
func withoutWord(text, word string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		before, after := b.String(), text[i+len(word):]
		if stands(before, after, len(word) < shortestWord) {
			b.WriteString(Mask)
		} else {
			b.WriteString(word)
		}
		text = after
	}
}

// stands reports whether what stands between two texts is a word, or a quoted one.
func stands(before, after string, isQuoted bool) bool {
	left, _ := utf8.DecodeLastRuneInString(before)
	right, _ := utf8.DecodeRuneInString(after)
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	if !isQuoted {
		return !isPart(left) && !isPart(right)
	}
	opens := strings.ContainsRune("\"'`=([{", left) || strings.HasSuffix(before, ": ") && !strings.HasSuffix(before, "::")
	closes := after == "" || strings.ContainsRune("\"'`)]},;:", right)
	return before != "" && opens && closes
}

// Writer returns a writer that passes on what it is given without secrets. Each write is taken as a whole, as loggers write a line.
func (k *Known) Writer(to io.Writer) io.Writer { return scrubbing{k, to} }

type scrubbing struct {
	known *Known
	to    io.Writer
}

// Write passes the text on.
func (s scrubbing) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.to, s.known.Scrub(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
