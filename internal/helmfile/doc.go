// Package helmfile says what helmfile does next with the releases of a helmfile, and what to compare for that. It is a guest: it imports
// the core, and only cmd/helmdrift knows it.
//
//	helmfile build ───► the state as YAML ─► ReadState, in a child process ─► which releases, and what helmfile tells only helm upgrade
//	helmfile diff ──┐                                                                             │
//	                ▼                                                                             │
//	helmdrift in the place of helm: Serve ─► the calls with their values files ─► Load ───────────┤
//	                                                                                              │
//	the records of Helm ──────────────────────────────────────────────────────────────────────────┼─► decide ─► Deployer
//	                                                                                              ▼
//	                                               the target and the options of a comparison: Step.Target, Step.Adapt
//
// Loading a helmfile runs the programs that it names: exec in templates, helm-secrets, the hooks prepare, and so on. helmfile then calls
// helm diff for each release, with the chart that it has prepared, the values that it has decrypted, and the flags. In this run, helmdrift
// stands in the place of helm. [Serve] records the call and copies the files, since helmfile deletes them, and passes on to the real helm
// only what changes no release. It never passes on an upgrade or an uninstall.
//
// helmfile does not tell helm diff all that it tells helm upgrade: whether it forces, creates namespaces, leaves out CRDs, and verifies the
// chart. [ReadState] finds that in what "helmfile build" prints. The other way, to record the helm upgrade of "helmfile sync", runs the
// hooks presync and postsync, and these change things.
//
// # Secrets
//
// Texts that helm-secrets decrypts in this run become known secrets. The records are in a folder that only the user may read, and that is
// removed after the run.
//
// # Tests
//
// The cases in testdata/calls are calls that helmfile 1.8 made, and hostile ones. The story helmfile in test/e2e compares releases with a
// cluster, with a script in the place of helmfile. TestSync and, in test/e2e, TestHelmfile and TestHelmfileInputs run the real helmfile on
// the helmfiles that helmfiletest makes by chance, and on the inputs of helmfile's own tests.
package helmfile
