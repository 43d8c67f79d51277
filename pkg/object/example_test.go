package object_test

import (
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/object"
)

// A Path names an item of a list by its keys, and a Pointer names it by its index in one text.
func ExamplePath() {
	path := object.Path{}.Field("spec").Field("containers").Item([]object.ListKey{{Name: "name", Value: "web"}}).Field("image")
	pod := map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "sidecar", "image": "envoy:1.30"},
		map[string]any{"name": "web", "image": "nginx:1.27"},
	}}}
	image, found := path.Lookup(pod)
	pointer, _ := path.Pointer(pod)
	fmt.Println(path, found, image, pointer)
	// Output:
	// spec.containers[name=web].image true nginx:1.27 /spec/containers/1/image
}
