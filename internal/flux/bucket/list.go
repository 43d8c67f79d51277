package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/once"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// The limits of a bucket. Source-controller itself fetches all objects within spec.timeout, a minute by default.
const (
	maxObjects = 50_000  // objects with the prefix, whether or not a rule leaves them out
	maxPages   = 1_000   // answers that a list has
	maxPage    = 8 << 20 // bytes of a page: the names of 1,000 objects are at most 3 MiB
	maxIgnore  = 1 << 20 // bytes of .sourceignore
	maxError   = 1 << 16 // bytes of an error
)

// Listing are the objects of a bucket that source-controller keeps.
type Listing struct {
	source Source
	client *http.Client
	region string
	place  place
	most   int64
	// objects are those of the list that no rule leaves out, by their keys.
	objects map[string]object
	// ignore is the content of .sourceignore, or nil if there is none.
	ignore []byte
	// limit bounds the time of a call.
	limit   time.Duration
	fetched once.Map[string, string]

	mu   sync.Mutex
	dirs []string
}

// object is what the list says about an object.
type object struct {
	etag string
	size int64
}

// Open lists the objects of a bucket (fluxcd/source-controller v1.9.3 internal/controller/bucket_controller.go fetchEtagIndex). The limit
// is for the time that it may take, and later for that of Fetch; 0 is none. The caller closes the listing. Errors have one line and no
// credentials.
func Open(ctx context.Context, s Source, o fetch.Options, limit time.Duration) (*Listing, error) {
	l := &Listing{source: s, objects: map[string]object{}, most: fetch.LargestAnswer, limit: limit}
	if o.MaxAnswer > 0 {
		l.most = min(o.MaxAnswer, l.most)
	}
	const doing = "listing the objects"
	ctx, cancel := l.within(ctx, doing)
	defer cancel()
	if err := l.open(ctx, o); err != nil {
		return nil, explain(ctx, doing, err)
	}
	return l, nil
}

// within returns a context that ends at the limit of time.
func (l *Listing) within(ctx context.Context, doing string) (context.Context, context.CancelFunc) {
	if l.limit == 0 {
		return ctx, func() {}
	}
	err := fmt.Errorf("%s of the bucket takes longer than %s", doing, l.limit)
	return context.WithTimeoutCause(ctx, l.limit, hint.New(err, "--render-timeout allows more"))
}

// open does what Open does.
func (l *Listing) open(ctx context.Context, o fetch.Options) (err error) {
	l.region = l.source.regionOf()
	if l.place, err = l.source.placeIn(defaultRegion); err != nil {
		return err
	}
	if l.client, err = fetch.Client(o); err != nil {
		return err
	}
	if l.region == "" {
		if l.region, err = l.askRegion(ctx); err != nil {
			return err
		}
	}
	if l.place, err = l.source.placeIn(l.region); err != nil {
		return err
	}
	if l.ignore, err = l.readIgnore(ctx); err != nil {
		return fmt.Errorf("%s: %w", tree.IgnoreFile, err)
	}
	return l.list(ctx)
}

// askRegion asks the server for the region of the bucket, as minio-go does. Without keys, no server says it.
func (l *Listing) askRegion(ctx context.Context) (string, error) {
	l.region = defaultRegion
	if l.source.AccessKey == "" {
		return l.region, nil
	}
	response, err := l.get(ctx, "", url.Values{"location": {""}})
	if refused := (refusal{}); errors.As(err, &refused) {
		if isWord.MatchString(refused.Region) {
			return refused.Region, nil
		}
		return l.region, nil // the list says what is wrong
	}
	if err != nil {
		return "", err
	}
	var answer struct {
		XMLName xml.Name `xml:"LocationConstraint"`
		Text    string   `xml:",chardata"`
	}
	if err := decode(response, &answer); err != nil {
		return "", err
	}
	switch region := strings.TrimSpace(answer.Text); {
	case region == "EU":
		return "eu-west-1", nil
	case isWord.MatchString(region):
		return region, nil
	}
	return l.region, nil
}

// readIgnore returns the content of .sourceignore, or nil if the bucket has none.
func (l *Listing) readIgnore(ctx context.Context) ([]byte, error) {
	response, err := l.get(ctx, tree.IgnoreFile, nil)
	if refused := (refusal{}); errors.As(err, &refused) && refused.status == http.StatusNotFound && refused.Code != "NoSuchBucket" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return files.ReadAll("it", response.Body, maxIgnore)
}

// page is an answer to ListObjectsV2.
type page struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []struct {
		Key, ETag string
		Size      int64
	}
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string
}

// list reads the list of objects, and leaves out what source-controller leaves out.
func (l *Listing) list(ctx context.Context) error {
	ignores := tree.BucketRules(string(l.ignore), l.source.Ignore)
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {l.source.Prefix}}
	count := 0
	for range maxPages {
		response, err := l.get(ctx, "", query)
		if err != nil {
			return err
		}
		var page page
		if err := decode(response, &page); err != nil {
			return err
		}
		if count += len(page.Contents); count > maxObjects {
			return hint.New(fmt.Errorf("the bucket has more than %d objects", maxObjects), "a spec.prefix leaves out others")
		}
		for _, o := range page.Contents {
			key := o.Key
			if page.EncodingType == "url" {
				if key, err = url.QueryUnescape(key); err != nil {
					return errors.New("the list of objects has a name that is not encoded")
				}
			}
			if !strings.HasSuffix(key, "/") && key != tree.IgnoreFile && !ignores(key) {
				l.objects[key] = object{trim(o.ETag), o.Size}
			}
		}
		if !page.IsTruncated {
			return nil
		}
		if page.NextContinuationToken == "" {
			return errors.New("the list of objects goes on, and does not say where")
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
	return fmt.Errorf("the list of objects has more than %d pages", maxPages)
}

// trim removes the quotes of an ETag.
func trim(etag string) string { return strings.TrimSuffix(strings.TrimPrefix(etag, `"`), `"`) }

// Revision returns the revision that source-controller gives the Bucket: the digest of the names and the ETags (fluxcd/source-controller
// v1.9.3 internal/index/digest.go Digest).
func (l *Listing) Revision() string {
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(l.objects)) {
		_, _ = fmt.Fprintf(sum, "%s %s\n", key, l.objects[key].etag)
	}
	return Algorithm + hex.EncodeToString(sum.Sum(nil))
}

// Algorithm begins a revision. Source-controller uses another one if a flag says so.
const Algorithm = "sha256:"

// get asks for an object, or for something about the bucket if key is empty. The caller closes the answer.
func (l *Listing) get(ctx context.Context, key string, query url.Values) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.place.base.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.URL = l.place.urlOf(key, query)
	if l.source.AccessKey != "" {
		l.source.sign(request, l.region, time.Now())
	}
	response, err := l.client.Do(request)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	refused := refusal{}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxError))
	_ = xml.Unmarshal(text, &refused) // what is no error of S3 has a status
	refused.status = response.StatusCode
	return nil, refused
}

// refusal is an answer that refuses a request.
type refusal struct {
	Code, Region string
	status       int
}

// Error says what the server answers. The code is foreign text.
func (r refusal) Error() string {
	code := r.Code
	if !isWord.MatchString(code) {
		code = http.StatusText(r.status)
	}
	return fmt.Sprintf("the server answers %d %s", r.status, code)
}

// Hint says what to try.
func (r refusal) Hint() string {
	switch {
	case r.Code == "NoSuchBucket":
		return "check spec.bucketName, and whether the bucket is on the server of spec.endpoint"
	case r.status >= http.StatusInternalServerError || r.status == http.StatusTooManyRequests:
		return "try again later"
	case r.status >= http.StatusBadRequest && r.Code != "NoSuchKey":
		return "check the keys, and whether spec.region is that of the bucket"
	case r.status < http.StatusBadRequest:
		return "redirects are not followed: spec.endpoint or spec.region names another server than that of the bucket"
	}
	return ""
}

// IsRefused reports whether an error says that the server refuses access.
func IsRefused(err error) bool {
	var refused refusal
	return errors.As(err, &refused) && (refused.status == http.StatusForbidden || refused.status == http.StatusUnauthorized)
}

// explain makes an error of this package or of net/http one line. Subject says what was being done.
func explain(ctx context.Context, subject string, err error) error {
	if refused := (refusal{}); errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", subject, err)
	}
	return fetch.Explain(ctx, subject, err)
}

// decode reads an answer in XML.
func decode(response *http.Response, out any) error {
	defer response.Body.Close()
	text, err := files.ReadAll("an answer", response.Body, maxPage)
	if err == nil && xml.Unmarshal(text, out) != nil {
		err = errors.New("the answer is not one of S3")
	}
	return err
}
