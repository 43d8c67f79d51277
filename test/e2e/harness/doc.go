// Package harness has what the end-to-end tests, the demo, the benchmark of a fleet and the comparison of tools share: a control plane,
// access to its objects, and a proxy in front of an API server.
package harness
