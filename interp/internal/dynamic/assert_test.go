package dynamic

import (
	"fmt"
	"runtime"
	"testing"
)

type scoped int

// TestAssertionError compares the errors of failed type assertions with those of compiled code.
func TestAssertionError(t *testing.T) {
	var v, none any = 1, nil
	other := func() any { type scoped int; return scoped(1) }()
	for _, c := range []struct {
		got  error
		want func()
	}{
		{assertionError("interface {}", "int", "string", ""), func() { _ = v.(string) }},
		{assertionError("interface {}", "", "string", ""), func() { _ = none.(string) }},
		{assertionError("", "", "fmt.Stringer", ""), func() { _ = none.(fmt.Stringer) }},
		{assertionError("", "int", "fmt.Stringer", "String"), func() { _ = v.(fmt.Stringer) }},
		{assertionError("interface {}", "dynamic.scoped", "dynamic.scoped", ""), func() { _ = other.(scoped) }},
	} {
		func() {
			defer func() {
				want, ok := recover().(*runtime.TypeAssertionError)
				if !ok || c.got.Error() != want.Error() {
					t.Errorf("got %v, want %v", c.got, want)
				}
			}()
			c.want()
		}()
	}
}
