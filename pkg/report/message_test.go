package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestAbout checks that an error with a subject has the same text and the same cause.
func TestAbout(t *testing.T) {
	plain := errors.New("no")
	about := About(plain, Subject{Verb: "get", Resource: "secrets", Name: "a"})
	if about.Error() != "no" || !errors.Is(about, plain) {
		t.Errorf("the error is %v", about)
	}
}

// TestMapErrors checks that Map reaches every text of an error. What an error is about stays.
func TestMapErrors(t *testing.T) {
	scrub := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	about := &Subject{Verb: "get", Resource: "secrets", Name: "a", Reason: "it has hunter2"}
	object := (&ObjectError{Code: "invalid", Message: "no hunter2", Subject: about}).Map(scrub)
	scan := ScanError{Code: "invalid", Message: "no hunter2", Subject: about}.Map(scrub)
	for _, got := range []any{object, scan} {
		text, err := json.Marshal(got)
		want := `{"code":"invalid","message":"no ***","subject":{"verb":"get","resource":"secrets","name":"a","reason":"it has ***"}}`
		if err != nil || string(text) != want {
			t.Errorf("%s %v, want %s", text, err, want)
		}
	}
	if (*ObjectError)(nil).Map(scrub) != nil || about.Reason != "it has hunter2" {
		t.Error("no error became one, or the original has changed")
	}
}
