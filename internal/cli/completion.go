package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/live/lists"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file completes in the shell what only the cluster or the kubeconfig knows: releases, revisions, objects, namespaces and contexts.
// The commands that print completion scripts come from cobra. Errors print nothing, because the user is in the middle of a command line.

// completionTimeout is how long the shell waits for each request. It is short, because the user waits after pressing the tab key.
const completionTimeout = 3 * time.Second

// CompleteRelease returns the function that completes the arguments of diff and fix: releases of the namespace for the first one, and
// files for the chart. It reads only the metadata of the records.
func CompleteRelease(c *Connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// The second argument of diff is a chart, often a directory.
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return c.candidates(func(_ *live.Cluster, storage *release.Storage, namespace string) ([]cobra.Completion, error) {
			found, err := releasesOf(cmd.Context(), storage, namespace)
			if len(found) > 0 {
				err = nil // if some records cannot be read, the other names still help
			}
			var names []cobra.Completion
			for _, r := range found {
				names = append(names, cobra.CompletionWithDesc(r.Release, fmt.Sprintf("revision %d, %s", r.Revision, r.Status)))
			}
			return names, err
		})
	}
}

// CompleteKind completes the name of an object of a kind after a prefix, such as "hr/".
func CompleteKind(
	ctx context.Context, c *Connection, kind schema.GroupVersionKind, prefix string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.candidates(func(cluster *live.Cluster, _ *release.Storage, namespace string) ([]cobra.Completion, error) {
		kinds, _ := meta.UnsafeGuessKindToResource(kind) // to ask the server for it would take longer
		found, err := cluster.Metadata().Resource(kinds).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		var names []cobra.Completion
		for _, o := range found.Items {
			names = append(names, prefix+o.Name)
		}
		return names, nil
	})
}

// completeRevision returns the function that completes a revision of the release that the arguments name, the last one first.
func completeRevision(c *Connection) cobra.CompletionFunc {
	return c.ofRelease(func(ctx context.Context, store *release.Store, name string) ([]cobra.Completion, error) {
		history, err := store.History(ctx, name)
		var revisions []cobra.Completion
		for _, e := range slices.Backward(history.Entries) {
			revisions = append(revisions, cobra.CompletionWithDesc(fmt.Sprint(e.Revision), e.Status))
		}
		return revisions, err
	})
}

// completeObject returns the function that completes KIND/NAME of the objects in the stored manifest. It reads the manifest within the
// default limits, like any command.
func completeObject(s Streams, c *Connection) cobra.CompletionFunc {
	return c.ofRelease(func(ctx context.Context, store *release.Store, name string) ([]cobra.Completion, error) {
		loaded, err := store.Load(ctx, name, 0, release.Options{})
		if err != nil {
			return nil, err
		}
		documents, err := newLimits(s.Env).jobs(false).ReadManifest(ctx, loaded.Old)
		if err != nil {
			return nil, err
		}
		var objects []cobra.Completion
		for _, o := range render.Objects(documents, render.ParseOptions{Namespace: loaded.Old.Namespace}).Objects {
			objects = append(objects, o.Key.Kind+"/"+o.Key.Name)
		}
		return objects, nil
	})
}

// completeNamespace returns the function that completes the names of namespaces.
func completeNamespace(c *Connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.candidates(func(cluster *live.Cluster, _ *release.Storage, _ string) ([]cobra.Completion, error) {
			found, err := lists.Namespaces(cmd.Context(), cluster)
			return object.SortedKeys(found), err
		})
	}
}

// completeContext returns the function that completes the names of contexts in the kubeconfig, with their clusters.
func completeContext(c *Connection) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		raw, err := c.Raw()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []cobra.Completion
		for name, context := range raw.Contexts {
			names = append(names, cobra.CompletionWithDesc(name, context.Cluster))
		}
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFlags sets the completion for flags whose values come from a cluster or the kubeconfig.
func CompleteFlags(root *cobra.Command, s Streams, c *Connection) {
	functions := map[string]cobra.CompletionFunc{
		"revision": completeRevision(c), "to-revision": completeRevision(c), "only": completeObject(s, c), "skip": completeObject(s, c),
		"target-namespace": completeNamespace(c), "contexts": completeContext(c),
	}
	_ = root.RegisterFlagCompletionFunc("namespace", completeNamespace(c))
	_ = root.RegisterFlagCompletionFunc("kube-context", completeContext(c))
	for _, cmd := range root.Commands() {
		for name, complete := range functions {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // it fails for a command without the flag
		}
	}
}

// ofRelease returns a function that completes something about the release in the first argument. Without an argument it completes
// nothing.
func (c *Connection) ofRelease(
	find func(ctx context.Context, store *release.Store, name string) ([]cobra.Completion, error),
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.candidates(func(_ *live.Cluster, storage *release.Storage, namespace string) ([]cobra.Completion, error) {
			store, err := storage.Namespace(namespace)
			if err != nil {
				return nil, err
			}
			return find(cmd.Context(), store, args[0])
		})
	}
}

// candidates connects to the cluster and returns what find returns. It gives find the namespace that the flags and the kubeconfig choose.
func (c *Connection) candidates(
	find func(cluster *live.Cluster, storage *release.Storage, namespace string) ([]cobra.Completion, error),
) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, err := func() ([]cobra.Completion, error) {
		at, err := c.Resolve()
		if err != nil {
			return nil, err
		}
		at.Config.Timeout = completionTimeout
		cluster, err := live.New(at.Config, c.options())
		if err != nil {
			return nil, err
		}
		storage, err := c.records(cluster)
		if err != nil {
			return nil, err
		}
		return find(cluster, storage, at.Namespace)
	}()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
