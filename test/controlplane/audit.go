package controlplane

import (
	"fmt"
	"os"
)

// These are the files of the audit log and its policy in the folder of a plane.
const (
	auditLog    = "audit.log"
	auditPolicy = "audit.yaml"
)

// auditedRequests is the policy: the requests that change something, when they have been answered, without their bodies.
const auditedRequests = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// writeAuditPolicy writes the policy of the audit log.
func writeAuditPolicy(file string) error {
	if err := os.WriteFile(file, []byte(auditedRequests), 0o600); err != nil {
		return fmt.Errorf("write the audit policy: %w", err)
	}
	return nil
}
