package flux

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file fetches the chart in a GitRepository: the files of the commit that source-controller has, or of the ref that a tree chooses.

// CommitOrder names a commit to fetch.
type CommitOrder struct {
	// Ref is a commit, or the full name of a branch or a tag.
	URL, Ref           string
	Username, Password string
	// InTree is set if a working tree names the address: it gets no credentials of the user, and only these addresses are connected to.
	InTree    bool
	Addresses []netip.Addr
}

// Commits returns the function Question.Commit for one that fetches a commit as a tar archive.
func Commits(
	fetch func(context.Context, CommitOrder) ([]byte, error),
) func(context.Context, CommitOrder) (string, func(), error) {
	return func(ctx context.Context, o CommitOrder) (string, func(), error) {
		archive, err := fetch(ctx, o)
		if err != nil {
			return "", func() {}, err
		}
		dir, done, err := files.Unpack(archive, false)
		if err != nil {
			done()
		}
		return dir, done, err
	}
}

// gitRef returns what to fetch of a GitRepository, or "": the commit that source-controller has, or what it fetches next if a tree changes
// that (fluxcd/source-controller v1.9.3 internal/controller/gitrepository_controller.go: the revision is BRANCH@sha1:COMMIT).
func (o *offer) gitRef() string {
	s := o.repository
	switch {
	case s == nil || s.kind != "GitRepository":
		return ""
	case o.moves:
		return s.Spec.Ref.Fetched()
	case s.Status.Artifact == nil:
		return ""
	}
	_, hash, _ := strings.Cut(s.Status.Artifact.Revision, "@")
	_, commit, _ := strings.Cut(hash, ":")
	return commit
}

// hasCommit reports whether the chart is in a commit that can be fetched.
func (o *offer) hasCommit(q Question) bool {
	if q.Commit == nil || o.gitRef() == "" {
		return false
	}
	address := o.repository.Spec.URL
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") && !o.repository.inTree
}

// doubtFiles notes the fields of a GitRepository that change which files it has, and that are not used.
func (o *offer) doubtFiles() {
	s := o.repository
	for _, field := range []struct {
		name  string
		isSet bool
	}{
		{"spec.include", len(s.Spec.Include) > 0}, {"spec.recurseSubmodules", s.Spec.Submodules}, {"spec.sparseCheckout", len(s.Spec.Sparse) > 0},
	} {
		if field.isSet {
			o.doubts = append(o.doubts, field.name+" of "+o.title+" is not used: the chart may have other files")
		}
	}
}

// fetchCommit fetches the commit and makes its files the artifact of the order.
func (p *Plan) fetchCommit(ctx context.Context, q Question) (done func(), err error) {
	o, s := p.offer, p.offer.repository
	if err := o.reach(s); err != nil {
		return nil, err
	}
	o.doubtFiles()
	order := CommitOrder{URL: s.Spec.URL, Ref: o.gitRef(), InTree: s.inTree}
	if u, err := url.Parse(s.Spec.URL); err == nil && s.inTree {
		order.Addresses = address.Lookup(u.Hostname())
	}
	if o.login != nil && q.WithCredentials {
		if order.Username, order.Password, err = o.credentials(ctx, p.reading, q.Known); err != nil {
			return nil, err
		}
	}
	dir, done, err := q.Commit(ctx, order)
	if err != nil {
		what := order.Ref
		if !o.moves || s.Spec.Ref.Commit != "" {
			what = fmt.Sprintf("commit %.12s", what)
		}
		return nil, hint.New(fmt.Errorf("%s: %s: %w", o.title, what, err), p.adviceForChart())
	}
	o.order.Artifact = &ArtifactOrder{Dir: dir, Kind: s.kind, Ignore: s.Spec.Ignore, Chart: o.chartPath}
	return done, nil
}
