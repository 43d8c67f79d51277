package secret

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"unicode/utf8"
)

// These are the shortest secrets that are removed from a text. Shorter texts are too likely to be something else.
const (
	// shortestMember is the least length of a value of a Secret that is secret wherever it appears. Shorter ones are words: admin, true.
	shortestMember = 8
	// shortestInside is the least length of a secret that is removed even from the middle of a word.
	shortestInside = 8
	// shortestWord is the least length of a secret that is removed if it is a word of its own. A shorter one is
	// removed only where a text quotes it: "x", =x, (x).
	shortestWord = 4
)

// Known holds what is known to be secret in one run. The zero Known knows nothing. It is safe for concurrent use.
type Known struct {
	mu sync.Mutex
	// pending are sources that were not read yet. Most runs print no text that needs them.
	pending []source
	// members are the values of Secrets that are secret wherever they appear.
	members map[string]bool
	// texts are all secrets, in every form that a text may quote. The value is true for those that are removed
	// even from the middle of a word.
	texts map[string]bool
	// missed is set if an interrupt left a text unread. Nobody knows then whether a text is harmless, so every text is secret.
	missed bool
	// inTexts and inMembers find the texts and the members. They are nil if something was added since.
	inTexts, inMembers *Needles
}

// AddObject adds the secrets of an object, which must not change afterwards: all values of a Secret, and in other objects the
// values that names, places and texts announce. Kind is the kind that was asked for, in case the object does not name its own.
func (k *Known) AddObject(group, kind string, object map[string]any) {
	if k == nil || object == nil {
		return
	}
	if Kind(group, kind) || object["kind"] == "Secret" {
		k.AddMembers(object)
		group, kind = "", "Secret"
	}
	k.postpone(source{How: fromObject, Group: group, Kind: kind, value: object})
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
	// A value may be a whole file. The secrets in it count by themselves too.
	scan := newScan(text, nil)
	for _, s := range scan.spans() {
		if part := text[s.from:s.to]; len(part) >= shortestMember {
			forms = append(forms, part)
		}
	}
	k.missed = k.missed || scan.interrupted
	for _, form := range forms {
		k.members[form], k.inMembers = true, nil
		k.addForm(form, false)
	}
}

// publicMembers are the last words of the names of values that Secrets often contain although they are not secret.
var publicMembers = set(`
	user username users host hostname port address addr server servers endpoint url uri database db dbname name namespace region bucket
	registry repository project tenant domain email issuer environment env type provider version path
`)

// lastWord returns the last word of a name, or "" if it has none.
func lastWord(name string) string {
	words := wordsOf(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// isPublicText reports whether a text contains only certificates and public keys.
func isPublicText(text string) bool {
	return strings.HasPrefix(text, "-----BEGIN ") && !strings.Contains(text, "PRIVATE") && strings.HasSuffix(text, "-----") ||
		strings.HasPrefix(text, "ssh-")
}

// isPlain reports whether a text has the form of a name, a host or an address without credentials: words of small
// letters, or numbers. A word with both may be random, unless it is as short as ec2 or k8s.
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

// AddAnnounced adds the secrets that names, places and texts of a value announce. The value must not change afterwards.
func (k *Known) AddAnnounced(v any) {
	k.postpone(source{How: fromNames, value: v})
}

// AddGiven adds every text and number of a value that is not a short word, because a chart may print any of the values that it is given.
func (k *Known) AddGiven(v any) {
	k.postpone(source{How: fromValues, value: v})
}

// Add adds texts that are credentials themselves, such as the password of a flag. They are removed even from the
// middle of a word, unless they are very short.
func (k *Known) Add(texts ...string) {
	for _, text := range texts {
		k.postpone(source{How: fromText, value: text})
	}
}

// postpone stores a source of secrets, which update reads when they are needed. A nil Known learns nothing.
func (k *Known) postpone(source source) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, source)
}

// With returns a Known that knows what both know. The two are not changed.
func (k *Known) With(other *Known) *Known {
	out := &Known{}
	out.AddKnown(k)
	out.AddKnown(other)
	return out
}

// add adds a secret in every form: as it is, line by line, as JSON quotes it, encoded, and decoded if it is base64.
func (k *Known) add(text string) {
	forms := formsOf(text)
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && len(raw) >= shortestWord && utf8.Valid(raw) {
		forms = append(forms, formsOf(string(raw))...)
	}
	for _, form := range forms {
		k.addForm(form, false)
	}
	// Errors and logs quote single lines of a longer secret, such as a private key.
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= shortestInside && !isPublicText(line) && !strings.HasPrefix(line, "-----") {
			k.addForm(line, false)
		}
	}
}

// formsOf returns the forms that may quote a text.
func formsOf(text string) []string {
	trimmed := strings.TrimSpace(text)
	quoted, _ := json.Marshal(trimmed) // it never returns an error for a string
	forms := []string{trimmed, string(quoted[1 : len(quoted)-1])}
	if len(trimmed) >= shortestWord {
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(trimmed)))
	}
	return forms
}

// addForm adds one form of a secret, unless it is harmless or a short number. With inside it is removed even from the middle of a word, as
// a long one always is.
func (k *Known) addForm(form string, inside bool) {
	if form == "" || harmless()[strings.ToLower(form)] {
		return
	}
	if len(form) < shortestWord && strings.Trim(form, "0123456789") == "" {
		return // a text may contain such a number for any reason
	}
	if k.texts == nil {
		k.texts = map[string]bool{}
	}
	k.texts[form], k.inTexts = k.texts[form] || inside || len(form) >= shortestInside, nil
}

// miss notes that an interrupt left a text unread. The caller holds the lock.
func (k *Known) miss() { k.missed = true }

// read reads the pending sources, and update makes what finds the texts. The caller holds the lock.
func (k *Known) read() {
	for len(k.pending) > 0 { // a source may add others
		first := k.pending[0]
		k.pending = k.pending[1:]
		first.addTo(k)
	}
}

func (k *Known) update() {
	k.read()
	if k.inTexts == nil {
		k.inTexts = NewNeedles(k.texts)
	}
}

// ScrubProblem is Scrub for what an error says. If an interrupt has left a text unread, it returns "interrupted": what the error says may
// hold a secret then, and the user did not wait for it.
func (k *Known) ScrubProblem(text string) string {
	if text = k.Scrub(text); k.Missed() {
		return "interrupted"
	}
	return text
}

// Missed reports whether an interrupt left a text unread, so that Scrub masks every text whole.
func (k *Known) Missed() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.missed
}

// Holds reports whether a value contains a value of a Secret.
func (k *Known) Holds(v any) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.members) == 0 || k.missed {
		return k.missed
	}
	if k.inMembers == nil {
		k.inMembers = NewNeedles(k.members)
	}
	return anyText(v, func(text string) bool { return len(text) >= shortestMember && k.inMembers.Holds(text) })
}

// Scrub replaces the known secrets in a text, and everything that has the form of a secret.
func (k *Known) Scrub(text string) string {
	if text == "" {
		return ""
	}
	if k != nil {
		k.mu.Lock()
		k.update()
		n, missed := k.inTexts, k.missed
		k.mu.Unlock()
		if missed {
			return Mask
		}
		text = n.Replace(text, func(string) string { return Mask })
	}
	return Scrub(text)
}

// ScrubError returns an error with the cause err. Its text is scrubbed each time that it is read, so that secrets that become known later
// are removed too.
func (k *Known) ScrubError(err error) error { return scrubbedError{err, k} }

type scrubbedError struct {
	error
	known *Known
}

func (s scrubbedError) Error() string { return s.known.Scrub(s.error.Error()) }

func (s scrubbedError) Unwrap() error { return s.error }
