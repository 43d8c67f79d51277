// Package deploy tests the metrics of helmdrift, and the files of deploy/ that read them, with the libraries of Prometheus: its parsers of
// metrics, of rules and of queries, and the engine that evaluates queries. It is a module of its own, so that Prometheus stays out of
// what users build.
//
// Package test/e2e tests deploy/kubernetes, because that needs an API server.
package deploy
