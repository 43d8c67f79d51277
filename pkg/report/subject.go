package report

// Subject says as data what an error is about. Errors with the same code, verb, resource and reason have one cause, such as a missing
// right or an API that is down, and differ only in the objects that they are about.
type Subject struct {
	// Verb is what was tried: get and list are requests, read is making use of what was got, and compare is the comparison of a release.
	Verb string `json:"verb"`
	// Resource is the resource with its group, such as deployments.apps. It is the kind with its group if the resource is not known.
	Resource string `json:"resource"`
	// Namespace and Name say which object. Namespace is empty for a cluster-scoped object, and Name is empty for a list.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Reason says why, and names neither the namespace nor the object.
	Reason string `json:"reason"`
}

// Map returns the error with what f makes of its texts, such as without the secrets in them. It returns nil for nil.
func (e *ObjectError) Map(f func(string) string) *ObjectError {
	if e == nil {
		return nil
	}
	return &ObjectError{Code: e.Code, Message: f(e.Message), Subject: e.Subject.with(f)}
}

// Map returns the error with what f makes of its texts.
func (e ScanError) Map(f func(string) string) ScanError {
	e.Message, e.Subject = f(e.Message), e.Subject.with(f)
	return e
}

// with returns the subject with what f makes of the reason.
func (s *Subject) with(f func(string) string) *Subject {
	if s == nil {
		return nil
	}
	out := *s
	out.Reason = f(s.Reason)
	return &out
}

// About returns an error with its subject. The text of the error does not change.
func About(err error, s Subject) error { return aboutError{err, s} }

type aboutError struct {
	error
	subject Subject
}

// Unwrap returns the cause.
func (e aboutError) Unwrap() error { return e.error }

// SubjectOf returns the subject of an error, or nil if it has none. An error that joins several errors has none.
func SubjectOf(err error) *Subject {
	for {
		switch e := err.(type) {
		case aboutError:
			return &e.subject
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
