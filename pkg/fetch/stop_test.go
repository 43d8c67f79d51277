package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/repo"
)

// TestStopped checks that Chart returns when its context ends, even if a server does not answer or never ends its
// answer.
func TestStopped(t *testing.T) {
	silent(t)
	reached := make(chan struct{}, 100)
	gone := make(chan struct{}, 100)
	mute := serve(t, false, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	endless := serve(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "the beginning")
		_ = http.NewResponseController(w).Flush()
		reached <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	why := errors.New("it took too long")
	dir := web(t)
	index(t, dir, mute.URL, nil)
	o := settings(t)
	know(t, o, repo.Entry{Name: "known", URL: mute.URL}, dir)
	tests := map[string]struct {
		ref    string
		change func(*Options)
	}{
		"repo/name":          {"known/web", nil},
		"URL":                {mute.URL + "/web-1.0.0.tgz", nil},
		"URL, endless":       {endless.URL + "/web-1.0.0.tgz", nil},
		"--repo":             {"web", func(o *Options) { o.RepoURL = mute.URL }},
		"registry, its tags": {"oci://" + mute.host() + "/charts/web", plainHTTP},
		"registry":           {"oci://" + endless.host() + "/charts/web", versioned("1.0.0")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := o
			if tt.change != nil {
				tt.change(&o)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			go func() {
				<-reached
				cancel(why)
			}()
			path, done, err := Chart(ctx, tt.ref, o)
			done()
			check(t, err, "fetching chart "+tt.ref+": it took too long", "")
			if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || path != "" {
				t.Errorf("path %q, error %v", path, err)
			}
			<-gone // the server sees the end of the request: nothing goes on in the background
		})
	}
	t.Run("values", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		_, err := ReadFile(ctx, mute.URL+"/values.yaml", nil, Plugins{})
		check(t, err, mute.URL+"/values.yaml: context deadline exceeded", "")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("standard input", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		open, closer := io.Pipe()
		defer closer.Close()
		cancel()
		_, err := ReadFile(ctx, "-", open, Plugins{})
		check(t, err, "standard input: context canceled", "")
	})
}

func TestAwaitTurnsPanicsIntoErrors(t *testing.T) {
	if _, err := await(context.Background(), func() (int, error) { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("error %v", err)
	}
}

// zeros is an answer without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestTooLongAnswer(t *testing.T) {
	silent(t)
	s := serve(t, false, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, zeros{}) }))
	_, _, err := Chart(context.Background(), s.URL+"/web.tgz", settings(t))
	check(t, err, "fetching chart "+s.URL+"/web.tgz: the answer is longer than 128 MiB", "")
}
