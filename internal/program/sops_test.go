package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSops puts a program in the place of sops, for what the real one cannot be made to show. TestFlux runs the real one.
func fakeSops(t *testing.T, script string) (told string) {
	t.Helper()
	dir := t.TempDir()
	told = filepath.Join(dir, "told")
	text := "#!/bin/sh\necho \"$@ token=$VAULT_TOKEN\" > " + told + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "sops"), []byte(text), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("VAULT_TOKEN", "my-token")
	return told
}

// TestSops checks what sops is told, and that a text cannot choose who gets the token of Vault.
func TestSops(t *testing.T) {
	told := fakeSops(t, "cat")
	said := func() string {
		text, _ := os.ReadFile(told)
		_ = os.Remove(told)
		return strings.TrimSpace(string(text))
	}
	out, err := Sops{}.Decrypt(t.Context(), []byte("text"), "json", "yaml", nil)
	if err != nil || string(out) != "text" {
		t.Fatalf("%q, %v", out, err)
	}
	if got, want := said(), "--config /dev/null --decrypt --ignore-mac --input-type json --output-type yaml /dev/stdin token=none"; got != want {
		t.Errorf("sops was told %q, want %q", got, want)
	}
	mine := Sops{Vault: "https://vault.example.com"}
	if _, err := mine.Decrypt(t.Context(), []byte("text"), "json", "json", []string{"https://vault.example.com"}); err != nil {
		t.Error(err)
	}
	if got := said(); !strings.HasSuffix(got, "token=my-token") {
		t.Errorf("sops was told %q", got)
	}
	_, err = mine.Decrypt(t.Context(), []byte("text"), "json", "json", []string{"https://vault.example.com", "https://evil.example.com"})
	if err == nil || !strings.Contains(err.Error(), "evil.example.com") || said() != "" {
		t.Errorf("a foreign Vault: %v", err)
	}
}

// TestSopsFails checks the message of a failure.
func TestSopsFails(t *testing.T) {
	fakeSops(t, "echo 'no key could decrypt the data' >&2; echo last >&2; exit 128")
	_, err := Sops{}.Decrypt(t.Context(), []byte("text"), "json", "json", nil)
	if err == nil || err.Error() != "sops ended with exit code 128: no key could decrypt the data" {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := (Sops{}).Decrypt(t.Context(), nil, "json", "json", nil); err == nil || err.Error() != "sops was not found" {
		t.Error(err)
	}
}
