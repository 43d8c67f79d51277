// Package e2e tells stories of releases on a real API server: the Helm
// libraries deploy, field managers of all sorts edit, and the built helmdrift
// binary, a process like any user's, says what drifted.
//
// Most stories are scripts under testdata/stories, named after the scenario
// they tell; script_test.go lists their commands. Whatever a script cannot say
// well is a Go test on the same Case. Every run of the binary goes through a
// proxy that lets only reads pass.
//
// The control plane is started once, by the launcher in test/controlplane;
// HELMDRIFT_TEST_KUBECONFIG names a cluster to use instead. That cluster should
// run controllers and needs a node that is ready, real or fake. GOCOVERDIR
// makes the binary one that counts coverage.
package e2e
