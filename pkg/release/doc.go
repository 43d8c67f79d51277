// Package release reads Helm's storage: it finds the records of a release, chooses the revision that Helm would start from,
// and decodes it.
//
//	name, revision ─► Store.History ──► History.Choose ─────► Store.Get ─────► Record: manifest, hooks, values
//	                  one list of       pure function: what   one get and one
//	                  metadata          helm upgrade picks    record decoded
//
// The first lines of a program, with the clients of a live.Cluster or its own:
//
//	storage, err := release.Open("", metadataClient, coreClient)
//	store, err := storage.Namespace("prod")
//	loaded, err := store.Load(ctx, "web", 0, release.Options{})
//	if errors.Is(err, release.ErrNotFound) {
//		// there is no such release in the namespace
//	}
//	fmt.Println(loaded.Old.Revision, loaded.Old.Chart(), loaded.Old.Manifest)
//
// A [Storage] and a [Store] are safe for concurrent use, and nothing here writes.
//
// Helm keeps one record per revision, in a Secret or a ConfigMap called sh.helm.release.v1.NAME.vREVISION. Its labels say what
// the record is about (owner=helm, name, version, status). Its one data key, "release", holds the record itself: JSON, gzipped,
// in base64. Helm reads all records of a release to find one of them, which costs the whole history in bytes and time. This
// package lists only metadata, chooses by the labels, and reads one record, or two if the last revision is not the one to start
// from.
//
// A [Backend] reads records from one kind of place. Those of Secrets and ConfigMaps are here, and [Open] chooses between them. With
// HELM_DRIVER=sql, a record is a row in PostgreSQL: package postgres, in the folder of this one, has that backend, and its Open returns a
// Storage too. A program that does not import it links no driver of a database.
//
// Store.Load does the three steps in order, and Store.LoadRollback does so for helm rollback. Storage.List lists the records of a
// namespace, or of all, without reading one.
//
// # Where the rules come from
//
// Paths are in helm v3.22.0; Helm 4 has the same code except where a rule says so.
//
//   - Drivers and their names: pkg/action/action.go, Configuration.Init. Helm does not look for a release that is stored by
//     another driver, so neither does this package.
//   - Labels and Secret type: pkg/storage/driver/secrets.go, newSecretsObject. The labels createdAt and modifiedAt are never
//     read here, because an upgrade copies them from one revision to the next.
//   - Object names: pkg/storage/storage.go, makeKey. Their order is not that of age (v12 sorts before v9), so revisions are
//     ordered by the version label, as a number.
//   - Encoding: pkg/storage/driver/util.go, encodeRelease and decodeRelease. Old records are plain JSON without compression.
//   - Which revision is old: pkg/action/upgrade.go, prepareUpgrade; see History.Choose.
//   - What a rollback starts from and returns to: pkg/action/rollback.go, prepareRollback; see History.ChooseRollback.
//   - When helm upgrade --install installs: cmd/helm/upgrade.go and pkg/action/install.go; see History.Installs.
//   - apply_method and the differences between the records of Helm 4 and Helm 3: helm v4.3.1 pkg/release/v1/release.go and
//     pkg/chart/v2/chart.go; see Record.
//
// # Differences from Helm
//
// Helm skips a record that it cannot decode (secrets.go, Query), so its "last" revision can silently be an older one; and it
// unpacks records of any size. Here a record that is broken, foreign, too large or of a newer format is an error. It names the
// object that stores the record. A comparison with the wrong revision would show false drift or, worse, hide real drift. If the
// user chooses the revision to compare with, a broken last record only causes a warning: Loaded.LastProblem.
//
// # Errors
//
// An error says what was being done and what is wrong. Advice is separate from the cause, in a method that callers find with
// errors.As:
//
//	var h interface{ Hint() string }
//	if errors.As(err, &h) {
//		fmt.Fprintln(os.Stderr, "hint: "+h.Hint())
//	}
//
// Errors of the API server stay wrapped. If apierrors.IsNotFound holds after Get, the record was deleted after the list, as
// happens when an upgrade prunes the history.
package release
