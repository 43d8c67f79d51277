package live

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/helmdrift/helmdrift/internal/gunzip"
)

// This file reads an answer of the server as a whole.

// unzippers keep the tables that unpack answers.
var unzippers = sync.Pool{New: func() any { return &gunzip.Reader{} }}

// acceptGzip returns the request as one whose answer may be compressed. net/http would ask for the same and unpack the answer piece by
// piece, into memory that grows by copying.
func acceptGzip(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Encoding", "gzip")
	return req
}

// readWhole reads the body of an answer to its end, and unpacks it.
func readWhole(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		return body, err
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	if len(body) == 0 { // an answer without a body may have the header, too
		return nil, nil
	}
	unzipper := unzippers.Get().(*gunzip.Reader)
	defer unzippers.Put(unzipper)
	var text bytes.Buffer
	err = unzipper.Unpack(&text, body, gunzip.NoLimit)
	return text.Bytes(), err
}

// wholeBody is the body of an answer that was read to its end. It gives access to the bytes without a copy.
type wholeBody struct {
	*bytes.Reader
	bytes []byte
}

func newWholeBody(data []byte) *wholeBody { return &wholeBody{bytes.NewReader(data), data} }

// Close does nothing; the bytes are in memory.
func (*wholeBody) Close() error { return nil }
