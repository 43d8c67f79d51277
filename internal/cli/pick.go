package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file asks for each field or object whether to write it, as git add -p does: --patch of fix and of absorb.

// AddPatchFlag adds --patch.
func AddPatchFlag(fs *pflag.FlagSet, patch *bool, verb string) {
	fs.BoolVarP(patch, "patch", "p", false, "ask for each field or object whether to "+verb+", as git add -p does")
}

// Picker asks the questions of one run.
type Picker struct {
	Streams Streams
	// all is set once the user wants all the rest, and over once the user wants nothing more.
	all, over bool
}

// ErrNoPicks is the error of --patch without a terminal.
var ErrNoPicks = hint.New(errors.New("nothing was written: --patch asks, and there is no terminal to ask on"),
	"--only and --skip choose without asking")

// pickHelp is the answer to ?.
const pickHelp = `y - yes
n - no
a - yes, and yes to all the rest
q - no, and no to all the rest: do what was chosen so far
? - this help
`

// Wants asks a question and returns whether the answer is yes. Without an answer nothing is written.
func (p *Picker) Wants(ctx context.Context, ask func(io.Writer) error) (bool, error) {
	for !p.all && !p.over {
		if err := ask(p.Streams.Err); err != nil {
			return false, err
		}
		switch word, err := p.Streams.Terminal().ReadWord(ctx); {
		case err != nil:
			return false, errors.New("interrupted; nothing was written")
		case word == "y" || word == "yes":
			return true, nil
		case word == "n" || word == "no":
			return false, nil
		case word == "a":
			p.all = true
		case word == "q":
			p.over = true
		default:
			if _, err := io.WriteString(p.Streams.Err, pickHelp); err != nil {
				return false, err
			}
		}
	}
	return p.all, nil
}

// PickedOut is the reason for what the answers leave.
const PickedOut = "left out by your answer"
