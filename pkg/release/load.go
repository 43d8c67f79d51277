package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// Loaded is what a comparison needs from the storage.
type Loaded struct {
	// History is the list of records. To find out whether the release has changed since, list again and compare the
	// Entries.
	History History
	Choice  Choice
	// Old and Last are the same pointer if they are the same revision, or if LastProblem is set.
	Old, Last *Record
	// LastProblem is the reason why the record of the last revision cannot be decoded, if the caller asked for
	// another revision. Choice.Last then has all that is known about the last one.
	LastProblem error
	// Target is the revision that a rollback would return to; it is nil after Load.
	Target *Record
}

// Load lists the records, chooses old and last, and reads both. It sends one list, and one get for each of the two. If there is no record,
// it looks for one without labels. Revision is the argument of Choose, whose errors Load returns; errors of the API server are wrapped.
func (s *Store) Load(ctx context.Context, name string, revision int, opts Options) (*Loaded, error) {
	h, err := s.History(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(h.Entries) == 0 {
		return nil, s.noRecord(ctx, h, h.noneForUpgrade())
	}
	// Read the last record first, because the choice depends on its status. If the user chose a revision, the last record may
	// be unreadable.
	last, problem := s.Get(ctx, h.last(), opts)
	var unreadable *recordError
	switch {
	case problem == nil:
		h.LastStatus = last.Status
	case revision <= 0 || revision == h.last().Revision || !errors.As(problem, &unreadable):
		return nil, problem
	}
	c, err := h.Choose(revision)
	if err != nil {
		return nil, err
	}
	old := last
	if c.Old != c.Last {
		if old, err = s.Get(ctx, c.Old, opts); err != nil {
			return nil, err
		}
	}
	return &Loaded{History: h, Choice: c, Old: old, Last: cmp.Or(last, old), LastProblem: problem}, nil
}

// LoadRollback loads the revisions that helm rollback would start from and return to; see
// History.ChooseRollback. Old is the last revision.
func (s *Store) LoadRollback(ctx context.Context, name string, to int, opts Options) (*Loaded, error) {
	h, err := s.History(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(h.Entries) == 0 {
		return nil, s.noRecord(ctx, h, h.noneForRollback())
	}
	c, target, err := h.ChooseRollback(to)
	if err != nil {
		return nil, err
	}
	last, err := s.Get(ctx, c.Last, opts)
	if err != nil {
		return nil, err
	}
	h.LastStatus = last.Status
	loaded := &Loaded{History: h, Choice: c, Old: last, Last: last, Target: last}
	if target != c.Last {
		if loaded.Target, err = s.Get(ctx, target, opts); err != nil {
			return nil, err
		}
	}
	return loaded, nil
}

// Get reads and decodes the record of an entry.
func (s *Store) Get(ctx context.Context, e Entry, opts Options) (*Record, error) {
	text, problem, err := s.backend.Text(ctx, s.namespace, e.Name)
	if err != nil {
		return nil, report.About(err, recordSubject(s.backend, "get", s.namespace, e.Name, ""))
	}
	var r *Record
	if problem == nil {
		r, problem = s.decode(text, e, opts)
	}
	if problem != nil {
		err := &recordError{where: fmt.Sprintf("read revision %d of %s from %s", e.Revision, e.Release, s.storedAs(e.Name)), err: problem}
		return nil, report.About(err, recordSubject(s.backend, "read", s.namespace, e.Name, problem.Error()))
	}
	r.StoredAs = s.storedAs(e.Name)
	r.Namespace = cmp.Or(r.Namespace, s.namespace)
	return r, nil
}

// recordError is the error of a record that was read but cannot be used.
type recordError struct {
	where string
	err   error
}

// Error names the record and the cause.
func (e *recordError) Error() string { return e.where + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *recordError) Unwrap() error { return e.err }

// decode decodes the text of a record and checks that it is the record that the entry names.
func (s *Store) decode(text []byte, e Entry, opts Options) (*Record, error) {
	r, err := Decode(text, opts)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Name != e.Release:
		err = fmt.Errorf("the record inside is of release %.60q", r.Name)
	case r.Revision != e.Revision:
		err = fmt.Errorf("the record inside is of revision %d", r.Revision)
	case e.Name != objectName(r.Name, r.Revision):
		err = fmt.Errorf("a record of that revision is called %s", objectName(r.Name, r.Revision))
	default:
		return r, nil
	}
	return nil, withHint(err, "the %[1]s was copied or its %[2]ss were edited; correct its name and %[2]ss, "+
		"or remove the %[2]s owner if it is a backup", s.backend.Kind(), describedBy(s.backend.Kind()))
}
