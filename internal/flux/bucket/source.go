package bucket

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/helmdrift/helmdrift/internal/flux/api"
)

// Source says where a bucket is, and which of its objects belong to the Bucket of Flux.
type Source struct {
	// Endpoint is a host with or without a port. Insecure is set if it has no TLS.
	Endpoint string
	Insecure bool
	Name     string
	// Region may be empty. Then the endpoint names it, or the server is asked for it.
	Region string
	// Prefix begins the names of the objects, and Ignore is spec.ignore.
	Prefix, Ignore string
	// AccessKey and SecretKey sign the requests. Without them, requests are anonymous.
	AccessKey, SecretKey string
	// InTree is set if a working tree names the source.
	InTree bool
}

// defaultRegion is the region of a bucket that nothing says the region of.
const defaultRegion = "us-east-1"

// amazon matches the hosts of Amazon that have all buckets of a region, or of all regions (minio-go v7.2.0 pkg/s3utils/utils.go
// GetRegionFromURL).
var amazon = regexp.MustCompile(`^s3(?:[.-](?:dualstack\.)?([a-z0-9-]+))?\.amazonaws\.com(\.cn)?$`)

// place is where the objects of a source are.
type place struct {
	// base is the address of the server, and path begins the path of each object.
	base url.URL
	path string
}

// regionOf returns the region that a source or its endpoint names, or "".
func (s Source) regionOf() string {
	region := ""
	if found := amazon.FindStringSubmatch(s.Endpoint); found != nil && found[1] != "external-1" {
		region = found[1]
	}
	return cmp.Or(s.Region, region)
}

// placeIn returns where the objects are if the bucket is in a region. As minio-go does it, the bucket is a part of the host for servers
// that are known to have such hosts, and else the first element of the path (minio-go v7.2.0 api.go makeTargetURL,
// isVirtualHostStyleRequest).
func (s Source) placeIn(region string) (place, error) {
	base, err := url.Parse(api.EndpointURL(s.Endpoint, s.Insecure))
	switch {
	case err != nil || base.Host == "" || base.Host != strings.TrimSuffix(s.Endpoint, "/"):
		return place{}, errors.New("spec.endpoint is not a host with or without a port")
	case !isBucketName.MatchString(s.Name) || strings.Contains(s.Name, ".."):
		return place{}, errors.New("spec.bucketName is not the name of a bucket")
	case !isWord.MatchString(region):
		return place{}, errors.New("spec.region is not the name of a region")
	}
	found := amazon.FindStringSubmatch(base.Host)
	if found != nil {
		base.Host = "s3." + region + ".amazonaws.com" + found[2]
	}
	host := base.Hostname()
	hasHost := found != nil || host == "storage.googleapis.com" || strings.HasSuffix(host, ".aliyuncs.com")
	if hasHost && (s.Insecure || !strings.Contains(s.Name, ".")) { // a certificate is for one label more
		base.Host = s.Name + "." + base.Host
		return place{*base, "/"}, nil
	}
	return place{*base, "/" + s.Name + "/"}, nil
}

// isBucketName matches the names that minio-go accepts (minio-go v7.2.0 pkg/s3utils/utils.go CheckValidBucketName), but none with a colon:
// before a host, it would end the host.
var isBucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)

// isWord matches the names of regions and the codes of errors.
var isWord = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// urlOf returns the URL of an object, or that of the bucket if key is empty. Its path and its query are in the form that a signature needs.
func (p place) urlOf(key string, query url.Values) *url.URL {
	u := p.base
	u.Path = p.path + key
	u.RawPath = strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(u.Path))
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return &u
}
