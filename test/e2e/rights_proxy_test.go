package e2e

import (
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deny sets which requests the API server answers as for a user without any right. Nil means none.
func (p *proxy) deny(which func(*http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.denied = which
}

func (p *proxy) denies(r *http.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.denied != nil && p.denied(r)
}

// serveDenied lets the API server answer a request of a user without any right, so that the answer has the server's own form. Everybody may
// read the version; that answer is made here.
func serveDenied(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.URL.Path == "/version" {
		respond(http.StatusForbidden, metav1.StatusReasonForbidden)(w, r, next)
		return
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			r.Header.Del(name)
		}
	}
	r.Header.Set("Impersonate-User", "system:anonymous")
	next.ServeHTTP(w, r)
}

// apiRequest is what one request asks for, as roles see it: a verb and a resource, or a path of the API server itself.
type apiRequest struct {
	method, path                     string
	group, resource, namespace, name string
}

// requestOf parses a request that a proxy recorded: "GET /api/v1/namespaces/x/secrets?limit=5".
func requestOf(recorded string) apiRequest {
	method, uri, _ := strings.Cut(recorded, " ")
	path, _, _ := strings.Cut(uri, "?")
	out := apiRequest{method: method, path: path}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		out.group, parts = parts[1], parts[3:]
	default:
		return out
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		out.namespace, parts = parts[1], parts[2:]
	}
	out.resource = parts[0]
	if len(parts) > 1 {
		out.name = parts[1]
	}
	return out
}

// String returns the request as failures show it.
func (a apiRequest) String() string { return a.method + " " + a.path }

// matches reports whether a request is this one; its query does not matter.
func (a apiRequest) matches(r *http.Request) bool {
	return r.Method == a.method && r.URL.Path == a.path
}

// isOfResource reports whether a request is about the same resource, whatever the verb, the namespace and the name.
func (a apiRequest) isOfResource(r *http.Request) bool {
	other := requestOf(r.Method + " " + r.URL.Path)
	return other.group == a.group && other.resource == a.resource
}

// distinctRequests returns the requests of a run, each once, in the order of their first sending.
func distinctRequests(t traffic) []apiRequest {
	var out []apiRequest
	for _, recorded := range t.requests {
		if a := requestOf(recorded); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}
