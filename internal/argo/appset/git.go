package appset

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
)

// This file is the generator git (argo-cd v3.6.1 applicationset/generators/git.go, repo_path_utils.go).

// git returns the parameters of folders or files of the tree. Folders count if it names both.
func (g *generation) git(spec map[string]any) ([]params, error) {
	repository, _ := spec["repoURL"].(string)
	revision, _ := spec["revision"].(string)
	if !g.tree.Has(repository, revision) {
		return nil, elsewhereError{fmt.Errorf("%s at revision %q is not this working tree, so its Applications are not known",
			repository, revision)}
	}
	directories, err := patternsOf(spec, "directories")
	if err != nil {
		return nil, err
	}
	files, err := patternsOf(spec, "files")
	switch {
	case err != nil:
		return nil, err
	case len(directories) > 0:
		return g.directories(spec, directories)
	case len(files) > 0:
		return g.gitFiles(spec, files)
	}
	return nil, errors.New("it names neither directories nor files")
}

// pathPattern says which paths count, or which do not.
type pathPattern struct {
	path    string
	exclude bool
}

// patternsOf reads a list of patterns.
func patternsOf(spec map[string]any, field string) (out []pathPattern, err error) {
	all, _ := spec[field].([]any)
	for i, one := range all {
		item, _ := one.(map[string]any)
		text, isText := item["path"].(string)
		if !isText {
			return nil, fmt.Errorf("%s[%d] has no path", field, i)
		}
		exclude, _ := item["exclude"].(bool)
		out = append(out, pathPattern{text, exclude})
	}
	return out, nil
}

// directories returns the parameters of folders. A pattern does not match across folders.
func (g *generation) directories(spec map[string]any, patterns []pathPattern) (out []params, err error) {
	all, err := g.folders()
	if err != nil {
		return nil, err
	}
	matches := func(folder string) bool {
		isIn, isOut := false, false
		for _, p := range patterns {
			matched, _ := path.Match(p.path, folder) // a pattern that cannot be read matches nothing
			isIn, isOut = isIn || matched && !p.exclude, isOut || matched && p.exclude
		}
		return isIn && !isOut
	}
	if slices.ContainsFunc(g.hiddenFolders(), matches) {
		g.dependsOn(api.SetHidden)
	}
	for _, folder := range all {
		if !matches(folder) {
			continue
		}
		made, err := g.pathParams(spec, folder, "", params{})
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// gitFiles returns the parameters in files. Patterns are those of git ls-files.
func (g *generation) gitFiles(spec map[string]any, patterns []pathPattern) (out []params, err error) {
	all, err := g.allFiles()
	if err != nil {
		return nil, err
	}
	taken, err := matching(all, patterns, pathspec)
	if err != nil {
		return nil, err
	}
	if globbed, err := matching(all, patterns, glob); err != nil || !slices.Equal(globbed, taken) {
		g.dependsOn(api.SetGlobs)
	}
	for _, name := range taken {
		found, err := g.fileParams(spec, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if out = append(out, found...); len(out) > maxApplications {
			return nil, fmt.Errorf("the files have more than %d sets of parameters", maxApplications)
		}
	}
	return out, nil
}

// matching returns the names that one of some patterns matches and none that excludes. Read reads a pattern.
func matching(names []string, patterns []pathPattern, read func(pattern string) (func(string) bool, error)) (out []string, err error) {
	var in, not []func(string) bool
	for _, p := range patterns {
		matches, err := read(p.path)
		switch {
		case err != nil:
			return nil, err
		case p.exclude:
			not = append(not, matches)
		default:
			in = append(in, matches)
		}
	}
	for _, name := range names {
		isMatch := func(matches func(string) bool) bool { return matches(name) }
		if slices.ContainsFunc(in, isMatch) && !slices.ContainsFunc(not, isMatch) {
			out = append(out, name)
		}
	}
	return out, nil
}

// glob returns what matches the paths that Argo CD finds for a pattern with the option api.SetGlobs (argo-cd v3.6.1 util/git/client.go
// LsFiles).
func glob(pattern string) (func(string) bool, error) {
	const most = 256
	switch pattern = path.Clean(pattern); {
	case len(pattern) > most:
		return nil, fmt.Errorf("the pattern %.40q… is not looked up: it has more than %d bytes", pattern, most)
	case strings.Contains(pattern, "{"): // each brace multiplies the work
		return nil, fmt.Errorf("the pattern %q is not looked up: braces may stand for too many paths", pattern)
	case !doublestar.ValidatePattern(pattern):
		return nil, fmt.Errorf("the pattern %q is not valid", pattern)
	}
	return func(name string) bool { return doublestar.MatchUnvalidated(pattern, name) }, nil
}

// fileParams returns the parameters in a file: an object, or a list of objects.
func (g *generation) fileParams(spec map[string]any, name string) (out []params, err error) {
	text, err := g.read(name)
	if err != nil {
		return nil, err
	}
	var single params
	var objects []params
	if yaml.Unmarshal(text, &single) == nil {
		objects = []params{single}
	} else if yaml.Unmarshal(text, &objects) != nil {
		return nil, errors.New("it is neither an object nor a list of objects")
	}
	for _, one := range objects {
		fields := params{}
		if g.set.Spec.GoTemplate {
			maps.Copy(fields, one)
		} else {
			for key, value := range flat(one) {
				fields[key] = value
			}
		}
		made, err := g.pathParams(spec, path.Dir(name), path.Base(name), fields)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// pathParams adds the parameters about a folder, and about a file if it is not empty, and those of spec.values.
func (g *generation) pathParams(spec map[string]any, folder, file string, out params) (params, error) {
	prefix, _ := spec["pathParamPrefix"].(string)
	segments := strings.Split(folder, "/")
	if g.set.Spec.GoTemplate {
		about := map[string]any{
			"path": folder, "basename": path.Base(folder), "basenameNormalized": normalize(path.Base(folder)), "segments": segments,
		}
		if file != "" {
			about["filename"], about["filenameNormalized"] = file, normalize(file)
		}
		if prefix != "" {
			out[prefix] = map[string]any{"path": about}
		} else {
			out["path"] = about
		}
	} else {
		name := strings.TrimPrefix(prefix+".path", ".")
		out[name], out[name+".basename"], out[name+".basenameNormalized"] = folder, path.Base(folder), normalize(path.Base(folder))
		if file != "" {
			out[name+".filename"], out[name+".filenameNormalized"] = file, normalize(file)
		}
		for i, segment := range segments {
			if segment != "" {
				out[name+"["+strconv.Itoa(i)+"]"] = segment
			}
		}
	}
	return g.withValues(spec, out)
}

// withValues adds spec.values, whose templates see the parameters but not each other (argo-cd v3.6.1
// applicationset/generators/value_interpolation.go).
func (g *generation) withValues(spec map[string]any, out params) (params, error) {
	values, _ := spec["values"].(map[string]any)
	made := map[string]string{}
	for name, value := range values {
		text, _ := value.(string)
		done, err := g.replace(text, out, g.set.Spec.GoTemplateOptions)
		if err != nil {
			return nil, fmt.Errorf("values.%s: %w", name, err)
		}
		made[name] = done
	}
	if g.set.Spec.GoTemplate {
		if len(made) > 0 {
			out["values"] = made
		}
		return out, nil
	}
	for name, value := range made {
		out["values."+name] = value
	}
	return out, nil
}

// pathspec returns what matches the paths that git ls-files lists for a pattern: * and ? also match a slash, and a pattern that is a
// folder means all files below it. One that ends with a slash means nothing else.
func pathspec(pattern string) (func(string) bool, error) {
	if strings.HasPrefix(pattern, ":") {
		return nil, fmt.Errorf("the pattern %q has magic of git, which helmdrift does not know", pattern)
	}
	isFolder := strings.HasSuffix(pattern, "/")
	if pattern = path.Clean(pattern); path.IsAbs(pattern) || pattern == ".." || strings.HasPrefix(pattern, "../") {
		return nil, fmt.Errorf("the pattern %q is outside of the repository", pattern)
	}
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch letter := pattern[i]; letter {
		case '*':
			out.WriteString(".*")
		case '?':
			out.WriteString(".")
		case '[':
			n := classLength(pattern[i:])
			if n == 0 {
				return nil, fmt.Errorf("the pattern %q cannot be read", pattern)
			}
			out.WriteString("[" + strings.Replace(pattern[i+1:i+2], "!", "^", 1) + pattern[i+2:i+n])
			i += n - 1
		case '\\':
			i++
			if i < len(pattern) {
				out.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			}
		default:
			out.WriteString(regexp.QuoteMeta(string(letter)))
		}
	}
	compiled, err := regexp.Compile(`(?s)^` + out.String() + `$`)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q cannot be read", pattern)
	}
	return func(name string) bool {
		return pattern == "." || strings.HasPrefix(name, pattern+"/") || !isFolder && (name == pattern || compiled.MatchString(name))
	}, nil
}

// classLength returns the length of a class of letters that a text begins with, such as [a-z] or [[:alpha:]_], or 0 if it has no end.
func classLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "[:"):
			n := strings.Index(text[i:], ":]")
			if n < 0 {
				return 0
			}
			i += n + 1
		case text[i] == ']':
			return i + 1
		}
	}
	return 0
}
