package terraform

import (
	"errors"
	"fmt"
	"io"

	"github.com/helmdrift/helmdrift/internal/files"
	"github.com/helmdrift/helmdrift/internal/hint"
)

// Text returns the text of a plan, from a file or from standard input if the name is -. A plan that is too long is an error.
func Text(name string, in io.Reader) (text []byte, err error) {
	if name == "-" {
		text, err = io.ReadAll(io.LimitReader(in, MaxSize+1))
	} else if text, err = files.Read(name, MaxSize+1); errors.Is(err, files.ErrNotRegular) {
		err = hint.New(err, "--plan - reads standard input")
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("--plan: %w", err)
	case len(text) > MaxSize:
		return nil, fmt.Errorf("--plan %s: it has more than %d MiB", name, MaxSize>>20)
	}
	return text, nil
}
