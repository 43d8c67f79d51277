package fleet

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
	"github.com/helmdrift/helmdrift/pkg/report/listing"
)

// List reads the last record of each release, concurrency releases at a time, and returns an entry for each. It calls progress after
// each release, one call at a time. If something goes wrong with a release, its entry has the error. List itself returns only the
// error of the context. Even then, if it has read a release, it returns an entry for each.
func (s Source) List(ctx context.Context, found Found, concurrency int, progress func(Progress)) ([]listing.Release, error) {
	listed, present := make([]listing.Release, len(found.Releases)), make([]bool, len(found.Releases))
	sum, inTime := Progress{Total: len(found.Releases)}, 0
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i, r := range found.Releases {
		group.Go(func() error {
			listed[i], present[i] = s.listRelease(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			if sum.Done++; ctx.Err() == nil {
				inTime++
			}
			if listed[i].Error != nil {
				sum.Errors++
			}
			progress(sum)
			return nil
		})
	}
	_ = group.Wait() // no release returns an error
	if err := ctx.Err(); err != nil && inTime == 0 {
		return nil, err
	}
	out := make([]listing.Release, 0, len(listed))
	for i, l := range listed {
		if present[i] {
			out = append(out, l)
		}
	}
	return out, ctx.Err()
}

// listRelease reads the last record of a release. It reports false if the release was uninstalled after it was found.
func (s Source) listRelease(ctx context.Context, r Released) (out listing.Release, present bool) {
	record, err := (*release.Record)(nil), r.Problem
	if err == nil {
		r, record, err = s.lastRecord(ctx, r)
	}
	if err != nil && ctx.Err() != nil {
		err = errInterrupted
	}
	if len(r.History.Entries) == 0 {
		return out, false
	}
	last := r.Last
	out = listing.Release{
		Name: last.Release, Namespace: last.Namespace, Cluster: s.Name, Revision: last.Revision, Status: last.Status, Created: last.Created.UTC(),
	}
	if err != nil {
		e := s.scanError("", live.ErrorCode(err), err)
		out.Error = &report.ObjectError{Code: e.Code, Message: e.Message, Subject: e.Subject}
		return out, true
	}
	out.Status, out.Chart, out.Helm = record.Status, record.Chart(), record.Writer
	out.ApplyMethod = cmp.Or(record.ApplyMethod, report.ApplyClientSide)
	return out, true
}

// superseded is the status of a revision that a later one has replaced.
const superseded = "superseded"

// lastRecord reads the last record of a release. If the record is gone, or was superseded since it was listed, the release changed, and its
// records are listed again, once. A release that was uninstalled is returned without entries.
func (s Source) lastRecord(ctx context.Context, r Released) (Released, *release.Record, error) {
	store, err := s.Storage.Namespace(r.Last.Namespace)
	if err != nil {
		return r, nil, err
	}
	record, err := store.Get(ctx, r.Last.Entry, release.Options{})
	if !apierrors.IsNotFound(err) && (err != nil || record.Status != superseded || r.Last.Status == superseded) {
		return r, record, err
	}
	again, listErr := s.Storage.List(ctx, r.Last.Namespace, labels.SelectorFromSet(labels.Set{"name": r.Last.Release}))
	if listErr != nil {
		return r, nil, listErr
	}
	present, _ := groupByRelease(s.Storage, again)
	if len(present) != 1 {
		r.History.Entries = nil
		return r, nil, nil
	}
	if r = present[0]; r.Problem != nil {
		return r, nil, r.Problem
	}
	record, err = store.Get(ctx, r.Last.Entry, release.Options{})
	return r, record, err
}
