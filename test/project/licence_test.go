package project

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// These are the licences that classify knows, by their SPDX identifiers.
const (
	apache  = "Apache-2.0"
	bsd2    = "BSD-2-Clause"
	bsd3    = "BSD-3-Clause"
	isc     = "ISC"
	mit     = "MIT"
	mozilla = "MPL-2.0"
)

// permissive are the licences that any linked module may have.
var permissive = []string{apache, bsd2, bsd3, isc, mit}

// reciprocal are the modules that may have a licence with obligations for their source, and why.
var reciprocal = map[string]string{
	// MPL-2.0 holds for each of its files. The modules are linked as they are, and NOTICE says how to get their source (section 3.2).
	"github.com/hashicorp/errwrap":       mozilla,
	"github.com/hashicorp/go-multierror": mozilla,
}

// notLinked are licence files of linked modules that hold for nothing that is linked.
var notLinked = map[string]string{
	"github.com/opencontainers/go-digest/LICENSE.docs":      "README.md and CONTRIBUTING.md, as README.md says",
	"github.com/cyphar/filepath-securejoin/COPYING.md":      "says which of the other two holds for which file",
	"github.com/cyphar/filepath-securejoin/LICENSE.MPL-2.0": "the package pathrs-lite; TestFileHeaders finds linked files",
}

// classify returns the licences in a text, sorted. A text that has none, or has one that is not known, is an error.
func classify(text string) ([]string, error) {
	text = normalize(text)
	var found []string
	switch {
	case strings.HasPrefix(text, "mozilla public license, version 2.0") || strings.HasPrefix(text, "mozilla public license version 2.0"):
		return []string{mozilla}, nil
	case strangers.MatchString(text):
		return nil, fmt.Errorf("has a licence that is not known: %q", strangers.FindString(text))
	}
	for licence, phrase := range map[string]string{
		apache: "apache license version 2.0, january 2004",
		isc:    "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted",
		mit:    "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation",
	} {
		if strings.Contains(text, phrase) {
			found = append(found, licence)
		}
	}
	if !slices.Contains(found, apache) && strings.Contains(text, "licensed under the apache license, version 2.0") {
		found = append(found, apache)
	}
	for _, part := range strings.Split(text, "redistributions of source code must retain the above copyright notice")[1:] {
		if conditions, _, _ := strings.Cut(part, "as is"); strings.Contains(conditions, "neither the name") {
			found = append(found, bsd3)
		} else {
			found = append(found, bsd2)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("has no licence that is known: %.80q", text)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// strangers are words of licences that no linked module has.
var strangers = regexp.MustCompile(`gnu (lesser |affero )?general public license|creative commons|eclipse public license|` +
	`common development and distribution|european union public licence|business source license|server side public license|commons clause|` +
	`mozilla public license|all advertising materials mentioning`)

// normalize returns a text in lower case, with single spaces, plain quotes and without the signs of quotations and comments.
func normalize(text string) string {
	text = strings.NewReplacer("“", `"`, "”", `"`, "’", "'").Replace(strings.ToLower(text))
	return strings.Join(strings.Fields(regexp.MustCompile(`(?m)^\s*(>|//|#+|\*)`).ReplaceAllString(text, " ")), " ")
}

func TestClassify(t *testing.T) {
	const redistribute = "Redistributions of source code must retain the above copyright\nnotice, this list.\n"
	for text, want := range map[string]string{
		"   Apache License\n  Version 2.0, January 2004\n":                        apache,
		"> " + redistribute + "> THIS SOFTWARE IS PROVIDED \"AS IS\"":             bsd2,
		redistribute + "Neither the name of X nor Y\nprovided “AS IS”":            bsd3,
		"Mozilla Public License Version 2.0\n====\nGNU General Public License":    mozilla,
		"GNU GENERAL PUBLIC LICENSE\nVersion 3\n":                                 "",
		redistribute + "All advertising materials mentioning features AS IS":      "",
		"Permission is granted to read this.":                                     "",
		"Licensed under the Apache License, Version 2.0, with the Commons Clause": "",
	} {
		got, err := classify(text)
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// licenceName matches the files that have licences.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|unlicense)[^/]*$`)

// licenceFiles returns the licence files of a module: those in its folder, and in the folders on the way to each linked package.
func (m *linkedModule) licenceFiles() ([]string, error) { return m.named(licenceName) }

// named returns the files with such a name on the way to linked packages, relative to the module, sorted.
func (m *linkedModule) named(name *regexp.Regexp) ([]string, error) {
	folders := map[string]bool{}
	for folder := range m.files {
		for ; folder != "." && folder != "/"; folder = filepath.Dir(folder) {
			folders[folder] = true
		}
	}
	folders["."] = true
	var out []string
	for folder := range folders {
		entries, err := os.ReadDir(filepath.Join(m.dir, folder))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			file := filepath.ToSlash(filepath.Join(folder, e.Name()))
			if _, skipped := notLinked[m.path+"/"+file]; !skipped && !e.IsDir() && name.MatchString(e.Name()) && filepath.Ext(file) != ".go" {
				out = append(out, file)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// header matches the licence that a source file names.
var header = regexp.MustCompile(`(?m)^(?://|/?\*|#)?\s*SPDX-License-Identifier:\s*(.+?)\s*$`)

// TestFileHeaders reads the linked Go files: the licence that a file names is one of its module.
func TestFileHeaders(t *testing.T) {
	for _, m := range linked(t) {
		licences := m.licences(t)
		for folder, files := range m.files {
			for _, file := range files {
				text, err := os.ReadFile(filepath.Join(m.dir, folder, file))
				if err != nil {
					t.Fatal(err)
				}
				code, _, _ := strings.Cut(string(text), "\npackage ")
				for _, found := range header.FindAllStringSubmatch(code, -1) {
					if !slices.Contains(licences, found[1]) {
						t.Errorf("%s/%s/%s has the licence %s; its module has %s", m.path, folder, file, found[1], licences)
					}
				}
			}
		}
	}
}
