package fetch_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Chart returns the path of a chart on this machine, and downloads any other chart to a temporary directory that done
// removes.
func ExampleChart() {
	path, done, err := fetch.Chart(context.Background(), "../../testdata/charts/demo", fetch.Options{})
	if err != nil {
		panic(err)
	}
	defer done()
	fmt.Println(filepath.Base(path))
	// Output:
	// demo
}
