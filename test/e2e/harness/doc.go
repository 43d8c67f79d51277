// Package harness starts what the end-to-end tests, the demo and the benchmark of a fleet share: a control plane, and a proxy in front of
// an API server.
package harness
