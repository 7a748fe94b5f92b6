package remote

import "os"

// processGroup returns the process: Windows has no process groups.
func processGroup() int { return os.Getpid() }
