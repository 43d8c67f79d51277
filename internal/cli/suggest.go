package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file says what the user may have meant by a name that is not there. Each question costs one more list, and is asked only after an
// error. If the role does not allow the list, the error stays as it is.

// maxSimilar is how many similar names a hint names at most. If there are more, they only begin with the same word, such as kube, and do
// not help.
const maxSimilar = 3

// similar returns the names that are near an unknown one, or none if they are many. Cobra suggests only commands, so each name becomes a
// command here, with cobra's distance. The distance is smaller for a short name, because a change of two letters leaves nothing of it. Two
// letters in the wrong order, a distance of 2, are near all the same.
func similar(name string, among []string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: min(2, len(name)/2)}
	for _, one := range among {
		all.AddCommand(&cobra.Command{Use: one, Run: func(*cobra.Command, []string) {}})
	}
	near := all.SuggestionsFor(name)
	for _, one := range among {
		if sorted(one) == sorted(name) && !slices.Contains(near, one) {
			near = append(near, one)
		}
	}
	if len(near) > maxSimilar {
		return nil
	}
	return near
}

// sorted returns the letters of a name in their order.
func sorted(name string) string {
	letters := []rune(name)
	slices.Sort(letters)
	return string(letters)
}

// WithSuggestion returns the error of a comparison with a hint if the release does not exist: where one of its name is, which names of the
// namespace are near, or that there is no such namespace. Command is the command to suggest.
func (c *Connection) WithSuggestion(
	ctx context.Context, err error, cluster *live.Cluster, storage *release.Storage, t drift.Target, command string,
) error {
	if !errors.Is(err, release.ErrNotFound) || errors.Is(err, release.ErrUnlabelled) {
		return err
	}
	listed, listErr := listAll(ctx, storage, t.Namespace)
	if listErr != nil {
		return err
	}
	// The hint of the error itself says where to look. It stays if nothing better is known.
	elsewhere, beside := places(listed, t.Namespace, t.Release)
	near := similar(t.Release, beside)
	switch {
	case len(elsewhere) > 0 && len(elsewhere) <= maxSimilar:
		return hint.New(err, t.Release+" is in "+strings.Join(elsewhere, " and ")+": "+c.command(command, t.Release, "-n", elsewhere[0]))
	case len(near) > 0:
		return hint.New(err, "did you mean "+strings.Join(near, " or ")+": "+c.command(command, near[0], "-n", t.Namespace))
	case len(beside) == 0:
		return WithNamespace(ctx, err, cluster, t.Namespace)
	}
	return err
}

// listAll lists the records of all namespaces, or of one if the role is for one.
func listAll(ctx context.Context, storage *release.Storage, namespace string) ([]release.Listed, error) {
	listed, err := storage.List(ctx, "", labels.Everything())
	if err != nil {
		listed, err = storage.List(ctx, namespace, labels.Everything())
	}
	return latest(listed), err
}

// places returns the other namespaces that have a release of this name, and the names of the releases beside it. An empty namespace means
// all of them.
func places(listed []release.Listed, namespace, name string) (elsewhere, beside []string) {
	for _, l := range listed {
		switch {
		case namespace == "" || l.Namespace == namespace:
			beside = append(beside, l.Release)
		case l.Release == name:
			elsewhere = append(elsewhere, l.Namespace)
		}
	}
	slices.Sort(beside)
	return elsewhere, slices.Compact(beside)
}

// WithSuggestions adds to the errors of a scan what the user may have meant by the names that no release of the namespace has. The errors
// of a scan name nothing, but are in the order of the names.
func WithSuggestions(
	ctx context.Context, errs []report.ScanError, storage *release.Storage, namespace string, names []string,
) []report.ScanError {
	var unknown []*report.ScanError
	out := slices.Clone(errs)
	for i, e := range out {
		if e.Code == report.ErrorNotFound && e.Subject == nil {
			unknown = append(unknown, &out[i])
		}
	}
	if len(unknown) == 0 {
		return errs
	}
	listed, err := listAll(ctx, storage, namespace)
	if err != nil {
		return errs
	}
	var advice []string
	for _, name := range names {
		elsewhere, beside := places(listed, namespace, name)
		near := similar(name, beside)
		switch {
		case slices.Contains(beside, name):
		case len(elsewhere) > 0 && len(elsewhere) <= maxSimilar:
			advice = append(advice, " ("+name+" is in "+strings.Join(elsewhere, " and ")+")")
		case len(near) > 0:
			advice = append(advice, " (did you mean "+strings.Join(near, " or ")+"?)")
		default:
			advice = append(advice, "")
		}
	}
	if len(advice) != len(unknown) { // releases came or went since
		return errs
	}
	for i, e := range unknown {
		e.Message += advice[i]
	}
	return out
}

// WithNamespace returns an error about a namespace without releases, and adds that the namespace does not exist if that is so.
func WithNamespace(ctx context.Context, err error, cluster *live.Cluster, namespace string) error {
	isMissing, advice := MissingNamespace(ctx, cluster, namespace)
	if !isMissing {
		return err
	}
	advice = cmp.Or(advice, drift.Hint(err))
	err = fmt.Errorf("%w, and there is no such namespace", err)
	if advice == "" {
		return err
	}
	return hint.New(err, advice)
}

// MissingNamespace reports whether the cluster does not have a namespace, and which similar ones it has. Nothing is missing for a role that
// may not list the namespaces.
func MissingNamespace(ctx context.Context, cluster *live.Cluster, namespace string) (isMissing bool, advice string) {
	all, err := lists.Namespaces(ctx, cluster)
	if _, exists := all[namespace]; err != nil || exists {
		return false, ""
	}
	if near := similar(namespace, object.SortedKeys(all)); len(near) > 0 {
		slices.Sort(near)
		advice = "did you mean -n " + strings.Join(near, " or -n ") + "?"
	}
	return true, advice
}

// command returns a command to type that reaches the same cluster.
func (c *Connection) command(words ...string) string {
	words = append([]string{ProgramName}, words...)
	for _, flag := range [][2]string{{"--kubeconfig", c.File}, {"--kube-context", c.Context}} {
		if flag[1] != "" {
			words = append(words, flag[0], flag[1])
		}
	}
	for i, w := range words {
		words[i] = hint.ShellWord(w)
	}
	return strings.Join(words, " ")
}
