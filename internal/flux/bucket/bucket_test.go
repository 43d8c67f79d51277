package bucket

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/flux/bucket/buckettest"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// serve starts a server and returns a source that reads the bucket "charts" of it with its keys.
func serve(t *testing.T, handler http.Handler) Source {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	out := Source{Endpoint: strings.TrimPrefix(server.URL, "http://"), Insecure: true, Name: "charts"}
	if s, ok := handler.(*buckettest.Server); ok {
		out.AccessKey, out.SecretKey = s.AccessKey, s.SecretKey
	}
	return out
}

// texts returns the files below a folder.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBucket lists a bucket of several pages with a signature, and fetches a chart and a values file of it. Names are escaped, and rules
// leave out objects. The revision is that of source-controller, which TestFlux in test/e2e compares.
func TestBucket(t *testing.T) {
	server := &buckettest.Server{AccessKey: "reader", SecretKey: "a/secret+key", PageSize: 2}
	server.Put("charts", map[string][]byte{
		".sourceignore": []byte("*.md\n!/charts/web/README.md\n"), "README.md": []byte("no"), "charts/web/README.md": []byte("yes"),
		"charts/web/Chart.yaml": []byte("name: web"), "charts/web/a b+c&d=é%.txt": []byte("escaped"), "charts/web/.git/x": []byte("kept"),
		"charts/web/folder/": nil, "charts/website/Chart.yaml": []byte("no"), "charts/web.png": []byte("no"), "values/prod.yaml": []byte("a: 1"),
		"charts/web/notes/x": []byte("no"),
	})
	source := serve(t, server)
	source.Ignore = "notes/"
	listing, err := Open(t.Context(), source, fetch.Options{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()
	if !listing.Has("charts/web") || !listing.Has("./charts/web/") || !listing.Has("") || listing.Has("charts/we") || listing.Has("README.md") {
		t.Error("Has is wrong")
	}
	text := ""
	for _, o := range [][2]string{ // sorted by their bytes
		{"charts/web.png", "no"}, {"charts/web/.git/x", "kept"}, {"charts/web/Chart.yaml", "name: web"}, {"charts/web/README.md", "yes"},
		{"charts/web/a b+c&d=é%.txt", "escaped"}, {"charts/website/Chart.yaml", "no"}, {"values/prod.yaml", "a: 1"},
	} {
		text += o[0] + " " + server.ETag([]byte(o[1])) + "\n"
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))); listing.Revision() != want {
		t.Errorf("revision %s, want %s", listing.Revision(), want)
	}
	server.Asked()
	dir, err := listing.Fetch(t.Context(), "./charts/web/", "values/prod.yaml", "absent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		".sourceignore": "*.md\n!/charts/web/README.md\n", "charts/web/README.md": "yes", "charts/web/Chart.yaml": "name: web",
		"charts/web/a b+c&d=é%.txt": "escaped", "charts/web/.git/x": "kept", "values/prod.yaml": "a: 1",
	}
	if diff := cmp.Diff(want, texts(t, dir)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	again, err := listing.Fetch(t.Context(), "./charts/web/", "values/prod.yaml", "absent.yaml")
	if asked := server.Asked(); err != nil || again != dir || len(asked) != 5 {
		t.Errorf("%s, %v, requests %q", again, err, asked)
	}
	listing.Close()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// TestRegion checks that a region comes from the source, or else from the server.
func TestRegion(t *testing.T) {
	server := &buckettest.Server{AccessKey: "reader", SecretKey: "secret", Region: "eu-west-1"}
	server.Put("charts", map[string][]byte{"charts/a": []byte("a")})
	source := serve(t, server)
	for region, want := range map[string]string{
		"":          "GET /charts/?location= GET /charts/.sourceignore GET /charts/?encoding-type=url&list-type=2&prefix=charts",
		"eu-west-1": "GET /charts/.sourceignore GET /charts/?encoding-type=url&list-type=2&prefix=charts",
	} {
		source.Region, source.Prefix = region, "charts"
		if _, err := Open(t.Context(), source, fetch.Options{}, 0); err != nil {
			t.Errorf("%q: %v", region, err)
		}
		if got := strings.Join(server.Asked(), " "); got != want {
			t.Errorf("%q:\n got %s\nwant %s", region, got, want)
		}
	}
}

// TestPlaces checks which server is asked for which kind of endpoint.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		source Source
		want   string
	}{
		{Source{Endpoint: "minio.example.com:9000", Name: "charts"}, "https://minio.example.com:9000/charts/a%20b/c"},
		{Source{Endpoint: "minio.example.com", Name: "charts", Insecure: true}, "http://minio.example.com/charts/a%20b/c"},
		{Source{Endpoint: "s3.amazonaws.com", Name: "charts"}, "https://charts.s3.us-east-1.amazonaws.com/a%20b/c"},
		{Source{Endpoint: "s3.amazonaws.com", Name: "charts", Region: "eu-west-1"}, "https://charts.s3.eu-west-1.amazonaws.com/a%20b/c"},
		{Source{Endpoint: "s3.eu-central-1.amazonaws.com", Name: "my.charts"}, "https://s3.eu-central-1.amazonaws.com/my.charts/a%20b/c"},
		{Source{Endpoint: "s3.dualstack.eu-central-1.amazonaws.com", Name: "charts"}, "https://charts.s3.eu-central-1.amazonaws.com/a%20b/c"},
		{Source{Endpoint: "s3.cn-north-1.amazonaws.com.cn", Name: "charts"}, "https://charts.s3.cn-north-1.amazonaws.com.cn/a%20b/c"},
		{Source{Endpoint: "s3-external-1.amazonaws.com", Name: "charts"}, "https://charts.s3.us-east-1.amazonaws.com/a%20b/c"},
		{Source{Endpoint: "storage.googleapis.com", Name: "charts"}, "https://charts.storage.googleapis.com/a%20b/c"},
		{Source{Endpoint: "oss-cn-hangzhou.aliyuncs.com", Name: "charts"}, "https://charts.oss-cn-hangzhou.aliyuncs.com/a%20b/c"},
		{Source{Endpoint: "s3.amazonaws.com.example.com", Name: "charts"}, "https://s3.amazonaws.com.example.com/charts/a%20b/c"},
		{Source{Endpoint: "example.com/s3", Name: "charts"}, "spec.endpoint is not a host with or without a port"},
		{Source{Endpoint: "https://example.com", Name: "charts"}, "spec.endpoint is not a host with or without a port"},
		{Source{Endpoint: "a:b@example.com", Name: "charts"}, "spec.endpoint is not a host with or without a port"},
		{Source{Name: "charts"}, "spec.endpoint is not a host with or without a port"},
		{Source{Endpoint: "s3.amazonaws.com", Name: "example.com:443"}, "spec.bucketName is not the name of a bucket"},
		{Source{Endpoint: "s3.amazonaws.com", Name: "example.com/"}, "spec.bucketName is not the name of a bucket"},
		{Source{Endpoint: "s3.amazonaws.com", Name: "../charts"}, "spec.bucketName is not the name of a bucket"},
		{Source{Endpoint: "s3.amazonaws.com", Name: "charts", Region: "example.com/"}, "spec.region is not the name of a region"},
	} {
		region := tt.source.regionOf()
		if region == "" {
			region = defaultRegion
		}
		p, err := tt.source.placeIn(region)
		got := p.urlOf("a b/c", nil).String()
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.source, got, tt.want)
		}
	}
}

// TestRefusals checks what a server may answer, and that no error has a key or a text of the server.
func TestRefusals(t *testing.T) {
	objects := map[string][]byte{"charts/web": []byte("a")}
	good := func(change func(*buckettest.Server)) http.Handler {
		s := &buckettest.Server{AccessKey: "reader", SecretKey: "longsecretkey"}
		s.Put("charts", objects)
		change(s)
		return s
	}
	list := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/charts/" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			fmt.Fprint(w, text)
		})
	}
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for name, tt := range map[string]struct {
		handler    http.Handler
		change     func(*Source)
		want, hint string
	}{
		"a wrong key": {good(func(*buckettest.Server) {}), func(s *Source) { s.SecretKey = "wrong" },
			".sourceignore: the server answers 403 SignatureDoesNotMatch", "check the keys, and whether spec.region is that of the bucket"},
		"an unknown key": {good(func(*buckettest.Server) {}), func(s *Source) { s.AccessKey = "nobody" },
			".sourceignore: the server answers 403 InvalidAccessKeyId", "check the keys, and whether spec.region is that of the bucket"},
		"no key": {good(func(*buckettest.Server) {}), func(s *Source) { s.AccessKey, s.SecretKey = "", "" },
			".sourceignore: the server answers 403 AccessDenied", "check the keys, and whether spec.region is that of the bucket"},
		"another region": {good(func(*buckettest.Server) {}), func(s *Source) { s.Region = "eu-west-1" },
			".sourceignore: the server answers 403 AuthorizationHeaderMalformed", "check the keys, and whether spec.region is that of the bucket"},
		"no bucket": {good(func(*buckettest.Server) {}), func(s *Source) { s.Name = "other" },
			".sourceignore: the server answers 404 NoSuchBucket", "check spec.bucketName, and whether the bucket is on the server of spec.endpoint"},
		"a redirect": {http.RedirectHandler(other.URL+"/charts/", http.StatusTemporaryRedirect), func(s *Source) { s.AccessKey, s.SecretKey = "a", "b" },
			".sourceignore: the server answers 307 Temporary Redirect",
			"redirects are not followed: spec.endpoint or spec.region names another server than that of the bucket"},
		"no XML":      {list("<html>welcome"), nil, "the answer is not one of S3", ""},
		"another XML": {list("<other/>"), nil, "the answer is not one of S3", ""},
		"an entity": {list(`<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>`),
			nil, "the answer is not one of S3", ""},
		"a document of another server": {list(`<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><ListBucketResult><Contents><Key>&a;</Key></Contents></ListBucketResult>`),
			nil, "the answer is not one of S3", ""},
		"deep XML":           {list(strings.Repeat("<a>", 1<<20)), nil, "the answer is not one of S3", ""},
		"a page without end": {list("<ListBucketResult>" + strings.Repeat(" ", maxPage)), nil, "an answer has more than 8 MiB", ""},
		"pages without end": {list("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>"),
			nil, "the list of objects has more than 1000 pages", ""},
		"many objects": {list("<ListBucketResult>" + strings.Repeat("<Contents/>", maxObjects+1) + "</ListBucketResult>"),
			nil, "the bucket has more than 50000 objects", "a spec.prefix leaves out others"},
		"no next page":      {list("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"), nil, "the list of objects goes on, and does not say where", ""},
		"a name half coded": {list("<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%2</Key></Contents></ListBucketResult>"), nil, "the list of objects has a name that is not encoded", ""},
		"an error of its own": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "<Error><Code>\x1b[31mhello longsecretkey</Code></Error>")
		}), nil, ".sourceignore: the server answers 503 Service Unavailable", "try again later"},
	} {
		t.Run(name, func(t *testing.T) {
			source := serve(t, tt.handler)
			if tt.change != nil {
				tt.change(&source)
			}
			_, err := Open(t.Context(), source, fetch.Options{}, time.Minute)
			if err == nil || err.Error() != "listing the objects: "+tt.want || hint.Of(err) != tt.hint {
				t.Errorf("%v\nhint %q", err, hint.Of(err))
			}
			if err != nil && strings.Contains(err.Error()+hint.Of(err), "longsecretkey") {
				t.Error("a key is shown")
			}
		})
	}
	if elsewhere > 0 {
		t.Error("a redirect was followed")
	}
}

// TestAddresses checks that no connection is made to an address that is refused, and that time has a limit.
func TestAddresses(t *testing.T) {
	server := &buckettest.Server{}
	server.Put("charts", map[string][]byte{"a": nil})
	_, err := Open(t.Context(), serve(t, server), fetch.Options{Refuse: func(ip netip.Addr) error { return fmt.Errorf("%s is refused", ip) }}, 0)
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1 is refused") || len(server.Asked()) > 0 {
		t.Errorf("%v", err)
	}
	slow := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	_, err = Open(t.Context(), slow, fetch.Options{}, 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "listing the objects of the bucket takes longer than 50ms") || hint.Of(err) != "--render-timeout allows more" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
}

// TestKeys checks that no name of an object leads out of the folder, that names which get the same path are refused, and that objects which
// are not as the list says are refused too.
func TestKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		objects map[string]string
		wanted  string
		want    map[string]string
		fails   string
	}{
		"out of the folder": {map[string]string{"../../x": "a", "/y": "b", "web/../../z": "c"}, "", map[string]string{"x": "a", "y": "b", "z": "c"}, ""},
		"the same path":     {map[string]string{"web//a": "1", "web/a": "2"}, "web", nil, `the objects "web//a" and "web/a" have the same path`},
		"elsewhere":         {map[string]string{"web//a": "1", "web/a": "2", "b": "3"}, "b", map[string]string{"b": "3"}, ""},
		"a file as a folder": {map[string]string{"web": "1", "web/a": "2"}, "web", nil,
			"it cannot be stored as a file: its name is that of a folder, leads through another object"},
		"no name":       {map[string]string{"..": "1"}, "", nil, "have the same path"},
		"a null":        {map[string]string{"web/\x01\x00": "1"}, "web", nil, "it cannot be stored as a file"},
		"a long name":   {map[string]string{"web/" + strings.Repeat("a", 300): "1"}, "web", nil, "it cannot be stored as a file"},
		"nothing there": {map[string]string{"web/a": "1"}, "other", map[string]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server, objects := &buckettest.Server{}, map[string][]byte{}
			for key, text := range tt.objects {
				objects[key] = []byte(text)
			}
			server.Put("charts", objects)
			listing, err := Open(t.Context(), serve(t, server), fetch.Options{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer listing.Close()
			dir, err := listing.Fetch(t.Context(), tt.wanted)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, texts(t, dir)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestChanged checks that objects that change, go or are too long after the list are errors.
func TestChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		change map[string][]byte
		most   int64
		want   string
	}{
		"another content":    {map[string][]byte{"web": []byte("other")}, 0, `object "web": it changed while the bucket was read; try again`},
		"the same length":    {map[string][]byte{"web": []byte("axc")}, 0, `object "web": it changed while the bucket was read; try again`},
		"an empty one":       {map[string][]byte{"web": nil}, 0, `object "web": it changed while the bucket was read; try again`},
		"none":               {nil, 0, `object "web": the server answers 404 NoSuchKey`},
		"more than may come": {map[string][]byte{"web": []byte("abc")}, 2, "the objects of the chart have more than 0 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &buckettest.Server{}
			server.Put("charts", map[string][]byte{"web": []byte("abc")})
			listing, err := Open(t.Context(), serve(t, server), fetch.Options{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer listing.Close()
			if tt.most > 0 {
				listing.most = tt.most
			}
			server.Put("charts", tt.change)
			if _, err := listing.Fetch(t.Context(), "web"); err == nil || err.Error() != tt.want {
				t.Errorf("%v", err)
			}
		})
	}
}
