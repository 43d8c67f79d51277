package report

import "fmt"

// Message is a warning or an error about a release.
type Message struct {
	// Code is for programs and keeps its meaning; Message is for people.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Object, File and Line say what the message is about, if it is about one object or a place in a file. Lines count from 1.
	Object string `json:"object,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	// Subject is what an error of a release is about, if that is one thing that could not be read.
	Subject *Subject `json:"subject,omitempty"`
}

// String returns the message with its file and line in front, as compilers print it.
func (m Message) String() string {
	switch {
	case m.File == "":
		return m.Message
	case m.Line == 0:
		return m.File + ": " + m.Message
	}
	return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Message)
}

// These are codes of errors and warnings.
const (
	// CodeAutoscalers is the code of an error of a release: autoscalers could not be read, so nobody knows whether replicas are drift.
	CodeAutoscalers = "autoscalers-unread"
	// CodeDefinition is the code of an error of a release: a custom resource differs, and its definition could not be read.
	CodeDefinition = "definition-unread"
	// CodeEffects is the code of the warning that Effect is incomplete: something could not be read, only the controller of a custom kind
	// knows what happens to its pods, or the operation deletes pods without a write to an object of the release. The operation may then
	// restart more pods, and take down more of them, than Effect says.
	CodeEffects = "effects-unread"
	// ErrorRender is the code of the error that the chart could not be rendered. It is part of the contract.
	ErrorRender = "render"
	// ErrorInterrupted is the code of the error that a signal came before the release could be shown. It is part of the contract.
	ErrorInterrupted = "interrupted"
	// ErrorNotFound is the code of the error that no release has a given name, or that a given namespace does not exist. It is part of the
	// contract.
	ErrorNotFound = "not-found"
	// ErrorOrphans is the code of the error that some orphans may not have been seen. The releases of the place were found and compared.
	ErrorOrphans = "orphans-unseen"
	// ErrorSelection is the code of the error, or the warning, that a flag names nothing of what was compared.
	ErrorSelection = "selection"
	// ErrorSource is the code of the error that a source of releases, such as a helmfile or a working tree, could not be read, or not as a
	// whole. What the report has of other sources stands.
	ErrorSource = "source"
	// WarnRecordElsewhere is the code of the warning that a record may be a copy: it is not stored in the namespace that it names. It is
	// part of the contract.
	WarnRecordElsewhere = "record-elsewhere"
	// WarnOtherRelease is the code of the warning that the annotations of a live object name another existing release. It is part of the
	// contract.
	WarnOtherRelease = "other-release"
	// WarnNoTime is the code of the warning that findings have no time, which a flag such as --since looks at.
	WarnNoTime = "no-time"
	// WarnMasked is the code of the warning that values of a chart were not compared with masked values of a snapshot.
	WarnMasked = "masked"
)

// NoMatch is what is said of a value of --only or --skip that names nothing in several releases, behind the flag and the value.
const NoMatch = " matches nothing in any release"

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
func About(err error, s Subject) error { return AboutError{err, s} }

// AboutError is an error with its subject. About makes it.
type AboutError struct {
	error
	Subject Subject
}

// Unwrap returns the cause.
func (e AboutError) Unwrap() error { return e.error }
