package terraform

import (
	"errors"
	"fmt"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file is for absorb, which searches changes of the values of a plan.

// Keep makes the step compare the release with what Terraform deploys next, or deploys at its next upgrade. It fails if that is not known,
// or if there is nothing to keep.
func (s *Step) Keep() error {
	r := &s.release
	switch {
	case s.decision.action == report.DeployerInstall:
		return fmt.Errorf("%s: the release is not installed yet, so nothing of it has drifted", r.Address)
	case s.decision.action != report.DeployerUpgrade && r.Change != Leaves:
		return hint.New(fmt.Errorf("%s: absorb needs a resource that the plan updates or leaves unchanged: %s", r.Address, s.decision.reason),
			"helmdrift diff --plan shows what it does")
	case len(r.Unknown) > 0:
		return fmt.Errorf("%s: values are known only after the apply, so no change of them can be proved: %s", r.Address,
			strings.Join(r.Unknown, "; "))
	case s.decision.action == report.DeployerNone:
		s.Target = s.preview
	}
	switch {
	case s.Target.Chart != nil:
		return nil
	case len(r.Now.PostRenderer) > 0:
		return hint.New(fmt.Errorf("%s: the plan names the post-renderer %s", r.Address, r.Now.PostRenderer[0]),
			"--post-renderer "+hint.ShellWord(r.Now.PostRenderer[0])+" lets it run")
	case r.WriteOnly:
		return fmt.Errorf("%s: no plan has the values of set_wo, so no change of values can be proved", r.Address)
	}
	return errors.New(r.Address + ": its chart is not known")
}

// Resource names the resource.
func (s *Step) Resource() object.Key {
	return object.Key{Kind: kind, Namespace: s.release.place().Namespace, Name: s.release.Address}
}

// Remarks returns what the step warns of, and what helmdrift cannot predict.
func (s *Step) Remarks() (warnings, problems []report.Message) {
	if len(s.release.Integers) > 0 {
		s.warn("a whole number of set cannot be absorbed: what it controls is left")
	}
	return s.warnings, s.problems
}

// CheckEdits returns a warning for each entry of set, set_list or set_sensitive that wins over changes of values at these paths.
func (s *Step) CheckEdits(paths [][]any) (out []report.Message) {
	for _, of := range s.release.Sets {
		for _, path := range paths {
			if overlaps(stepsOf(of.Name), path) {
				out = append(out, report.Message{Code: CodeWarning,
					Message: fmt.Sprintf("%s sets %.80s, and wins over values: change it there", of.Title, of.Name)})
				break
			}
		}
	}
	return out
}

// overlaps reports whether a name and a path lead to the same value, or one to a part of the other.
func overlaps(name []string, path []any) bool {
	for i := range min(len(name), len(path)) {
		if key, isKey := path[i].(string); isKey && key != name[i] {
			return false
		}
	}
	return true
}

// stepsOf returns the keys and the indexes of the name of a value, such as a.b[0].
func stepsOf(name string) (out []string) {
	var key strings.Builder
	end := func() {
		if key.Len() > 0 {
			out = append(out, key.String())
		}
		key.Reset()
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '\\' && i+1 < len(name):
			i++
			key.WriteByte(name[i])
		case strings.IndexByte(".[]", c) >= 0:
			end()
		default:
			key.WriteByte(c)
		}
	}
	end()
	return out
}
