package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/pkg/release"
)

// listedRecords is a backend with a list of records.
type listedRecords struct {
	release.Backend
	records []release.Listed
}

func (b listedRecords) List(context.Context, string, labels.Selector) ([]release.Listed, error) {
	return b.records, nil
}

// TestReleasesOf checks that one record of each release is the last, and that a record of unknown revision is a problem of its own release
// only.
func TestReleasesOf(t *testing.T) {
	record := func(namespace, name string, revision int, problem string) release.Listed {
		l := release.Listed{Namespace: namespace, Entry: release.Entry{Name: fmt.Sprint(name, revision), Release: name, Revision: revision}}
		if problem != "" {
			l.Problem = errors.New(problem)
		}
		return l
	}
	records := []release.Listed{
		record("prod", "web", 10, ""), record("prod", "web", 9, ""), record("prod", "web", 0, "the version of web is eleven"),
		record("dev", "", 0, "a record without a name"), record("dev", "web", 1, ""), record("dev", "db", 2, ""),
	}
	found, err := releasesOf(t.Context(), release.NewStorage(listedRecords{records: records}), "")
	var got []string
	for _, l := range found {
		text := fmt.Sprintf("%s/%s.%d", l.Namespace, l.Release, l.Revision)
		if l.Problem != nil {
			text += " with a problem"
		}
		got = append(got, text)
	}
	if want := "dev/db.2, dev/web.1, prod/web.10 with a problem"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := "a record without a name\nthe version of web is eleven"; err == nil || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}
