// Package ci checks the jobs of docs/ci.md with the linters and types of the systems that run them. It is a module of its own, because
// these link most of Kubernetes:
//
//	GitHub Actions   actionlint
//	Tekton           the Go type Task, strictly decoded, and the validation of Tekton's webhook
//	Argo Workflows   the Go type CronWorkflow, strictly decoded
//	Kubernetes       the Go types of k8s.io/api, strictly decoded: deploy/kubernetes
//	GitLab           its JSON Schema, which npm downloads in a pinned version (gitlab_schema_test.go), and the keywords that the jobs use
//	Jenkins          balanced brackets and the sections of a declarative pipeline (jenkins_test.go says why)
package ci
