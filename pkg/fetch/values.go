package fetch

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"strings"
)

// ReadFile reads a values file, or a file that --set-file names: a path, "-" for stdin, or a URL. As in Helm, neither
// the credentials nor the certificates of the chart are used for it (helm v3.22.0 pkg/cli/values/options.go
// readFile).
func ReadFile(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
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
	text, err := os.ReadFile(name)
	if err != nil && strings.Contains(name, "://") {
		return nil, f.asError(withoutLogin(name), problem{message: "URLs of this kind are not supported", hint: hintPlugin})
	}
	return text, err
}
