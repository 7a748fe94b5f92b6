package interp

import (
	"flag"
	"fmt"
	"os"
	"sync"

	"halfnote/interp/lower"
	"halfnote/interp/lower/core"
)

var coreReport = flag.String("core", "", "append what is not in the core, in the units of all sessions, to this file")

var coreMu sync.Mutex

// reportCore makes a session write what is not in the core to the file of -core.
func reportCore(s *Session) {
	if *coreReport == "" {
		return
	}
	s.core = func(u *lower.Unit) error {
		coreMu.Lock()
		defer coreMu.Unlock()
		f, err := os.OpenFile(*coreReport, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		core.Report(u, func(r core.Refusal) {
			fmt.Fprintf(f, "%s\t%s\t%s\n", r.Form, r.What, u.Fset.Position(r.Pos))
		})
		return nil
	}
}
