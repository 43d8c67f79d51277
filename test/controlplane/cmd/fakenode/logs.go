package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// logAnnotation has the log of each container of a pod.
const logAnnotation = "node.helmdrift.io/log"

// serveLogs starts the part of a kubelet's server that answers for logs. All nodes share it. The API server does not check its
// certificate, because it has no authority for kubelets.
func serveLogs(client kubernetes.Interface) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		pod, err := client.CoreV1().Pods(r.PathValue("namespace")).Get(r.Context(), r.PathValue("pod"), metav1.GetOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		if reason := noLog(pod, r.PathValue("container"), r.FormValue("previous") == "true"); reason != "" {
			http.Error(w, reason, http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, tail(pod.Annotations[logAnnotation], r.FormValue("tailLines")))
	})
	return httptest.NewTLSServer(mux)
}

// noLog returns why the kubelet has no log of a container, or nothing. A container that waits after it has run has that run's log.
func noLog(pod *corev1.Pod, container string, previous bool) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != container {
			continue
		}
		switch waiting := status.State.Waiting; {
		case previous && status.LastTerminationState.Terminated == nil:
			return fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod.Name)
		case waiting != nil && status.LastTerminationState.Terminated == nil:
			return fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, pod.Name, waiting.Reason)
		}
		return ""
	}
	return fmt.Sprintf("container %q in pod %q is not available", container, pod.Name)
}

// tail returns the last lines of a log, or all of it without a number.
func tail(log, lines string) string {
	n, err := strconv.Atoi(lines)
	all := strings.SplitAfter(log, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if err != nil || n >= len(all) {
		return log
	}
	return strings.Join(all[len(all)-n:], "")
}

func portOf(server *httptest.Server) int { return server.Listener.Addr().(*net.TCPAddr).Port }
