package bench

import "os"

// pause does nothing here.
func pause(*os.Process) {}

func resume(*os.Process) {}
