package engine

import (
	"log/slog"
	"time"

	"varve/engine/admission"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// MaxWriteBytes bounds the values of one write: a write is one record of the log, whose length has 32 bits.
const MaxWriteBytes = wal.MaxRecord

// Bounds of the store, each with its reason.
const (
	// maxRegistryBytes bounds a registry that the next memtable takes over: the tags of its series lie in one vector,
	// whose offsets have 32 bits.
	maxRegistryBytes = 1 << 30
	// maxMade bounds the tables that one request makes: a body of 64 MiB names a million.
	maxMade = 20_000
	// pieceBlocks is the number of blocks of one piece of work: 64 Ki rows keep a worker busy for about a millisecond.
	pieceBlocks = 8
	// mergedPieces bounds the pieces of runs that are merged: each walks all of them.
	mergedPieces = 16
	// pieceKeys is about how many bytes of the series keys of a part a merged piece has where tags are so large that
	// each piece reads those of its own series.
	pieceKeys = 8 << 20
	// newestBlocks is pieceBlocks for scans that begin with the newest rows and may stop early.
	newestBlocks = 1
	// flushWorkers encode the columns of a flush: it must keep up with ingestion. Merges take one and have time.
	flushWorkers = 2
	// maxMergedParts bounds the parts that a requested compaction merges at once: each part is an open walk.
	maxMergedParts = 256
	// releaseBatches is the number of batches of a merge after which its parts' pages are given back: some 10 MB.
	releaseBatches = 64
	// When memtables hold more than crowdedMemtables times FlushBytes, merges give way to flushes although fresh parts
	// have piled up.
	crowdedMemtables = 2
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
	def(&o.MaxValue, sst.MaxValue)
	o.MaxValue = min(o.MaxValue, sst.MaxValue)
	def(&o.MergeBytes, 64<<20)
	def(&o.BlockBytes, sst.DefaultBlockBytes)
	def(&o.AskedMerges, 4)
	def(&o.MemtableLimit, 144<<20)
	if o.Memory == nil {
		o.Memory = ownMemory(&o)
	}
	o.MemtableLimit = o.Memory.Limit(admission.Memtable)
	def(&o.WriteWait, 5*time.Second)
	def(&o.StandbyWait, 10*time.Second)
	def(&o.retryFlush, time.Second)
	def(&o.CacheBytes, 128<<20)
	def(&o.MinFree, 256<<20)
	o.MinFree = max(o.MinFree, 0)
	def(&o.Parallelism, 16)
	def(&o.mergeParts, 8)
	if o.maxPart == (partSize{}) {
		o.maxPart = maxPart
	}
	if o.PartKeys > 0 {
		o.maxPart.keys = min(o.maxPart.keys, o.PartKeys)
	}
	if o.PartPages > 0 {
		o.maxPart.pages = min(o.maxPart.pages, o.PartPages)
	}
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
