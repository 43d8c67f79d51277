package cli

import (
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
	"github.com/helmdrift/helmdrift/pkg/release"
)

// This file says what the user may have meant by a name that is not there. Each question costs one more list, and is asked only after an
// error. If the role does not allow the list, the error stays as it is.

// maxSimilar is how many similar names a hint names at most. If there are more, they only begin with the same word, such as kube, and do
// not help.
const maxSimilar = 3

// Similar returns the names that are near an unknown one, or none if they are many. Cobra suggests only commands, so each name becomes a
// command here, with cobra's distance. The distance is smaller for a short name, because a change of two letters leaves nothing of it. Two
// letters in the wrong order, a distance of 2, are near all the same.
func Similar(name string, among []string) []string {
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
	listed, listErr := storage.List(ctx, "", labels.Everything())
	if listErr != nil { // the role may be for one namespace
		if listed, listErr = storage.List(ctx, t.Namespace, labels.Everything()); listErr != nil {
			return err
		}
	}
	// The hint of the error itself says where to look. It stays if nothing better is known.
	var elsewhere, beside []string
	for _, l := range release.Latest(listed) {
		switch {
		case l.Namespace == t.Namespace:
			beside = append(beside, l.Release)
		case l.Release == t.Release:
			elsewhere = append(elsewhere, l.Namespace)
		}
	}
	near := Similar(t.Release, beside)
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

// WithNamespace returns an error about a namespace without releases, and adds that the namespace does not exist if that is so.
func WithNamespace(ctx context.Context, err error, cluster *live.Cluster, namespace string) error {
	all, listErr := cluster.Namespaces(ctx)
	if _, exists := all[namespace]; listErr != nil || exists {
		return err
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	advice := drift.Hint(err)
	if near := Similar(namespace, names); len(near) > 0 {
		slices.Sort(near)
		advice = "did you mean -n " + strings.Join(near, " or -n ") + "?"
	}
	err = fmt.Errorf("%w, and there is no such namespace", err)
	if advice == "" {
		return err
	}
	return hint.New(err, advice)
}

// command returns a command to type that reaches the same cluster.
func (c *Connection) command(words ...string) string {
	words = append([]string{ProgramName}, words...)
	for _, flag := range [][2]string{{"--kubeconfig", c.kubeconfig}, {"--kube-context", c.Context}} {
		if flag[1] != "" {
			words = append(words, flag[0], flag[1])
		}
	}
	for i, w := range words {
		words[i] = hint.ShellWord(w)
	}
	return strings.Join(words, " ")
}
