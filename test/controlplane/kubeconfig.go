package controlplane

import (
	"encoding/base64"
	"fmt"
	"os"
)

// writeKubeconfig writes a kubeconfig that refers to no other file, so that consumers may copy it.
func writeKubeconfig(path, server string, ca []byte, as user) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: helmdrift-test
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: helmdrift-test
  user:
    token: %s
contexts:
- name: helmdrift-test
  context:
    cluster: helmdrift-test
    user: helmdrift-test
current-context: helmdrift-test
`, server, base64.StdEncoding.EncodeToString(ca), as.token)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
