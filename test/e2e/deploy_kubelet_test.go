package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	// testScheduler is the scheduler of the pods that a kubelet runs. The fake node of the control plane leaves them alone.
	testScheduler = "e2e"
	fakeNode      = "fakenode"
)

// kubelet is the scheduler and the kubelet of the pods of one namespace. It runs the command of each pod's only container as a process of
// this machine, which finds the pod's account where a container has it, and reports how it ended. Images, limits and security contexts have
// no effect.
type kubelet struct {
	client  kubernetes.Interface
	cluster *cluster
	// dir has the folder bin, where pods find helmdrift, and a folder for each pod.
	dir string
	// noAccount is why this system cannot show a process the account of a pod; nil if it can. Pods have a kubeconfig then.
	noAccount error
	// logs has what each pod wrote to stdout and stderr, which Kubernetes stores as one log.
	logs sync.Map
}

// startKubelet runs the pods of a namespace until the test ends.
func startKubelet(t *testing.T, on *cluster, client kubernetes.Interface, namespace string) *kubelet {
	t.Helper()
	k := &kubelet{client: client, cluster: on, dir: t.TempDir()}
	must(t, os.Mkdir(filepath.Join(k.dir, "bin"), 0o700))
	must(t, os.Symlink(suite.binary, filepath.Join(k.dir, "bin", "helmdrift")))
	if out, err := inPod(context.Background(), filepath.Join(k.dir, "bin"), []string{"true"}).CombinedOutput(); err != nil {
		k.noAccount = fmt.Errorf("%w: %s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	created, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.schedulerName", testScheduler).String(),
	})
	must(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		for event := range created.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if event.Type != watch.Added || !ok {
				continue
			}
			running.Go(func() {
				if err := k.run(ctx, pod); err != nil && ctx.Err() == nil {
					t.Errorf("pod %s: %v", pod.Name, err)
				}
			})
		}
		if ctx.Err() == nil {
			t.Error("the API server ended the watch of pods")
		}
	})
	return k
}

// run binds a pod to the fake node, runs it, and updates its status.
func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	err := pods.Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: fakeNode},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ended := corev1.ContainerStateTerminated{StartedAt: metav1.Now(), Reason: "Completed"}
	if ended.ExitCode, err = k.execute(ctx, pod); err != nil {
		return err
	}
	ended.FinishedAt = metav1.Now()
	phase := corev1.PodSucceeded
	if ended.ExitCode != 0 {
		phase, ended.Reason = corev1.PodFailed, "Error"
	}
	container := pod.Spec.Containers[0]
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase": phase,
		"containerStatuses": []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image, ImageID: container.Image, State: corev1.ContainerState{Terminated: &ended},
		}},
	}})
	if err != nil {
		return err
	}
	_, err = pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// execute runs the command of a pod, stores its log and returns its exit code.
func (k *kubelet) execute(ctx context.Context, pod *corev1.Pod) (int32, error) {
	container := pod.Spec.Containers[0]
	dir := filepath.Join(k.dir, pod.Name)
	mounted, err := makeVolumes(container, dir)
	if err != nil {
		return 0, err
	}
	environment := []string{
		"PATH=" + filepath.Join(k.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
	}
	for _, variable := range container.Env {
		value, err := valueOf(pod, variable)
		if err != nil {
			return 0, err
		}
		environment = append(environment, variable.Name+"="+mounted.Replace(value))
	}
	command := slices.Concat(container.Command, container.Args)
	for i, arg := range command {
		command[i] = mounted.Replace(arg)
	}
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	var log bytes.Buffer
	process, err := k.process(ctx, pod, dir, command)
	if err != nil {
		return 0, err
	}
	process.Dir, process.Env, process.Stdout, process.Stderr = dir, append(environment, process.Env...), &log, &log
	err = process.Run()
	if exited := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exited) || exited.ExitCode() < 0) {
		return 0, err
	}
	k.logs.Store(pod.Name, log.String())
	return int32(process.ProcessState.ExitCode()), nil
}

// makeVolumes makes an empty folder for each volume of a container. It returns what replaces the paths in the container by the folders.
func makeVolumes(container corev1.Container, dir string) (*strings.Replacer, error) {
	var paths []string
	for _, mount := range container.VolumeMounts {
		folder := filepath.Join(dir, mount.Name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		paths = append(paths, mount.MountPath, folder)
	}
	return strings.NewReplacer(paths...), nil
}

// valueOf returns the value of an environment variable: a literal, or a label or an annotation of the pod, such as the completion index.
func valueOf(pod *corev1.Pod, variable corev1.EnvVar) (string, error) {
	if variable.ValueFrom == nil {
		return variable.Value, nil
	}
	if ref := variable.ValueFrom.FieldRef; ref != nil {
		field, key, _ := strings.Cut(strings.TrimSuffix(ref.FieldPath, "']"), "['")
		switch field {
		case "metadata.labels":
			return pod.Labels[key], nil
		case "metadata.annotations":
			return pod.Annotations[key], nil
		}
	}
	return "", fmt.Errorf("variable %s: unknown source %v", variable.Name, variable.ValueFrom)
}

// process returns the process of a pod, with the variables that say which cluster it is in. env finds the command in the PATH of the pod.
func (k *kubelet) process(ctx context.Context, pod *corev1.Pod, dir string, command []string) (*exec.Cmd, error) {
	token, err := k.token(ctx, pod)
	if err != nil {
		return nil, err
	}
	on := k.cluster.Config
	if k.noAccount != nil {
		process := exec.CommandContext(ctx, "env", command...)
		kubeconfig := filepath.Join(dir, "kubeconfig")
		process.Env = []string{"KUBECONFIG=" + kubeconfig}
		return process, clientcmd.WriteToFile(api.Config{
			Clusters:       map[string]*api.Cluster{"test": {Server: on.Host, CertificateAuthorityData: on.CAData}},
			AuthInfos:      map[string]*api.AuthInfo{"pod": {Token: token}},
			Contexts:       map[string]*api.Context{"test": {Cluster: "test", AuthInfo: "pod"}},
			CurrentContext: "test",
		}, kubeconfig)
	}
	account := filepath.Join(dir, "serviceaccount")
	if err := os.MkdirAll(account, 0o700); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"token": token, "ca.crt": string(on.CAData), "namespace": pod.Namespace} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	server, err := url.Parse(on.Host)
	if err != nil {
		return nil, err
	}
	process := inPod(ctx, account, command)
	process.Env = []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}
	return process, nil
}

// token returns a token of the pod's account, bound to the pod.
func (k *kubelet) token(ctx context.Context, pod *corev1.Pod) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	accounts := k.client.CoreV1().ServiceAccounts(pod.Namespace)
	request, err := accounts.CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

// log returns the log of a pod, or nothing if it has not ended.
func (k *kubelet) log(pod string) string {
	log, _ := k.logs.Load(pod)
	text, _ := log.(string)
	return text
}
