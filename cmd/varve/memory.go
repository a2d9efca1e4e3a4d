package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/cmd/varve/client"
	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec/exec"
	"varve/sst"
)

// memory is how the limit of the process is shared out, in bytes where nothing else is said.
type memory struct {
	limit     int64 // of the process
	memtables int64 // rows in memory; writers wait at it
	series    int64 // keys of the series of rows in memory
	flush     int64 // rows of one table that make a part
	cache     int64 // decoded blocks
	merge     int64 // rows that a merge has in hand of its parts; two may go on
	asked     int   // merges besides, that somebody waits for
	block     int64 // rows of a block of a part
	pages     int64 // number of pages of a part
	queries   int64 // kept by all running queries together
	held      int64 // rows that running queries keep in memory after their flush, when another begins
	bodies    int64 // of requests in hand, or what is made of them
	answers   int64 // that clients have not read yet
	spare     int64 // of buffers that requests leave to the next ones
	rows      int64 // of one request
	tables    int   // that there may be
	columns   int   // that all of them may have
	keys      int64 // bytes of the series keys of a part
	value     int   // longest of a row: flushes and merges of it keep up to eight at a time
}

// tableBytes is the share of the limit that goes with a table: what it takes itself is some 4 KiB.
const tableBytes = 32 << 10

// columnBytes is the share of the limit that goes with a column of a table: in memtables and parts it takes a good part
// of that, however few its rows.
const columnBytes = 8 << 10

// pageBytes is the share of the limit that goes with a page of the largest part, of which a reader keeps some 80 bytes.
const pageBytes = 4 << 10

// memory shares the limit out: configured sizes hold as far as they fit into the shares of a small machine.
func (c *Config) memory() memory {
	m := memory{limit: c.memoryLimit()}
	m.memtables = min(int64(c.Storage.MemtableLimit), m.limit/8)
	m.series = m.limit / 8
	m.flush = min(int64(c.Storage.FlushBytes), max(m.memtables/4, 1<<20))
	m.cache = min(int64(c.Storage.CacheBytes), m.limit/16)
	m.merge = min(max(m.limit/20, 4<<20), 64<<20)
	m.asked = int(min(max(m.limit/(512<<20), 1), 8))
	m.block = min(max(m.limit/32, 2<<20), sst.DefaultBlockBytes)
	m.pages = m.limit / pageBytes
	m.queries = sizeOrShare(c.Query.MemoryPool, m.limit)
	m.held = max(m.queries/2, 2*m.memtables) // one query alone may keep all memtables of a moment
	m.bodies = m.limit / 16
	m.answers = m.limit / 16
	m.spare = min(m.limit/16, 256<<20)
	m.rows = min(m.limit/4, 1<<30)
	m.tables = int(m.limit / tableBytes)
	m.columns = int(m.limit / columnBytes)
	m.keys = m.limit / 8
	m.value = int(min(max(m.limit/32, 1<<20), sst.MaxValue))
	return m
}

// limits are the shares of the classes of package admission. max_in_flight_write_bytes may make that of bodies smaller.
func (m *memory) limits(c *Config) (limits admission.Limits) {
	limits.Of[admission.Body] = m.bodies
	if most := int64(c.MaxInFlightWriteBytes); most > 0 {
		limits.Of[admission.Body] = min(most, m.bodies)
	}
	limits.Of[admission.Answer] = m.answers
	limits.Of[admission.Query] = cmp.Or(m.queries, exec.DefaultMemory)
	limits.Of[admission.Held] = m.held
	limits.Of[admission.Memtable] = m.memtables
	limits.Of[admission.Merge] = int64(m.asked) * m.merge
	limits.SeriesBeside = m.series
	limits.HeldBeside = m.held - limits.Of[admission.Query]/2 // the rest takes from what queries may keep
	return limits
}

// intake makes the intake of bodies. If max_in_flight_write_bytes bounds them, its policy says how long a body waits,
// and a body without room is refused with another code.
func (c *Config) intake(memory *ledger.Ledger, share int64) (*web.Intake, error) {
	if most := int64(c.MaxInFlightWriteBytes); most <= 0 || most > share {
		return web.IntakeOf(memory, c.Storage.WriteWait, status.RegionBusy), nil
	}
	wait, err := writePolicy(c.WriteBytesExhaustedPolicy)
	if err != nil {
		return nil, err
	}
	return web.IntakeOf(memory, wait, status.RateLimited), nil
}

// memoryLimit is what memory_limit comes to on this machine.
func (c *Config) memoryLimit() int64 { return sizeOrShare(c.MemoryLimit, machineMemory()) }

// heapLimit is what the heap may grow to: nine tenths of memory_limit, or GOMEMLIMIT where the environment has it.
func (c *Config) heapLimit() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	return c.memoryLimit() / 10 * 9
}

// limits says what the server may take where the environment or a control group gives it less than the machine; else
// empty.
func (c *Config) limits() string {
	group, processors := groupMemory(), runtime.GOMAXPROCS(0)
	grouped := group == machineMemory()
	if !grouped && processors >= runtime.NumCPU() && os.Getenv("GOMEMLIMIT") == "" {
		return ""
	}
	of := ""
	if grouped {
		of = fmt.Sprintf(" of %s that the control group has", client.Bytes(group))
	}
	return fmt.Sprintf("memory %s%s, heap up to %s, %d of %s", client.Bytes(c.memoryLimit()), of,
		client.Bytes(c.heapLimit()),
		processors, count(runtime.NumCPU(), "processor"))
}

// minMemory is the least memory_limit that a server can live in.
const minMemory = 64 << 20

// unknownMemory is taken for the machine's memory when the system does not tell: a small machine.
const unknownMemory = 1 << 30

// checkMemory refuses limits that leave no room.
func (c *Config) checkMemory() error {
	if err := checkShare(c.MemoryLimit); err != nil {
		return err
	}
	if c.memoryLimit() < minMemory {
		return fmt.Errorf("expected at least %s", Size(minMemory))
	}
	return nil
}

// sizeOrShare is a size, or a share such as 50% of a whole. The text has been checked.
func sizeOrShare(text string, whole int64) int64 {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		percent, _ := strconv.ParseFloat(share, 64)
		return int64(float64(whole) * percent / 100)
	}
	size, _ := parseSize(text)
	return int64(size)
}

func checkShare(text string) error {
	share, isShare := strings.CutSuffix(text, "%")
	if !isShare {
		_, err := parseSize(text)
		return err
	}
	if n, err := strconv.ParseFloat(share, 64); err != nil || n <= 0 || n > 100 {
		return fmt.Errorf("expected a size such as 256MiB or a share such as 50%%")
	}
	return nil
}

// collector tells the garbage collector how large the heap may grow. Most of the time that is process.heap_target, so
// that a server that only takes rows in stays small; while queries, requests and the cache keep more, the heap may grow
// with them, up to the memory limit, instead of being collected over and over.
//
// The heap grows at once and shrinks in steps: whoever allocates next gives back to the system what is over the limit,
// a tenth of a second for a gigabyte, and must not be the client that waits for the answer of the query that kept it.
type collector struct {
	target, limit int64
	cached        func() int64 // bytes of decoded blocks
	mu            sync.Mutex   // protects what follows
	held          int64        // the total that was followed last
	told          int64        // bytes over the target that the heap was last allowed
	shrinking     bool         // a step is due
}

const (
	// collectorStep is the change of the total that is passed on: telling the collector stops the world for a moment.
	collectorStep = 32 << 20
	// shrinkStep is given back at once, which takes some 6 ms, and shrinkPause lies between two steps.
	shrinkStep  = 64 << 20
	shrinkPause = 50 * time.Millisecond
)

// startCollector sets the collector up. An environment that sets GOGC or GOMEMLIMIT itself is left alone.
func startCollector(c *Config, cached func() int64) *collector {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(c.Process.GCPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	limit := c.heapLimit()
	g := &collector{target: min(int64(c.Process.HeapTarget), limit), limit: limit, cached: cached}
	g.tell(0)
	return g
}

// follow takes the total of the account over, see admission.Control.Heap.
func (g *collector) follow(held int64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = held
	switch wanted := g.wanted(); {
	case wanted >= g.told+collectorStep:
		g.tell(wanted)
	case wanted <= g.told-collectorStep && !g.shrinking:
		g.shrinking = true
		time.AfterFunc(shrinkPause, g.shrink)
	}
}

// wanted is how many bytes the heap may have over its target: the total of the account, and the blocks in the cache.
func (g *collector) wanted() int64 { return min(g.held+g.cached(), g.limit-g.target) }

func (g *collector) tell(bytes int64) {
	g.told = bytes
	debug.SetMemoryLimit(g.target + bytes)
}

// shrink goes one step down to what is wanted.
func (g *collector) shrink() {
	g.mu.Lock()
	defer g.mu.Unlock()
	wanted := g.wanted()
	if g.shrinking = wanted < g.told; g.shrinking {
		g.tell(max(wanted, g.told-shrinkStep))
		time.AfterFunc(shrinkPause, g.shrink)
	}
}
