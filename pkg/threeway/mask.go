package threeway

import (
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
	values := []any{f.Old, f.Desired, f.Live, f.After}
	plainText := !slices.ContainsFunc(values, func(v any) bool { return v != nil && !isScalar(v) })
	if isSecret(o) && !(isPublic(f.Path) && plainText) || secretPath(f.Path) {
		return true
	}
	return slices.ContainsFunc(values, secretValue) || endsInSecret(f.Path) && slices.ContainsFunc(values, isScalar)
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

// reference matches names that hold the name of a secret, or tell something about one, and no secret. A field that is called
// secret and nothing else is a reference where it holds a map, as volumes have it.
var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^secrets?$|secret(Name|Names|Ref|Refs|KeyRef|Namespace)$|serviceAccountToken|TokenRequest|tokenReview|expirationSeconds$|(secret|token)(Path|File|Mount|TTL|Audience|Expiration)|imagePullSecrets)`)
})

// assignment matches texts that carry a secret inside: --token=x, password: x, URLs with credentials, keys, a whole Secret.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(passw(or)?d|passphrase|token|secret|api[-_]?key|private[-_]?key|access[-_]?key)["']?\s*[=:]\s*["']?[^\s"'$({]|://[^/\s:@]+:[^/\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY|["']?kind["']?:\s*["']?Secret\b`)
})

func looksSecret(name string) bool {
	return secretName().MatchString(name) && !reference().MatchString(name)
}

// secretPath tells whether a step of the path announces a secret: a field, a map key, or the name of an env variable.
func secretPath(path Path) bool {
	for i, s := range path {
		switch {
		case s.Form == FieldStep && (looksSecret(s.Name) || embedsObject(s.Name)):
			return true
		case s.Form == KeyStep && i > 0 && path[i-1].Name == "env" && looksSecret(s.word()) && !passes(path, "valueFrom"):
			return true
		}
	}
	return false
}

// passes tells whether a path leads to or through a field.
func passes(path Path, name string) bool {
	return slices.ContainsFunc(path, func(s Step) bool { return s.Form == FieldStep && s.Name == name })
}

// endsInSecret tells whether a path ends in a field that is called secret and nothing else.
func endsInSecret(path Path) bool {
	return len(path) > 0 && path[len(path)-1].Form == FieldStep && strings.EqualFold(path[len(path)-1].Name, "secret")
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
		return assignment().MatchString(v)
	case []any:
		return slices.ContainsFunc(v, secretValue) || followsFlag(v)
	case map[string]any:
		return secretMap(v)
	}
	return false
}

// followsFlag tells whether a list of arguments has a secret after the flag that announces it: --token, x.
func followsFlag(list []any) bool {
	for i, v := range list {
		flag, _ := v.(string)
		if i < len(list)-1 && strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && looksSecret(flag) {
			return true
		}
	}
	return false
}

func secretMap(m map[string]any) bool {
	if name, _ := m["name"].(string); looksSecret(name) && holdsText(m["value"]) {
		return true
	}
	for k, v := range m {
		announced := looksSecret(k) || strings.EqualFold(k, "secret") && isScalar(v)
		if announced && holdsText(v) || embedsObject(k) || secretValue(v) {
			return true
		}
	}
	return false
}

// holdsText tells whether a value has a text or a number in it.
func holdsText(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if holdsText(below) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, holdsText)
	case nil, bool:
		return false
	}
	return !isZero(v)
}
