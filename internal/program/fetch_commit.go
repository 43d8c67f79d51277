package program

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/tempdir"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Remote is a repository of Git on a server, which anybody may have named.
type Remote struct {
	// URL has the scheme https. Ref is a branch, a tag or a commit; if it is empty, it is what the server takes by default.
	URL, Ref string
	// Addresses are those of the server. Git connects to no other. If there are none, it connects to what the name means.
	Addresses []netip.Addr
	// IsOwn is set if the user trusts the address: then the scheme may be http, and git has the user's settings and credentials for it.
	// Username and Password, or else those in the URL, take the place of those; the process list does not show them, and no redirect is
	// followed with a password.
	IsOwn              bool
	Username, Password string
	// Time is how long git may run, and MaxOutput is how many bytes the archive may have; 0 means no limit.
	Time      time.Duration
	MaxOutput int64
}

// Fetch fetches one commit with the user's git and returns its files as a tar archive. Git runs no hooks and no filters. Unless IsOwn is
// set, it gets no credentials and follows no redirects.
func (r Remote) Fetch(ctx context.Context) ([]byte, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, hint.New(errors.New("git was not found"), "it fetches the base; install it, or copy the base into the tree")
	}
	address, err := url.Parse(r.URL)
	if err != nil || address.Scheme != "https" && !(r.IsOwn && address.Scheme == "http") {
		return nil, fmt.Errorf("%s is not an address of https", fetch.WithoutLogin(r.URL))
	}
	r.takeLogin(address)
	ref := cmp.Or(r.Ref, "HEAD")
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, ": *^~\\") {
		return nil, fmt.Errorf("%q is no branch, tag or commit", ref)
	}
	dir, err := tempdir.New()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	run := func(name string, output int64, args ...string) ([]byte, error) {
		c := command{
			name: name, path: path, time: r.Time, output: output, messages: 2 * maxComplaint,
			args: append(r.settings(dir, address), args...), env: r.environment(dir),
		}
		out, messages, err := c.run(ctx)
		return out, withComplaint(err, " ", lastLine(messages.said()))
	}
	if _, err := run("git init", 0, "init", "--quiet", "--bare"); err != nil {
		return nil, err
	}
	if err := archiveAll(filepath.Join(dir, "repository")); err != nil {
		return nil, err
	}
	if _, err := run("git fetch", 0, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", r.URL, ref); err != nil {
		return nil, err
	}
	return run("git archive", r.MaxOutput, "archive", "--format=tar", "FETCH_HEAD")
}

// takeLogin takes the login out of the URL, because the process list shows the arguments of git. The login becomes that of the request,
// unless the request has another one or gets no credentials.
func (r *Remote) takeLogin(address *url.URL) {
	if address.User == nil {
		return
	}
	if r.IsOwn && r.Username == "" && r.Password == "" {
		r.Username = address.User.Username()
		r.Password, _ = address.User.Password()
	}
	address.User = nil
	r.URL = address.String()
}

// archiveAll lets git archive write the files of a commit as a checkout has them, whatever the attributes in the commit say: export-ignore
// leaves out files, and export-subst changes them. The attributes of a repository count before those of a commit.
func archiveAll(repository string) error {
	info := filepath.Join(repository, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "attributes"), []byte("* -export-ignore -export-subst\n"), 0o600)
}

// environment returns the variables for git, besides those of this process.
func (r Remote) environment(dir string) []string {
	out := []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_OPTIONAL_LOCKS=0"}
	if !r.IsOwn {
		out = append(out, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	}
	switch {
	case r.Password != "":
		login := base64.StdEncoding.EncodeToString([]byte(r.Username + ":" + r.Password))
		out = append(out, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http."+r.URL+".extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic "+login)
	case r.Username != "": // the user's credential helper finds the password
		out = append(out, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential."+r.URL+".username", "GIT_CONFIG_VALUE_0="+r.Username)
	}
	return out
}

// settings returns the flags of git that come before the command.
func (r Remote) settings(dir string, address *url.URL) []string {
	out := []string{"--git-dir=" + filepath.Join(dir, "repository")}
	for _, setting := range []string{
		"protocol.allow=never", "protocol.https.allow=always", "core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0",
		"transfer.fsckObjects=true", "transfer.bundleURI=false", "filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.required=false",
	} {
		out = append(out, "-c", setting)
	}
	if r.IsOwn {
		out = append(out, "-c", "protocol.http.allow=always")
	} else {
		out = append(out, "-c", "credential.helper=", "-c", "core.askPass=", "-c", "http.extraHeader=")
	}
	if !r.IsOwn || r.Password != "" { // git sends a header of its settings to the server of a redirect, too
		out = append(out, "-c", "http.followRedirects=false")
	}
	var addresses []string
	for _, one := range r.Addresses {
		text := one.String()
		if one.Is6() {
			text = "[" + text + "]"
		}
		addresses = append(addresses, text)
	}
	if len(addresses) > 0 {
		out = append(out, "-c", "http.curloptResolve="+address.Hostname()+":"+cmp.Or(address.Port(), "443")+":"+strings.Join(addresses, ","))
	}
	return out
}

// lastLine returns the last line of a text that is not empty.
func lastLine(text string) string {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
