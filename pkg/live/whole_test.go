package live

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestReadWhole asks a server that compresses its answers, if it may, and breaks off or damages some of them.
func TestReadWhole(t *testing.T) {
	text := strings.Repeat("a record of Helm\n", 1<<12)
	var encodings []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		encodings = append(encodings, r.Header.Get("Accept-Encoding"))
		if r.Header.Get("Accept-Encoding") != "gzip" {
			_, _ = io.WriteString(w, text)
			return
		}
		var packed strings.Builder
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		answer := packed.String()
		switch r.URL.Path {
		case "/short":
			answer = answer[:len(answer)/2]
		case "/damaged":
			answer = answer[:len(answer)-8] + "12345678"
		case "/empty":
			answer = ""
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	for _, plain := range []bool{false, true} {
		for path, isFine := range map[string]bool{"/": true, "/short": plain, "/damaged": plain, "/empty": true} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, nil) // a write is sent once
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{DisableCompression: plain}
			resp, err := (&retryTransport{next: transport, rateLimit: newRateLimit(-1, 0), plain: plain}).RoundTrip(req)
			switch {
			case !isFine:
				if !isConnectionLost(err) {
					t.Errorf("%s: got the error %v", path, err)
				}
				continue
			case err != nil:
				t.Errorf("%s: %v", path, err)
				continue
			}
			got, err := io.ReadAll(resp.Body)
			want := text
			if path == "/empty" && !plain {
				want = ""
			}
			if string(got) != want || err != nil || resp.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %d bytes, %v, %v", path, len(got), err, resp.Header)
			}
		}
	}
	if got := strings.Join(encodings, ","); got != "gzip,gzip,gzip,gzip,,,," {
		t.Errorf("the requests accept %s", got)
	}
}
