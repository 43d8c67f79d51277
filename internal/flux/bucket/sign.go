package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// This file signs requests. docs/dev/dependencies.md says why it is written here.

// emptyBody is the digest of the body of a GET request.
const emptyBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign adds a signature of version 4 with the keys of a source to a GET request. The path and the query of its URL must be in the canonical
// form already, as urlOf makes them
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
func (s Source) sign(r *http.Request, region string, now time.Time) {
	const algorithm = "AWS4-HMAC-SHA256"
	stamp := now.UTC().Format("20060102T150405Z")
	day := stamp[:len("20060102")]
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", emptyBody)
	headers := []string{"host:" + r.URL.Host}
	for name, values := range r.Header {
		headers = append(headers, strings.ToLower(name)+":"+strings.Join(values, ","))
	}
	slices.Sort(headers)
	names := make([]string, len(headers))
	for i, header := range headers {
		names[i], _, _ = strings.Cut(header, ":")
	}
	signed := strings.Join(names, ";")
	lines := strings.Join(headers, "\n") + "\n"
	request := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, lines, signed, emptyBody}, "\n")
	sum := sha256.Sum256([]byte(request))
	scope := strings.Join([]string{day, region, "s3", "aws4_request"}, "/")
	text := strings.Join([]string{algorithm, stamp, scope, hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + s.SecretKey)
	for _, part := range []string{day, region, "s3", "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	r.Header.Set("Authorization", algorithm+" Credential="+s.AccessKey+"/"+scope+", SignedHeaders="+signed+
		", Signature="+hex.EncodeToString(key))
}
