package live_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmdrift/helmdrift/pkg/live"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Read answers for each object whether it exists, does not exist, or could not be read.
func ExampleCluster_Read() {
	ctx := context.Background()
	config, err := clientcmd.BuildConfigFromFlags("", clientcmd.RecommendedHomeFile)
	if err != nil {
		panic(err)
	}
	cluster, err := live.Connect(ctx, config, live.Options{UserAgent: "my-program"})
	if err != nil {
		panic(err) // a *live.ConnectError
	}
	web := object.Ref{Key: object.Key{Group: "apps", Kind: "Deployment", Namespace: "prod", Name: "web"}, Version: "v1"}
	switch answer := cluster.Read(ctx, []object.Ref{web})[web]; {
	case answer.Err != nil:
		fmt.Println("unknown:", answer.Err.Code, answer.Err.Message)
	case answer.Object == nil:
		fmt.Println("there is no such", answer.Absence)
	default:
		fmt.Println(answer.Object["metadata"])
	}
}
