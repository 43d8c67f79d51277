package tree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
)

// readRendered takes the objects of a stream of YAML documents as they are.
func (b *builder) readRendered() {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(b.order.Text)))
	for n := 1; ; n++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			b.reportUnbuilt()
			return
		}
		var objects []map[string]any
		if err == nil {
			objects, err = readDocument(text)
		}
		if err != nil {
			b.report(Problem{Failed, fmt.Sprintf("document %d", n), err.Error(), ""})
			if objects == nil && text == nil {
				return
			}
			continue
		}
		for _, value := range objects {
			key := keyOf(value)
			if key.kind == "" || key.name == "" {
				b.report(Problem{Failed, fmt.Sprintf("document %d", n), "it has no kind or no metadata.name", ""})
				continue
			}
			b.unseal(value, nil, title(key.kind, key.namespace, key.name))
			sealTexts(value) // "flux build" removes what says that an object is encrypted
			b.emit([]made{{value: value}}, MakerOf(value), 0)
		}
	}
}

// MakerOf returns the Kustomization that the labels of an object name. The controller adds them, and so does "flux build".
func MakerOf(value map[string]any) Maker {
	metadata, _ := value["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	name, _ := labels[fluxGroup+"/name"].(string)
	namespace, _ := labels[fluxGroup+"/namespace"].(string)
	return Maker{namespace, name}
}

// reportUnbuilt names the Kustomizations whose objects are not in the stream.
func (b *builder) reportUnbuilt() {
	for _, k := range b.pending {
		if !slices.ContainsFunc(b.answer.Objects, func(o Object) bool { return o.Maker == k.maker }) {
			b.report(Problem{Skipped, k.title(), "what it makes is not in the input",
				"flux build kustomization --recursive prints it, too"})
		}
	}
}

// readDocument reads one document. A key that comes twice is refused, because readers disagree about which of the two counts.
func readDocument(text []byte) ([]map[string]any, error) {
	if err := kustomize.CheckAliases(text); err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil || string(text) == "null" {
		return nil, yamlerror.WithoutValues(err)
	}
	return objectsOf(text)
}
