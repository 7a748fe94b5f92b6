package jupyter

import "time"

// echo answers every heartbeat.
func (s *server) echo() {
	for {
		m, err := s.heartbeat.Recv()
		if s.life.Err() != nil {
			return
		}
		if err == nil {
			err = s.heartbeat.SendMulti(m)
		}
		if err != nil {
			s.log.Printf("heartbeat: %v", err)
			time.Sleep(time.Millisecond)
		}
	}
}
