package address

import (
	"net/netip"
	"strings"
	"testing"
)

// TestCheckAddress checks which addresses of sources are refused.
func TestCheckAddress(t *testing.T) {
	for url, want := range map[string]string{
		"https://192.0.2.1/charts": "", "oci://127.0.0.1:5000/charts": "", "http://[::1]/charts": "",
		"http://169.254.169.254/latest": "a cloud serves credentials", "http://[fe80::1]/": "a cloud serves credentials",
		"http://[::ffff:169.254.169.254]/": "a cloud serves credentials", "http://[fd00:ec2::254]/": "a cloud serves credentials",
		"file:///etc/passwd": "is not a URL", "ftp://192.0.2.1/": "the scheme ftp", "charts": "is not a URL",
	} {
		err := CheckURL(url, "HelmRepository shop/charts", false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	err := CheckURL("http://127.0.0.1:8080/", "HelmRepository shop/charts", true)
	if err == nil || !strings.Contains(err.Error(), "no working tree may name") {
		t.Errorf("in a tree: %v", err)
	}
	if err := Check(netip.MustParseAddr("::ffff:100.100.100.200"), "the registry", false); err == nil {
		t.Error("the metadata service of a cloud is allowed if its address is one of IPv6")
	}
	if !isMetadata(netip.MustParseAddr("0.0.0.0")) {
		t.Error("0.0.0.0 is allowed")
	}
}
