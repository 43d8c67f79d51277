package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// An index is foreign text, and reading one takes up to two hundred times its size in memory. Therefore every question about indexes is one
// IndexQuery and one IndexAnswer, both plain data. The caller of Chart can let a process that may fail answer it (Options.ReadIndex).

// IndexQuery asks indexes for a version of a chart. If URL is set, it asks instead which index lists that URL.
type IndexQuery struct {
	// Files are the paths of the indexes.
	Files []string
	// Base is the URL of the repository, and Where is its name in messages.
	Base, Where    string
	Chart, Version string
	// Hint is the advice if the chart or the version is not found.
	Hint string
	URL  string
}

// IndexAnswer is the answer to an IndexQuery.
type IndexAnswer struct {
	// URL is the URL of the archive. Digest is empty if the index has none.
	URL, Digest string
	// Unreadable is the error of an index that cannot be read, and Cause is its innermost cause.
	Unreadable, Cause string
	// Problem and Hint say why there is no URL.
	Problem, Hint string
	// Listed is set if an index lists the URL, and File is the number of the first such index.
	Listed bool
	File   int
}

// Answer reads the indexes.
func (q IndexQuery) Answer(context.Context) (IndexAnswer, error) {
	if q.URL != "" {
		return q.findURL()
	}
	index, err := readIndex(q.Files[0])
	if err != nil {
		return IndexAnswer{Unreadable: err.Error(), Cause: cmp.Or(errors.Unwrap(err), err).Error()}, nil
	}
	return q.pick(index), nil
}

// findURL returns the first index that lists the URL. An index that cannot be read lists nothing.
func (q IndexQuery) findURL() (IndexAnswer, error) {
	u, err := url.Parse(q.URL)
	if err != nil {
		return IndexAnswer{}, err
	}
	for i, file := range q.Files {
		if index, err := readIndex(file); err == nil && index.lists(u) {
			return IndexAnswer{Listed: true, File: i}, nil
		}
	}
	return IndexAnswer{}, nil
}

// ask gets the answer to a query, from Options.ReadIndex if that is set.
func (f fetcher) ask(q IndexQuery) (IndexAnswer, error) {
	if f.ReadIndex == nil {
		return q.Answer(f.ctx)
	}
	a, err := f.ReadIndex(f.ctx, q)
	if err != nil && f.ctx.Err() == nil {
		err = problem{message: err.Error(), hint: hint.Of(err)}
	}
	return a, err
}

// unreadableIndex is the error of an index that cannot be read, with its innermost cause.
type unreadableIndex struct {
	error
	cause error
}

// pickVersion returns where a version of a chart is, and the digest of its archive, which is empty if the index has none.
func (f fetcher) pickVersion(q IndexQuery) (at *url.URL, digest string, err error) {
	a, err := f.ask(q)
	switch {
	case err != nil:
		return nil, "", err
	case a.Unreadable != "":
		return nil, "", unreadableIndex{errors.New(a.Unreadable), errors.New(a.Cause)}
	case a.Problem != "":
		return nil, "", problem{message: a.Problem, hint: a.Hint}
	}
	if at, err = url.Parse(a.URL); err == nil {
		err = checkListed(at, q.Base)
	}
	return at, a.Digest, err
}

// lists reports whether an index lists exactly this URL. Relative URLs do not count (pkg/downloader scanReposForURL).
func (x chartIndex) lists(u *url.URL) bool {
	wanted := cleanURL(u)
	for _, versions := range x.Entries {
		for _, version := range versions {
			for _, listed := range version.URLs {
				if l, err := url.Parse(listed); err == nil && cleanURL(l) == wanted {
					return true
				}
			}
		}
	}
	return false
}

// cleanURL returns a URL with its path cleaned, for comparing.
func cleanURL(u *url.URL) string {
	c := *u
	c.Path = path.Clean("/" + c.Path)
	if !u.IsAbs() {
		c.Path = path.Clean(u.Path)
	}
	return c.String()
}

// pick answers which version of the chart an index has, and where.
func (q IndexQuery) pick(index chartIndex) IndexAnswer {
	versions := index.Entries[q.Chart]
	if len(versions) == 0 {
		return IndexAnswer{Problem: fmt.Sprintf("%s has no chart %s", q.Where, q.Chart), Hint: q.Hint}
	}
	chosen := versions.choose(q.Version)
	if chosen == nil {
		var names []string
		for _, v := range versions {
			names = append(names, v.Version)
		}
		p := noVersionProblem(q.Where, q.Chart, q.Version, names, q.Hint)
		return IndexAnswer{Problem: p.message, Hint: p.hint}
	}
	if len(chosen.URLs) == 0 {
		return IndexAnswer{Problem: fmt.Sprintf("%s has no URL for %s %s", q.Where, q.Chart, chosen.Version)}
	}
	full, err := resolveURL(q.Base, chosen.URLs[0])
	if err == nil {
		_, err = url.Parse(full)
	}
	if err != nil {
		return IndexAnswer{Problem: fmt.Sprintf("%s has an invalid URL for %s %s", q.Where, q.Chart, chosen.Version)}
	}
	return IndexAnswer{URL: full, Digest: chosen.Digest}
}

// noVersionProblem names the newest versions that exist; names begin with the newest.
func noVersionProblem(where, chart, version string, names []string, hint string) problem {
	const few = 5
	listed := strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	p := problem{
		message: fmt.Sprintf("%s has no version of %s that matches %s; it has %s", where, chart, version, listed),
		hint:    hint,
	}
	if version == "" {
		p.message = fmt.Sprintf("%s has only development versions of %s: %s", where, chart, listed)
		p.hint = "--devel includes them, or name one with --version"
	}
	return p
}
