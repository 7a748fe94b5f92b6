//go:build !(cuda && linux && cgo)

package cuda

import (
	"errors"

	"halfnote/tensor/driver"
)

func init() {
	driver.RegisterFamily("cuda", func(string) (driver.Backend, error) {
		return nil, errors.New("this build has no GPU backend")
	})
}
