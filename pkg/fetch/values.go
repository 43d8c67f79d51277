package fetch

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"strings"
)

// Read reads a values file, or one that --set-file names: a path, "-" for stdin, or a URL. As in Helm, neither the
// credentials nor the certificates of the chart serve for it (helm v3.22.0 pkg/cli/values/options.go readFile).
func Read(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	f := fetcher{ctx: ctx}
	if strings.TrimSpace(name) == "-" {
		text, err := await(ctx, func() ([]byte, error) {
			if stdin == nil {
				return nil, errors.New("there is none")
			}
			return io.ReadAll(stdin)
		})
		if err != nil {
			return nil, f.fault("standard input", err)
		}
		return text, nil
	}
	u, err := url.Parse(name)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		text, err := await(ctx, func() ([]byte, error) { return f.source(u, access{owner: name}).read("") })
		if err != nil {
			return nil, f.fault(shown(name), err)
		}
		return text, nil
	}
	text, err := os.ReadFile(name)
	if err != nil && strings.Contains(name, "://") {
		return nil, f.fault(shown(name), problem{what: "such URLs are not supported", hint: hintPlugin})
	}
	return text, err
}
