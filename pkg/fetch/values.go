package fetch

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"strings"
)

// ReadFile reads a values file, or a file that --set-file names: a path, "-" for stdin, or a URL, which a plugin may serve. As in Helm, neither
// the credentials nor the certificates of the chart are used for it (helm v3.22.0 pkg/cli/values/options.go
// readFile).
func ReadFile(ctx context.Context, name string, stdin io.Reader, plugins Plugins) ([]byte, error) {
	f := fetcher{ctx: ctx}
	if strings.TrimSpace(name) == "-" {
		text, err := await(ctx, func() ([]byte, error) {
			if stdin == nil {
				return nil, errors.New("it is not available")
			}
			return io.ReadAll(stdin)
		})
		if err != nil {
			return nil, f.asError("standard input", err)
		}
		return text, nil
	}
	u, err := url.Parse(name)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		text, err := await(ctx, func() ([]byte, error) { return f.source(u, access{owner: name}).read("") })
		if err != nil {
			return nil, f.asError(withoutLogin(name), err)
		}
		return text, nil
	}
	if err != nil || !isPlugin(u.Scheme) {
		return os.ReadFile(name)
	}
	if plugins.find(u.Scheme) == nil {
		text, err := os.ReadFile(name) // a file whose name has a colon
		if err == nil || !strings.Contains(name, "://") {
			return text, err
		}
	}
	text, err := await(ctx, func() ([]byte, error) { return plugins.download(ctx, u.Scheme, name, access{}, true) })
	if err != nil {
		return nil, f.asError(withoutLogin(name), err)
	}
	return text, nil
}
