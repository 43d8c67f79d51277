package tree

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// sealedText matches what these tests take for a value of SOPS: its data is the text in base64.
var sealedText = regexp.MustCompile(`ENC\[AES256_GCM,data:([A-Za-z0-9+/=]*),type:str\]`)

// decryptForTest stands for sops, which test/e2e runs.
func decryptForTest(_ context.Context, e Encrypted) ([]byte, error) {
	open := sealedText.ReplaceAllFunc(e.Text, func(found []byte) []byte {
		out, _ := base64.StdEncoding.DecodeString(string(sealedText.FindSubmatch(found)[1]))
		return out
	})
	if strings.Contains(string(e.Text), "nokey") {
		return nil, errors.New("sops ended with exit code 128: no key could decrypt the data")
	}
	if e.From == "dotenv" {
		var out []string
		for line := range strings.Lines(string(open)) {
			if !strings.HasPrefix(line, "sops_") {
				out = append(out, line)
			}
		}
		return []byte(strings.Join(out, "")), nil
	}
	var value map[string]any
	if err := yaml.Unmarshal(open, &value); err != nil {
		return nil, err
	}
	delete(value, "sops")
	switch e.To {
	case "binary":
		text, _ := value["data"].(string)
		return []byte(text), nil
	case "yaml":
		return yaml.Marshal(value)
	}
	return json.Marshal(value)
}

// TestVaultsOf finds the servers that a text names in every format, however it is written.
func TestVaultsOf(t *testing.T) {
	for text, format := range map[string]string{
		`{"sops":{"hc_vault":[{"vault_address":"https://v.example"}]}}`:                           "json",
		`{"sops":{"key_groups":[{"hc_vault":[{"vault\u005faddress":"https://v.example"}]}]}}`:     "json",
		"sops:\n  hc_vault:\n  - \"vault\\x5faddress\": https://v.example\n":                      "yaml",
		"A=ENC[x]\nsops_hc_vault__list_0__map_vault_address=https://v.example\n":                  "dotenv",
		"[sops]\nhc_vault__list_0__map_vault_address = https://v.example\n":                       "ini",
		`{"data":"ENC[x]","sops":{"hc_vault":[{"vault_address":"https://v.example","x":"mac"}]}}`: "binary",
	} {
		if got := vaultsOf([]byte(text), format); !slices.Equal(got, []string{"https://v.example"}) {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestDecryptedTextsAreSecrets takes what was decrypted out of the messages.
func TestDecryptedTextsAreSecrets(t *testing.T) {
	d := newDecrypter(t.Context(), decryptForTest)
	sealed := "ENC[AES256_GCM,data:" + base64.StdEncoding.EncodeToString([]byte("hunter2-and-more")) + ",type:str]"
	value := map[string]any{"kind": "ConfigMap", "data": map[string]any{"a": sealed, "b": "plain"}, "sops": map[string]any{"mac": "ENC[m]"}}
	if isOpen, err := d.object(value); !isOpen || err != nil {
		t.Fatal(isOpen, err)
	}
	answer, err := d.finish(Answer{Problems: []Problem{{Message: "line 3: hunter2-and-more is no number, plain is"}}},
		errors.New("hunter2-and-more"))
	if !slices.Equal(answer.Secrets, []string{"hunter2-and-more"}) {
		t.Errorf("secrets: %q", answer.Secrets)
	}
	if said := answer.Problems[0].Message + err.Error(); strings.Contains(said, "hunter2") || !strings.Contains(said, "plain") {
		t.Errorf("said: %s", said)
	}
}
