package release

import (
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/storage/driver"
)

// history returns the records of web with the given statuses: "1 superseded, 2 deployed".
func history(t *testing.T, text string) History {
	t.Helper()
	h := History{Release: "web", Kind: kindSecret, Namespace: "prod"}
	if text == "" {
		return h
	}
	for i, part := range strings.Split(text, ", ") {
		number, status, _ := strings.Cut(part, " ")
		revision := 0
		for _, c := range number {
			revision = revision*10 + int(c-'0')
		}
		h.Entries = append(h.Entries, Entry{Name: objectName("web", revision), Release: "web", Revision: revision, Status: status})
		if i > 0 && h.Entries[i-1].Revision > revision {
			t.Fatalf("history %q is not in order", text)
		}
	}
	return h
}

const (
	inProgress = "another operation (install/upgrade/rollback) is in progress"
	noDeployed = `"web" has no deployed releases`
	noRelease  = "there is no release web in namespace prod"
)

func TestChoose(t *testing.T) {
	for _, tc := range []struct {
		name, history string
		inside        string // the status inside the last record
		revision      int
		old, last     int
		err, hint     string
	}{
		{name: "first install", history: "1 deployed", old: 1, last: 1},
		{name: "upgraded", history: "1 superseded, 2 deployed", old: 2, last: 2},
		{name: "failed after deployed", history: "2 deployed, 3 failed", old: 2, last: 3},
		{name: "several failed after deployed", history: "1 superseded, 2 deployed, 3 failed, 4 failed", old: 2, last: 4},
		{name: "several deployed", history: "1 deployed, 2 deployed, 3 failed", old: 2, last: 3},
		{name: "deployed last wins over deployed before", history: "1 deployed, 2 deployed", old: 2, last: 2},
		{name: "failed install", history: "1 failed", old: 1, last: 1},
		{name: "failed rollback leaves none deployed", history: "1 superseded, 2 superseded, 3 failed", old: 3, last: 3},
		{name: "superseded last", history: "1 superseded, 2 superseded", old: 2, last: 2},
		{name: "superseded last after deployed", history: "1 deployed, 2 superseded", old: 1, last: 2},
		{name: "uninstalled last, older still labelled deployed", history: "1 deployed, 2 uninstalled", old: 1, last: 2},
		{name: "unknown last after deployed", history: "1 deployed, 2 unknown", old: 1, last: 2},

		{name: "pending install", history: "1 pending-install", err: inProgress, hint: "--revision 1 compares"},
		{name: "pending upgrade", history: "1 deployed, 2 pending-upgrade", err: inProgress, hint: "revision 2 is pending-upgrade"},
		{name: "pending upgrade names deployed", history: "1 deployed, 2 pending-upgrade", err: inProgress, hint: "--revision 1"},
		{name: "pending rollback", history: "1 superseded, 2 deployed, 3 pending-rollback", err: inProgress, hint: "--revision 2"},
		{name: "pending is only looked for in last", history: "1 pending-upgrade, 2 deployed", old: 2, last: 2},
		{name: "uninstalled", history: "1 superseded, 2 uninstalled", err: noDeployed, hint: "uninstalled with its history kept (revision 2)"},
		{name: "uninstalling", history: "1 uninstalling", err: noDeployed, hint: "is being uninstalled"},
		{name: "unknown", history: "1 unknown", err: noDeployed, hint: `status "unknown"`},
		{name: "no status", history: "1", err: noDeployed, hint: `status ""`},
		{name: "none", history: "", err: noRelease, hint: "no Secret there holds a record of it"},

		{name: "label edited over pending", history: "1 superseded, 2 deployed", inside: "pending-upgrade", err: inProgress, hint: "--revision 2"},
		{name: "label edited over pending, deployed before", history: "1 deployed, 2 deployed", inside: "pending-upgrade", err: inProgress, hint: "--revision 1"},
		{name: "label says pending, record says deployed", history: "1 superseded, 2 pending-upgrade", inside: "deployed", old: 2, last: 2},
		{name: "label says failed, record says deployed", history: "1 deployed, 2 failed", inside: "deployed", old: 2, last: 2},
		{name: "label says deployed, record says failed", history: "1 superseded, 2 deployed", inside: "failed", old: 2, last: 2},

		{name: "wanted", history: "1 superseded, 2 deployed", revision: 1, old: 1, last: 2},
		{name: "wanted last", history: "1 superseded, 2 deployed", revision: 2, old: 2, last: 2},
		{name: "wanted while pending", history: "1 deployed, 2 pending-upgrade", revision: 1, old: 1, last: 2},
		{name: "wanted the pending one", history: "1 deployed, 2 pending-upgrade", revision: 2, old: 2, last: 2},
		{name: "wanted of uninstalled", history: "1 superseded, 2 uninstalled", revision: 2, old: 2, last: 2},
		{name: "wanted of none", history: "", revision: 2, err: noRelease, hint: "-n"},
		{name: "wanted is pruned", history: "4 superseded, 5 superseded, 6 superseded, 9 failed, 11 superseded, 12 deployed", revision: 3,
			err: "release web has no revision 3; its revisions are 4-6, 9, 11-12"},
		{name: "wanted is negative", history: "1 deployed", revision: -1, err: "no revision -1; its only revision is 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := history(t, tc.history)
			h.LastStatus = tc.inside
			got, err := h.Choose(tc.revision)
			if tc.err != "" {
				wantError(t, err, tc.hint, tc.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Old.Revision != tc.old || got.Last.Revision != tc.last {
				t.Errorf("old %d, last %d; want %d and %d", got.Old.Revision, got.Last.Revision, tc.old, tc.last)
			}
		})
	}
}

// TestChooseStoredTwice checks that a copy of a chosen record is an error, and that a copy of any other record is
// not.
func TestChooseStoredTwice(t *testing.T) {
	h := history(t, "1 superseded, 2 deployed, 3 failed")
	duplicate := func(i int) History {
		d := h
		d.Entries = append(h.Entries[:i+1:i+1], h.Entries[i:]...)
		d.Entries[i+1].Name = "backup"
		return d
	}
	if _, err := duplicate(0).Choose(0); err != nil {
		t.Errorf("copy of a revision that is not chosen: %v", err)
	}
	for _, i := range []int{1, 2} {
		_, err := duplicate(i).Choose(0)
		wantError(t, err, "is called "+h.Entries[i].Name, "is stored twice in namespace prod", h.Entries[i].Name, "backup")
	}
}

// TestErrorsAreHelms checks that the error has Helm's own text if no record of a release can be upgraded.
func TestErrorsAreHelms(t *testing.T) {
	if got, want := noneDeployed("web").Error(), driver.NewErrNoDeployedReleases("web").Error(); got != want {
		t.Errorf("got %q, Helm says %q", got, want)
	}
}

func TestChooseRollback(t *testing.T) {
	for _, tc := range []struct {
		history   string
		to        int
		old, goal int
		err       string
	}{
		{"1 superseded, 2 deployed", -1, 2, 1, ""},
		{"1 superseded, 2 deployed", 1, 2, 1, ""},
		{"1 superseded, 2 deployed", 2, 2, 2, ""},
		{"1 superseded, 2 deployed, 3 failed", -1, 3, 2, ""},
		{"1 superseded, 2 deployed, 3 pending-upgrade", 2, 3, 2, ""},
		{"1 superseded, 2 uninstalled", 2, 2, 2, ""},
		{"7 superseded, 8 superseded, 10 deployed", -2, 10, 8, ""},
		{"1 deployed", -1, 0, 0, "-1 counts back from the last revision, 1: release web has no revision 0; its only revision is 1"},
		{"7 superseded, 8 superseded, 10 deployed", -1, 0, 0,
			"-1 counts back from the last revision, 10: release web has no revision 9; its revisions are 7-8, 10"},
		{"7 superseded, 8 deployed", -20, 0, 0,
			"-20 counts back from the last revision, 8: release web has no revision -12; its revisions are 7-8"},
		{"", 1, 0, 0, "there is no release web in namespace prod"},
	} {
		c, target, err := history(t, tc.history).ChooseRollback(tc.to)
		if tc.err != "" {
			if err == nil || err.Error() != tc.err {
				t.Errorf("%s to %d: error %v, want %s", tc.history, tc.to, err, tc.err)
			}
			continue
		}
		if err != nil || c.Old != c.Last || c.Old.Revision != tc.old || target.Revision != tc.goal {
			t.Errorf("%s to %d: old %d, last %d, target %d, error %v", tc.history, tc.to, c.Old.Revision, c.Last.Revision, target.Revision, err)
		}
	}
	h := history(t, "1 superseded, 2 deployed")
	h.Entries = append(h.Entries[:1:1], h.Entries...)
	h.Entries[1].Name = "backup"
	_, _, err := h.ChooseRollback(1)
	wantError(t, err, "is called "+h.Entries[0].Name, "is stored twice in namespace prod")
}

// TestInstalls lists histories and whether helm upgrade --install installs.
func TestInstalls(t *testing.T) {
	// In the order of names, a history of ten revisions ends with the ninth.
	const nine = "1 superseded, 2 superseded, 3 superseded, 4 superseded, 5 superseded, 6 superseded, 7 superseded, 8 superseded, 9 "
	for _, tc := range []struct {
		history, inside string
		last            int
		ok              bool
		hint            string
	}{
		{history: "", ok: true, hint: "check the namespace"},
		{history: "1 uninstalled", last: 1, ok: true, hint: "helm upgrade --install would install it again"},
		{history: "1 superseded, 2 uninstalled", last: 2, ok: true, hint: "--to-revision 2 shows what helm rollback would restore"},
		{history: nine + "uninstalled", last: 9, ok: true, hint: "helm upgrade --install"},
		{history: nine + "superseded, 10 uninstalled", hint: "helm install --replace would install it again"},
		{history: nine + "uninstalled, 10 uninstalled", last: 10, ok: true, hint: "helm upgrade --install"},
		{history: "11 superseded, 12 uninstalled", last: 12, ok: true, hint: "helm upgrade --install"},
		{history: "1 superseded, 2 deployed", inside: "uninstalled"}, // a plain upgrade starts from the label; see below
		{history: "1 uninstalling", hint: "--to-revision 1"},
		{history: "1 pending-install", hint: "helm uninstall web ends it"},
		{history: "1 unknown", hint: "status"},
	} {
		h := history(t, tc.history)
		h.LastStatus = tc.inside
		_, err := h.Choose(0)
		if last, ok := Installs(err); last != tc.last || ok != tc.ok {
			t.Errorf("%q: installs %v after %d", tc.history, ok, last)
		}
		if tc.hint != "" {
			wantError(t, err, tc.hint, "")
		}
	}
	for text, want := range map[string]bool{
		"": true, "1 deployed": false, "1 deployed, 2 uninstalled": true, "1 failed": false, "1 superseded, 2 pending-upgrade": false,
	} {
		if got := history(t, text).Installs(); got != want {
			t.Errorf("%q installs: %v", text, got)
		}
	}
	h := history(t, "1 superseded, 2 deployed")
	if h.LastStatus = "uninstalled"; !h.Installs() {
		t.Error("the label of the last record decided, not the record")
	}
}

func TestPendingHints(t *testing.T) {
	for text, hint := range map[string]string{
		"1 deployed, 2 failed, 3 pending-upgrade":   "helm rollback web 1 ends it, and --to-revision 1 shows what that would do; meanwhile, --revision 1 compares",
		"1 superseded, 2 failed, 3 pending-upgrade": "helm rollback web 2 ends it, and --to-revision 2 shows what that would do; meanwhile, --revision 3 compares",
	} {
		_, err := history(t, text).Choose(0)
		wantError(t, err, hint, inProgress)
	}
}

// TestStoredTwiceInSQL checks that the hint about a row of a database names its columns, because a row has no
// labels.
func TestStoredTwiceInSQL(t *testing.T) {
	for kind, want := range map[string]string{"Secret": "remove the label owner", "SQL row": "remove the column owner"} {
		h := History{Release: "web", Kind: kind, Namespace: "prod", Entries: []Entry{{Name: "a", Revision: 1}, {Name: "b", Revision: 1}}}
		var hinted interface{ Hint() string }
		err := h.checkStoredOnce(h.Entries[0])
		if !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestErrors checks that callers can tell two problems from all others: the release does not exist, or is being
// deployed.
func TestErrors(t *testing.T) {
	choose := func(text string) error { _, err := history(t, text).Choose(0); return err }
	_, _, rollback := history(t, "").ChooseRollback(1)
	uninstalled := choose("1 uninstalled")
	for name, is := range map[string]bool{
		"none, for an upgrade": errors.Is(choose(""), ErrNotFound),
		"none, for a rollback": errors.Is(rollback, ErrNotFound),
		"pending":              errors.Is(choose("1 pending-install"), ErrPending) && errors.Is(choose("1 deployed, 2 pending-upgrade"), ErrPending),
		"uninstalled":          uninstalled != nil && !errors.Is(uninstalled, ErrNotFound) && !errors.Is(uninstalled, ErrPending),
	} {
		if !is {
			t.Error(name)
		}
	}
}
