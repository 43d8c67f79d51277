package release

import (
	"cmp"
	"errors"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
)

// installError is the error of Load if helm upgrade --install would install the release.
type installError struct {
	error
	last int // the number of the last revision, or 0
}

// Unwrap returns the error without the mark.
func (i installError) Unwrap() error { return i.error }

// Installs reports whether err is, or wraps, the error of Load or Choose for a history for which helm upgrade --install would
// install: the history is empty, or it ends with an uninstall. Last is the number of the last revision, or 0. The
// installation creates the next one (helm v3.22.0 pkg/action/install.go, createRelease and replaceRelease).
func Installs(err error) (last int, ok bool) {
	var i installError
	ok = errors.As(err, &i)
	return i.last, ok
}

// Installs reports whether helm upgrade --install would install instead of upgrading. This is possible even if a
// plain upgrade has a revision to start from: one that is labelled deployed although the release was uninstalled
// after it.
func (h History) Installs() bool {
	return len(h.Entries) == 0 || h.installsAfter(helm.Status(cmp.Or(h.LastStatus, h.last().Status)))
}

// installsAfter is Installs for a history that is not empty and whose last revision has the given status.
//
// Helm looks for the uninstall in the last record of the server's list (helm v3.22.0 cmd/helm/upgrade.go and helm
// v4.3.1 pkg/cmd/upgrade.go, isReleaseUninstalled), and nothing sorts the result of pkg/storage/driver/secrets.go
// Query. The list is in the order of names, with v9 after v10. From ten revisions on, that record is often not the
// last revision, and Helm then upgrades, which fails. If Helm does install, pkg/action/install.go availableName looks
// at the last revision.
func (h History) installsAfter(last helm.Status) bool {
	byName := slices.MaxFunc(h.Entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return last == helm.StatusUninstalled && (byName == h.last() || byName.Status == string(helm.StatusUninstalled))
}
