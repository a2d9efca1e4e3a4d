package engine

import (
	"log/slog"
	"time"

	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// MaxWriteBytes bounds the values of one write: it is one record of the log, whose length has 32 bits.
const MaxWriteBytes = wal.MaxRecord

// Bounds of the store, each with its reason.
const (
	// maxColumns bounds a table: schemas are copied at each change and every part's directory names all its columns.
	maxColumns = 4096
	// maxRegistryBytes bounds a registry that the next memtable goes on with: tags of its series lie in one vector, whose
	// offsets have 32 bits.
	maxRegistryBytes = 1 << 30
	// maxNameBytes bounds names of columns.
	maxNameBytes = 512
	// maxFileNameBytes bounds names of tables and databases: COPY DATABASE makes a file of each, whose name has at most 255
	// bytes with what ends it, and writes % as %25.
	maxFileNameBytes = 240
	// pieceBlocks is the number of blocks of one piece of work: 64 Ki rows keep a worker busy for about a millisecond.
	pieceBlocks = 8
	// mergedPieces bounds the pieces of runs that are merged: each walks all of them.
	mergedPieces = 16
	// newestBlocks is the same for scans that begin with the newest rows and may stop early.
	newestBlocks = 1
	// flushWorkers encode the columns of a flush: it must keep up with ingestion. Merges take one and have time.
	flushWorkers = 2
	// maxMergedParts bounds what a compaction that was asked for merges at once: each part is an open walk.
	maxMergedParts = 256
	// maxMergeRows bounds the result of a merge: parts are replaced wholly, so they stay of a size that can be rewritten.
	maxMergeRows = 32 << 20
	// releaseBatches is the number of batches of a merge after which its parts' pages are given back: some 10 MB.
	releaseBatches = 64
	// yieldTime is how long a merge stands still after a batch, a millisecond or two of work, while scans are under way.
	yieldTime = 5 * time.Millisecond
	// longShare is what a long merge takes of a processor, at the least, while rows come in, and mostLong the number of
	// waiting merges at which it takes all of one.
	longShare = 0.25
	mostLong  = 32
	// leastRest is what a long merge rests at least, longestRest at the most, and restAfter how long after
	// a flush rows count as coming in.
	leastRest   = 5 * time.Millisecond
	longestRest = time.Second
	restAfter   = 2 * time.Second
	// crowdedMemtables is how many times FlushBytes memtables hold when merges stop for flushes whatever has piled up: one
	// that is written to, one that is flushed, and half of the next.
	crowdedMemtables = 2
	// piledMerges is the number of a table's fresh parts, in merges, past which merging them is as urgent as flushing and
	// scanning: more than one merge takes at once.
	piledMerges = 3
	// mostMerges is the number of a table's fresh parts, in merges, past which flushes wait for merges.
	mostMerges = 8
	// spaceCheck is how old the knowledge of free space may be.
	spaceCheck = 500 * time.Millisecond
	// retryFlush is the pause after a flush that failed.
	retryFlush = time.Second
)

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	if o.WALDir == "" {
		o.WALDir = o.Dir + "/wal"
	}
	def(&o.WALPurgeThreshold, 1<<30)
	def(&o.FlushBytes, 64<<20)
	def(&o.FlushAge, 5*time.Minute)
	def(&o.MemtableLimit, 144<<20)
	def(&o.WriteWait, 5*time.Second)
	def(&o.CacheBytes, 128<<20)
	def(&o.MinFree, 256<<20)
	o.MinFree = max(o.MinFree, 0)
	def(&o.Parallelism, 16)
	def(&o.mergeParts, 8)
	def(&o.mergedRows, 128<<10)
	def(&o.spliceRows, sst.DefaultBlockRows/2)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func def[T int | int64 | time.Duration](p *T, value T) {
	if *p == 0 {
		*p = value
	}
}
