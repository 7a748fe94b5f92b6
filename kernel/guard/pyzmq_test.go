package guard

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/internal/testenv"
	"halfnote/kernel/curve"
)

// TestLibzmq tests the guard against libzmq, which Jupyter's clients use.
func TestLibzmq(t *testing.T) {
	const needs = "needs python3 with pyzmq"
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import zmq").Run() != nil {
		testenv.Missing(t, "jupyter", needs)
	}
	for _, tt := range []struct {
		name, network string
		keys          *curve.Keys
	}{{"tcp", "tcp", nil}, {"unix", "unix", nil}, {"tcp with CURVE", "tcp", curve.NewKeys()}, {"unix with CURVE", "unix", curve.NewKeys()}} {
		t.Run(tt.name, func(t *testing.T) {
			network := tt.network
			t.Parallel()
			router, pub := &server{Socket: socket(t, zmq4.Router)}, &server{Socket: socket(t, zmq4.Pub)}
			addresses := make([]string, 2)
			for i, s := range []*server{router, pub} {
				address := "127.0.0.1:0"
				if network == "unix" {
					address = t.TempDir() + "/s"
				}
				var err error
				if s.Listener, err = Listen(s.Socket, network, address, Config{Welcome: welcome, Keys: tt.keys}); err != nil {
					t.Fatal(err)
				}
				scheme := map[string]string{"tcp": "tcp://", "unix": "ipc://"}[network]
				addresses[i] = scheme + s.Addr().String()
			}
			go func() {
				for {
					m, err := router.Recv()
					if err != nil {
						return
					}
					if string(m.Frames[len(m.Frames)-1]) == "publish" {
						pub.Publish(context.Background(), []byte("t"))
					}
					router.SendMulti(m)
				}
			}()
			ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
			defer stop()
			args := append([]string{"testdata/pyzmq.py"}, addresses...)
			if tt.keys != nil {
				public, secret := tt.keys.Z85()
				args = append(args, public, secret)
			}
			if out, err := exec.CommandContext(ctx, python, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
