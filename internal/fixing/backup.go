package fixing

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file writes the objects that a fix will change to a directory, one YAML file each, so that kubectl can restore them.
// The backup is on the disk before the first write, and it never replaces an older one.

// writeBackup writes live objects as YAML files into a directory, which it creates if necessary. Only the user can read them. It leaves
// out Secrets and returns them, so that the user can be told. If one of the files already exists, it writes nothing, because that is the
// backup of an earlier run.
func writeBackup(dir string, objects map[object.Ref]map[string]any) (leftOut []object.Ref, err error) {
	texts := map[string][]byte{}
	for ref, object := range objects {
		if secret.Kind(ref.Group, ref.Kind) {
			leftOut = append(leftOut, ref)
			continue
		}
		file := filepath.Join(dir, files.Name(ref.Kind, ref.Group, ref.Namespace, ref.Name)+".yaml")
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil, hint.New(fmt.Errorf("backup: %s exists already", file), "give --backup another directory for each run")
		}
		if texts[file], err = yaml.Marshal(object); err != nil {
			return nil, fmt.Errorf("backup of %s: %w", ref.Key, err)
		}
	}
	if err := files.CreateAll(dir, texts); err != nil {
		return leftOut, fmt.Errorf("backup: %w", err)
	}
	return leftOut, nil
}

// withoutServerFields returns a live object in a form that could be created again: without its identity, its status, the metadata that the
// API server maintains, and the annotations where tools store whole objects, which may be Secrets. It does not change object.
func withoutServerFields(object map[string]any) map[string]any {
	bare := maps.Clone(object)
	delete(bare, "status")
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return bare
	}
	metadata = maps.Clone(metadata)
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"} {
		delete(metadata, field)
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		maps.DeleteFunc(annotations, func(name string, _ any) bool { return secret.EmbedsObject(name) })
		metadata["annotations"] = annotations
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	bare["metadata"] = metadata
	return bare
}
