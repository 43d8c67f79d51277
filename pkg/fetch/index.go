package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/repo"
)

// An index is foreign text, and reading one takes up to two hundred times its size. So all that is asked of indexes is one question
// and one answer, both plain data: whoever calls Chart can have it answered where reading may fail (Options.ReadIndex).

// IndexQuery asks indexes for a version of a chart, or, where it has a URL, which of them lists that.
type IndexQuery struct {
	// Files hold the indexes.
	Files []string
	// Base is the URL of the repository; Where is its name in messages.
	Base, Where    string
	Chart, Version string
	// Hint is for what cannot be found.
	Hint string
	URL  string
}

// IndexAnswer is what they say.
type IndexAnswer struct {
	// URL of the archive, and Digest as far as the index has one.
	URL, Digest string
	// Unreadable and Cause say that the index cannot be read, and why.
	Unreadable, Cause string
	// Problem and Hint say why there is no URL.
	Problem, Hint string
	// Listed says that the index with the number File lists the URL.
	Listed bool
	File   int
}

// Answer reads the indexes.
func (q IndexQuery) Answer(context.Context) (IndexAnswer, error) {
	if q.URL != "" {
		return q.find()
	}
	index, err := repo.LoadIndexFile(q.Files[0])
	if err != nil {
		a := IndexAnswer{Unreadable: err.Error(), Cause: err.Error()}
		if cause := errors.Unwrap(err); cause != nil {
			a.Cause = cause.Error()
		}
		return a, nil
	}
	return q.pick(index), nil
}

// find looks for the first index that lists the URL. One that cannot be read lists nothing.
func (q IndexQuery) find() (IndexAnswer, error) {
	u, err := url.Parse(q.URL)
	if err != nil {
		return IndexAnswer{}, err
	}
	for i, file := range q.Files {
		if index, err := repo.LoadIndexFile(file); err == nil && lists(index, u) {
			return IndexAnswer{Listed: true, File: i}, nil
		}
	}
	return IndexAnswer{}, nil
}

// ask has a question answered.
func (f fetcher) ask(q IndexQuery) (IndexAnswer, error) {
	if f.ReadIndex == nil {
		return q.Answer(f.ctx)
	}
	a, err := f.ReadIndex(f.ctx, q)
	if err != nil && f.ctx.Err() == nil {
		err = problem{what: err.Error(), hint: hintOf(err)}
	}
	return a, err
}

func hintOf(err error) string {
	var advice interface{ Hint() string }
	if errors.As(err, &advice) {
		return advice.Hint()
	}
	return ""
}

// picked is a version of a chart in an index.
type picked struct {
	url *url.URL
	// digest is empty where the index has none.
	digest string
}

// unreadable is the error of an index that cannot be read, and what is below it.
type unreadable struct {
	error
	cause error
}

// pick has the version of a chart chosen.
func (f fetcher) pick(q IndexQuery) (picked, error) {
	a, err := f.ask(q)
	switch {
	case err != nil:
		return picked{}, err
	case a.Unreadable != "":
		return picked{}, unreadable{errors.New(a.Unreadable), errors.New(a.Cause)}
	case a.Problem != "":
		return picked{}, problem{what: a.Problem, hint: a.Hint}
	}
	u, err := url.Parse(a.URL)
	return picked{u, a.Digest}, err
}

// lists reports whether an index has this very URL. Relative ones do not count (pkg/downloader scanReposForURL).
func lists(index *repo.IndexFile, u *url.URL) bool {
	wanted := cleaned(u)
	for _, versions := range index.Entries {
		for _, version := range versions {
			for _, listed := range version.URLs {
				if l, err := url.Parse(listed); err == nil && cleaned(l) == wanted {
					return true
				}
			}
		}
	}
	return false
}

func cleaned(u *url.URL) string {
	c := *u
	c.Path = path.Clean("/" + c.Path)
	if !u.IsAbs() {
		c.Path = path.Clean(u.Path)
	}
	return c.String()
}

// pick chooses the version of a chart as Helm does (pkg/repo/index.go Get).
func (q IndexQuery) pick(index *repo.IndexFile) IndexAnswer {
	versions := index.Entries[q.Chart]
	if len(versions) == 0 {
		return IndexAnswer{Problem: fmt.Sprintf("%s has no chart %s", q.Where, q.Chart), Hint: q.Hint}
	}
	chosen, err := index.Get(q.Chart, q.Version)
	if err != nil {
		var names []string
		for _, v := range versions {
			names = append(names, v.Version)
		}
		p := noVersion(q.Where, q.Chart, q.Version, names, q.Hint)
		return IndexAnswer{Problem: p.what, Hint: p.hint}
	}
	if len(chosen.URLs) == 0 {
		return IndexAnswer{Problem: fmt.Sprintf("%s gives no URL for %s %s", q.Where, q.Chart, chosen.Version)}
	}
	full, err := repo.ResolveReferenceURL(q.Base, chosen.URLs[0])
	if err == nil {
		_, err = url.Parse(full)
	}
	if err != nil {
		return IndexAnswer{Problem: fmt.Sprintf("%s gives %s %s a URL that is none", q.Where, q.Chart, chosen.Version)}
	}
	return IndexAnswer{URL: full, Digest: chosen.Digest}
}

// noVersion names the newest versions that there are; names begin with the newest.
func noVersion(where, chart, version string, names []string, hint string) problem {
	const few = 5
	listed := strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	p := problem{
		what: fmt.Sprintf("%s has no version of %s that is %s; there are %s", where, chart, version, listed),
		hint: hint,
	}
	if version == "" {
		p.what = fmt.Sprintf("%s has only development versions of %s: %s", where, chart, listed)
		p.hint = "--devel takes them too, or name one with --version"
	}
	return p
}
