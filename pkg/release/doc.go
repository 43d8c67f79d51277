// Package release reads Helm's storage: it finds the records of a release, chooses the revision that Helm would start
// from, and decodes it.
//
// Helm keeps one record per revision, in a Secret or a ConfigMap called sh.helm.release.v1.NAME.vREVISION. Labels tell
// what the record is about (owner=helm, name, version, status); the one data key, "release", holds the record itself:
// JSON, gzipped, in base64. Reading all records of a release to find one of them, as Helm does, costs the whole
// history in bytes and time, so this package works in three steps:
//
//	Store.History  lists metadata only: which revisions are there, and their status labels
//	History.Choose picks from that list, as a pure function, what "helm upgrade" would pick
//	Store.Get      reads one record and decodes it
//
// Store.Load does the three in order, Store.LoadRollback does so for helm rollback, and Store.Names lists all releases of the
// namespace.
//
// # Where the rules come from
//
// Paths are those of helm v3.22.0; Helm 4 has the same code except where a rule says so.
//
//   - Drivers and their names: pkg/action/action.go, Configuration.Init. A release that lives in the other driver is
//     invisible; Helm does not look for it, so neither does this package.
//   - Labels and Secret type: pkg/storage/driver/secrets.go, newSecretsObject. The labels createdAt and modifiedAt are
//     never read here: an upgrade copies them from one revision to the next.
//   - Object names: pkg/storage/storage.go, makeKey. They are not in order of age (v12 sorts before v9), so revisions
//     are ordered by the version label, as a number.
//   - Encoding: pkg/storage/driver/util.go, encodeRelease and decodeRelease. Records from before compression are plain
//     JSON.
//   - Which revision is old: pkg/action/upgrade.go, prepareUpgrade; see History.Choose.
//   - What a rollback starts from and returns to: pkg/action/rollback.go, prepareRollback; see History.ChooseRollback.
//   - When helm upgrade --install installs: cmd/helm/upgrade.go and pkg/action/install.go; see History.Installs.
//   - apply_method and how to tell Helm 4's records from Helm 3's: helm v4.3.1 pkg/release/v1/release.go and
//     pkg/chart/v2/chart.go; see Record.
//
// # Where this package leaves Helm's path
//
// Helm passes over a record that it cannot decode (secrets.go, Query), so that its "last" revision can silently be an
// older one; and it unpacks whatever size a record has. Here a record that is broken, foreign, too large or of a newer
// format is an error that names the object it is stored in. A comparison with the wrong revision would look like
// drift, or worse, like none. Only where the user says which revision to compare with, a broken last record is no more than
// worth a warning: Loaded.LastProblem.
//
// # Errors
//
// An error says what was being done and what is wrong. Where there is advice to give, it is kept apart from the cause,
// in a method that callers find with errors.As:
//
//	var h interface{ Hint() string }
//	if errors.As(err, &h) {
//		fmt.Fprintln(os.Stderr, "hint: "+h.Hint())
//	}
//
// Errors of the API server stay wrapped, so apierrors.IsNotFound after Get tells that the record went away between the
// list and the get, as it does when an upgrade prunes the history.
package release
