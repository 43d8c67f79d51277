package fleet_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmdrift/helmdrift/pkg/fleet"
	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/release"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// Compare compares all releases of the cluster that the kubeconfig names with their stored manifests.
func Example() {
	ctx := context.Background()
	config, err := clientcmd.BuildConfigFromFlags("", clientcmd.RecommendedHomeFile)
	if err != nil {
		panic(err)
	}
	cluster, err := live.Connect(ctx, config, live.Options{UserAgent: "my-program"})
	if err != nil {
		panic(err) // a *live.ConnectError
	}
	storage, err := release.Open("", cluster.Metadata(), cluster.Core())
	if err != nil {
		panic(err)
	}
	defer storage.Close()

	source := fleet.Source{Cluster: cluster, Storage: storage, Name: "prod-cluster"}
	found, err := source.Find(ctx, fleet.Selection{})
	if err != nil {
		panic(err)
	}
	compared, err := source.Compare(ctx, found, fleet.Options{})
	if err != nil {
		panic(err)
	}
	r := report.NewScan("my-program", time.Now(), compared.Releases, found.Errors, report.Scan{
		Clusters: []string{source.Name}, Orphans: compared.Orphans, Overlaps: compared.Overlaps,
	})
	for _, release := range r.Releases {
		fmt.Println(release.StorageNamespace, release.Name, release.State())
	}
}
