package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// playedRecords are the release records of a snapshot.
type playedRecords struct{ *Player }

// Resource implements drift.Records.
func (p playedRecords) Resource() string { return p.from.Records.Resource }

// History implements drift.Records.
func (p playedRecords) History(_ context.Context, name string) (release.History, error) {
	if name != p.from.Release {
		return release.History{}, fmt.Errorf("the snapshot is of release %q", p.from.Release)
	}
	r := p.from.Records
	h := release.History{Release: p.from.Release, Kind: r.Kind, Namespace: p.from.Namespace}
	for _, e := range r.Entries {
		h.Entries = append(h.Entries, release.Entry{
			Name: e.Name, Release: p.from.Release, Revision: e.Revision, Status: e.Status, ResourceVersion: e.ResourceVersion,
		})
	}
	return h, nil
}

// Load implements drift.Records. It chooses old and last as release.Store does.
func (p playedRecords) Load(ctx context.Context, name string, revision int, o release.Options) (*release.Loaded, error) {
	h, err := p.History(ctx, name)
	if err != nil {
		return nil, err
	}
	last, err := p.record(h.Entries[len(h.Entries)-1], o)
	known := err == nil
	if known {
		h.LastStatus = last.Status
	}
	choice, err := h.Choose(revision)
	if err != nil {
		return nil, err
	}
	old, err := p.record(choice.Old, o)
	if err != nil {
		return nil, err
	}
	switch {
	case choice.Old == choice.Last:
		last = old
	case !known && p.from.Records.LastProblem != "" && revision > 0:
		return &release.Loaded{History: h, Choice: choice, Old: old, Last: old, LastProblem: errors.New(p.from.Records.LastProblem)}, nil
	case !known:
		return nil, p.missing(choice.Last)
	}
	return &release.Loaded{History: h, Choice: choice, Old: old, Last: last}, nil
}

// LoadRollback implements drift.Records.
func (p playedRecords) LoadRollback(ctx context.Context, name string, to int, o release.Options) (*release.Loaded, error) {
	h, err := p.History(ctx, name)
	if err != nil {
		return nil, err
	}
	choice, target, err := h.ChooseRollback(to)
	if err != nil {
		return nil, err
	}
	last, err := p.record(choice.Last, o)
	if err != nil {
		return nil, err
	}
	h.LastStatus = last.Status
	loaded := &release.Loaded{History: h, Choice: choice, Old: last, Last: last, Target: last}
	if target != choice.Last {
		loaded.Target, err = p.record(target, o)
	}
	return loaded, err
}

// record returns the record of an entry.
func (p playedRecords) record(e release.Entry, o release.Options) (*release.Record, error) {
	i := slices.IndexFunc(p.from.Records.Revisions, func(r Revision) bool { return r.Revision == e.Revision })
	if i < 0 {
		return nil, p.missing(e)
	}
	r := p.from.Records.Revisions[i]
	method, _ := release.ParseApplyMethod(r.ApplyMethod)
	out := &release.Record{
		StoredAs: r.StoredAs, Name: p.from.Release, Namespace: r.Namespace, Revision: r.Revision, Status: r.Status,
		ChartName: r.ChartName, ChartVersion: r.ChartVersion, ApplyMethod: method, Writer: r.Writer,
	}
	if r.Text != nil {
		out.Manifest = *r.Text
	}
	for _, h := range r.Hooks {
		out.Hooks = append(out.Hooks, release.Hook(h))
	}
	if o.Values {
		out.Values = &release.Values{Config: r.Config, Metadata: r.Metadata, Defaults: r.Defaults}
	}
	return out, nil
}

// missing returns the error of a revision that was not captured.
func (p playedRecords) missing(e release.Entry) error {
	var captured []string
	for _, r := range p.from.Records.Revisions {
		captured = append(captured, fmt.Sprint(r.Revision))
	}
	return hint.New(
		fmt.Errorf("the snapshot does not hold revision %d of %s; it holds %s", e.Revision, e.Release, strings.Join(captured, ", ")),
		fmt.Sprintf("helmdrift snapshot %s --to-revision %d captures it too", e.Release, e.Revision),
	)
}

// ReadManifest returns the documents of a record in the snapshot. It is part of Connection; drift.Options may wrap it.
func (p *Player) ReadManifest(_ context.Context, r *release.Record) ([]render.Document, error) {
	i := slices.IndexFunc(p.from.Records.Revisions, func(s Revision) bool { return s.Revision == r.Revision })
	if i < 0 {
		return nil, fmt.Errorf("the snapshot does not hold revision %d", r.Revision)
	}
	var out []render.Document
	for _, m := range p.from.Records.Revisions[i].Manifest {
		out = append(out, render.Document{Source: m.Source, JSON: m.Object, Fault: m.Fault})
	}
	return out, nil
}
