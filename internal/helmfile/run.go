package helmfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/internal/tempdir"
)

// This file is the folder of a run of helmfile, and what was recorded in it.

// Run is the folder of a run of helmfile.
type Run struct {
	folder string
	// Program is the program that helmfile calls instead of helm.
	Program string
}

// NewRun makes the folder for a run. Self is the path of this program.
func NewRun(self string) (*Run, error) {
	folder, err := tempdir.New()
	if err != nil {
		return nil, err
	}
	r := &Run{folder: folder, Program: filepath.Join(folder, Name)}
	if runtime.GOOS == "windows" {
		r.Program += ".exe"
	}
	for _, name := range []string{callsName, chartsName, tempName} {
		err = errors.Join(err, os.Mkdir(filepath.Join(folder, name), 0o700))
	}
	if err == nil && os.Symlink(self, r.Program) != nil { // Windows allows links only to some users
		err = os.Link(self, r.Program)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("preparing the run of helmfile: %w", err)
	}
	return r, nil
}

// passTo sets the real helm. Keeps says that each chart is copied.
func (r *Run) passTo(helm string, keeps bool) error {
	text, err := json.Marshal(settings{Helm: helm, Folder: r.folder, Temp: r.Temp(), Keeps: keeps})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, settingsName), text, 0o600)
}

// Temp is the folder for the temporary files of helmfile.
func (r *Run) Temp() string { return filepath.Join(r.folder, tempName) }

// Close removes the folder.
func (r *Run) Close() { _ = os.RemoveAll(r.folder) }

// calls reads what was recorded.
func (r *Run) calls() (out []Call, err error) {
	names, err := filepath.Glob(filepath.Join(r.folder, callsName, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var c Call
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("reading what helmfile called: %w", err)
		}
		out = append(out, c)
	}
	return out, nil
}

// Release is a release of a helmfile, with the arguments that Helm gets.
type Release struct {
	Declared
	arguments *arguments
	call      Call
	// Fault says why the release cannot be compared.
	Fault string
}

// place is where a release is, as helmfile names it. No namespace and no context are those of the kubeconfig.
type place struct{ name, namespace, context string }

// releases returns the releases of a state with their calls. Missing says why there is no call for a release.
func releases(state *State, calls []Call, missing string) []Release {
	found := map[place][]Release{}
	for _, call := range calls {
		if call.Refused || call.Decrypted != nil {
			continue
		}
		a, err := parse(call)
		if err != nil { // the words that helmfile always writes say which release it is
			after := func(flag string) string {
				if i := slices.Index(call.Args, flag); i >= 0 && i+1 < len(call.Args) {
					return call.Args[i+1]
				}
				return ""
			}
			at := place{after("--allow-unreleased"), after("--namespace"), after("--kube-context")}
			found[at] = append(found[at], Release{call: call, Fault: err.Error()})
			continue
		}
		at := place{a.name, a.namespace, a.context}
		found[at] = append(found[at], Release{arguments: a, call: call, Fault: call.Fault})
	}
	var out []Release
	for _, d := range state.Releases {
		r := Release{Declared: d}
		at := place{d.Name, d.Namespace, d.Context}
		if d.Context == "" && len(found[at]) == 0 { // helmfile has the context from a flag or a variable
			for other := range found {
				if other.name == d.Name && other.namespace == d.Namespace {
					at = other
				}
			}
		}
		switch of := found[at]; {
		case !d.IsInstalled:
		case len(of) == 0:
			r.Fault = cmp.Or(missing, "helmfile does not call helm for it")
		default:
			last := of[len(of)-1]
			r.arguments, r.call, r.Fault = last.arguments, last.call, last.Fault
			r.Context = at.context
			if r.Fault == "" {
				if a, err := parse(r.call, d.OnlyUpgrade...); err != nil {
					r.Fault = err.Error()
				} else {
					r.arguments = a
				}
			}
		}
		out = append(out, r)
	}
	order.Sort(out, func(a, b Release) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// selector is the selector of helmfile that chooses only this release.
func (r *Release) selector() string {
	if r.Namespace == "" {
		return "name=" + r.Name
	}
	return "name=" + r.Name + ",namespace=" + r.Namespace
}

// decrypted returns the documents that helm-secrets has decrypted.
func decrypted(calls []Call) (out [][]byte) {
	for _, c := range calls {
		if len(c.Decrypted) > 0 {
			out = append(out, c.Decrypted)
		}
	}
	return out
}

// Choose returns the releases of some names and namespaces. It returns all if there are none. A name that chooses nothing is an error.
func Choose(all []Release, names, namespaces []string) ([]Release, error) {
	missing := slices.Clone(names)
	out := slices.DeleteFunc(slices.Clone(all), func(r Release) bool {
		if len(namespaces) > 0 && !slices.Contains(namespaces, r.Namespace) {
			return true
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == r.Name })
		return len(names) > 0 && !slices.Contains(names, r.Name)
	})
	where := ""
	if len(namespaces) > 0 {
		where = " in namespace " + strings.Join(namespaces, ", ")
	}
	switch {
	case len(missing) > 0:
		return nil, fmt.Errorf("the helmfile has no release %s%s, or the selector leaves it out", strings.Join(missing, ", "), where)
	case len(all) == 0:
		return nil, errors.New("the helmfile has no releases for this environment and selector")
	case len(out) == 0:
		return nil, errors.New("the helmfile has no release" + where)
	}
	return out, nil
}
