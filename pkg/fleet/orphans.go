package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// This file decides which listed objects are orphans. A candidate carries the annotations of a release and stands in no manifest that was
// compared. Only the records of releases with candidates are read, and a release that somebody deploys at the moment is left out: the next
// scan sees what becomes of it.

// findOrphans finds the orphans among the listed objects. It reads the lists to their ends first, unless the releases were selected: such
// lists have mostly what belongs to others.
func (c *comparison) findOrphans(ctx context.Context) {
	if c.AllOrphans || c.found.selection.isWhole() {
		c.listRest(ctx)
	}
	var group errgroup.Group
	group.SetLimit(c.Concurrency)
	for named, all := range c.claims.candidates() {
		group.Go(func() error {
			found, err := c.judge(ctx, named, all)
			if err != nil && ctx.Err() == nil {
				c.unseen(named.Namespace, fmt.Errorf("it is not known whether listed objects of release %s in namespace %s are orphans: %w",
					named.Name, named.Namespace, err))
				return nil
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.orphans = append(c.orphans, found...)
			return nil
		})
	}
	_ = group.Wait() // no release returns an error
	c.mu.Lock()
	defer c.mu.Unlock()
	order.Sort(c.orphans, func(a, b report.Orphan) int { return a.Compare(b.ClaimedObject) })
	order.Sort(c.errors, func(a, b report.ScanError) int { return cmp.Compare(a.Message, b.Message) })
}

// listRest lets the claims see what the lists have not read. Only if the options ask for all orphans, it also lists kinds in namespaces
// whose manifests do not have them.
func (c *comparison) listRest(ctx context.Context) {
	var namespaces []string
	for _, r := range c.found.Releases {
		namespaces = append(namespaces, r.Last.Namespace)
	}
	for named := range c.claims.releases {
		namespaces = append(namespaces, named.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	isSought := c.AllOrphans || c.sharing.cluster.wide || len(namespaces) <= 1
	if !c.AllOrphans {
		namespaces = nil
	}
	errs := c.sharing.cluster.sweep.Rest(ctx, namespaces)
	for _, err := range errs {
		namespace := ""
		if about := subjectOf(err); about != nil {
			namespace = about.Namespace
		}
		c.unseen(namespace, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isSought = isSought && (c.AllOrphans || len(errs) == 0) && ctx.Err() == nil
}

// unseen adds the error of a place where orphans may be, if the options ask for all orphans.
func (c *comparison) unseen(namespace string, err error) {
	if !c.AllOrphans {
		return
	}
	e := c.scanError(namespace, report.ErrorOrphans, err).Map(c.Known.Scrub)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors = append(c.errors, e)
}

// judge returns those of the candidates that are orphans. All of them name one release. A panic becomes an error.
func (c *comparison) judge(ctx context.Context, named object.ReleaseName, all []candidate) (found []report.Orphan, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			found, err = nil, fmt.Errorf("internal error: %s", c.Known.Scrub(fmt.Sprint(cause))) // it may quote an object
		}
	}()
	if about := c.claims.releases[named]; about != nil {
		return c.judgeCompared(ctx, named, all, *about)
	}
	if !c.found.searched(named.Namespace) || !c.found.selection.selectsName(c.Name, named) {
		return nil, nil
	}
	isFailed := func(r Released) bool { return r.Last.Release == named.Name && !c.isCompared(r.Last) }
	if slices.ContainsFunc(c.found.Releases, isFailed) {
		return nil, nil // it may be the release that its record names, which could not be read
	}
	listed, err := c.Storage.List(ctx, named.Namespace, byName(named))
	if err != nil {
		return nil, err
	}
	now, _ := groupByRelease(c.Storage, listed)
	switch {
	case slices.ContainsFunc(now, func(r Released) bool { return r.Last.Status != statusUninstalled || r.Problem != nil }):
		return nil, nil // it was not selected, or it was installed meanwhile
	case len(now) > 0:
		return c.located(ctx, c.orphansOf(named, all, report.OrphanUninstalled), now[0], nil), nil
	}
	mayBeElsewhere := slices.ContainsFunc(all, func(found candidate) bool { return found.mayBeStoredElsewhere })
	if isStored, err := c.isStoredOtherwise(ctx, named, mayBeElsewhere); err != nil || isStored {
		return nil, err
	}
	return c.orphansOf(named, all, report.OrphanNoRelease), nil
}

// judgeCompared returns the orphans of a release that was compared.
func (c *comparison) judgeCompared(
	ctx context.Context, named object.ReleaseName, all []candidate, about compared,
) ([]report.Orphan, error) {
	listed, err := c.Storage.List(ctx, about.storage, byName(named))
	if err != nil {
		return nil, err
	}
	now, _ := groupByRelease(c.Storage, listed)
	i := slices.IndexFunc(c.found.Releases, func(r Released) bool {
		return r.Last.Namespace == about.storage && r.Last.Release == named.Name
	})
	if about.isIncomplete || len(now) != 1 || i < 0 || isUnderWay(about.status) ||
		!slices.Equal(now[0].History.Entries, c.found.Releases[i].History.Entries) {
		return nil, nil // the object may be where nobody could look, or somebody deploys the release
	}
	out := c.located(ctx, c.orphansOf(named, all, report.OrphanUnrecorded), now[0], []int{about.old, about.last})
	isUnrecorded := func(o report.Orphan) bool { return o.Reason == report.OrphanUnrecorded }
	if slices.ContainsFunc(out, isUnrecorded) {
		for _, other := range c.Storage.Others(c.Cluster.Metadata(), c.Cluster.Core()) {
			stored, err := other.List(ctx, about.storage, byName(named))
			if err != nil {
				return nil, err
			}
			if len(stored) > 0 {
				return slices.DeleteFunc(out, isUnrecorded), nil
			}
		}
	}
	return out, nil
}

// isUnderWay reports whether Helm is working on a release whose last revision has this status.
func isUnderWay(status string) bool {
	return strings.HasPrefix(status, "pending-") || status == "uninstalling"
}

// orphansOf returns the candidates as orphans for a reason.
func (c *comparison) orphansOf(named object.ReleaseName, all []candidate, reason report.OrphanReason) []report.Orphan {
	out := make([]report.Orphan, len(all))
	for i, found := range all {
		out[i] = report.Orphan{
			ClaimedObject: claimedObject(c.Name, found.Key, found.APIVersion()),
			Release:       named.Name, ReleaseNamespace: named.Namespace, Reason: reason, Kept: found.isKept,
		}
	}
	return out
}

// located returns the orphans of a release with the last stored revision that has each. It reads the records from the newest on, without
// those of the given revisions, until it has found all.
func (c *comparison) located(ctx context.Context, orphans []report.Orphan, r Released, without []int) []report.Orphan {
	store, left := c.Storage.Listed(r.Last.Namespace, nil), len(orphans)
	for _, entry := range slices.Backward(r.History.Entries) {
		if left == 0 {
			break
		}
		if slices.Contains(without, entry.Revision) {
			continue
		}
		objects, record, err := c.manifest(ctx, store, entry)
		for i := range orphans {
			o := &orphans[i]
			switch {
			case o.Revision != nil:
			case err != nil:
				o.Problem = c.Known.Scrub(fmt.Sprintf("revision %d could not be read: %v", entry.Revision, err))
			case isIn(objects, o.Key()):
				o.Revision = &report.Revision{Revision: record.Revision, Status: record.Status, Chart: record.Chart()}
				if left--; o.Reason == report.OrphanUnrecorded {
					o.Reason = report.OrphanDropped
				}
			}
		}
	}
	return orphans
}

// isIn reports whether objects have one of a key, in whatever group; see claims.isClaimed.
func isIn(objects []object.Object, key object.Key) bool {
	return slices.ContainsFunc(objects, func(o object.Object) bool {
		return o.Kind == key.Kind && o.Namespace == key.Namespace && o.Name == key.Name
	})
}

// manifest returns the objects of a stored revision.
func (c *comparison) manifest(ctx context.Context, store *release.Store, entry release.Entry) ([]object.Object, *release.Record, error) {
	record, err := store.Get(ctx, entry, release.Options{})
	if err != nil {
		return nil, nil, err
	}
	read := c.ReadManifest
	if read == nil {
		read = drift.ReadManifest
	}
	documents, err := read(ctx, record)
	if err != nil {
		return nil, nil, err
	}
	m := render.Objects(documents, render.ParseOptions{Namespace: record.Namespace, Scope: c.Cluster.Scope})
	if len(m.Errors) > 0 {
		return nil, nil, errors.New(m.Errors[0].Message)
	}
	return m.Objects, record, nil
}

// These are the reasons why it is not known whether a release without records in its namespace exists.
var (
	errElsewhere = errors.New("its records may be in another namespace, and the role may not list those of all namespaces")
	errSameName  = errors.New("its records may be in another namespace, and too many releases have its name")
)

// maxSameName is how many records of other releases of one name are read to find the namespaces of these releases.
const maxSameName = 20

// byName selects the records of releases of one name.
func byName(named object.ReleaseName) labels.Selector {
	return labels.SelectorFromSet(labels.Set{"name": named.Name})
}

// isStoredOtherwise reports whether a release without records in its namespace has some elsewhere: without labels, with the other driver,
// or in another namespace. The last is unusual unless a program that does so has marked the objects (mayBeElsewhere).
func (c *comparison) isStoredOtherwise(ctx context.Context, named object.ReleaseName, mayBeElsewhere bool) (bool, error) {
	store, err := c.Storage.Namespace(named.Namespace)
	if err != nil {
		return false, err
	}
	_, err = store.Load(ctx, named.Name, 0, release.Options{})
	switch {
	case errors.Is(err, release.ErrUnlabelled), err == nil:
		return true, nil
	case !errors.Is(err, release.ErrNotFound):
		return false, err
	}
	for _, storage := range append(c.Storage.Others(c.Cluster.Metadata(), c.Cluster.Core()), c.Storage) {
		listed, err := storage.List(ctx, "", byName(named))
		switch {
		case apierrors.IsForbidden(err) && mayBeElsewhere:
			return false, errElsewhere
		case apierrors.IsForbidden(err):
			listed, err = storage.List(ctx, named.Namespace, byName(named))
		}
		if err != nil {
			return false, err
		}
		same, _ := groupByRelease(storage, listed)
		if isStored, err := c.isAmong(ctx, storage, same, named, mayBeElsewhere); err != nil || isStored {
			return isStored, err
		}
	}
	return false, nil
}

// isAmong reports whether one of the releases of a storage is the named one. The record of each says which namespace it is of.
func (c *comparison) isAmong(
	ctx context.Context, storage *release.Storage, same []Released, named object.ReleaseName, mayBeElsewhere bool,
) (bool, error) {
	read := 0
	for _, r := range same {
		switch {
		case r.Last.Namespace == named.Namespace:
			return true, nil
		case storage == c.Storage && c.isCompared(r.Last):
			continue
		case read == maxSameName && mayBeElsewhere:
			return false, errSameName
		case read == maxSameName:
			continue
		}
		read++
		record, err := storage.Listed(r.Last.Namespace, nil).Get(ctx, r.Last.Entry, release.Options{})
		if err != nil {
			return false, err
		}
		if record.Namespace == named.Namespace {
			return true, nil
		}
	}
	return false, nil
}

// isCompared reports whether the release of a record was compared. If it were the one that objects name, they would have been its own.
func (c *comparison) isCompared(l release.Listed) bool {
	return slices.Contains(c.claims.places, place{l.Namespace, l.Release})
}
