package controlplane

import (
	"fmt"
	"net"
	"path/filepath"
)

const (
	serviceRange   = "10.96.0.0/16"
	firstServiceIP = "10.96.0.1"
	frontProxy     = "front-proxy-client"
)

// layout says where everything of one plane is: its folder and its ports.
type layout struct {
	dir                  string
	etcd, etcdPeer, port int
}

func newLayout(dir string) (layout, error) {
	ports, err := freePorts(3)
	if err != nil {
		return layout{}, err
	}
	return layout{dir: dir, etcd: ports[0], etcdPeer: ports[1], port: ports[2]}, nil
}

func (l layout) file(name string) string      { return filepath.Join(l.dir, name) }
func (l layout) server() string               { return fmt.Sprintf("https://127.0.0.1:%d", l.port) }
func (l layout) kubeconfig() string           { return l.file("kubeconfig") }
func (l layout) controllerKubeconfig() string { return l.file("controller.kubeconfig") }

// freePorts asks the system for distinct loopback ports. Another process may
// take one before it is used; Start then tries again with others.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		// Closed only at the end, so that no port comes twice.
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (l layout) etcdArgs() []string {
	client := fmt.Sprintf("http://127.0.0.1:%d", l.etcd)
	peer := fmt.Sprintf("http://127.0.0.1:%d", l.etcdPeer)
	return []string{
		"--name=test",
		"--data-dir=" + l.file("etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=test=" + peer,
		"--log-level=warn",
		// The data dies with the plane: durability would only cost time.
		"--unsafe-no-fsync",
	}
}

func (l layout) apiServerArgs(controllers bool) []string {
	args := []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", l.etcd),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", l.port),
		// Loopback is no valid endpoint address: the reconciler would fail forever.
		"--endpoint-reconciler-type=none",
		"--cert-dir=" + l.file("apiserver"),
		"--tls-cert-file=" + l.file("server.crt"),
		"--tls-private-key-file=" + l.file("server.key"),
		"--client-ca-file=" + l.file("ca.crt"),
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + l.file("accounts.crt"),
		"--service-account-signing-key-file=" + l.file("accounts.key"),
		"--requestheader-client-ca-file=" + l.file("proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxy,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + l.file("proxy.crt"),
		"--proxy-client-key-file=" + l.file("proxy.key"),
	}
	if !controllers {
		// Nobody creates the default service accounts, so no bare pod would be admitted.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return args
}

func (l layout) controllerManagerArgs() []string {
	return []string{
		"--kubeconfig=" + l.controllerKubeconfig(),
		"--authentication-kubeconfig=" + l.controllerKubeconfig(),
		"--authorization-kubeconfig=" + l.controllerKubeconfig(),
		"--bind-address=127.0.0.1",
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + l.file("accounts.key"),
		"--root-ca-file=" + l.file("ca.crt"),
		"--cluster-signing-cert-file=" + l.file("ca.crt"),
		"--cluster-signing-key-file=" + l.file("ca.key"),
		// The default limits make the controllers take seconds to start.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		// Tests wait for an autoscaler; fifteen seconds each would be long.
		"--horizontal-pod-autoscaler-sync-period=2s",
	}
}

func (l layout) fakeNodeArgs() []string {
	return []string{"--kubeconfig=" + l.kubeconfig()}
}
