package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
)

// This file reads a folder of manifests as the repo-server does (argo-cd v3.6.1 reposerver/repository/repository.go findManifests).

// File is a file of a folder of manifests that has objects. Each of them is JSON.
type File struct {
	Name    string
	Objects [][]byte
}

// skipMark in a file keeps Argo CD from taking it for a manifest (getPotentiallyValidManifestFile).
const skipMark = "+argocd:skip-file-rendering"

// Manifests returns the files of a folder of manifests that have objects.
func (f *Folder) Manifests() (out []File, err error) {
	d := f.Source.Directory
	if d == nil {
		d = &api.DirectorySource{}
	}
	if d.HasJsonnet() {
		return nil, errors.New("jsonnet makes the manifests, which helmdrift does not run")
	}
	total := 0
	err = filepath.WalkDir(f.Dir, func(name string, entry fs.DirEntry, err error) error {
		inside, _ := filepath.Rel(f.Dir, name)
		inside = filepath.ToSlash(inside)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != f.Dir && (!d.Recurse || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir(), !d.DisableExtensionFilter && !slices.Contains([]string{".yaml", ".yml", ".json", ".jsonnet"}, filepath.Ext(name)):
			return nil
		case d.Exclude != "" && api.MatchesGlob(d.Exclude, inside), d.Include != "" && !api.MatchesGlob(d.Include, inside):
			return nil
		case filepath.Ext(name) == ".jsonnet":
			return fmt.Errorf("%s is jsonnet, which helmdrift does not run", inside)
		}
		if info, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return nil // a link to nothing, or to a folder
		}
		text, err := ReadWithin(f.Root, name)
		if err != nil || bytes.Contains(text, []byte(skipMark)) {
			return err
		}
		if total += len(text); total > mostBytes {
			return errors.New("the manifests are too large")
		}
		objects, err := objectsOf(inside, text)
		if err != nil {
			return fmt.Errorf("%s %w", inside, err)
		}
		if len(objects) > 0 {
			out = append(out, File{inside, objects})
		}
		return nil
	})
	return out, err
}

// objectsOf returns the objects of a file. A file of YAML that is something else, such as values, has none; one that has an object or looks
// like one must be read (getObjsFromYAMLOrJSON). The error completes a message that begins with the name of the file.
func objectsOf(name string, text []byte) (out [][]byte, err error) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, errors.New("is UTF-16, which helmdrift does not read")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var found []*unstructured.Unstructured
	if strings.HasSuffix(name, ".json") {
		found, err = fromJSON(text)
	} else if found, err = fromYAML(text); err != nil && len(found) == 0 {
		lacks := func(word string) bool { return !bytes.Contains(text, []byte(word)) }
		if slices.ContainsFunc([]string{"apiVersion:", "kind:", "metadata:"}, lacks) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	for _, o := range found {
		all, err := items(o)
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			encoded, err := json.Marshal(one)
			if err != nil {
				return nil, errors.New("has a value that JSON cannot have")
			}
			out = append(out, encoded)
		}
	}
	return out, nil
}

// errNoObject is the error for a document that is something else.
var errNoObject = errors.New("has a document that is no object with a kind")

// fromJSON reads a file of JSON, which has one object.
func fromJSON(text []byte) ([]*unstructured.Unstructured, error) {
	decoder, raw := json.NewDecoder(bytes.NewReader(text)), json.RawMessage{}
	if err := decoder.Decode(&raw); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if decoder.More() {
		return nil, errors.New("has more than one object, and Argo CD reads files of JSON with one")
	}
	o := &unstructured.Unstructured{}
	if o.UnmarshalJSON(raw) != nil { // its error has the text
		return nil, errNoObject
	}
	return []*unstructured.Unstructured{o}, nil
}

// fromYAML reads the documents of a file of YAML, or objects of JSON one behind the other. With an error, it returns those before it.
func fromYAML(text []byte) (out []*unstructured.Unstructured, err error) {
	if err := kustomize.CheckAliases(text); err != nil {
		return nil, fmt.Errorf("is too large: %w", err)
	}
	const lookAhead = 4096 // for a brace that begins JSON
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), lookAhead); ; {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, fmt.Errorf("cannot be read as YAML: %w", yamlerror.WithoutValues(err))
		case len(bytes.TrimSpace(raw.Raw)) == 0:
			continue
		}
		o := &unstructured.Unstructured{}
		if o.UnmarshalJSON(raw.Raw) != nil {
			return out, errNoObject
		}
		out = append(out, o)
	}
}

// items returns the objects of a list, or the object itself (GenerateManifests).
func items(o *unstructured.Unstructured) (out []*unstructured.Unstructured, err error) {
	all, has := o.Object["items"]
	_, hasSpec := o.Object["spec"]
	_, hasStatus := o.Object["status"]
	switch {
	case !has:
		return []*unstructured.Unstructured{o}, nil
	case all == nil && !hasSpec && !hasStatus:
		return nil, nil
	case !o.IsList():
		return nil, errors.New("has an object with items that are no list, which helmdrift does not read")
	}
	err = o.EachListItem(func(item runtime.Object) error {
		one, isObject := item.(*unstructured.Unstructured)
		switch {
		case !isObject || one.GetKind() == "":
			return errNoObject
		case one.Object["items"] != nil:
			return errors.New("has a list within a list")
		}
		out = append(out, one)
		return nil
	})
	return out, err
}
