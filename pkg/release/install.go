package release

import (
	"cmp"
	"errors"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
)

// installError is the error of Load after which helm upgrade --install would install.
type installError struct {
	error
	last int
}

// Unwrap gives the words alone.
func (i installError) Unwrap() error { return i.error }

// Installs tells whether err is the answer of Load or Choose to a history on which helm upgrade --install would install
// instead: there is none, or it ends in an uninstall. It gives the number of the last revision, 0 where there is none. The
// installation makes the next one (helm v3.22.0 pkg/action/install.go, createRelease and replaceRelease).
func Installs(err error) (last int, ok bool) {
	var i installError
	ok = errors.As(err, &i)
	return i.last, ok
}

// Installs tells whether helm upgrade --install would install, and not upgrade. That can be where a plain upgrade has a
// revision to start from: one that is labelled deployed although the release was uninstalled after it.
func (h History) Installs() bool {
	return len(h.Entries) == 0 || h.installs(helm.Status(cmp.Or(h.LastStatus, h.last().Status)))
}

// installs is Installs for a history that there is, whose last revision has this status.
//
// Helm looks for the uninstall in the last record of the server's list (helm v3.22.0 cmd/helm/upgrade.go and helm v4.3.1
// pkg/cmd/upgrade.go, isReleaseUninstalled; nobody sorts what pkg/storage/driver/secrets.go Query returns). The list is
// in the order of names, where v9 comes after v10: from ten revisions on, that record often is not the last revision, and
// Helm then upgrades, which fails. Where it does install, pkg/action/install.go availableName looks at the last revision.
func (h History) installs(last helm.Status) bool {
	byName := slices.MaxFunc(h.Entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return last == helm.StatusUninstalled && (byName == h.last() || byName.Status == string(helm.StatusUninstalled))
}
