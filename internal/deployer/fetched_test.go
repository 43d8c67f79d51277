package deployer

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/internal/address"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// TestCharts checks that a chart is fetched once for the same source, and again for one that may not be fetched from this machine.
func TestCharts(t *testing.T) {
	var f Fetched
	calls := 0
	charts := f.Charts(func(context.Context, string, fetch.Options) (string, func(), error) {
		calls++
		return "", nil, nil
	})
	refusing := func(inTree bool) func(netip.Addr) error {
		return func(ip netip.Addr) error { return address.Check(ip, "spec.url", inTree) }
	}
	for i, one := range []struct {
		refuse func(netip.Addr) error
		calls  int
	}{{nil, 1}, {refusing(false), 1}, {refusing(true), 2}, {refusing(true), 2}, {refusing(false), 2}} {
		if _, _, err := charts(t.Context(), "web", fetch.Options{RepoURL: "https://ex.com", Refuse: one.refuse}); err != nil || calls != one.calls {
			t.Errorf("%d: %d calls, %v", i, calls, err)
		}
	}
}

// TestIndexes checks that an index is read once for each key, and that Close removes it.
func TestIndexes(t *testing.T) {
	var f Fetched
	var files []string
	reads := 0
	charts := f.Charts(func(_ context.Context, ref string, o fetch.Options) (string, func(), error) {
		file, err := o.KeepIndex(o.RepoURL, func() ([]byte, error) {
			reads++
			return []byte("index of " + o.RepoURL), nil
		})
		if text, _ := os.ReadFile(file); err != nil || string(text) != "index of "+o.RepoURL {
			t.Errorf("%s: %s, %v", ref, text, err)
		}
		files = append(files, file)
		return "", nil, nil
	})
	for _, one := range [][2]string{{"web", "https://a"}, {"db", "https://a"}, {"web", "https://b"}} {
		if _, _, err := charts(t.Context(), one[0], fetch.Options{RepoURL: one[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 2 {
		t.Errorf("%d reads of two indexes", reads)
	}
	f.Close()
	for _, file := range files {
		if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", file, err)
		}
	}
}

// TestChartKey changes each option and checks that the key of the chart changes. How an index is read, who keeps it and who runs a plugin
// do not decide which chart is fetched.
func TestChartKey(t *testing.T) {
	var o fetch.Options
	first := keyOf("web", o)
	var check func(options reflect.Value)
	check = func(options reflect.Value) {
		for field, value := range options.Fields() {
			before := reflect.ValueOf(value.Interface())
			switch value.Kind() {
			case reflect.Struct:
				check(value)
				continue
			case reflect.String:
				value.SetString("x")
			case reflect.Bool:
				value.SetBool(true)
			case reflect.Int64:
				value.SetInt(1)
			case reflect.Func:
				value.Set(reflect.MakeFunc(value.Type(), func([]reflect.Value) []reflect.Value {
					return []reflect.Value{reflect.ValueOf(errors.New("refused"))}
				}))
			}
			isSame := slices.Contains([]string{"Run", "ReadIndex", "KeepIndex"}, field.Name)
			if (keyOf("web", o) == first) != isSame {
				t.Errorf("%s: the key with it is %+v", field.Name, keyOf("web", o))
			}
			value.Set(before)
		}
	}
	check(reflect.ValueOf(&o).Elem())
	if keyOf("other", o) == first {
		t.Error("another chart has the same key")
	}
}
