package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/fetch"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// This file compares with a cluster that somebody saved in a file.

// SavedCluster is a cluster that somebody saved for one release.
type SavedCluster struct {
	Connection         drift.Connection
	ReadManifest       func(context.Context, *release.Record) ([]render.Document, error)
	Namespace, Release string
	Time               time.Time
	// HasText reports whether the text of the manifest was saved too.
	HasText bool
}

// SavedSession returns the session that compares a target with a saved cluster. A mistyped path of a chart is an error, as for a cluster.
func (o *CompareOptions) SavedSession(ctx context.Context, saved *SavedCluster, target drift.Target) (Session, error) {
	if target.Chart != nil {
		if err := o.CheckFiles(ctx, target.Chart.Ref); err != nil {
			return Session{}, err
		}
	}
	options, err := o.OptionsWithRules()
	if err != nil {
		return Session{}, err
	}
	options.ReadManifest = o.Jobs().Bounded(saved.ReadManifest)
	var out Session
	out.Use(target, saved.Connection, options)
	return out, nil
}

// Chart returns the chart of the arguments, which are [RELEASE] [CHART]. A single argument is the release if it is the release's
// name, unless there is a file of that name or a repository to look in.
func (s *SavedCluster) Chart(args []string, repo string) (chart string, hasChart bool, err error) {
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == s.Release && repo == "" && !fetch.IsLocal(args[0]):
		return "", false, nil
	case len(args) == 1:
		return args[0], true, nil
	case args[0] != s.Release:
		return "", false, fmt.Errorf("the snapshot is of release %s, not %s", s.Release, args[0])
	}
	return args[1], true, nil
}
