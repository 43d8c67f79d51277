package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/helmdrift/helmdrift/pkg/report/absorption"
)

// running lets only one Apply run at a time, because kustomize keeps its schema in package variables.
var running sync.Mutex

// Apply returns a manifest with the patches of a kustomization. It reads and writes no files.
func Apply(k *absorption.Kustomization, manifest []byte) ([]byte, error) {
	running.Lock()
	defer running.Unlock()
	text, err := json.Marshal(k)
	if err != nil {
		return nil, errors.New("the kustomization is no JSON")
	}
	files := filesys.MakeFsInMemory()
	err = files.WriteFile("/kustomization.yaml", text)
	for _, name := range k.Resources {
		err = errors.Join(err, files.WriteFile("/"+name, manifest))
	}
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", err)
	}
	// As in the command, the kustomization decides on the order.
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	objects, err := krusty.MakeKustomizer(options).Run(files, "/")
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", err)
	}
	return objects.AsYaml()
}
