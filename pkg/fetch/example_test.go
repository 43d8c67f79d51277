package fetch_test

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Chart returns a chart on this machine as it is, and downloads any other to a temporary directory, which done removes.
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
