package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"halfnote/cuda"
	"halfnote/tensor"
)

// Serve runs halfnote's side of the measurements on a device. It answers requests from r on w
// until r ends. It returns an error if the device does not exist.
func Serve(device string, r io.Reader, w io.Writer) error {
	if err := tensor.Try(func() { tensor.SetDefaultDevice(tensor.Device(device)) }); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	jobs := map[string]job{}
	in, out := json.NewDecoder(bufio.NewReader(r)), json.NewEncoder(w)
	for {
		var q request
		if err := in.Decode(&q); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("bench: a request: %w", err)
		}
		if err := out.Encode(answer(jobs, q)); err != nil {
			return fmt.Errorf("bench: a reply: %w", err)
		}
	}
}

func answer(jobs map[string]job, q request) (a reply) {
	fail := func(format string, args ...any) reply { return reply{Error: fmt.Sprintf(format, args...)} }
	switch q.Do {
	case "about":
		a.About = fmt.Sprintf("halfnote, %s, %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
		if tensor.DefaultDevice() != tensor.CPU {
			a.About += ", " + cuda.DeviceName(0) + "; " + cuda.Products()
		}
	case "prepare":
		if q.Spec == nil {
			return fail("prepare: no spec")
		}
		if err := tensor.Try(func() { jobs[q.Key] = prepare(*q.Spec) }); err != nil {
			return fail("%v", err)
		}
		runtime.GC()
		tensor.DefaultDevice().ResetPeakMemory()
	case "run":
		j, ok := jobs[q.Key]
		if !ok {
			return fail("run: no work is prepared under the key %q", q.Key)
		}
		err := tensor.Try(func() {
			if !q.Cold {
				j(q.N)
				tensor.DefaultDevice().Synchronize()
			}
			start, cpu := time.Now(), processTime()
			a.Losses = j(q.N)
			tensor.DefaultDevice().Synchronize()
			a.NS, a.CPU = int64(time.Since(start)), int64(processTime()-cpu)
		})
		if err != nil {
			return fail("%v", err)
		}
		a.Peak = tensor.DefaultDevice().Memory().Peak
	case "forget":
		delete(jobs, q.Key)
		runtime.GC()
	default:
		return fail("unknown request %q; want about, prepare, run or forget", q.Do)
	}
	return a
}
