package controlplane

import (
	"fmt"
	"net"
	"path/filepath"
)

// These are the addresses of services, and the name of the front proxy.
const (
	serviceRange   = "10.96.0.0/16"
	firstServiceIP = "10.96.0.1"
	frontProxy     = "front-proxy-client"
)

// layout has the folder and the ports of one plane.
type layout struct {
	dir                  string
	etcd, etcdPeer, port int
}

// newLayout chooses the ports of a plane in a folder.
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
func (l layout) schedulerKubeconfig() string  { return l.file("scheduler.kubeconfig") }

// freePorts asks the system for different free loopback ports. Another process may
// take one before it is used; Start then tries again with other ports.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		// The listeners are closed at the end, so that no port is returned twice.
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// etcdArgs returns the arguments of etcd, without TLS on loopback.
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
		// The data is deleted with the plane, so durability would only cost time.
		"--unsafe-no-fsync",
	}
}

// apiServerArgs returns the arguments of the API server, with RBAC and the header authentication of a front proxy.
func (l layout) apiServerArgs(options Options) []string {
	args := []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", l.etcd),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", l.port),
		// Loopback is not a valid endpoint address, so the reconciler would always fail.
		"--endpoint-reconciler-type=none",
		"--cert-dir=" + l.file("apiserver"),
		"--tls-cert-file=" + l.file("server.crt"),
		"--tls-private-key-file=" + l.file("server.key"),
		"--token-auth-file=" + l.file(usersFile),
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
		// The fake nodes serve logs at this address.
		"--kubelet-preferred-address-types=ExternalIP",
	}
	if options.Audit {
		args = append(args, "--audit-policy-file="+l.file(auditPolicy), "--audit-log-path="+l.file(auditLog), "--audit-log-mode=blocking-strict")
	}
	if !options.Controllers {
		// Without controllers nothing creates the default service accounts, so the plugin would refuse every pod.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return args
}

// clientArgs returns the arguments of a program that asks the API server and serves nothing itself: all those of the scheduler.
func clientArgs(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=0",
		"--leader-elect=false",
		// With the default limits the controllers need seconds to start.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

// controllerManagerArgs returns the arguments of the controllers.
func (l layout) controllerManagerArgs() []string {
	return append(clientArgs(l.controllerKubeconfig()),
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+l.file("accounts.key"),
		"--root-ca-file="+l.file("ca.crt"),
		"--cluster-signing-cert-file="+l.file("ca.crt"),
		"--cluster-signing-key-file="+l.file("ca.key"),
		// Tests wait for an autoscaler. The default of fifteen seconds would be too long.
		"--horizontal-pod-autoscaler-sync-period=2s",
	)
}

// fakeNodeArgs returns the arguments of the program that plays the nodes.
func (l layout) fakeNodeArgs(nodes int) []string {
	return []string{"--kubeconfig=" + l.kubeconfig(), fmt.Sprintf("--nodes=%d", nodes)}
}
