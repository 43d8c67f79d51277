package kustomize

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/yamlerror"
)

// Files is the file system that kustomize sees in one build: a tree, its remote bases, and files that are written over it.
type Files struct {
	filesys.FileSystem // an empty one in memory, for what a build does not use
	*Tree
	// Written has the files that stand for those of the tree, by their slash-separated paths: the kustomization.yaml that is built.
	Written map[string][]byte
	// Decrypt returns the content of a file as kustomize reads it. It may be nil.
	Decrypt func(name string, text []byte) ([]byte, error)
	// Rewrite changes each kustomization before kustomize reads it. It may be nil.
	Rewrite func(text []byte) ([]byte, error)
	// RootOnly is set if a kustomization may have no file that is not below its own folder.
	RootOnly bool
	bases    *Bases
	noHelm   string
	// reads and objects count what kustomize reads.
	reads, objects int
	// hasSchema is set if a kustomization brings an OpenAPI schema.
	hasSchema bool
	// refusal is why a file was not read although it is there.
	refusal error
}

// NewFiles returns the files for one build. NoLinks says in messages why bases have no symbolic links, and noHelm why no chart is rendered.
func NewFiles(t *Tree, bases *Bases, noLinks, noHelm string) *Files {
	bases.links = noLinks
	return &Files{FileSystem: filesys.MakeEmptyDirInMemory(), Tree: t, bases: bases, noHelm: noHelm}
}

// running lets only one build run at a time, because kustomize keeps its schema in package variables.
var running sync.Mutex

// Run runs kustomize for a folder, whose kustomization is written. It returns the objects and the files that they come from.
func (f *Files) Run(folder string) (objects resmap.ResMap, origins []string, err error) {
	running.Lock()
	defer running.Unlock()
	defer func() {
		if f.hasSchema {
			openapi.ResetOpenAPI()
			_ = openapi.Schema()
		}
		if r := recover(); r != nil { // kustomize panics on some texts (fluxcd/pkg/kustomize v1.41.0 Build)
			err = fmt.Errorf("kustomize cannot read it: %v", r)
		}
		if err != nil {
			err = f.shorten(err)
		}
	}()
	withOrigins, err := f.askForOrigins()
	if err != nil {
		return nil, nil, err
	}
	restrictions := kustomizetypes.LoadRestrictionsNone
	if f.RootOnly {
		restrictions = kustomizetypes.LoadRestrictionsRootOnly
	}
	// No plugin runs, no helm and no function, and no file outside the tree is read.
	objects, err = krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: restrictions, PluginConfig: kustomizetypes.DisabledPluginConfig(),
	}).Run(f, filepath.Join(f.Dir, filepath.FromSlash(folder)))
	if err = cmp.Or(f.refusal, err); err != nil {
		return nil, nil, err
	}
	for _, r := range objects.Resources() {
		origin, _ := r.GetOrigin()
		if origin == nil {
			origin = &resource.Origin{}
		}
		origins = append(origins, f.original(path.Join(folder, filepath.ToSlash(origin.Path), filepath.ToSlash(origin.ConfiguredIn))))
	}
	if withOrigins {
		err = objects.RemoveOriginAnnotations()
	}
	return objects, origins, err
}

// askForOrigins lets kustomize note the file of each object, and reports whether the notes must be removed afterwards.
func (f *Files) askForOrigins() (bool, error) {
	for name, text := range f.Written {
		var config kustomizetypes.Kustomization
		if err := yaml.Unmarshal(text, &config); err != nil {
			return false, err
		}
		if slices.Contains(config.BuildMetadata, kustomizetypes.OriginAnnotations) {
			return false, nil
		}
		config.BuildMetadata = append(config.BuildMetadata, kustomizetypes.OriginAnnotations)
		text, err := yaml.Marshal(config)
		f.Written[name] = text
		return true, err
	}
	return false, nil
}

// quotedPatch, quotedConfig and quotedRest match what errors of kustomize quote of files and patches, which may be secret. The rest is at
// the end of a text, behind the words in it. A config may have backticks, and so may a patch behind it.
var (
	quotedPatch  = regexp.MustCompile(`(?s):? ?\[patch: "(?:[^"\\]|\\.)*"\]`)
	quotedConfig = regexp.MustCompile("(?s) with config: `.*`")
	quotedRest   = regexp.MustCompile(`(?s)(node contents|at the same time|one of patch and path|literal sources?|invalid utf8 bytes|` +
		`a target for (?:JSON )?patch|decoding|out of bounds for value|is not a string|cannot be found in)\b.*`)
)

// shorten makes one line of an error of kustomize, with paths relative to the tree and without the content of files.
func (f *Files) shorten(err error) error {
	text := strings.NewReplacer(f.Dir+string(filepath.Separator), "", "the tree "+f.Dir, "the tree").Replace(err.Error())
	return WithoutContent(errors.New(text))
}

// WithoutContent makes one line of an error of kustomize, without the content of files and patches.
func WithoutContent(err error) error {
	text := quotedConfig.ReplaceAllString(quotedPatch.ReplaceAllString(err.Error(), ""), "")
	text = quotedRest.ReplaceAllString(text, "$1 ...")
	return yamlerror.WithoutValues(errors.New(strings.Join(strings.Fields(text), " ")))
}

// IsKustomization reports whether kustomize takes a file of this name for a kustomization.
func IsKustomization(base string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), base)
}

// kustomizationOf returns the path of the kustomization file in a folder, or "".
func kustomizationOf(kind func(name string) (isFile, isFolder bool), folder string) string {
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		name := path.Join(folder, base)
		if isFile, _ := kind(name); isFile {
			return name
		}
	}
	return ""
}

// look says whether a path of kustomize is a file or a folder.
func (f *Files) look(name string) (isFile, isFolder bool) {
	inside, err := f.Relative(name)
	if err != nil {
		return false, false
	}
	if _, isWritten := f.Written[inside]; isWritten {
		return true, false
	}
	return f.Kind(inside)
}

// objectLine matches a line that almost every object in YAML has once.
var objectLine = regexp.MustCompile(`(?m)^kind:`)

// ReadFile reads a file, and checks it before kustomize reads it. Kustomize drops some errors and goes on, so a refusal is kept.
func (f *Files) ReadFile(name string) ([]byte, error) {
	inside, err := f.Relative(name)
	if err != nil {
		return nil, err
	}
	if isFile, isFolder := f.look(name); isFolder {
		return nil, fmt.Errorf("%s is a folder", inside)
	} else if !isFile {
		return nil, f.Why(inside)
	}
	text, err := f.readChecked(inside)
	if err != nil && f.refusal == nil {
		f.refusal = err
	}
	return text, err
}

// readChecked reads a file that is there.
func (f *Files) readChecked(inside string) ([]byte, error) {
	if f.reads++; f.reads > MaxReads {
		return nil, fmt.Errorf("kustomize reads more than %d files for it", MaxReads)
	}
	text, isWritten := f.Written[inside]
	if !isWritten {
		var err error
		if text, err = f.Read(inside); err != nil {
			return nil, err
		}
		if f.Decrypt != nil {
			if text, err = f.Decrypt(inside, text); err != nil {
				return nil, fmt.Errorf("%s cannot be decrypted: %w", inside, err)
			}
		}
	}
	if f.objects += len(objectLine.FindAllIndex(text, -1)); f.objects > MaxObjects {
		return nil, fmt.Errorf("kustomize reads more than %d objects for it", MaxObjects)
	}
	err := CheckAliases(text)
	if err == nil && IsKustomization(path.Base(inside)) {
		if text, err = f.withBases(path.Dir(inside), text); err == nil {
			err = f.check(path.Dir(inside), text)
		}
		if err == nil && f.Rewrite != nil {
			text, err = f.Rewrite(text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inside, err)
	}
	return text, nil
}

// CleanedAbs returns the folder and the name of a path.
func (f *Files) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	inside, err := f.Relative(name)
	if err != nil {
		return "", "", err
	}
	name = filepath.Join(f.Dir, filepath.FromSlash(inside))
	switch isFile, isFolder := f.look(name); {
	case isFolder:
		return filesys.ConfirmedDir(name), "", nil
	case isFile:
		return filesys.ConfirmedDir(filepath.Dir(name)), filepath.Base(name), nil
	}
	return "", "", f.Why(inside)
}

// Exists reports whether there is a file or a folder.
func (f *Files) Exists(name string) bool {
	isFile, isFolder := f.look(name)
	return isFile || isFolder
}

// IsDir reports whether a path is a folder.
func (f *Files) IsDir(name string) bool {
	_, isFolder := f.look(name)
	return isFolder
}

// ReadDir returns the names in a folder.
func (f *Files) ReadDir(name string) ([]string, error) {
	inside, err := f.Relative(name)
	if err != nil {
		return nil, err
	}
	return f.Names(inside), nil
}
