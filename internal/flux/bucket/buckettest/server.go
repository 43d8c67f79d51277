// Package buckettest has a server with the part of the API of S3 that a Bucket of Flux needs, for tests. It checks signatures with code of
// its own.
package buckettest

import (
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server serves buckets. Its fields do not change while it serves.
type Server struct {
	// AccessKey and SecretKey are those of the only user. Without them, everybody may read.
	AccessKey, SecretKey string
	// Region is the one that signatures must name. It is us-east-1 if it is empty.
	Region string
	// PageSize is how many objects an answer lists, or 0 for 1,000.
	PageSize int

	mu      sync.Mutex
	buckets map[string]map[string][]byte
	asked   []string
}

// Put sets the objects of a bucket by their keys.
func (s *Server) Put(bucket string, objects map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets == nil {
		s.buckets = map[string]map[string][]byte{}
	}
	s.buckets[bucket] = objects
}

// Asked returns the requests since it was called last, each as "GET /bucket/key" or "GET /bucket/?query".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// ETag returns the ETag of a content without quotes.
func (s *Server) ETag(content []byte) string { return fmt.Sprintf("%x", md5.Sum(content)) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := r.Method + " " + r.URL.Path
	if r.URL.RawQuery != "" {
		asked += "?" + r.URL.RawQuery
	}
	s.asked = append(s.asked, asked)
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	objects, isThere := s.buckets[bucket]
	query := r.URL.Query()
	switch code := s.check(r, query.Has("location")); {
	case code != "":
		refuse(w, http.StatusForbidden, code)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	case !isThere:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case query.Has("location"):
		answer(w, struct {
			XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
			Region  string   `xml:",chardata"`
		}{Region: s.Region})
	case key == "" && query.Get("list-type") == "2":
		s.list(w, objects, query)
	case key == "" && r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	default:
		content, isThere := objects[key]
		etag := `"` + s.ETag(content) + `"`
		match := r.Header.Get("If-Match")
		switch {
		case !isThere:
			refuse(w, http.StatusNotFound, "NoSuchKey")
		case match != "" && match != etag:
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		default:
			w.Header().Set("ETag", etag)
			w.Header().Set("Content-Length", strconv.Itoa(len(content)))
			w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
			if r.Method == http.MethodGet {
				_, _ = w.Write(content)
			}
		}
	}
}

// list answers ListObjectsV2. A continuation token is the last key of the page before.
func (s *Server) list(w http.ResponseWriter, objects map[string][]byte, query url.Values) {
	type listed struct {
		Key, ETag string
		Size      int
	}
	out := struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		EncodingType          string   `xml:",omitempty"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []listed
	}{EncodingType: query.Get("encoding-type")}
	const most = 1000
	size := cmp.Or(s.PageSize, most)
	last := ""
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if key <= query.Get("continuation-token") || !strings.HasPrefix(key, query.Get("prefix")) {
			continue
		}
		if len(out.Contents) == size {
			out.IsTruncated, out.NextContinuationToken = true, last
			break
		}
		last = key
		shown := key
		if out.EncodingType == "url" {
			shown = url.QueryEscape(key)
		}
		out.Contents = append(out.Contents, listed{shown, `"` + s.ETag(objects[key]) + `"`, len(objects[key])})
	}
	answer(w, out)
}

func answer(w http.ResponseWriter, value any) {
	text, err := xml.Marshal(value)
	if err != nil {
		panic(err) // the types are those above
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(append([]byte(xml.Header), text...))
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>a message that nobody shows</Message></Error>", xml.Header, code)
}

// check returns the code of the error of a request without a valid signature, or "".
func (s *Server) check(r *http.Request, asksRegion bool) string {
	given := r.Header.Get("Authorization")
	if s.AccessKey == "" {
		return ""
	}
	fields := map[string]string{}
	method, rest, _ := strings.Cut(given, " ")
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	region := cmp.Or(s.Region, "us-east-1")
	if asksRegion {
		region = "us-east-1" // whoever asks does not know it yet
	}
	const parts = 5
	switch {
	case method != "AWS4-HMAC-SHA256" || len(scope) != parts:
		return "AccessDenied"
	case scope[0] != s.AccessKey:
		return "InvalidAccessKeyId"
	case scope[2] != region:
		return "AuthorizationHeaderMalformed"
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	request := r.Method + "\n" + encoded(r.URL.Path, "/") + "\n" + canonicalQuery(r.URL.Query()) + "\n" + headers.String() + "\n" +
		fields["SignedHeaders"] + "\n" + r.Header.Get("X-Amz-Content-Sha256")
	text := fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"),
		sha256.Sum256([]byte(request)))
	key := mac(mac(mac(mac([]byte("AWS4"+s.SecretKey), scope[1]), scope[2]), scope[3]), scope[4])
	if hex.EncodeToString(mac(key, text)) != fields["Signature"] {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalQuery returns the parameters of a query in the form that is signed.
func canonicalQuery(query url.Values) string {
	var out []string
	for name, values := range query {
		for _, value := range values {
			out = append(out, encoded(name, "")+"="+encoded(value, ""))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "&")
}

// encoded encodes each byte that is not a letter, a digit, one of -._~ or one of others.
func encoded(text, others string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~"+others, c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
