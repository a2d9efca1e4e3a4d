package admin

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"varve/engine/status"
	"varve/server/web"
)

// Bounds of a CPU profile.
const (
	maxProfileSeconds = 60
	maxFrequency      = 1000
	goFrequency       = 100 // the runtime's own rate
)

// busy is the refusal of a second CPU profile.
var busy = web.NewReject(409, "Another CPU profile is being taken: one at a time")

// output is the form of a profile.
type output string

const (
	proto output = "proto"
	text  output = "text"
	flame output = "flamegraph"
)

func outputOf(p *web.Params, otherwise output) (output, error) {
	switch o := output(p.String("output")); o {
	case "":
		return otherwise, nil
	case proto, text, flame:
		return o, nil
	default:
		return "", web.NewReject(400, "Failed to deserialize query string: output: unknown variant `"+string(o)+
			"`, expected one of `proto`, `text`, `flamegraph`")
	}
}

// CPUProfile answers POST /debug/prof/cpu after the seconds asked for. One at a time.
func (h *Handler) CPUProfile(c *web.Ctx) error {
	p, err := c.Query("seconds", "frequency", "output")
	if err != nil {
		return err
	}
	seconds, err := p.Uint("seconds", 5)
	if err != nil {
		return err
	}
	if seconds < 1 || seconds > maxProfileSeconds {
		return web.NewReject(400, "Failed to deserialize query string: seconds: must be from 1 to "+
			strconv.Itoa(maxProfileSeconds))
	}
	frequency, err := p.Uint("frequency", 99)
	if err != nil {
		return err
	}
	if frequency < 1 || frequency > maxFrequency {
		return web.NewReject(400, "Failed to deserialize query string: frequency: must be from 1 to "+
			strconv.Itoa(maxFrequency))
	}
	form, err := outputOf(p, proto)
	if err != nil {
		return err
	}
	if !h.profiling.CompareAndSwap(false, true) {
		return busy
	}
	defer h.profiling.Store(false)
	var buf bytes.Buffer
	// The runtime samples at 100 Hz unless a rate was set before. For a rate near that the runtime's own is good
	// enough.
	if frequency < goFrequency*9/10 || frequency > goFrequency*11/10 {
		runtime.SetCPUProfileRate(int(frequency))
	}
	if err := pprof.StartCPUProfile(&buf); err != nil {
		runtime.SetCPUProfileRate(0)
		return busy
	}
	wait := time.NewTimer(time.Duration(seconds) * time.Second)
	if c.Watch != nil {
		c.Watch()
	}
	select {
	case <-wait.C:
	case <-c.Context.Done():
		wait.Stop()
	}
	pprof.StopCPUProfile()
	return reply(c, form, "cpu", func() ([]byte, error) { return buf.Bytes(), nil })
}

// MemProfile answers POST /debug/prof/mem: what is in use, as of the last garbage collection.
func (h *Handler) MemProfile(c *web.Ctx) error {
	p, err := c.Query("output")
	if err != nil {
		return err
	}
	form, err := outputOf(p, text)
	if err != nil {
		return err
	}
	return reply(c, form, "inuse_space", func() ([]byte, error) {
		var buf bytes.Buffer
		if err := pprof.Lookup("heap").WriteTo(&buf, 0); err != nil {
			return nil, status.Wrap(err, status.Internal, "write the heap profile")
		}
		return buf.Bytes(), nil
	})
}

// reply sends a profile, which take gives in pprof's form, in the form asked for. sample names the value that counts.
func reply(c *web.Ctx, form output, sample string, take func() ([]byte, error)) error {
	contentType := map[output]string{proto: "application/octet-stream", text: "text/plain; charset=utf-8",
		flame: "image/svg+xml"}[form]
	return c.Make(200, contentType, func() ([]byte, error) {
		raw, err := take()
		if err != nil || form == proto {
			return raw, err
		}
		p, err := profile.ParseData(raw)
		if err != nil {
			return nil, status.Wrap(err, status.Internal, "read back the profile")
		}
		if form == flame {
			return collect(p, sample).svg(), nil
		}
		return collect(p, sample).table(), nil
	})
}

// MemStatus answers GET /debug/prof/mem/status.
func (h *Handler) MemStatus(c *web.Ctx) error {
	c.Text(200, `{"active": `+strconv.FormatBool(!h.memOff.Load())+`}`)
	return nil
}

// defaultMemRate is the runtime's: one sample for each 512 KiB allocated.
const defaultMemRate = 512 << 10

// MemActivate answers POST /debug/prof/mem/activate. Heap profiling is on from the start.
func (h *Handler) MemActivate(c *web.Ctx) error {
	if h.memOff.CompareAndSwap(true, false) {
		runtime.MemProfileRate = defaultMemRate
	}
	c.Text(200, "Heap profiling activated")
	return nil
}

// MemDeactivate answers POST /debug/prof/mem/deactivate: allocations are not sampled any more.
func (h *Handler) MemDeactivate(c *web.Ctx) error {
	if h.memOff.CompareAndSwap(false, true) {
		runtime.MemProfileRate = 0
	}
	c.Text(200, "Heap profiling deactivated")
	return nil
}
