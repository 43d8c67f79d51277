package main

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// repair removes from a filled struct what the API would refuse, and what makes
// defaulting depend on the clock.
func repair(value reflect.Value) {
	switch value.Type().Name() {
	case "DeploymentStrategy", "DaemonSetUpdateStrategy", "StatefulSetUpdateStrategy":
		if kind := value.FieldByName("Type").String(); kind != "" && kind != "RollingUpdate" {
			value.FieldByName("RollingUpdate").SetZero()
		}
	case "DeviceTaint":
		// This field defaults to the current time, the one default that no table can have.
		added := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		value.FieldByName("TimeAdded").Set(reflect.ValueOf(&added))
	}
}
