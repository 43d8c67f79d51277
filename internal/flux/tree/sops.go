package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/kustomize"
	"github.com/helmdrift/helmdrift/internal/secret"
)

// This file decrypts what SOPS encrypted, if the caller does.

// Encrypted is a text that SOPS encrypted.
type Encrypted struct {
	Text []byte
	// From is its format and To the format of the answer, as sops names them: json, yaml, dotenv, ini or binary.
	From, To string
	// Vaults are the addresses of HashiCorp Vault that the text names. SOPS sends its token to them.
	Vaults []string
}

// decrypter decrypts for one build. A nil decrypter leaves everything as it is.
type decrypter struct {
	ctx  context.Context
	call func(context.Context, Encrypted) ([]byte, error)
	// texts are those that were decrypted, and done has them by what was encrypted.
	texts map[string]bool
	done  map[[sha256.Size]byte][]byte
}

// newDecrypter returns nil if call is nil.
func newDecrypter(ctx context.Context, call func(context.Context, Encrypted) ([]byte, error)) *decrypter {
	if call == nil {
		return nil
	}
	return &decrypter{ctx: ctx, call: call, texts: map[string]bool{}, done: map[[sha256.Size]byte][]byte{}}
}

// isDecrypted reports whether Flux decrypts for a Kustomization. Which one builds a folder is not known without one, so it may.
func (k *kustomization) isDecrypted() bool {
	return k == nil || k.Spec.Decryption.Provider == "sops"
}

// decrypt decrypts a text and remembers the secrets in it.
func (d *decrypter) decrypt(text []byte, from, to string) ([]byte, error) {
	key := sha256.Sum256(slices.Concat([]byte(from+" "+to+"\n"), text))
	if out, isDone := d.done[key]; isDone {
		return out, nil
	}
	out, err := d.call(d.ctx, Encrypted{text, from, to, vaultsOf(text, from)})
	if err != nil {
		return nil, err
	}
	d.learn(text, out, from, to)
	d.done[key] = out
	return out, nil
}

// learn remembers the texts that were encrypted.
func (d *decrypter) learn(before, after []byte, from, to string) {
	add := func(text string) { d.texts[text] = true }
	var was, is any
	isData := from == to && (to == "json" || to == "yaml")
	if isData && yaml.Unmarshal(before, &was) == nil && yaml.Unmarshal(after, &is) == nil {
		eachDecrypted(was, is, add)
		return
	}
	add(string(after))
	for line := range strings.Lines(string(after)) {
		if _, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
			add(strings.Trim(value, ` "'`))
		}
	}
}

// learnData remembers what is encoded in the data of a Secret that was decrypted.
func (d *decrypter) learnData(value map[string]any) {
	data, _ := value["data"].(map[string]any)
	for _, below := range data {
		encoded, _ := below.(string)
		if text, err := base64.StdEncoding.DecodeString(encoded); err == nil && d.texts[encoded] {
			d.texts[string(text)] = true
		}
	}
}

// eachDecrypted calls do with each text of a value that is encrypted in the value before.
func eachDecrypted(was, is any, do func(string)) {
	switch was := was.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		for key, below := range was {
			eachDecrypted(below, is[key], do)
		}
	case []any:
		is, _ := is.([]any)
		for i := range min(len(was), len(is)) {
			eachDecrypted(was[i], is[i], do)
		}
	case string:
		if isEncrypted(was) && is != nil {
			do(fmt.Sprint(is))
		}
	}
}

// object decrypts an object, and reports whether it did (fluxcd/kustomize-controller v1.9.4 internal/decryptor/decryptor.go
// DecryptResource). The controller does not check the MAC of SOPS, because kustomize changes objects before.
func (d *decrypter) object(value map[string]any) (bool, error) {
	if isSealed(value) {
		text, err := json.Marshal(value)
		if err == nil {
			text, err = d.decrypt(text, "json", "json")
		}
		if err != nil {
			return false, err
		}
		clear(value)
		err = utiljson.Unmarshal(text, &value)
		d.learnData(value)
		return true, err
	}
	data, _ := value["data"].(map[string]any)
	if value["kind"] != "Secret" {
		data = nil
	}
	changed := false
	for key, encoded := range data {
		encoded, _ := encoded.(string)
		text, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			continue // the API server refuses it
		}
		from := formatOf(text)
		if from == "" {
			continue
		}
		if text, err = d.decrypt(text, from, formatFor(key)); err != nil {
			return false, fmt.Errorf("the entry %s: %w", key, err)
		}
		data[key], changed = base64.StdEncoding.EncodeToString(text), true
	}
	return changed, nil
}

// isSealed reports whether SOPS encrypted an object as a whole (decryptor.go isSOPSEncryptedResource).
func isSealed(value map[string]any) bool {
	sops, _ := value["sops"].(map[string]any)
	return sops["mac"] != nil
}

// marks are the texts that show that a file of a format is encrypted. A binary file is JSON then (decryptor.go sopsFormatToMarkerBytes).
func marks() map[string]string {
	return map[string]string{"json": `"mac": "ENC[`, "binary": `"mac": "ENC[`, "dotenv": "sops_mac=ENC[", "ini": "[sops]", "yaml": "mac: ENC["}
}

// formatOf returns the format of an encrypted text, or "" if it is not encrypted (decryptor.go detectFormatFromMarkerBytes).
func formatOf(text []byte) string {
	for _, format := range []string{"json", "dotenv", "ini", "yaml"} {
		if bytes.Contains(text, []byte(marks()[format])) {
			return format
		}
	}
	return ""
}

// formatFor returns the format of a file with a name (decryptor.go formatForPath; getsops/sops v3 cmd/sops/formats FormatForPath).
func formatFor(name string) string {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		return "yaml"
	case ".json", ".dockerconfigjson":
		return "json"
	case ".env":
		return "dotenv"
	case ".ini":
		return "ini"
	}
	return "binary"
}

// sources notes the files that Flux decrypts before kustomize reads them: those of secretGenerators and of patches, in the kustomization
// of a folder and in those that its resources and components name. The first format of a file counts (decryptor.go DecryptSources,
// decryptKustomizationSources). Kustomize says what is wrong with a kustomization.
func (f *files) sources(folder string, seen map[string]bool) {
	if seen[folder] {
		return
	}
	seen[folder] = true
	var k kustomizetypes.Kustomization
	if text := f.kustomizationIn(folder); kustomize.CheckAliases(text) != nil || yaml.Unmarshal(text, &k) != nil {
		return
	}
	note := func(name, format string) {
		if name = path.Join(folder, name); f.formats[name] == "" {
			f.formats[name] = format
		}
	}
	for _, generator := range k.SecretGenerator {
		for _, source := range generator.FileSources {
			key, name := FileSource(source)
			note(name, formatFor(key))
		}
		for _, name := range generator.EnvSources {
			format := formatFor(name)
			if format == "binary" {
				format = "dotenv"
			}
			note(name, format)
		}
	}
	for _, p := range k.Patches {
		// Without a decrypter, a patch stays as it is: what it leaves in an object shows that the object is encrypted.
		if p.Path != "" && f.decrypter != nil {
			note(p.Path, formatFor(p.Path))
		}
	}
	for _, below := range slices.Concat(k.Resources, k.Components) {
		f.sources(path.Join(folder, below), seen)
	}
}

// kustomizationIn returns the kustomization that kustomize reads in a folder, or nil.
func (f *files) kustomizationIn(folder string) []byte {
	for name, text := range f.Written {
		if path.Dir(name) == folder {
			return text
		}
	}
	text, _ := f.Read(f.KustomizationOf(folder))
	return text
}

// open returns a file as kustomize reads it: if Flux decrypts it, decrypted, or with what stands for its content.
func (f *files) open(inside string, text []byte) ([]byte, error) {
	format := f.formats[inside]
	switch {
	case format == "" || !bytes.Contains(text, []byte(marks()[format])):
		return text, nil
	case f.decrypter == nil:
		return sealFile(text, format), nil
	}
	return f.decrypter.decrypt(text, format, format)
}

// vaultsOf returns the addresses of Vault in the metadata of an encrypted text.
func vaultsOf(text []byte, format string) (out []string) {
	add := func(address string) {
		if !slices.Contains(out, address) {
			out = append(out, address)
		}
	}
	if format == "dotenv" || format == "ini" {
		for line := range strings.Lines(string(text)) {
			key, value, found := strings.Cut(line, "=")
			if found && strings.Contains(strings.ToLower(key), "vault_address") {
				add(strings.Trim(strings.TrimSpace(value), `"'`))
			}
		}
		return out
	}
	var value any
	if yaml.Unmarshal(text, &value) != nil {
		return nil
	}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, below := range v {
				if address, isText := below.(string); isText && strings.EqualFold(key, "vault_address") {
					add(address)
				}
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(value)
	slices.Sort(out)
	return out
}

// finish adds what was decrypted to an answer, and takes it out of the messages. A nil decrypter has nothing.
func (d *decrypter) finish(out Answer, err error) (Answer, error) {
	if d == nil || len(d.texts) == 0 {
		return out, err
	}
	out.Secrets = slices.Sorted(maps.Keys(d.texts))
	known := &secret.Known{}
	known.Add(out.Secrets...)
	for i := range out.Problems {
		out.Problems[i].Message = known.Scrub(out.Problems[i].Message)
	}
	if err != nil {
		err = errors.New(known.Scrub(err.Error()))
	}
	return out, err
}
