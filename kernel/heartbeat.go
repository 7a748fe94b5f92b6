package kernel

import "time"

// heartbeatLoop echoes every heartbeat.
func (k *kernel) heartbeatLoop() {
	for {
		m, err := k.heartbeat.Recv()
		if k.life.Err() != nil {
			return
		}
		if err == nil {
			err = k.heartbeat.SendMulti(m)
		}
		if err != nil {
			k.log.Printf("heartbeat: %v", err)
			time.Sleep(time.Millisecond)
		}
	}
}
