// Package postgres reads Helm's release records from PostgreSQL, where HELM_DRIVER=sql keeps them: one row per record, with the same name
// and encoding as in a Secret, and columns instead of labels. It is a package of its own so that a program whose records are in the cluster
// links no driver of a database.
//
//	connection string ─► Open ─► release.Storage ─► read-only transactions ─► rows ─► release.Listed, and the text of a record
//
// In a program:
//
//	connection := os.Getenv("HELM_DRIVER_SQL_CONNECTION_STRING")
//	storage, err := postgres.Open(connection, 30*time.Second)
//	defer storage.Close()
//	store, err := storage.Namespace("prod")
//	loaded, err := store.Load(ctx, "web", 0, release.Options{})
//
// The package never runs Helm's migrations, and its transactions cannot write. [Secrets] returns what a program must hide of a connection.
// No error of the package shows a password.
//
// # Where the rules come from
//
// The tables of the driver sql and their migrations are those of helm v3.22.0 pkg/storage/driver/sql.go, and Helm 4 has the same. Helm
// enables row-level security without a policy, so a role other than the owner sees no rows unless somebody adds one. A list without rows
// would look like a namespace without releases, so hidden rows are an error.
package postgres
