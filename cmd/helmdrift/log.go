package main

import (
	"io"
	"log"

	"k8s.io/klog/v2"
)

// quiet discards what the libraries log: their lines can hold values of the release, and would mix with the messages of this program.
// --debug brings Helm's log back through jobs.LogWriter.
func quiet() {
	log.SetOutput(io.Discard)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}
