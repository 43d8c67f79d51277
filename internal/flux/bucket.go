package flux

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/internal/flux/bucket"
	"github.com/helmdrift/helmdrift/internal/flux/tree"
	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/unknown"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// This file fetches the chart in a Bucket. A bucket has no history, so its objects may be others than those that source-controller has.
// Their revision says whether they are.

// Buckets returns the function Question.Bucket for the user's own settings and for limits of time and of the bytes of an answer. 0 is no
// limit.
func Buckets(o fetch.Options, limit time.Duration, most int64) func(context.Context, bucket.Source) (*bucket.Listing, func(), error) {
	return func(ctx context.Context, s bucket.Source) (*bucket.Listing, func(), error) {
		o := o // each source has its own addresses
		o.MaxAnswer = most
		o.Refuse = func(ip netip.Addr) error { return address.Check(ip, "spec.endpoint", s.InTree) }
		listing, err := bucket.Open(ctx, s, o, limit)
		if err != nil {
			return nil, func() {}, err
		}
		return listing, listing.Close, nil
	}
}

// hasBucket reports whether the chart is in a bucket that can be fetched from.
func (o *offer) hasBucket(q Question) bool {
	return q.Bucket != nil && o.repository != nil && o.repository.kind == tree.KindBucket && o.unread == ""
}

// notS3 says after a colon why a Bucket cannot be read with the API of S3 and keys that helmdrift can have, or returns ""
// (fluxcd/source-controller v1.9.3 internal/bucket/minio/minio.go NewClient).
func (s *source) notS3(q Question) string {
	hasKeys := s.Spec.SecretRef != nil || q.Source.Username != ""
	switch {
	case s.Spec.Provider == "azure" || s.Spec.Provider == "gcp":
		return ": the provider " + s.Spec.Provider + " has another API than S3"
	case hasKeys:
		return ""
	case s.Spec.Provider == "aws":
		return ": the provider aws without a secretRef is for the identity of source-controller"
	case s.Spec.STS != nil:
		return ": spec.sts gives keys to source-controller alone"
	}
	return ""
}

// fetchBucket fetches the objects of the chart and makes them the artifact of the order.
func (p *Plan) fetchBucket(ctx context.Context, q Question) error {
	o, s := p.offer, p.offer.repository
	if err := o.reach(s); err != nil {
		return err
	}
	if s.Spec.ProxySecretRef != nil {
		o.doubts = append(o.doubts, "spec.proxySecretRef of "+o.title+" is not used: the proxy of your environment is")
	}
	from := bucket.Source{
		Endpoint: s.Spec.Endpoint, Insecure: s.Spec.Insecure, Name: s.Spec.Bucket, Region: s.Spec.Region, Prefix: s.Spec.Prefix,
		Ignore: s.Spec.Ignore, AccessKey: q.Source.Username, SecretKey: q.Source.Password, InTree: s.inTree,
	}
	if o.login != nil && q.WithCredentials {
		if err := p.addKeys(ctx, q, &from); err != nil {
			return err
		}
	}
	listing, done, err := q.Bucket(ctx, from)
	if err != nil {
		return p.bucketFault(err, from.AccessKey != "")
	}
	p.files.Keep(done)
	if err := p.compareRevision(listing.Revision()); err != nil {
		return err
	}
	if !listing.Has(o.chartPath) {
		return hint.New(fmt.Errorf("%s has no object %s or below it, or its rules leave them out", o.title, o.chartPath),
			"check spec.chart.spec.chart, and spec.prefix and spec.ignore of the Bucket")
	}
	dir, err := listing.Fetch(ctx, append([]string{o.chartPath}, o.order.ValuesFiles...)...)
	if err != nil {
		return p.bucketFault(err, from.AccessKey != "")
	}
	o.order.Artifact = &ArtifactOrder{Dir: dir, Kind: tree.KindBucket, Ignore: s.Spec.Ignore, Chart: o.chartPath}
	return nil
}

// addKeys adds the keys in the Secret of the source.
func (p *Plan) addKeys(ctx context.Context, q Question, to *bucket.Source) error {
	o := p.offer
	value, err := o.secret(ctx, p.reading, q.Known)
	if err != nil {
		return err
	}
	if to.AccessKey, to.SecretKey = value("accesskey"), value("secretkey"); to.AccessKey == "" || to.SecretKey == "" {
		return fmt.Errorf("%s has no accesskey and secretkey for %s", o.secretTitle(), o.title)
	}
	q.Known.Add(to.SecretKey)
	return nil
}

// bucketFault returns the error of a bucket that could not be read, with what to try.
func (p *Plan) bucketFault(err error, hasKeys bool) error {
	o, advice := p.offer, hint.Of(err)
	switch {
	case !hasKeys && bucket.IsRefused(err) && o.login != nil:
		advice = "the source has a secretRef: --with-source-credentials uses its keys, and --username and --password give others"
	case !hasKeys && bucket.IsRefused(err):
		advice = "--username and --password give an access key and a secret key"
	case advice == "":
		advice = "if the address is reachable in the cluster only, forward its port or give the chart as CHART"
	}
	return hint.New(fmt.Errorf("%s: %w", o.title, err), advice)
}

// compareRevision compares what a bucket has now with what source-controller has of it. What it has now comes next, unless the Bucket is
// suspended: then what comes next cannot be fetched any more.
func (p *Plan) compareRevision(now string) error {
	o, s := p.offer, p.offer.repository
	has := ""
	if s.Status.Artifact != nil {
		has = s.Status.Artifact.Revision
	}
	isKnown := has == "" || strings.HasPrefix(has, bucket.Algorithm)
	switch {
	case !isKnown:
		p.warn(CodeDigest, "whether the objects of "+o.title+" are those that source-controller has is not known: "+
			"the digest in its revision is not sha256")
	case has == now || has == "" && !s.Spec.Suspend:
	case s.Spec.Suspend:
		return hint.New(errors.New(o.title+" is suspended, and its objects are not those that source-controller has any more"),
			p.adviceForChart())
	default:
		p.warn(CodeDigest, fmt.Sprintf("the objects of %s are not those that source-controller has: it has revision %s, and the bucket %s; "+
			"the comparison is with what it fetches next", o.title, shortDigest(has), shortDigest(now)))
	}
	if o.revises {
		if o.setRevision(shortDigest(now)); !isKnown {
			o.setRevision(unknown.Text)
		}
	}
	return nil
}
