package release

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"

	"github.com/helmdrift/helmdrift/pkg/report"
)

// A caller tells these errors from others with errors.Is. Helm has ErrReleaseNotFound and errPending (helm v3.22.0
// pkg/storage/driver/driver.go, pkg/action/action.go).
var (
	// ErrNotFound is the error of Load, LoadRollback, Choose and ChooseRollback if the release has no record.
	ErrNotFound = errors.New("release not found")
	// ErrUnlabelled is that error, too, if objects are named like records of the release and lack labels.
	ErrUnlabelled = errors.New("release without labels")
	// ErrPending is the error of Load and Choose if an operation is in progress, or was killed. A caller that names a
	// revision can load it all the same.
	ErrPending = errors.New("another operation (install/upgrade/rollback) is in progress")
)

// Choice is the pair of revisions that a comparison starts from.
type Choice struct {
	// Old is the revision whose manifest Helm takes as the original.
	Old Entry
	// Last is the newest revision. After a failed upgrade it differs from Old.
	Last Entry
}

// Choose picks old and last. If revision is 0, it does what helm v3.22.0 does at the start of an upgrade
// (pkg/action/upgrade.go, prepareUpgrade):
//
//	last is pending-*                     error: another operation is in progress
//	last is deployed                      old = last
//	else the newest revision labelled     old = that revision
//	  deployed
//	else last is failed or superseded     old = last
//	else (uninstalled, uninstalling, …)   error: no deployed releases
//
// Helm finds the deployed revision by its label (pkg/storage/storage.go, Deployed), but reads the status of the last
// revision from its record. The two differ if somebody edited the label by hand; people try that to get past a
// pending revision, without success. So LastStatus decides if it is known, and otherwise the label decides.
//
// If revision is not 0, that revision is old, whatever its status; a pending operation does not prevent reading it.
// Choose reads nothing but h.
//
// The error is [ErrNotFound] if h is empty and [ErrPending] in the first case. [Installs] reports whether helm upgrade
// --install would install despite the error. Any other error says which revision cannot be chosen.
func (h History) Choose(revision int) (Choice, error) {
	if len(h.Entries) == 0 {
		return Choice{}, h.noneForUpgrade()
	}
	c := Choice{Last: h.last()}
	var err error
	if revision == 0 {
		c.Old, err = h.oldForUpgrade(c.Last)
	} else {
		c.Old, err = h.find(revision)
	}
	if err != nil {
		return Choice{}, err
	}
	return c, h.checkStoredOnce(c.Old, c.Last)
}

// ChooseRollback picks what helm rollback would start from and return to (helm v3.22.0 pkg/action/rollback.go,
// prepareRollback). Old is the last revision, whatever its status, and the target is any stored revision, including
// the last. A negative number counts back from the last: -1 is the revision before it, which is helm rollback's
// default. The error is [ErrNotFound] if h is empty.
func (h History) ChooseRollback(to int) (c Choice, target Entry, err error) {
	if len(h.Entries) == 0 {
		return c, target, h.noneForRollback()
	}
	c = Choice{Old: h.last(), Last: h.last()}
	revision := to
	if to < 0 {
		revision = c.Last.Revision + to
	}
	if target, err = h.find(revision); err != nil {
		if to < 0 {
			err = fmt.Errorf("%d counts back from the last revision, %d: %w", to, c.Last.Revision, err)
		}
		return Choice{}, target, err
	}
	return c, target, h.checkStoredOnce(c.Last, target)
}

func (h History) last() Entry { return h.Entries[len(h.Entries)-1] }

// oldForUpgrade returns the revision that an upgrade would take as old.
func (h History) oldForUpgrade(last Entry) (Entry, error) {
	status := helm.Status(cmp.Or(h.LastStatus, last.Status))
	if status.IsPending() {
		return Entry{}, h.pendingError(last, status)
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
	return Entry{}, h.undeployedError(last, status)
}

// newestDeployed returns the newest revision that is labelled deployed. There should be at most one; Helm, too, takes
// the newest if concurrent upgrades left several.
func newestDeployed(entries []Entry) (Entry, bool) {
	for _, e := range slices.Backward(entries) {
		if e.Status == string(helm.StatusDeployed) {
			return e, true
		}
	}
	return Entry{}, false
}

// find returns a revision by its number.
func (h History) find(revision int) (Entry, error) {
	if i := slices.IndexFunc(h.Entries, func(e Entry) bool { return e.Revision == revision }); i >= 0 {
		return h.Entries[i], nil
	}
	return Entry{}, fmt.Errorf("release %s has no revision %d; %s", h.Release, revision, h.revisions())
}

// revisions says which revisions are stored, as in "its revisions are 1-3, 7". A history can have hundreds of revisions.
func (h History) revisions() string {
	if len(h.Entries) == 1 {
		return fmt.Sprintf("its only revision is %d", h.last().Revision)
	}
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
	return "its revisions are " + b.String()
}

// checkStoredOnce returns an error if two objects claim to be the same chosen revision, such as a backup copied with
// its labels. Helm takes whichever its sort puts first. Copies of other revisions do no harm.
func (h History) checkStoredOnce(choice ...Entry) error {
	for _, e := range h.Entries {
		for _, chosen := range choice {
			if e.Revision == chosen.Revision && e.Name != chosen.Name {
				twice := fmt.Errorf("revision %d of %s is stored twice in namespace %s: as %s %s and %s",
					e.Revision, h.Release, h.Namespace, h.Kind, chosen.Name, e.Name)
				return withHint(h.about(twice, fmt.Sprintf("revision %d is stored twice", e.Revision)),
					"the record of this revision is called %s; remove the %s owner from the other one",
					objectName(h.Release, e.Revision), describedBy(h.Kind))
			}
		}
	}
	return nil
}

// noneForUpgrade returns the error for the upgrade of a release that has no record.
func (h History) noneForUpgrade() error {
	return h.noRecordError(installError{error: h.noRelease()})
}

// noneForRollback returns the error for the rollback of a release that has no record.
func (h History) noneForRollback() error { return h.noRecordError(h.noRelease()) }

// noRelease returns the error that there is no record.
func (h History) noRelease() error {
	return h.about(notFoundError{release: h.Release, namespace: h.Namespace}, "there is no record of it")
}

// about returns an error with the release as its subject.
func (h History) about(err error, reason string) error {
	return report.About(err, report.Subject{Verb: "compare", Resource: "releases", Namespace: h.Namespace, Name: h.Release, Reason: reason})
}

// notFoundError is [ErrNotFound] with names. Helm's errors do not name the namespace, and a wrong namespace is the most
// frequent cause.
type notFoundError struct{ release, namespace string }

// Error names the release and the namespace.
func (e notFoundError) Error() string {
	return fmt.Sprintf("there is no release %s in namespace %s", e.release, e.namespace)
}

// Is reports whether target is ErrNotFound.
func (e notFoundError) Is(target error) bool { return target == ErrNotFound }

// noRecordError adds a hint that says what to check if there is no record.
func (h History) noRecordError(err error) error {
	return withHint(err,
		"no %s there holds a record of it; helmdrift list -A shows all releases; check the namespace (-n), the cluster (--kube-context), and "+
			"whether HELM_DRIVER is set as it was for helm", h.Kind)
}

// pendingError is Helm's error while an operation runs, or after it was killed. The hint names a revision for helm
// rollback, because without a number helm rollback returns to the previous revision, which may have failed.
func (h History) pendingError(last Entry, status helm.Status) error {
	before := h.Entries[:len(h.Entries)-1]
	pending := h.about(ErrPending, fmt.Sprintf("revision %d is %.40q", last.Revision, status))
	if len(before) == 0 {
		return withHint(pending, "revision %d is %s; if no helm process works on it any more, helm uninstall %s ends it; "+
			"meanwhile, --revision %d compares with it", last.Revision, status, h.Release, last.Revision)
	}
	back, readable := before[len(before)-1], last
	if e, ok := newestDeployed(before); ok {
		back, readable = e, e
	}
	return withHint(pending, "revision %d is %s; if no helm process works on it any more, helm rollback %s %d ends it, and "+
		"--to-revision %d shows what that would do; meanwhile, --revision %d compares with that revision",
		last.Revision, status, h.Release, back.Revision, back.Revision, readable.Revision)
}

// undeployedError is Helm's error if there are records but an upgrade would take none of them as old.
func (h History) undeployedError(last Entry, status helm.Status) error {
	err := h.about(noneDeployed(h.Release), fmt.Sprintf("no revision is deployed, and revision %d is %.40q", last.Revision, status))
	switch status {
	case helm.StatusUninstalled:
		reinstall := "helm install --replace would install it again"
		if h.installsAfter(status) {
			err, reinstall = installError{err, last.Revision}, "helm upgrade --install would install it again"
		}
		return withHint(err, "it was uninstalled with its history kept (revision %d); %s; --revision %d compares with what it "+
			"was, --to-revision %d shows what helm rollback would restore", last.Revision, reinstall, last.Revision, last.Revision)
	case helm.StatusUninstalling:
		return withHint(err, "revision %d is being uninstalled, or its uninstall was interrupted; "+
			"--revision %d compares with what it was, --to-revision %d shows what helm rollback would restore",
			last.Revision, last.Revision, last.Revision)
	default:
		return withHint(err, "its last revision %d has status %.40q; --revision %d compares with it anyway",
			last.Revision, status, last.Revision)
	}
}

// noneDeployed returns the error of helm's driver.NewErrNoDeployedReleases. Helm's package would link three
// SQL libraries.
func noneDeployed(name string) error { return fmt.Errorf("%q has no deployed releases", name) }
