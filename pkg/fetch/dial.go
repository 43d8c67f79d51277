package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// transport returns a transport that connects only to addresses that Options.Refuse accepts. It asks after the name of the server was
// resolved, so a name cannot change its address in between. An address of a proxy is the user's own.
func (f fetcher) transport(config *tls.Config) *http.Transport {
	out := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config}
	if f.Refuse == nil {
		return out
	}
	var proxies sync.Map
	out.Proxy = func(request *http.Request) (*url.URL, error) {
		proxy, err := http.ProxyFromEnvironment(request)
		if proxy != nil {
			proxies.Store(hostAndPort(proxy), true)
		}
		return proxy, err
	}
	free := net.Dialer{Timeout: dialTime}
	bound := free
	bound.Control = func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil {
			err = f.Refuse(at.Addr().Unmap())
		}
		return err
	}
	out.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if _, isProxy := proxies.Load(address); isProxy {
			return free.DialContext(ctx, network, address)
		}
		return bound.DialContext(ctx, network, address)
	}
	return out
}

// dialTime is how long to wait for a connection, as in http.DefaultTransport.
const dialTime = 30 * time.Second

// hostAndPort returns the address that net/http dials for a URL.
func hostAndPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Client returns a client that connects only to addresses that Options.Refuse accepts, and follows no redirect. Of the other options,
// MaxAnswer and the certificates count. Explain describes its errors.
func Client(o Options) (*http.Client, error) {
	f := fetcher{Options: o}
	config, err := f.access().tlsConfig()
	next := f.transport(config)
	next.DisableCompression = true
	return &http.Client{
		Transport:     &boundTransport{ctx: context.Background(), limit: f.maxAnswer(), next: next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, err
}

// Explain returns an error in one line without credentials. Subject says what was being done until it happened or ctx ended.
func Explain(ctx context.Context, subject string, err error) error {
	return fetcher{ctx: ctx}.asError(subject, err)
}

// File fetches a file from an address of https without credentials. Of the options, MaxAnswer and Refuse count. Errors have no credentials.
func File(ctx context.Context, address string, o Options) ([]byte, error) {
	f := fetcher{Options: o, ctx: ctx}
	client := &http.Client{
		Transport: &boundTransport{ctx: ctx, limit: f.maxAnswer(), next: f.transport(nil)},
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects || request.URL.Scheme != "https" {
				return fmt.Errorf("it redirects to %s", WithoutLogin(request.URL.String()))
			}
			return nil
		},
	}
	text, err := readAnswer(client.Get(address))
	if err != nil {
		return nil, f.asError("fetching "+WithoutLogin(address), err)
	}
	return text, nil
}

// maxRedirects is how many redirects a file may have, as in net/http.
const maxRedirects = 10
