package threeway

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask decides which values a Report may show. The zero Mask hides every value that could be a secret.
type Mask struct {
	// Show turns masking off.
	Show bool
}

// hides tells whether a finding's values stay in the process: anything of a Secret, any annotation that embeds a whole
// object, and whatever has a name or a text that looks secret, on either side.
func (m Mask) hides(o *ObjectComparison, f Finding) bool {
	if m.Show {
		return false
	}
	if isSecret(o) && !isPublic(f.Path) {
		return true
	}
	if secretPath(f.Path) {
		return true
	}
	return slices.ContainsFunc([]any{f.Old, f.Desired, f.Live, f.After}, secretValue)
}

// isSecret tells whether the object is a Secret by its identity or by any side's own word.
func isSecret(o *ObjectComparison) bool {
	if o.Kind == "Secret" && o.Group == "" {
		return true
	}
	return o.Content["kind"] == "Secret" || o.Content["kind"] == "SecretList"
}

// isPublic tells which fields of a Secret are no secrets: its type, and metadata other than annotations that embed objects.
func isPublic(path Path) bool {
	if len(path) == 0 || path[0].Form != FieldStep {
		return false
	}
	return path[0].Name == "type" || path[0].Name == "immutable" || path[0].Name == "metadata" && len(path) > 2
}

// secretName matches names that announce a secret. Names of references to a Secret are not secret themselves.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(passw(or)?d|passphrase|token|secret|api[-_.]?key|private[-_.]?key|access[-_.]?key|credential|\bpwd\b|dsn|connection[-_.]?string)`)
})

// reference matches names that hold the name of a secret, or tell something about one, and no secret.
var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(secret(s|Name|Names|Ref|Refs|KeyRef|Namespace)?$|serviceAccountToken|TokenRequest|automountServiceAccountToken|tokenReview|expirationSeconds$|(secret|token)(Path|File|Mount|TTL|Audience|Expiration)|imagePullSecrets)`)
})

// assignment matches texts that carry a secret inside: --token=x, password: x, and URLs with credentials.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(passw(or)?d|passphrase|token|secret|api[-_]?key|private[-_]?key|access[-_]?key)["']?\s*[=:]\s*["']?[^\s"'$({]|://[^/\s:@]+:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY`)
})

func looksSecret(name string) bool {
	return secretName().MatchString(name) && !reference().MatchString(name)
}

// secretPath tells whether a step of the path announces a secret: a field, a map key, or the name of an env variable.
func secretPath(path Path) bool {
	for i, s := range path {
		switch {
		case s.Form == FieldStep && looksSecret(s.Name) && (i > 0 || len(path) == 1):
			return true
		case s.Form == KeyStep && i > 0 && path[i-1].Name == "env" && looksSecret(fmt.Sprint(s.Keys[0].Value)):
			return !endsAt(path, "valueFrom")
		case s.Form == FieldStep && embedsObject(s.Name):
			return true
		}
	}
	return false
}

func endsAt(path Path, name string) bool {
	return slices.ContainsFunc(path, func(s Step) bool { return s.Form == FieldStep && s.Name == name })
}

// embedsObject names annotations that tools keep whole objects in.
func embedsObject(name string) bool {
	return strings.HasSuffix(name, "last-applied-configuration") || strings.HasPrefix(name, "kapp.k14s.io/original") ||
		strings.HasSuffix(name, "/last-applied")
}

// secretValue tells whether a value holds a secret by its own names or texts.
func secretValue(v any) bool {
	switch v := v.(type) {
	case string:
		return assignment().MatchString(v) || strings.Contains(v, `"kind":"Secret"`)
	case []any:
		return slices.ContainsFunc(v, secretValue)
	case map[string]any:
		return secretMap(v)
	}
	return false
}

func secretMap(m map[string]any) bool {
	name, _ := m["name"].(string)
	_, isEnv := m["value"].(string)
	if isEnv && looksSecret(name) {
		return true
	}
	for k, v := range m {
		text, isText := v.(string)
		if isText && text != "" && looksSecret(k) || embedsObject(k) || secretValue(v) {
			return true
		}
	}
	return false
}

// Scrub removes every value of the release's Secrets from a text that is shown, such as an error of the API server, which
// may quote the object it refused.
func (c *Comparison) Scrub(text string) string {
	for _, value := range c.secretTexts() {
		text = strings.ReplaceAll(text, value, "***")
	}
	return text
}

// secretTexts lists the values of all Secrets, as written and decoded, the longest first. Very short ones would hit words.
func (c *Comparison) secretTexts() []string {
	var out []string
	collect := func(obj map[string]any) {
		for _, field := range []string{"data", "stringData"} {
			for _, v := range child(obj, field) {
				text := fmt.Sprint(v)
				out = append(out, text)
				if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
					out = append(out, string(raw))
				}
			}
		}
	}
	for _, list := range [][]Object{c.Input.OldObjects, c.Input.DesiredObjects, c.Input.LastObjects} {
		for _, o := range list {
			if o.Kind == "Secret" && o.Group == "" {
				collect(o.Content)
			}
		}
	}
	for ref, l := range c.Input.Live {
		if ref.Kind == "Secret" && ref.Group == "" {
			collect(l.Object)
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return len(s) < 4 })
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}
