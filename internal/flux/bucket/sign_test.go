package bucket

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestSign checks signatures with the examples of AWS
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
func TestSign(t *testing.T) {
	s := Source{Endpoint: "s3.amazonaws.com", Name: "examplebucket", AccessKey: "AKIAIOSFODNN7EXAMPLE",
		SecretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	p := place{url.URL{Scheme: "https", Host: "examplebucket.s3.amazonaws.com"}, "/"}
	for _, tt := range []struct {
		key    string
		query  url.Values
		header http.Header
		want   string
	}{
		{"test.txt", nil, http.Header{"Range": {"bytes=0-9"}}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"", url.Values{"lifecycle": {""}}, nil, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"", url.Values{"prefix": {"J"}, "max-keys": {"2"}}, nil, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r := &http.Request{Method: http.MethodGet, URL: p.urlOf(tt.key, tt.query), Header: http.Header{}}
		for name, values := range tt.header {
			r.Header[name] = values
		}
		s.sign(r, "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		_, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
		if got != tt.want {
			t.Errorf("%s: %s", r.URL, r.Header.Get("Authorization"))
		}
	}
}
