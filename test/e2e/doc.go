// Package e2e tests helmdrift on a real API server. The Helm libraries deploy releases, various field managers edit them, and the built
// helmdrift binary, a process like any user's, reports what drifted.
//
// Most tests are stories: scripts under testdata/stories, named by what they show. script_test.go lists their commands. What a script
// cannot express well is a Go test that uses the same Case. Every run of the binary goes through a proxy that lets only reads pass, and
// with --dry-run=server writes that are only tried.
//
// Some properties cannot be checked from outside: that helmdrift renders a chart to the same bytes as Helm (equality_test.go), how long
// that takes compared with Helm's own steps (bench_test.go), and that a fleet whose releases change between its two steps leaves out what
// was uninstalled and leaves no goroutine behind (fleet_inprocess_test.go). These files import the packages of the main module; no other
// file does.
//
// The random tests (TestRandom) build charts, edits and upgrades from a seed and compare each prediction with what Helm
// does. The files oracle_*_test.go contain them, the pool of objects is in testdata/oracle, and oracle_tolerance_test.go lists what the
// judge may excuse, and how often.
//
// TestStoriesAsFleet compares the report of all releases that the tests have left in the cluster with the reports of these releases one by
// one. TestFleet has a cluster of its own: it does the same with generated releases, gives entries errors, deploys during scans
// (-soak.scans says how many, make soak takes 100), and takes the API server away.
//
// The launcher in test/controlplane starts the control plane once; HELMDRIFT_TEST_KUBECONFIG names a cluster to use instead. That cluster
// should run controllers and needs a node that is ready, real or fake. If GOCOVERDIR is set, the binary counts coverage.
package e2e
