// Command conformance runs a differ on the cases of testdata/conformance, and counts how often it predicts what Helm did.
//
//	go run ./test/conformance -differ 'python3 my-differ.py'
//
// The differ is run once for each case. It reads the case from its standard input, without the truth, and writes its prediction as JSON:
// {"after": OBJECT}, {"after": null} if the object is gone, or {"error": "TEXT"} if Helm fails. The README of testdata/conformance has an
// example. Without -differ, the prediction is always that Helm changes nothing. This shows how many cases are that easy.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/helmdrift/helmdrift/test/conformance/corpus"
)

func main() {
	differ := flag.String("differ", "", "command that predicts; its words are separated by spaces")
	dir := flag.String("cases", "testdata/conformance", "folder of the cases")
	flag.Parse()
	wrong, err := run(os.Stdout, *dir, strings.Fields(*differ))
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	case wrong > 0:
		os.Exit(1)
	}
}

// run judges a differ, writes its wrong predictions, and returns the number of cases with one.
func run(out io.Writer, dir string, differ []string) (wrong int, err error) {
	cases, err := corpus.Read(dir)
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("%s has no cases", dir)
	}
	if err != nil {
		return 0, err
	}
	for _, c := range cases {
		prediction, err := predict(c, differ)
		if err != nil {
			return wrong, fmt.Errorf("%s: %w", c.Name, err)
		}
		if differences := c.Judge(prediction); len(differences) > 0 {
			wrong++
			fmt.Fprintf(out, "%s: %s\n", c.Name, strings.Join(differences, ", "))
		}
	}
	fmt.Fprintf(out, "%d of %d cases are predicted\n", len(cases)-wrong, len(cases))
	return wrong, nil
}

// predict runs the differ on a case.
func predict(c corpus.Case, differ []string) (corpus.Truth, error) {
	if len(differ) == 0 {
		return corpus.Truth{After: c.Live}, nil
	}
	question, err := c.Question()
	if err != nil {
		return corpus.Truth{}, err
	}
	cmd := exec.Command(differ[0], differ[1:]...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(question), os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return corpus.Truth{}, err
	}
	return corpus.ParseTruth(answer)
}
