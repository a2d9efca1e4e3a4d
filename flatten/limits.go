package flatten

import "varve/engine/schema"

// What a client can make us hold. Past a limit the answer is InvalidArguments with the limit in the text.
const (
	// maxValueBytes bounds one line, one entry or one element of an array, because it must be in memory as a whole.
	maxValueBytes = 16 << 20
	// maxBodyBytes bounds a body, so that the text of a column always fits the 4 GiB of a heap: rewriting a number can
	// make it five times longer.
	maxBodyBytes = 512 << 20
	// maxNesting bounds the nesting of a value before any recursion: a page of brackets must not exhaust the stack.
	maxNesting = 128
	// maxCells bounds rows times columns: a NULL takes eight bytes in memory and none in the body. The bound is
	// freeCells and cellsPerByte for every byte of the body, at most maxCells.
	maxCells     = 32 << 20
	freeCells    = 128 << 10
	cellsPerByte = 8
	// maxGroups bounds the sets of option variables in a request.
	maxGroups = 64
	// freeBytes is the memory by which rows may grow before they are measured again. It is counted in cells: a cell of
	// a type other than text takes at most eight bytes.
	freeBytes = 64 << 10
	freeCount = freeBytes / 8
	// ColumnBytes is the memory of a column without its values, edgeBytes the memory of a learned key, treeBytes the
	// memory of a value of an entry that the general reader takes apart.
	ColumnBytes = 512
	edgeBytes   = 400
	treeBytes   = 200
)

// Memory that a decoder keeps from one body to the next.
const (
	// windowBytes is what is read at a time: big enough for its cost per window to vanish, small enough for the second
	// level cache.
	windowBytes = 256 << 10
	// maxSpareWindow is the largest window kept; it has grown for an outlier.
	maxSpareWindow = 1 << 20
	// maxSpareEdges bounds the learned keys kept: keys that are data (ids) must not fill memory for ever.
	maxSpareEdges = 2 * schema.MaxColumns
	// maxEdges bounds the learned keys while decoding; entries with further ones are read without learning.
	maxEdges = 4 * schema.MaxColumns
	// maxSpareScratch is the largest scratch text kept.
	maxSpareScratch = 1 << 20
)

// padBytes of zeros follow what was read: loads of eight bytes need no check, and a zero byte, which no token holds,
// ends every loop.
const padBytes = 16
