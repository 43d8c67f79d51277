package fleet

import "github.com/helmdrift/helmdrift/pkg/report"

// subjectOf returns the subject of an error, or nil if it has none. An error that joins several errors has none.
func subjectOf(err error) *report.Subject {
	for {
		switch e := err.(type) {
		case report.AboutError:
			return &e.Subject
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			all := e.Unwrap()
			if len(all) != 1 {
				return nil
			}
			err = all[0]
		default:
			return nil
		}
	}
}
