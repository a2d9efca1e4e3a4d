package exec

import (
	"errors"
	"time"

	"varve/engine/admission/ledger"
)

// A query that reads a table takes memory for what its scan and its sinks have in hand, however little they keep:
// thousands of small queries at once would take as much as a few large ones. It takes a queryShare-th of the pool, but
// at most queryBytes. If the pool does not have that, the query waits up to queryWait for others to end, and every
// queryLook asks some of them to give way.
const (
	queryShare = 32
	queryBytes = 8 << 20
	queryWait  = 10 * time.Second
	queryLook  = 250 * time.Millisecond
	// giveWayTime is how long a query at work waits for those to end that give way, giveWayLook how often it looks.
	giveWayTime = 5 * time.Second
	giveWayLook = 50 * time.Millisecond
)

// Begin reserves the memory that a query needs to read a table; calls after the first do nothing. Until there is room
// it waits in the queue of queries, see package admission. It returns early when the query ends.
func (b *Budget) Begin() error {
	if b == nil || b.begun.Swap(true) {
		return nil
	}
	share := min(b.pool.limit/queryShare, queryBytes)
	err := b.ticket.Grow(b.ctx, share, ledger.Wait{Most: queryWait, Each: queryLook,
		Look: func(waiting int) { b.pool.memory.GiveWay(waiting) }})
	switch {
	case errors.Is(err, ledger.ErrFull):
		return b.exceeded()
	case err != nil:
		return err
	}
	b.count(share)
	return nil
}
