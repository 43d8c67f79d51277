package release

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
)

// Choice is the pair of revisions that a comparison starts from.
type Choice struct {
	// Old is the revision whose manifest Helm takes as the original.
	Old Entry
	// Last is the newest revision. It is another one than Old after a failed upgrade.
	Last Entry
}

// Choose picks old and last. Without a revision (0) it does what helm v3.22.0 does at the start of an upgrade
// (pkg/action/upgrade.go, prepareUpgrade):
//
//	last is pending-*                     error: another operation is in progress
//	last is deployed                      old = last
//	else the newest revision labelled     old = that revision
//	  deployed
//	else last is failed or superseded     old = last
//	else (uninstalled, uninstalling, …)   error: no deployed releases
//
// Helm finds the deployed revision by its label (pkg/storage/storage.go, Deployed), but asks the last record itself for
// its status. The two differ where somebody edited the label by hand, a well-known way to get past a pending revision
// that does not work. So LastStatus decides where it is known, and the label where it is not.
//
// A wanted revision is old whatever its status; no operation is in the way of reading it. Choose reads nothing else
// than h.
func (h History) Choose(revision int) (Choice, error) {
	if len(h.Entries) == 0 {
		return Choice{}, h.absent()
	}
	c := Choice{Last: h.last()}
	var err error
	if revision == 0 {
		c.Old, err = h.upgradesFrom(c.Last)
	} else {
		c.Old, err = h.find(revision)
	}
	if err != nil {
		return Choice{}, err
	}
	return c, h.ambiguous(c.Old, c.Last)
}

// ChooseRollback picks what helm rollback would start from and return to (helm v3.22.0 pkg/action/rollback.go,
// prepareRollback): old is the last revision whatever its status, no operation is in the way, and the target is any
// revision that is stored, the last one included. A negative number counts back from the last: -1 is the one before it,
// which is helm rollback's own default.
func (h History) ChooseRollback(to int) (c Choice, target Entry, err error) {
	if len(h.Entries) == 0 {
		return c, target, h.missing()
	}
	c = Choice{Old: h.last(), Last: h.last()}
	if to < 0 {
		to += c.Last.Revision
	}
	if target, err = h.find(to); err != nil {
		return Choice{}, target, err
	}
	return c, target, h.ambiguous(c.Last, target)
}

func (h History) last() Entry { return h.Entries[len(h.Entries)-1] }

// upgradesFrom gives the revision that an upgrade would take as old.
func (h History) upgradesFrom(last Entry) (Entry, error) {
	status := helm.Status(last.Status)
	if h.LastStatus != "" {
		status = helm.Status(h.LastStatus)
	}
	if status.IsPending() {
		return Entry{}, h.pending(last, status)
	}
	if status == helm.StatusDeployed {
		return last, nil
	}
	if e, ok := newestDeployed(h.Entries); ok {
		return e, nil
	}
	if status == helm.StatusFailed || status == helm.StatusSuperseded {
		return last, nil
	}
	return Entry{}, h.undeployed(last, status)
}

// newestDeployed finds the newest revision that is labelled deployed. There should be at most one; Helm, too, takes
// the newest where concurrent upgrades left several.
func newestDeployed(entries []Entry) (Entry, bool) {
	for _, e := range slices.Backward(entries) {
		if e.Status == string(helm.StatusDeployed) {
			return e, true
		}
	}
	return Entry{}, false
}

// find gives a revision by its number.
func (h History) find(revision int) (Entry, error) {
	if i := slices.IndexFunc(h.Entries, func(e Entry) bool { return e.Revision == revision }); i >= 0 {
		return h.Entries[i], nil
	}
	return Entry{}, fmt.Errorf("release %s has no revision %d: there are %s", h.Release, revision, h.revisions())
}

// revisions lists what there is, with runs drawn together: "1-3, 7". A history can be hundreds of revisions long.
func (h History) revisions() string {
	var b strings.Builder
	for i := 0; i < len(h.Entries); {
		first := h.Entries[i].Revision
		last := first
		for ; i < len(h.Entries) && h.Entries[i].Revision <= last+1; i++ {
			last = h.Entries[i].Revision
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, first)
		if last > first {
			fmt.Fprintf(&b, "-%d", last)
		}
	}
	return b.String()
}

// ambiguous refuses a choice where two objects claim to be the same revision, such as a backup copied with its labels.
// Helm takes whichever its sort leaves first. Copies of revisions that are not chosen do no harm.
func (h History) ambiguous(choice ...Entry) error {
	for _, e := range h.Entries {
		for _, chosen := range choice {
			if e.Revision == chosen.Revision && e.Name != chosen.Name {
				return withHint(
					fmt.Errorf("revision %d of %s is stored twice in namespace %s: as %s %s and %s",
						e.Revision, h.Release, h.Namespace, h.Kind, chosen.Name, e.Name),
					"the record of this revision is called %s; remove the label owner from the other one",
					objectName(h.Release, e.Revision))
			}
		}
	}
	return nil
}

// absent is the answer for a release without any record, in Helm's words.
func (h History) absent() error {
	return h.nowhere(installError{error: noneDeployed(h.Release)})
}

// missing is the same for a rollback, in the words of helm's driver.ErrReleaseNotFound.
func (h History) missing() error { return h.nowhere(errors.New("release: not found")) }

func (h History) nowhere(err error) error {
	return withHint(err,
		"no %s in namespace %s holds a record of %s; is the namespace right (-n), is HELM_DRIVER set as it was for helm, "+
			"and is this the right cluster (--kube-context)?", h.Kind, h.Namespace, h.Release)
}

// pending is the answer while an operation runs, or after it was killed, in Helm's words. helm rollback without a number goes
// back to the revision before, which may well be a failed one; the advice is the one that worked.
func (h History) pending(last Entry, status helm.Status) error {
	err := errors.New("another operation (install/upgrade/rollback) is in progress")
	before := h.Entries[:len(h.Entries)-1]
	if len(before) == 0 {
		return withHint(err, "revision %d is %s; if no helm is at work on it any more, helm uninstall %s ends it; "+
			"--revision %d compares meanwhile", last.Revision, status, h.Release, last.Revision)
	}
	back, readable := before[len(before)-1], last
	if e, ok := newestDeployed(before); ok {
		back, readable = e, e
	}
	return withHint(err, "revision %d is %s; if no helm is at work on it any more, helm rollback %s %d ends it, and "+
		"--to-revision %d shows what that would do; --revision %d compares meanwhile",
		last.Revision, status, h.Release, back.Revision, back.Revision, readable.Revision)
}

// undeployed is the answer where records exist but an upgrade would take none of them, in Helm's words.
func (h History) undeployed(last Entry, status helm.Status) error {
	err := noneDeployed(h.Release)
	switch status {
	case helm.StatusUninstalled:
		anew := "helm install --replace would install it anew"
		if h.installs(status) {
			err, anew = installError{err, last.Revision}, "helm upgrade --install would install it anew"
		}
		return withHint(err, "it was uninstalled with its history kept (revision %d); %s; --revision %d compares with what it "+
			"was, --to-revision %d shows what helm rollback would bring back", last.Revision, anew, last.Revision, last.Revision)
	case helm.StatusUninstalling:
		return withHint(err, "revision %d is being uninstalled, or its uninstall was interrupted; "+
			"--revision %d compares with what it was, --to-revision %d shows what helm rollback would bring back",
			last.Revision, last.Revision, last.Revision)
	default:
		return withHint(err, "its last revision %d has status %.40q; --revision %d compares with it all the same",
			last.Revision, status, last.Revision)
	}
}

// noneDeployed has the words of helm's driver.NewErrNoDeployedReleases, whose package would link three SQL libraries.
func noneDeployed(name string) error { return fmt.Errorf("%q has no deployed releases", name) }
