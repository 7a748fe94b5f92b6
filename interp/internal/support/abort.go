//go:build !js

package support

import "net/http"

// abort is the value that net/http recovers from.
var abort any = http.ErrAbortHandler
