package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/snapshot"
	"github.com/helmdrift/helmdrift/pkg/threeway"
)

// A snapshot is compared without a cluster: a Player gives the answers that the cluster gave when the snapshot was made.
func Example() {
	file, err := os.Open("../../testdata/snapshots/web.json.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	saved, err := snapshot.Read(file)
	if err != nil {
		panic(err)
	}

	player := snapshot.NewPlayer(saved)
	comparer := drift.New(player.Connection(), drift.Options{})
	result, err := comparer.Compare(context.Background(), drift.Target{Namespace: saved.Namespace, Release: saved.Release})
	if err != nil {
		panic(err)
	}
	release := result.Report(threeway.Mask{})
	fmt.Printf("%s: %s, %d objects compared\n", release.Name, release.State(), release.Compared)
	for _, o := range release.Objects {
		fmt.Printf("%s %s: the next upgrade: %s; %d fields\n", o.Kind, o.Name, o.Action, len(o.Fields))
	}
	// Output:
	// web: drifted, 5 objects compared
	// Secret web-login: the next upgrade: update; 1 fields
	// Service web: the next upgrade: create; 0 fields
	// Deployment web: the next upgrade: update; 3 fields
	// Budget web: the next upgrade: none; 1 fields
}

// A Recorder keeps what comparisons read. Here it wraps a snapshot; a program wraps the connection of drift.LiveConnection.
func ExampleRecorder() {
	file, err := os.Open("../../testdata/snapshots/web.json.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	cluster, err := snapshot.Read(file)
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	recorder := snapshot.NewRecorder(snapshot.NewPlayer(cluster).Connection())
	comparer := drift.New(recorder.Connection(), drift.Options{})
	if _, err := comparer.Compare(ctx, drift.Target{Namespace: "prod", Release: "web"}); err != nil {
		panic(err)
	}
	saved, err := recorder.Snapshot(ctx, snapshot.Options{Helmdrift: "my-program", Time: time.Now(), Namespace: "prod", Release: "web"})
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	if err := saved.Write(&out); err != nil {
		panic(err)
	}
	fmt.Println(saved.Release, "is saved with", len(saved.Objects), "objects, masked:", saved.Masked)
	// Output:
	// web is saved with 5 objects, masked: true
}
