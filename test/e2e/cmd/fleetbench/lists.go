package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/helmdrift/helmdrift/test/e2e/fleet"
)

// pageSize is the number of objects that one request asks for, as kubectl does.
const pageSize = 500

// recordType is the type of the Secrets that are Helm's records.
const recordType = "helm.sh/release.v1"

// bareLists reads what helmdrift has to read, and does nothing with it: all objects of the kinds of the fleet, and the record of each
// deployed revision, in pages, one list after the other. It returns the number of records.
func bareLists(ctx context.Context, config *rest.Config) (records int, err error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	for _, resource := range fleet.Resources() {
		options := metav1.ListOptions{Limit: pageSize}
		if resource.Kind == "Secret" {
			options.FieldSelector = "type!=" + recordType
		}
		if _, err := list(ctx, client, resource.GroupVersionResource, options); err != nil {
			return 0, err
		}
	}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	return list(ctx, client, secrets, metav1.ListOptions{
		Limit: pageSize, FieldSelector: "type=" + recordType, LabelSelector: "owner=helm,status=deployed",
	})
}

// list reads all pages of a list and returns the number of its objects.
func list(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, options metav1.ListOptions) (int, error) {
	for n := 0; ; {
		page, err := client.Resource(resource).List(ctx, options)
		if err != nil {
			return n, err
		}
		n += len(page.Items)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return n, nil
		}
	}
}
