package value

import (
	"sync/atomic"

	"varve/engine/status"
)

const (
	// freeEventBytes is what an event may take without being counted: nearly all take less.
	freeEventBytes = 1 << 20
	// holdBytes is the least that is counted at a time.
	holdBytes = 1 << 20
)

// Room bounds what the large events of all requests in hand take together: one alone is bounded by MaxEventBytes, and there
// are as many as clients. Safe for concurrent use.
type Room struct {
	most int64
	held atomic.Int64
}

// NewRoom makes room for so many bytes, but always for one event.
func NewRoom(most int64) *Room { return &Room{most: max(most, MaxEventBytes)} }

// Held is what is counted.
func (r *Room) Held() int64 { return r.held.Load() }

// ErrNoRoom is what an arena panics with where it would take more than its room has left. Whoever runs events recovers it:
// the request fails as a whole, and may be sent again.
var ErrNoRoom = status.New(status.RegionBusy, "the values of the entries in hand take too much memory together: try again later")

// Share makes the arena one of those that share a room.
func (a *Arena) Share(r *Room) { a.room = r }

// hold counts an event that takes so many bytes; a part of them may be free.
func (a *Arena) hold(all int) {
	more := min(max(all-a.held, holdBytes), MaxEventBytes-a.held)
	if a.room.held.Add(int64(more)) > a.room.most {
		a.room.held.Add(int64(-more))
		panic(ErrNoRoom)
	}
	a.held += more
}
