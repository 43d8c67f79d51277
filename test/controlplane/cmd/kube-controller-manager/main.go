// Kube-controller-manager runs the real Kubernetes controllers. Reports must not
// show what these write to live objects as drift.
package main

import (
	"os"
	_ "time/tzdata" // a CronJob may name a time zone that the machine lacks

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
