// Package e2e tells stories of releases on a real API server: the Helm
// libraries deploy, field managers of all sorts edit, and the built helmdrift
// binary, a process like any user's, says what drifted.
//
// Most stories are scripts under testdata/stories, named after the scenario
// they tell; script_test.go lists their commands. Whatever a script cannot say
// well is a Go test on the same Case. Every run of the binary goes through a
// proxy that lets only reads pass, and with --dry-run=server writes that are
// only tried.
//
// Two things cannot be seen from outside: that a chart renders to the very bytes
// that Helm makes of it (equality_test.go), and how long that takes beside Helm's
// own steps (bench_test.go). These import the packages of the main module; nothing
// else does.
//
// The control plane is started once, by the launcher in test/controlplane;
// HELMDRIFT_TEST_KUBECONFIG names a cluster to use instead. That cluster should
// run controllers and needs a node that is ready, real or fake. GOCOVERDIR
// makes the binary one that counts coverage.
package e2e
