package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/yamlerror"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file composes the values of a chart as the repo-server does: value files in their order, then values, then parameters (argo-cd
// v3.6.1 reposerver/repository/repository.go helmTemplate, util/helm/cmd.go template).

// Inline is the name of the values in the Application, which stand for a file.
const Inline = "the values of the Application"

// composed are the values for a chart, and the contents of those that are no file.
type composed struct {
	Options render.ValueOptions
	Inline  []byte
}

// Values composes the values of a source. Variables are those of [Folder.Variables].
func (f *Folder) Values(folders map[string]*Folder, variables map[string]string) (composed, error) {
	var out composed
	h := f.Source.Helm
	if h == nil {
		return out, nil
	}
	if err := f.checkRefs(folders); err != nil {
		return out, err
	}
	files, err := f.valueFiles(folders, variables)
	if err != nil {
		return out, err
	}
	if i := slices.IndexFunc(files, func(file string) bool { return strings.Contains(file, ",") }); i >= 0 {
		return out, fmt.Errorf("helm.valueFiles: the name of %s has a comma, which helm takes for the end of a name", filepath.Base(files[i]))
	}
	out.Options.Files = files
	if out.Inline, err = h.Inline(); err != nil {
		return out, err
	}
	if len(out.Inline) > 0 {
		out.Options.Files = append(out.Options.Files, Inline)
	}
	for _, p := range h.Parameters {
		expression := p.Name + "=" + withCommas(expand(p.Value, variables))
		if p.ForceString {
			out.Options.SetString = append(out.Options.SetString, expression)
		} else {
			out.Options.Set = append(out.Options.Set, expression)
		}
	}
	for _, p := range h.FileParameters {
		at, err := f.find(p.Path, folders, variables)
		if err != nil {
			return out, fmt.Errorf("helm.fileParameters: %w", err)
		}
		out.Options.SetFile = append(out.Options.SetFile, p.Name+"="+withCommas(at.file))
	}
	return out, nil
}

// withCommas escapes commas for a --set expression, except in a list (argo-cd v3.6.1 util/helm/cmd.go cleanSetParameters).
func withCommas(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	before := rune(0)
	for _, letter := range value {
		if letter == ',' && before != '\\' {
			out.WriteByte('\\')
		}
		out.WriteRune(letter)
		before = letter
	}
	return out.String()
}

// Variables returns the variables of the build environment (repository.go newEnv).
func (f *Folder) Variables(a *api.Application, instance string) map[string]string {
	first := func(n int) string { return f.Revision[:min(n, len(f.Revision))] }
	return map[string]string{
		"ARGOCD_APP_NAME": instance, "ARGOCD_APP_NAMESPACE": a.Spec.Destination.Namespace,
		"ARGOCD_APP_PROJECT_NAME": a.Project(), "ARGOCD_APP_REVISION": f.Revision,
		"ARGOCD_APP_REVISION_SHORT": first(7), "ARGOCD_APP_REVISION_SHORT_8": first(8),
		"ARGOCD_APP_SOURCE_REPO_URL": f.Source.RepoURL, "ARGOCD_APP_SOURCE_PATH": f.Source.Path,
		"ARGOCD_APP_SOURCE_TARGET_REVISION": f.Source.TargetRevision,
	}
}

// expand replaces variables in a text. One that does not exist is empty, and two dollars are one (argo-cd v3.6.1
// pkg/apis/application/v1alpha1/types.go Envsubst).
func expand(text string, variables map[string]string) string {
	return os.Expand(text, func(name string) string {
		if name == "$" {
			return "$"
		}
		return variables[name]
	})
}

// valueFiles returns the files of helm.valueFiles. A pattern means the files that match, except those that the list names itself; a file
// counts once (repository.go getResolvedValueFiles).
func (f *Folder) valueFiles(folders map[string]*Folder, variables map[string]string) ([]string, error) {
	h := f.Source.Helm
	explicit, out := map[string]bool{}, []string(nil)
	for _, name := range h.ValueFiles {
		if at, err := f.find(name, folders, variables); err == nil && !isPattern(at.inside) {
			explicit[at.file] = true
		}
	}
	add := func(file string) {
		if !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	for _, name := range h.ValueFiles {
		at, err := f.find(name, folders, variables)
		if err != nil {
			return nil, fmt.Errorf("helm.valueFiles: %w", err)
		}
		if isPattern(at.inside) {
			found, err := matching(at.root, at.inside)
			if err != nil {
				return nil, fmt.Errorf("helm.valueFiles: %s: %w", name, err)
			}
			if len(found) == 0 && !h.IgnoreMissingValueFiles {
				return nil, fmt.Errorf("helm.valueFiles: no file matches %s", name)
			}
			for _, one := range found {
				if !explicit[one] {
					add(one)
				}
			}
			continue
		}
		if _, err := os.Stat(at.file); at.root != "" && errors.Is(err, fs.ErrNotExist) {
			if h.IgnoreMissingValueFiles {
				continue
			}
			return nil, fmt.Errorf("helm.valueFiles: there is no file %s", name)
		}
		add(at.file)
	}
	return out, nil
}

// checkRefs returns an error if Argo CD refuses the sources that the values come from: it reads no file of a chart, and each repository in
// one commit (repository.go runManifestGenAsync).
func (f *Folder) checkRefs(folders map[string]*Folder) error {
	names := slices.Clone(f.Source.Helm.ValueFiles)
	for _, p := range f.Source.Helm.FileParameters {
		names = append(names, p.Path)
	}
	seen := map[string]*Folder{}
	for _, name := range names {
		other := folders[referenced(name)]
		if other == nil || !f.OfSeveral {
			continue
		}
		if other.Source.Chart != "" {
			return fmt.Errorf("%s: source %s is a chart, and Argo CD reads no values of another chart", name, other.Source.Ref)
		}
		repository := api.NormalURL(other.Source.RepoURL)
		switch first := seen[repository]; {
		case first != nil && first.Source.TargetRevision != other.Source.TargetRevision:
			return fmt.Errorf("the sources %s and %s are two revisions of one repository, %s and %s, which Argo CD refuses",
				first.Source.Ref, other.Source.Ref, first.Source.TargetRevision, other.Source.TargetRevision)
		case first == nil && repository == api.NormalURL(f.Source.RepoURL) && f.Revision != other.Revision:
			return fmt.Errorf("source %s is another commit of the repository of the chart, which Argo CD refuses: "+
				"targetRevision is %s, and that of the chart %s", other.Source.Ref, other.Source.TargetRevision, f.Source.TargetRevision)
		}
		seen[repository] = other
	}
	return nil
}

// IsRemote reports whether a value file is an address.
func IsRemote(file string) bool { return strings.Contains(file, "://") }

// referenced returns the name of the source that a path begins with, such as $values, or "".
func referenced(name string) string {
	if !strings.HasPrefix(name, "$") {
		return ""
	}
	ref, _, _ := strings.Cut(name, "/")
	return ref
}

// place is a file, or an address. A file is inside of a root, by a path with slashes.
type place struct{ file, root, inside string }

// find returns the place that a path in the Application names: relative to the folder of the source, from the root of its repository with
// a slash in front, or in another source. It is never outside of the repository.
func (f *Folder) find(name string, folders map[string]*Folder, variables map[string]string) (place, error) {
	root, at := f.Root, f.Dir
	switch ref := referenced(name); {
	case folders[ref] != nil:
		_, rest, _ := strings.Cut(name, "/")
		root, at, name = folders[ref].Root, folders[ref].Root, rest
	case ref != "" && f.OfSeveral:
		return place{}, fmt.Errorf("%s: no source has the ref %s", name, ref[1:])
	}
	name = expand(name, variables)
	if IsRemote(name) {
		return place{file: name}, nil
	}
	if strings.HasPrefix(name, "/") {
		at = root
	}
	file := filepath.Join(at, filepath.FromSlash(name))
	inside, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(inside) && inside != "." {
		return place{}, fmt.Errorf("%s is outside of the repository", name)
	}
	return place{file, root, filepath.ToSlash(inside)}, nil
}

// Override changes a source as the files .argocd-source.yaml and .argocd-source-NAME.yaml in its folder say. They cannot change where it
// comes from (repository.go mergeSourceParameters).
func (f *Folder) Override(app string) error {
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + app + ".yaml"} {
		text, err := ReadWithin(f.Root, filepath.Join(f.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			text, err = yaml.YAMLToJSON(text)
			err = yamlerror.WithoutValues(err)
		}
		own, _ := json.Marshal(f.Source)
		changed := api.Source{}
		_ = json.Unmarshal(own, &changed) // a copy. A null in the file removes nothing, since what was there stays
		if err == nil {
			own, err = jsonpatch.MergePatch(own, text)
		}
		if err == nil {
			err = yamlerror.WithoutValues(json.Unmarshal(own, &changed))
		}
		if err != nil {
			return fmt.Errorf("the file %s: %w", name, err)
		}
		was := f.Source
		changed.Chart, changed.Path, changed.RepoURL, changed.TargetRevision = was.Chart, was.Path, was.RepoURL, was.TargetRevision
		f.Source = changed
	}
	return nil
}

// ReadWithin reads a file below a root. A link that leads out of it is an error, and so is a file of the repository itself: its settings
// may have credentials.
func ReadWithin(root, name string) ([]byte, error) {
	inside, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(name); err == nil && isOfGit(root, real) {
		return nil, fmt.Errorf("%s is in a folder .git", inside)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return r.ReadFile(inside)
}

// isOfGit reports whether a path without links is below a folder .git of a root.
func isOfGit(root, real string) bool {
	inside, err := filepath.Rel(root, real)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(inside), "/"), ".git")
}

// ReadFile returns what reads the files of the values, which are in the repositories of all sources or remote.
func (c composed) ReadFile(
	all []*Folder, remote func(context.Context, string) ([]byte, error),
) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, name string) ([]byte, error) {
		if name == Inline {
			return c.Inline, nil
		}
		if IsRemote(name) {
			return remote(ctx, name)
		}
		for _, f := range all {
			if inside, err := filepath.Rel(f.Root, name); err == nil && filepath.IsLocal(inside) {
				return ReadWithin(f.Root, name)
			}
		}
		return nil, fmt.Errorf("%s is outside of the repository", name)
	}
}
