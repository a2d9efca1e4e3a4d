package processor

import (
	"context"
	"slices"
	"strings"
	"time"

	"varve/engine/status"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/regex"
)

// Names holds a slot for every key that a document names. It grows while the document is compiled and is immutable
// after.
type Names struct {
	slots map[string]int
	list  []string
	// Room is what the regular expressions of the document may take while it is compiled; nil: as much as they do.
	Room *Room
}

// Room is what the regular expressions of a document may take while it is compiled.
type Room = regex.Room

// NewRoom makes room for so many bytes of expressions, for so long.
func NewRoom(ctx context.Context, most int64, limit time.Duration) *Room {
	return regex.NewRoom(ctx, most, limit)
}

// NewNames makes names that begin with the given ones, in slots 0, 1, ...
func NewNames(first ...string) *Names {
	n := &Names{slots: map[string]int{}}
	for _, name := range first {
		n.Slot(name)
	}
	return n
}

// Slot is the slot of a key, a new one when it had none.
func (n *Names) Slot(name string) int {
	if s, ok := n.slots[name]; ok {
		return s
	}
	s := len(n.list)
	n.slots[strings.Clone(name)] = s
	n.list = append(n.list, name)
	return s
}

// Find is the slot of a key; -1 when it has none.
func (n *Names) Find(name string) int {
	if s, ok := n.slots[name]; ok {
		return s
	}
	return -1
}

// Name is the key of a slot.
func (n *Names) Name(slot int) string { return n.list[slot] }

// All are the keys, in the order of their slots.
func (n *Names) All() []string { return slices.Clone(n.list) }

// Len is the number of slots.
func (n *Names) Len() int { return len(n.list) }

// Event is one entry on its way through a document. The keys that the document names are in slots, other keys in Rest.
// Its strings are views of the body or of Arena; Reset makes room for the next entry. One goroutine at a time.
type Event struct {
	// Arena is the memory of values made on the way.
	Arena *value.Arena
	// Rest are the keys without a slot, each once, in no order.
	Rest []value.Member
	// Whole is the context when it is not an object: see IsObject.
	Whole value.Value

	// Journal takes what scripts log; nil: nothing does.
	Journal *vrl.Journal

	names  *Names
	slots  []value.Value
	has    []bool
	whole  bool
	guess  []guess // by position of a key in the last entry
	spans  []span  // scratch of matching
	groups []int   // scratch of regular expressions
	frames map[*vrl.Program]*vrl.Frame
}

// guess is the key that came at a position last, with its slot, -1 for none.
type guess struct {
	key  string
	slot int
}

// NewEvent makes an event over the names of a compiled document.
func NewEvent(names *Names, arena *value.Arena) *Event {
	return &Event{Arena: arena, names: names, slots: make([]value.Value, names.Len()), has: make([]bool, names.Len())}
}

// Reset empties the event. Its arena is left to its owner.
func (e *Event) Reset() {
	clear(e.has)
	e.Rest = e.Rest[:0]
	e.whole = false
}

// IsObject reports whether the context is an object; otherwise it is Whole.
func (e *Event) IsObject() bool { return !e.whole }

// ErrNotObject is the error of a processor that finds something else than an object.
var ErrNotObject = status.New(status.IllegalState, "Top level value must be map")

// Load makes v the context, whatever it is.
func (e *Event) Load(v value.Value) {
	e.Reset()
	if v.Kind() != value.ObjectKind {
		e.Whole, e.whole = v, true
		return
	}
	o := v.Object()
	for i := range o.Len() {
		m := o.Member(i)
		if s := e.slotAt(i, m.Key); s >= 0 {
			e.slots[s], e.has[s] = m.Value, true
		} else {
			e.Rest = append(e.Rest, m)
		}
	}
}

// maxGuesses bounds the positions whose keys are remembered.
const maxGuesses = 256

// slotAt finds the slot of the i-th key of an entry. Entries repeat their keys, so it is mostly that of the last entry.
func (e *Event) slotAt(i int, key string) int {
	if i < len(e.guess) && e.guess[i].key == key {
		return e.guess[i].slot
	}
	s := e.names.Find(key)
	if i < maxGuesses {
		for len(e.guess) <= i {
			e.guess = append(e.guess, guess{slot: e.names.Find("")})
		}
		if s >= 0 {
			e.guess[i] = guess{e.names.Name(s), s}
		} else {
			e.guess[i] = guess{strings.Clone(key), -1}
		}
	}
	return s
}

// Context is the context as one value.
func (e *Event) Context() value.Value {
	if e.whole {
		return e.Whole
	}
	o := e.Arena.Object(len(e.slots) + len(e.Rest))
	for s, has := range e.has {
		if has {
			o.Append(e.Arena, e.names.list[s], e.slots[s])
		}
	}
	for _, m := range e.Rest {
		o.Append(e.Arena, m.Key, m.Value)
	}
	o.Sort()
	return o.Of()
}

// Has reports whether a slot has a value; null is one.
func (e *Event) Has(slot int) bool { return e.has[slot] }

// Get is the value of a slot; ok is false when the key is absent.
func (e *Event) Get(slot int) (v value.Value, ok bool) { return e.slots[slot], e.has[slot] }

// Set sets the value of a slot.
func (e *Event) Set(slot int, v value.Value) { e.slots[slot], e.has[slot] = v, true }

// setText sets a slot to a string, a view.
func (e *Event) setText(slot int, text string) { e.slots[slot], e.has[slot] = value.String(text), true }

// drop removes a slot's key.
func (e *Event) drop(slot int) { e.has[slot] = false }

// setKey sets a key whose name was not known before.
func (e *Event) setKey(key string, v value.Value) {
	if s := e.names.Find(key); s >= 0 {
		e.Set(s, v)
		return
	}
	for i := range e.Rest {
		if e.Rest[i].Key == key {
			e.Rest[i].Value = v
			return
		}
	}
	e.Rest = append(e.Rest, value.Member{Key: key, Value: v})
}

// scratch returns room for n spans.
func (e *Event) scratch(n int) []span {
	if n > len(e.spans) {
		e.spans = make([]span, n)
	}
	return e.spans[:n]
}

// SortRest brings Rest into the order of its keys.
func (e *Event) SortRest() {
	if !slices.IsSortedFunc(e.Rest, byKey) {
		slices.SortFunc(e.Rest, byKey)
	}
}

// discard drops the entry, silently.
func (e *Event) discard() { e.Whole, e.whole = value.Value{}, true }

// Discarded reports whether the entry is dropped.
func (e *Event) Discarded() bool { return e.whole && e.Whole.IsNull() }

// keepOnly removes all keys except those of the given slots.
func (e *Event) keepOnly(keep []bool) {
	e.Rest = e.Rest[:0]
	for s := range e.has {
		e.has[s] = e.has[s] && s < len(keep) && keep[s]
	}
}

func byKey(x, y value.Member) int { return strings.Compare(x.Key, y.Key) }
