package deployer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// TestCompareAll checks that an error of one source costs no other, and when it is the only answer.
func TestCompareAll(t *testing.T) {
	nothing, denied, unbuilt := errors.New("there is nothing"), errors.New("listing is denied"), errors.New("the tree cannot be built")
	has := func(name string) Source {
		return Source{One: name, Compare: func(context.Context, Scanned) ([]report.Release, error) {
			return []report.Release{{Name: name}}, nil
		}}
	}
	fails := func(err error) Source {
		return Source{One: "failing", Compare: func(context.Context, Scanned) ([]report.Release, error) { return nil, err }}
	}
	alone := has("a")
	alone.Alone = func() error { return denied }
	file := Source{One: "file", IsFile: true, Compare: func(context.Context, Scanned) ([]report.Release, error) { return nil, nil }}
	for name, test := range map[string]struct {
		namespace      string
		sources        []Source
		want, problems string
		err            error
	}{
		"all have something":              {"", []Source{has("a"), has("b")}, "a b", "", nil},
		"one has nothing":                 {"", []Source{fails(ErrNoObject), has("b")}, "b", "", nil},
		"one fails":                       {"", []Source{fails(denied), has("b")}, "b", "listing is denied", nil},
		"nothing is there":                {"", []Source{fails(ErrNoObject), fails(ErrNoObject)}, "", "", nothing},
		"one fails, nothing is there":     {"", []Source{fails(ErrNoObject), fails(denied)}, "", "", denied},
		"a tree that is not of Flux":      {"", []Source{fails(NothingBut{unbuilt}), has("b")}, "b", "", nil},
		"a tree that is of nobody":        {"", []Source{fails(NothingBut{unbuilt}), fails(ErrNoObject)}, "", "", unbuilt},
		"one that must not be alone is":   {"", []Source{alone, fails(ErrNoObject)}, "", "", denied},
		"one that must not be alone":      {"", []Source{alone, has("b")}, "a b", "", nil},
		"a file with nothing to do":       {"", []Source{fails(ErrNoObject), file}, "", "", nil},
		"a file without this namespace":   {"shop", []Source{fails(ErrNoObject), file}, "", "", nothing},
		"a file fails, nothing is beside": {"shop", []Source{file, fails(denied)}, "", "", denied},
	} {
		t.Run(name, func(t *testing.T) {
			var problems []string
			on := Scanned{Namespace: test.namespace, Fail: func(m report.Message) { problems = append(problems, m.Message) }}
			out, err := CompareAll(t.Context(), on, test.sources, nothing)
			var names []string
			for _, r := range out {
				names = append(names, r.Name)
			}
			if !errors.Is(err, test.err) || strings.Join(names, " ") != test.want ||
				strings.Join(problems, " ") != test.problems {
				t.Errorf("%q, problems %q, error %v", names, problems, err)
			}
		})
	}
}
