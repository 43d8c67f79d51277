package deployer

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// Containers returns the containers of a Deployment, which may be nil.
func Containers(deployment map[string]any) []map[string]any {
	return object.Items(object.Child(object.Child(object.Child(deployment, "spec"), "template"), "spec"), "containers")
}

// Flags returns the flags that the commands of a Deployment have, without dashes, and their values, in order. A flag without a value is
// true.
func Flags(deployment map[string]any) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, container := range Containers(deployment) {
			var words []string
			for _, field := range []string{"command", "args"} {
				texts, _, _ := unstructured.NestedStringSlice(container, field)
				words = append(words, texts...)
			}
			for i, word := range words {
				if !strings.HasPrefix(word, "-") {
					continue
				}
				name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
				switch {
				case hasValue:
				case i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
					value = words[i+1]
				default:
					value = "true"
				}
				if !yield(name, value) {
					return
				}
			}
		}
	}
}
