package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// Sops runs the user's sops, which decrypts with the user's keys. What it decrypts is kept in memory.
type Sops struct {
	// Vault is the address of the user's own HashiCorp Vault, as in VAULT_ADDR. It may be empty.
	Vault string
	// Time is how long sops may run for one text, and MaxOutput is how many bytes it may print; 0 means no limit.
	Time      time.Duration
	MaxOutput int64
}

// Decrypt decrypts a text. From is its format and to the format of the answer, as the flags --input-type and --output-type name them.
// Vaults are the addresses of Vault in the text: whoever writes the text chooses them, and sops sends the user's token there, so every
// address but the user's own is refused.
func (s Sops) Decrypt(ctx context.Context, text []byte, from, to string, vaults []string) ([]byte, error) {
	for _, address := range vaults {
		if address != s.Vault {
			return nil, hint.New(fmt.Errorf("it names the Vault server %s, which is not yours, and sops would send your token there", address),
				"if you trust it, set VAULT_ADDR to this address")
		}
	}
	path, err := exec.LookPath("sops")
	if err != nil {
		return nil, hint.New(errors.New("sops was not found"), "install it, or leave out --sops")
	}
	c := command{
		name: "sops", path: path, input: text, time: s.Time, output: s.MaxOutput, messages: 2 * maxComplaint,
		// The file .sops.yaml of a tree may say how YAML is indented. Flux does not read it.
		args: []string{"--config", os.DevNull, "--decrypt", "--ignore-mac", "--input-type", from, "--output-type", to, "/dev/stdin"},
	}
	if len(vaults) == 0 {
		c.env = []string{"VAULT_TOKEN=none"} // whatever the text hides, the token stays here
	}
	out, messages, err := c.run(ctx)
	complaint, _, _ := strings.Cut(messages.said(), "\n")
	return out, withComplaint(err, " ", complaint)
}
