package verdict

import (
	"encoding/base64"
	"slices"
	"strings"
)

// A chart may be rendered with values that are not known, such as those of a Secret that cannot be read. A text stands for each of them,
// and a field that has the text is of class unknown: whether the upgrade changes it is not known.

// holdsText reports whether a value has a text in it, which may be encoded in base64 as in a Secret.
func holdsText(value any, text string) bool {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, text) {
			return true
		}
		raw, err := base64.StdEncoding.DecodeString(v)
		return err == nil && strings.Contains(string(raw), text)
	case []any:
		return slices.ContainsFunc(v, func(below any) bool { return holdsText(below, text) })
	case map[string]any:
		for key, below := range v {
			if strings.Contains(key, text) || holdsText(below, text) {
				return true
			}
		}
	}
	return false
}
