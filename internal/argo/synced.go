package argo

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/argo/source"
	"github.com/helmdrift/helmdrift/internal/engine/argocd"
	"github.com/helmdrift/helmdrift/internal/kinds"
	"github.com/helmdrift/helmdrift/internal/worktree"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file renders the sources of the last sync at the revisions that they had then, for objects that do not show by themselves what Argo
// CD deployed.

// lastSync is what is known of the last full sync that succeeded.
type lastSync struct {
	// isSame is set if it had the sources and the revisions of now. random are the objects that it has made with other values all the same.
	isSame bool
	random map[object.Key]bool
	// objects are those that it made of its sources. The map is nil if that is not needed, or not known.
	objects map[object.Key]*object.Object
}

// lastObjects returns the objects that the last sync made of its sources. It fetches and renders them only if that explains something.
func (p *Plan) lastObjects(ctx context.Context, q Question, all []listed) map[object.Key]*object.Object {
	if _, _, found := p.app.Synced(); !found || p.unmade != nil || p.app.Goes() != "" || !slices.ContainsFunc(all, p.isUnexplained) {
		return nil
	}
	made, err := p.renderLast(ctx, q)
	switch {
	case ctx.Err() != nil: // the comparison says so
		return nil
	case err != nil:
		p.warn("the revision of the last sync could not be rendered, so some of the drift may be changes of the sources: " + err.Error())
		return nil
	}
	return byKey(made.objects)
}

// renderLast renders the sources of the last sync at the revisions that they had.
func (p *Plan) renderLast(ctx context.Context, q Question) (rendered, error) {
	sources, revisions, _ := p.app.Synced()
	if len(revisions) != len(sources) || slices.Contains(revisions, "") {
		return rendered{}, errors.New("the Application does not say which revision that is")
	}
	app := *p.app
	app.Spec.Source, app.Spec.Sources = nil, slices.Clone(sources)
	for i := range sources {
		app.Spec.Sources[i].TargetRevision, app.Spec.Sources[i].TagPrefix = revisions[i], ""
	}
	of := workingTree(q)
	local := func(s api.Source) (*source.Folder, bool, error) { return p.localAt(ctx, q, of, s) }
	q.Own, q.Chart = false, nil
	q.KubeVersion, q.APIVersions = "", nil // charts saw those of the cluster
	all, err := q.Folders(ctx, &app, local, p.files.Keep)
	if err != nil {
		return rendered{}, err
	}
	for i, f := range all {
		f.Source.TargetRevision = sources[i].TargetRevision // values can have it
	}
	last := &Plan{app: &app, settings: p.settings, from: p.from, Connection: p.from}
	return last.renderFolders(ctx, q, all)
}

// workingTree returns the working tree of --from, or the one that the user's CHART is in. It has no remotes if there is none.
func workingTree(q Question) worktree.Tree {
	switch {
	case q.Tree != nil:
		return q.Tree.Tree
	case q.Own:
		root, remotes, err := worktree.Find(q.Chart.Ref)
		if err == nil { // else it is an archive, or an address
			return worktree.Tree{Root: root, Remotes: remotes}
		}
	}
	return worktree.Tree{}
}

// isCommit matches the hash of a commit.
var isCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// localAt returns the folder of a source at a revision that is on this machine already: one that was fetched for the current sources, or a
// commit that the repository of a working tree has.
func (p *Plan) localAt(ctx context.Context, q Question, of worktree.Tree, s api.Source) (f *source.Folder, has bool, err error) {
	for _, one := range p.made.folders {
		if p.isOwn || one.InTree || one.Revision != s.TargetRevision || one.Source.RepoURL != s.RepoURL || one.Source.Chart != s.Chart {
			continue
		}
		if s.Chart != "" {
			again := *one
			again.Source = s
			return &again, true, nil
		}
		f, err := source.InCommit(one.Root, s, s.TargetRevision)
		return f, true, err
	}
	isOfTree := s.Chart == "" && worktree.HasRemote(of.Remotes, s.RepoURL) && !p.app.IsForeign(s.RepoURL)
	if !isOfTree || !isCommit.MatchString(s.TargetRevision) {
		return nil, false, nil
	}
	dir, _, done, err := q.Commit(ctx, source.CommitOrder{Tree: of.Root, Ref: s.TargetRevision})
	p.files.Keep(done)
	if err != nil {
		return nil, false, nil //nolint:nilerr // a shallow clone lacks it, and the server may have it
	}
	f, err = source.InCommit(dir, s, s.TargetRevision)
	return f, true, err
}

// isUnexplained reports whether an object is not what the sources say, and does not show whether somebody edited it or the sources changed.
// What Argo CD ignores of it does not count.
func (p *Plan) isUnexplained(o listed) bool {
	live := o.live.Object
	switch {
	case live == nil:
		_, isKnown := p.wasSynced(o.ref.Key)
		return o.desired != nil && o.live.Err == nil && !isKnown
	case isOwnAnnotation(live) && argocd.Applied(live) != nil:
		return false
	case o.desired == nil:
		return isWritten(live)
	}
	left, ignores := p.left[o.ref.Key]
	if !ignores {
		left = argocd.Left{Desired: o.desired.Content, Live: live}
	}
	shape := kinds.ShapeOf(o.ref, nil, false)
	normal := kinds.NewNormalizer(o.ref.Key, shape, left.Live)
	if !isWithin(normal.WithoutDefaults(left.Desired), normal.Stored(left.Live).Value, shape, true) {
		return true
	}
	owned := argocd.Owned(o.ref, left.Desired, left.Live, argocd.Manager)
	return !isWithin(normal.WithoutDefaults(owned), normal.Manifest(left.Desired).Value, shape, false)
}

// isWithin reports whether a value has all fields of a part, and the items that have names. If isSame is set, their values must be the
// same, too, and a list whose items have no names has the same number of them.
func isWithin(part, value any, shape *kinds.Shape, isSame bool) bool {
	switch part := part.(type) {
	case map[string]any:
		fields, _ := value.(map[string]any)
		for name, one := range part {
			if !isWithin(one, fields[name], shape.Field(name), isSame) {
				return false
			}
		}
		return true
	case []any:
		list, _ := value.([]any)
		if !shape.Keyed() && (!isSame || len(list) != len(part)) {
			return !isSame
		}
		for i, item := range part {
			_, is, found := kinds.StepAt(i, item, shape.ListRule()).Find(list)
			if !found || !isWithin(item, is, shape.Item(), isSame) {
				return false
			}
		}
		return true
	}
	return part == nil || value != nil && (!isSame || object.Equal(part, value))
}

// attempted reports whether the last sync had the same sources at the same revisions, and how it ended (appcontroller.go
// alreadyAttemptedSync).
func (p *Plan) attempted(revisions []string) (is bool, phase string) {
	state := p.app.Status.OperationState
	switch {
	case state == nil, p.isFromTree():
		return false, ""
	case state.SyncResult == nil:
		return state.Phase == "Failed" || state.Phase == "Error" || state.Phase == "Succeeded", state.Phase
	}
	was, sources := state.SyncResult.Revisions, state.SyncResult.Sources
	if len(p.app.Spec.Sources) == 0 {
		was, sources = []string{state.SyncResult.Revision}, nil
		if state.SyncResult.Source != nil {
			sources = []api.Source{*state.SyncResult.Source}
		}
	}
	return slices.Equal(was, revisions) && api.HaveSameSources(sources, p.app.Sources()), state.Phase
}
