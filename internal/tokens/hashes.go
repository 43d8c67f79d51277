package tokens

import (
	"strings"

	"github.com/helmdrift/helmdrift/internal/secret"
)

// The hash of a pod template is part of names: a Deployment puts it into the names of its ReplicaSets, and these into the names of their
// pods. It is a digest of the whole template, including the secrets in it. A masked snapshot has a token for it, the same one in names,
// owners, labels and the status.

// Item returns a copy of an object of a list, which a controller may have made, with its secrets replaced. Beyond what Object replaces,
// it replaces the hash of the pod template in the object's name. Nobody asks for such an object by its name.
func (m *Masker) Item(group, kind string, object map[string]any) map[string]any {
	out := m.Object(group, kind, object)
	metadata, _ := object["metadata"].(map[string]any)
	masked, _ := out["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	owners, _ := masked["ownerReferences"].([]any)
	if len(owners) == 0 {
		return out // a person made it and chose its name
	}
	for label, v := range labels {
		hash, _ := v.(string)
		if hash == "" || !secret.IsTemplateHash(label) {
			continue
		}
		m.inName(masked, "name", hash)
		m.inName(masked, "generateName", hash)
		for _, owner := range owners {
			if owner, ok := owner.(map[string]any); ok {
				m.inName(owner, "name", hash)
			}
		}
		if status, has := out["status"]; has {
			out["status"] = eachText("", status, func(_, text string) string { return strings.ReplaceAll(text, "-"+hash, "-"+m.Token(hash)) })
		}
	}
	return out
}

// inName replaces a hash in a name: web-HASH, web-HASH-x7k2p.
func (m *Masker) inName(fields map[string]any, field, hash string) {
	name, _ := fields[field].(string)
	words := strings.Split(name, "-")
	for i := 1; i < len(words); i++ {
		if words[i] == hash {
			words[i] = m.Token(hash)
			fields[field] = strings.Join(words, "-")
		}
	}
}

// statusHashes replaces the hashes of templates in the status of an object: the names of what it owns in messages, and the fields that name
// the revision, such as currentPodHash or stableRS.
func (m *Masker) statusHashes(masked map[string]any) {
	metadata, _ := masked["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	status, has := masked["status"]
	if !has || name == "" {
		return
	}
	masked["status"] = eachText("", status, func(field, text string) string {
		if n := hashLength(text); n > 0 && n == len(text) && (strings.HasSuffix(field, "Hash") || strings.HasSuffix(field, "RS")) {
			return m.Token(text)
		}
		return m.hashesAfter(name+"-", text)
	})
}

// eachText returns a copy of a value with its texts replaced. Field is the name of the field that has the value.
func eachText(field string, v any, replace func(field, text string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[name] = eachText(name, below, replace)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = eachText(field, item, replace)
		}
		return out
	case string:
		return replace(field, v)
	}
	return v
}

// hashesAfter replaces the hashes that follow a name and a dash in a text.
func (m *Masker) hashesAfter(head, text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, head)
		if !found {
			b.WriteString(text)
			return b.String()
		}
		isName := before == "" || !isNameByte(before[len(before)-1])
		b.WriteString(before + head)
		if n := hashLength(after); n > 0 && isName {
			b.WriteString(m.Token(after[:n]))
			after = after[n:]
		}
		text = after
	}
}

// hashLength returns the length of the hash of a template at the beginning of a text, or 0: a number of 32 bits, whose digits are written
// with letters and digits that spell no words (k8s.io/apimachinery v0.37.1 pkg/util/rand/rand.go SafeEncodeString).
func hashLength(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "bcdfghjklmnpqrstvwxz2456789"))
	if n < 5 || n > 10 || n < len(text) && isNameByte(text[n]) && text[n] != '-' {
		return 0
	}
	return n
}

// isNameByte reports whether a byte may be part of a name or of the word around it.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
