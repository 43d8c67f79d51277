package program

import (
	"errors"
	"strings"
	"testing"
)

// TestCuts checks that what a program said is never cut within a word: the rest of a secret would not be masked.
func TestCuts(t *testing.T) {
	const secret = "canary-0123456789"
	for shift := range len(secret) + 2 {
		many := strings.Repeat("x ", (maxComplaint-shift)/2)
		for name, text := range map[string]string{
			"the beginning":  withComplaint(errors.New("x"), "\n", many+secret+"\n"+many).Error(),
			"the end":        end(many + "\n" + secret + " " + many),
			"what was read":  said(many+secret, len(many)+shift),
			"only one word":  end(strings.Repeat(secret, maxComplaint)) + withComplaint(errors.New("x"), "", strings.Repeat(secret, maxComplaint)).Error(),
			"one word read":  said(secret, shift),
			"nothing is cut": beginning(secret) + " " + end(secret),
		} {
			if left := strings.ReplaceAll(text, secret, ""); strings.Trim(left, "x: \n") != "" || len(text) > maxComplaint+len("x:\n") {
				t.Errorf("%s, shifted by %d: %.60q", name, shift, left)
			}
		}
	}
	if text := strings.Repeat("é ", maxComplaint); len(beginning(text)) < maxComplaint-3 || len(end(text)) < maxComplaint-3 {
		t.Error("too much is cut")
	}
}

// said returns what a buffer with a limit keeps of a text.
func said(text string, limit int) string {
	h := &head{limit: int64(max(limit, 1))}
	_, _ = h.Write([]byte(text))
	return h.said()
}
