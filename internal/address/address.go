package address

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// CheckURL refuses the address of a source that no source has: another scheme than those of charts, and those that Check
// refuses. What names the field in messages.
func CheckURL(text, what string, inTree bool) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s is not a URL", what)
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "oci" {
		return fmt.Errorf("%s has the scheme %s, and charts are fetched from http, https and oci", what, u.Scheme)
	}
	for _, one := range Lookup(u.Hostname()) {
		if err := Check(one, what, inTree); err != nil {
			return err
		}
	}
	return nil
}

// Lookup returns the addresses of a host that are known now.
func Lookup(host string) (out []netip.Addr) {
	texts := []string{host}
	if found, err := net.LookupHost(host); err == nil {
		texts = append(texts, found...)
	}
	for _, text := range texts {
		if ip, err := netip.ParseAddr(text); err == nil && !slices.Contains(out, ip.Unmap()) {
			out = append(out, ip.Unmap())
		}
	}
	return out
}

// Check returns an error for a link-local address, where clouds serve the credentials of a machine. Whoever may write a source of
// the cluster could let others fetch from there. An address of this machine is allowed: a forwarded port, or a registry for tests. It is
// not if a tree names it, which anybody may propose.
func Check(ip netip.Addr, what string, inTree bool) error {
	ip = ip.Unmap()
	switch {
	case inTree && ip.IsLoopback():
		return fmt.Errorf("%s has the address %s of this machine, which no working tree may name", what, ip)
	case isMetadata(ip):
		return hint.New(fmt.Errorf("%s has the address %s, where a cloud serves credentials of a machine", what, ip),
			"nothing is fetched from there; if you have the chart, give it as CHART")
	}
	return nil
}

// isMetadata reports whether an address is link-local, or that of a metadata service elsewhere.
func isMetadata(ip netip.Addr) bool {
	known := []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192")}
	return slices.Contains(known, ip.WithZone("")) || ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip.IsUnspecified()
}
