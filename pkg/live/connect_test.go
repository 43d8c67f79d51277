package live

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmdrift/helmdrift/internal/livetest"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

func TestConnectSendsTwoRequestsAndKeepsTheConfig(t *testing.T) {
	f := livetest.New(t)
	cfg := &rest.Config{Host: f.URL, UserAgent: "before", QPS: 7}
	c, err := Connect(t.Context(), cfg, Options{UserAgent: "helmdrift/1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	livetest.WantRequests(t, f, "/api", "/apis")
	if cfg.UserAgent != "before" || cfg.QPS != 7 || cfg.WrapTransport != nil || cfg.RateLimiter != nil {
		t.Error("Connect changed the caller's config")
	}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	_, err = c.Metadata().Resource(secrets).Namespace("prod").List(t.Context(), metav1.ListOptions{})
	_, err2 := c.Dynamic().Resource(secrets).Namespace("prod").List(t.Context(), metav1.ListOptions{})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if want := slices.Repeat([]string{"helmdrift/1.2.3"}, 4); !slices.Equal(f.Agents, want) {
		t.Errorf("user agents %q", f.Agents)
	}
	if c.server != f.URL {
		t.Errorf("server %q", c.server)
	}
}

func TestServerNameHasNoCredentials(t *testing.T) {
	c, err := New(&rest.Config{Host: "https://ann:hunter2@127.0.0.1:6443/k8s/clusters/c-1"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.server != "https://127.0.0.1:6443/k8s/clusters/c-1" {
		t.Errorf("server %q", c.server)
	}
}

func TestRateLimit(t *testing.T) {
	for _, test := range []struct {
		name string
		fair bool
		opts Options
		want float32
	}{
		{"fair server", true, Options{}, -1},
		{"other server", false, Options{}, 50},
		{"user", true, Options{QPS: 7}, 7},
		{"user, burst alone", true, Options{Burst: 7}, 50},
		{"user, none", false, Options{QPS: -1}, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := livetest.New(t)
			f.Fair = test.fair
			c := connect(f, test.opts)
			if got := c.discover.RESTClient().GetRateLimiter().QPS(); got != test.want {
				t.Errorf("%g requests per second, want %g", got, test.want)
			}
		})
	}
}

func TestRateLimitIsSharedAndEndsWithTheContext(t *testing.T) {
	f := livetest.New(t)
	refs := f.AddMany("ConfigMap", "prod", "a", 2)
	c := connect(f, Options{QPS: 0.001, Burst: 3})               // discovery takes two of the three requests
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the next request could be sent in 1000 s, which is refused at once
	defer cancel()
	var codes []string
	for _, live := range c.Read(ctx, refs) {
		if live.Err != nil {
			codes = append(codes, live.Err.Code)
		}
	}
	if !slices.Equal(codes, []string{cluster.CodeTimeout}) {
		t.Errorf("errors %v, want one time-out", codes)
	}
}

// connectFails checks that connecting fails with an error that contains what and the server, and a hint that contains
// hint.
func connectFails(t *testing.T, cfg *rest.Config, what, hint string) {
	t.Helper()
	_, err := Connect(t.Context(), cfg, Options{})
	var failure *ConnectError
	if !errors.As(err, &failure) {
		t.Fatalf("error %v", err)
	}
	if !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), cfg.Host) || !strings.Contains(failure.Hint(), hint) {
		t.Errorf("error %q, hint %q", err, failure.Hint())
	}
	if strings.Contains(err.Error(), "timeout=") || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("error %q", err)
	}
}

func TestConnectErrors(t *testing.T) {
	const closed = "http://127.0.0.1:1" // a port that was free a moment ago may be taken by another process
	connectFails(t, &rest.Config{Host: closed}, "cannot reach", "--kube-context")

	for name, test := range map[string]struct {
		what, hint string
		answer     http.HandlerFunc
	}{
		"credentials": {"credentials refused by", "log in", func(w http.ResponseWriter, _ *http.Request) {
			livetest.SendStatus(w, 401, metav1.StatusReasonUnauthorized, "Unauthorized")
		}},
		"role": {"discovery forbidden by", "system:discovery", func(w http.ResponseWriter, _ *http.Request) { livetest.Forbid(w) }},
		"another service": {"cannot use", "--kube-apiserver", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>welcome</html>"))
		}},
		"empty service": {"serves no Kubernetes API", "--kube-apiserver", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{}"))
		}},
		"no such path": {"cannot use", "--kube-apiserver", http.NotFound},
		"broken":       {"discovery failed on", "try again later", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "x", 500) }},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.answer)
			defer server.Close()
			connectFails(t, &rest.Config{Host: server.URL}, test.what, test.hint)
		})
	}
}

func TestConnectErrorsOfTheClient(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the server logs the failed handshake
	server.StartTLS()
	defer server.Close()
	connectFails(t, &rest.Config{Host: server.URL}, "cannot trust", "--kube-ca-file")
	connectFails(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}, "cannot use", "certificates")

	plugin := &clientcmdapi.ExecConfig{Command: "no-such-plugin", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	insecure := rest.TLSClientConfig{Insecure: true}
	connectFails(t, &rest.Config{Host: server.URL, ExecProvider: plugin, TLSClientConfig: insecure}, "no credentials for", "credential plugin")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Connect(ctx, &rest.Config{Host: server.URL, TLSClientConfig: insecure}, Options{})
	var failure *ConnectError
	if !errors.As(err, &failure) || !errors.Is(err, context.Canceled) || failure.Hint() != "" {
		t.Errorf("error %v", err)
	}
}

func TestHangingServerTimesOut(t *testing.T) {
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer server.Close()
	defer close(done)
	connectFails(t, &rest.Config{Host: server.URL, Timeout: 50 * time.Millisecond}, "cannot reach", "cluster runs")
}

var thing = object.Ref{Key: object.Key{Group: "ex.com", Kind: "Thing", Namespace: "prod", Name: "t"}, Version: "v1"}

func TestStaleGroupAffectsOnlyItsObjects(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		f := livetest.New(t)
		f.Legacy = legacy
		f.Kinds[slices.IndexFunc(f.Kinds, func(k livetest.Kind) bool { return k.Kind == "Thing" })].Stale = true
		fine := f.AddMany("ConfigMap", "prod", "a", 1)
		c := connect(f, Options{})
		got := c.Read(t.Context(), append(fine, thing))
		livetest.MustError(t, got[thing], cluster.CodeDiscovery, `cannot get Thing.ex.com "t" in namespace "prod": `, "discovery of group ex.com failed: ")
		delete(got, thing)
		livetest.MustFind(t, got, fine)
		livetest.WantRequests(t, f, configMaps+"/a-000")

		if groups := c.Undiscovered(); !slices.Equal(groups, []string{"ex.com"}) {
			t.Error(groups)
		}
		messages := c.Incomplete([]string{"ex.com", "other.com", "third.com"})
		if len(messages) != 1 || !strings.HasPrefix(messages[0].Message, "discovery of group ex.com failed: ") ||
			!strings.Contains(messages[0].Message, "; discovery of other.com, third.com failed too; the chart was rendered as if") {
			t.Errorf("incomplete: %+v", messages)
		}
		if namespaced, known := c.Scope(schema.GroupVersionKind{Group: "ex.com", Version: "v1", Kind: "Thing"}); namespaced || known {
			t.Error("scope of a kind that was not discovered")
		}
	}
}

func TestScopeAndVersions(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		f := livetest.New(t)
		f.Legacy = legacy
		f.Kinds = append(f.Kinds, livetest.Kind{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers"})
		c := connect(f, Options{})
		for kind, want := range map[string][2]bool{"ConfigMap": {true, true}, "Namespace": {false, true}, "Nothing": {false, false}} {
			namespaced, known := c.Scope(schema.GroupVersionKind{Version: "v1", Kind: kind})
			if got := [2]bool{namespaced, known}; got != want {
				t.Errorf("scope of %s: %v", kind, got)
			}
		}
		if legacy {
			continue // the fake server's old discovery has one version per group
		}
		got := c.served.versions[schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}]
		if diff := cmp.Diff([]string{"v2", "v1"}, got); diff != "" {
			t.Error(diff)
		}
		if got := c.served.versions[schema.GroupKind{Kind: "Nothing"}]; len(got) > 0 || len(c.Undiscovered()) > 0 || c.Incomplete(nil) != nil {
			t.Error(got, c.Undiscovered())
		}
	}
}
