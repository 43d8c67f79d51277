package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"strings"
)

//go:embed page
var files embed.FS

// scripts returns the files of the script in the order they run.
func scripts() []string {
	return []string{"dom.js", "data.js", "link.js", "filter.js", "value.js", "list.js", "detail.js", "print.js", "keys.js", "main.js"}
}

// asset returns files of the page as one text.
func asset(names ...string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		text, err := files.ReadFile("page/" + name)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// policy returns the Content-Security-Policy of the page: it runs one script and applies one style, loads nothing, sends nothing, and
// never parses a text as HTML.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; "+
		"require-trusted-types-for 'script'; trusted-types 'none'", hash(style), hash(script))
}

// hash returns the hash of an inline element as a policy names it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
