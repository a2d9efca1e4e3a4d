// Package samples writes metric samples to tables, for all protocols that carry them. The name of a metric is a table
// and its labels are tags. A series that was written before is recognised by the bytes its sender uses for it, without
// parsing its labels.
package samples

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
)

// DefaultPhysical is the physical table of metrics that name none.
const DefaultPhysical = "service_physical_table"

// Options of Tables.
type Options struct {
	Store *engine.Engine
	// Prefix begins the names of the columns of values and times; empty: they are called value, timestamp and so on.
	Prefix string
	// OwnStorage makes a plain table for each metric instead of a logical one in a physical table.
	OwnStorage bool
	// NoAutoCreate refuses metrics without a table, and labels that their table lacks.
	NoAutoCreate bool
	// Lossy takes labels that are not UTF-8, with U+FFFD in place of wrong bytes; otherwise their series are refused.
	Lossy bool
	// CacheBytes bounds the memory of the series that are known by name.
	CacheBytes int64
	// MaxExemplars is the number of exemplars that are kept; 0: none are.
	MaxExemplars int
}

// Tables finds the tables of series. Safe for concurrent use.
type Tables struct {
	o         Options
	columns   engine.SampleColumns
	plain     schema.Options // of tables with storage of their own
	seeds     [2]maphash.Seed
	metadata  metadataByDB
	exemplars exemplars

	mu    sync.RWMutex // protects what follows
	known map[key]*known
	bytes atomic.Int64  // of known; changed under mu, read without: a holder of mu may wait for its reader
	epoch atomic.Uint32 // of use
	finds atomic.Int64  // of known series in this epoch
}

// key identifies a series by the sender's name for it and where it was sent: a hash of 128 bits with secret seeds.
type key struct{ a, b uint64 }

// scope is where a request sends its series.
type scope struct{ db, physical string }

// hash is the part of a scope in the keys of its series.
func (s scope) hash(seeds *[2]maphash.Seed) key {
	return key{maphash.Comparable(seeds[0], s), maphash.Comparable(seeds[1], s)}
}

// known is a series that is known by name.
type known struct {
	key    key
	series *engine.Series
	next   atomic.Pointer[known] // the series behind it in the last request: senders mostly keep their order
	used   atomic.Uint32         // epoch of the last use
}

// knownBytes is the memory of a known series besides its key: entry, handle, slots of the map.
const knownBytes = 240

// New makes the tables of a store.
func New(o Options) *Tables {
	plain, err := schema.ParseOptions(map[string]string{schema.SemanticOption: schema.SemanticMetric})
	if err != nil {
		panic(fmt.Sprintf("the option that marks tables of metrics is none: %v", err))
	}
	prefix := ""
	if o.Prefix != "" {
		prefix = o.Prefix + "_"
	}
	return &Tables{
		o: o, plain: plain, metadata: metadataByDB{store: o.Store},
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, known: map[key]*known{},
		columns: engine.SampleColumns{Time: prefix + "timestamp", Value: prefix + "value",
			Histogram: prefix + "native_histogram", Start: prefix + "start_timestamp"},
	}
}

// Columns are the names of the columns that samples make.
func (t *Tables) Columns() *engine.SampleColumns { return &t.columns }

// MaxExemplars is the number of exemplars that are kept.
func (t *Tables) MaxExemplars() int { return t.o.MaxExemplars }

// Bytes is the memory of known series, about.
func (t *Tables) Bytes() int64 {
	return t.bytes.Load()
}

// Request finds the series of one request. Find looks each up by the sender's name for it. Add takes the labels of
// series that are not known, and Resolve finds or makes these. One goroutine at a time.
type Request struct {
	t         *Tables
	db        string
	physical  string
	hints     Hints
	scope     key
	last      *known // the series that was found last; nil: none
	finds     int64
	missing   []missing
	newLabels int
	newBytes  int
	// exemplarBytes is the memory of exemplars that were made, about.
	exemplarBytes int
	found         []*engine.Series
	errs          []error
}

type missing struct {
	key  key
	name engine.SeriesName
}

// Begin begins a request that sends its series to a database and a physical table; if physical is empty, to that of the
// hints or the usual one. End ends its search.
func (t *Tables) Begin(db, physical string, hints Hints) *Request {
	physical = cmp.Or(physical, hints.physical, DefaultPhysical)
	if t.o.OwnStorage {
		physical = ""
	}
	t.mu.RLock()
	return &Request{t: t, db: db, physical: physical, hints: hints, scope: scope{db, physical}.hash(&t.seeds)}
}

// End ends the search. Other requests wait for it before they enter new series.
func (r *Request) End() {
	r.t.finds.Add(r.finds)
	r.t.mu.RUnlock()
}

// Wait calls f, which may wait for other requests, outside of the search: these may wait for the end of the search.
func (r *Request) Wait(f func() error) error {
	r.t.mu.RUnlock()
	defer r.t.mu.RLock()
	r.last = nil // the series may be forgotten meanwhile
	return f()
}

// key is a series as the sender names it.
func (r *Request) key(name []byte) key {
	return key{maphash.Bytes(r.t.seeds[0], name) ^ r.scope.a, maphash.Bytes(r.t.seeds[1], name) ^ r.scope.b}
}

// AppendDigest appends a digest of a part that the names of many series have in common, however long the part is.
func (r *Request) AppendDigest(dst, part []byte) []byte {
	k := r.key(part)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, k.a), k.b)
}

// Handle is a series of a request: a known one, or one that Series returns once Resolve has run.
type Handle struct {
	series *engine.Series
	at     int // the place among the series that were not known, if series is nil
}

// Find looks a series up by the bytes that name it.
func (r *Request) Find(name []byte) (h Handle, ok bool) {
	k := r.find(r.key(name))
	if k == nil || !k.series.Alive() {
		return Handle{}, false
	}
	r.last = k
	r.finds++
	if e := r.t.epoch.Load(); k.used.Load() != e {
		k.used.Store(e)
	}
	return Handle{series: k.series}, true
}

// find looks first at the series behind the last one, then among all.
func (r *Request) find(at key) *known {
	if r.last != nil {
		if k := r.last.next.Load(); k != nil && k.key == at {
			return k
		}
	}
	k := r.t.known[at]
	if k != nil && r.last != nil {
		r.last.next.Store(k)
	}
	return k
}

// Label is a label as it came.
type Label struct{ Name, Value []byte }

// Add adds a series that Find does not know by name. The error says why there can be no series with such labels.
func (r *Request) Add(name []byte, labels []Label) (Handle, error) {
	m := missing{key: r.key(name), name: engine.SeriesName{Table: schema.Name{DB: r.db}, Physical: r.physical}}
	if err := r.take(&m.name, labels); err != nil {
		return Handle{}, err
	}
	r.missing = append(r.missing, m)
	r.newLabels += len(m.name.Labels)
	r.newBytes += labelBytes(labels)
	return Handle{at: len(r.missing) - 1}, nil
}

// NewLabels is the number of labels of the series that were added.
func (r *Request) NewLabels() int { return r.newLabels }

// NewSeries is the number of series that were added.
func (r *Request) NewSeries() int { return len(r.missing) }

// NewBytes is the size of the names and values of their labels.
func (r *Request) NewBytes() int { return r.newBytes }

// Held is about the memory of the series that were added, and of their resolution: labels, keys, and known series.
func (r *Request) Held() int64 {
	return int64(len(r.missing))*missingBytes + int64(r.newLabels)*labelBytesHeld + 3*int64(r.newBytes)
}

// missingBytes is the memory of a series that was not known until it is, besides its labels; labelBytesHeld that of a
// label besides its texts.
const (
	missingBytes   = 512
	labelBytesHeld = 48
)

// MaxLabels bounds the labels of a series, maxLabelBytes the bytes of their names and values: a larger key cannot be
// stored.
const (
	MaxLabels     = 1024
	maxLabelBytes = 2 << 20
)

// Sorted returns the labels of a series sorted by name, including those without a value. The error says why no series
// can have them.
func (t *Tables) Sorted(labels []Label) ([]engine.SeriesLabel, error) {
	if len(labels) > MaxLabels {
		return nil, status.New(status.InvalidArguments, "a series has too many labels, the limit is %d", MaxLabels)
	}
	if size := labelBytes(labels); size > maxLabelBytes {
		return nil, status.New(status.InvalidArguments, "the labels of %s take %d bytes, the limit is %d", Show(labels),
			size, maxLabelBytes)
	}
	sorted := make([]engine.SeriesLabel, 0, len(labels))
	for i := range labels {
		name, value := string(labels[i].Name), string(labels[i].Value)
		if t.o.Lossy {
			name, value = strings.ToValidUTF8(name, "\ufffd"), strings.ToValidUTF8(value, "\ufffd")
		}
		switch {
		case name == "":
			return nil, status.New(status.InvalidArguments, "a label of %s has no name", Show(labels))
		case !utf8.ValidString(name) || !utf8.ValidString(value):
			return nil, status.New(status.InvalidArguments, "label %.80q of %s is not UTF-8", name, Show(labels))
		}
		sorted = append(sorted, engine.SeriesLabel{Name: name, Value: value})
	}
	slices.SortStableFunc(sorted, func(a, b engine.SeriesLabel) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Name == sorted[i-1].Name {
			return nil, status.New(status.InvalidArguments, "label %.80q of %s occurs twice", sorted[i].Name,
				Show(labels))
		}
	}
	return sorted, nil
}

// take checks labels, and sorts them into the table and the labels of the series.
func (r *Request) take(n *engine.SeriesName, labels []Label) (err error) {
	if n.Labels, err = r.t.Sorted(labels); err != nil {
		return err
	}
	n.Labels = slices.DeleteFunc(n.Labels, func(l engine.SeriesLabel) bool { return l.Value == "" || r.steers(n, l) })
	if n.Table.Table == "" {
		return status.New(status.InvalidArguments, "a series has no label __name__: %s", Show(labels))
	}
	return nil
}

// steers takes a label that says where the series goes; false: the label is one of the series.
func (r *Request) steers(n *engine.SeriesName, l engine.SeriesLabel) bool {
	switch l.Name {
	case "__name__":
		n.Table.Table = l.Value
	case "x_service_database", "__database__", "__schema__":
		n.Table.DB = l.Value
	case "x_service_physical_table", "__physical_table__":
		if !r.t.o.OwnStorage {
			n.Physical = l.Value
		}
	default:
		return false
	}
	return true
}

// labelBytes is the size of names and values.
func labelBytes(labels []Label) (size int) {
	for i := range labels {
		size += len(labels[i].Name) + len(labels[i].Value)
	}
	return size
}

// Show is a series in an error.
func Show(labels []Label) string {
	const most = 8
	var b strings.Builder
	b.WriteByte('{')
	for i := range labels[:min(most, len(labels))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.60q=%.60q", labels[i].Name, labels[i].Value)
	}
	if len(labels) > most {
		b.WriteString(", ...")
	}
	b.WriteByte('}')
	return b.String()
}

// Resolve finds the series that were added, and makes tables and labels that are absent. It must be called after End.
func (r *Request) Resolve(ctx context.Context) error {
	if len(r.missing) == 0 {
		return nil
	}
	ask := engine.SeriesRequest{Columns: r.t.columns, Plain: r.hints.plain, TTL: r.hints.ttl,
		NoAutoCreate: r.hints.noAutoCreate, Names: make([]engine.SeriesName, len(r.missing))}
	for i := range r.missing {
		ask.Names[i] = r.missing[i].name
	}
	var err error
	if r.found, r.errs, err = r.t.o.Store.Series(ctx, &ask); err != nil {
		return err
	}
	r.t.learn(r)
	return nil
}

// Series is the series of a handle, or why it cannot be written to.
func (r *Request) Series(h Handle) (*engine.Series, error) {
	if h.series != nil {
		return h.series, nil
	}
	return r.found[h.at], r.errs[h.at]
}

// learn keeps the series that a request found.
func (t *Tables) learn(r *Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.finds.Load() > goneAfter*int64(max(len(t.known), fewKnown)) {
		t.forgetUnused()
	}
	for i, s := range r.found {
		if r.errs[i] != nil {
			continue
		}
		if size := int64(knownBytes + s.KeyBytes()); t.bytes.Load()+size > t.o.CacheBytes {
			t.forget()
		}
		k := &known{key: r.missing[i].key, series: s}
		k.used.Store(t.epoch.Load())
		if old := t.known[r.missing[i].key]; old != nil {
			t.bytes.Add(-int64(knownBytes + old.series.KeyBytes()))
		}
		t.known[r.missing[i].key] = k
		t.bytes.Add(int64(knownBytes + s.KeyBytes()))
	}
}

// goneAfter is how often, on average, known series are found in an epoch before those that were never found are
// dropped: their senders have replaced them by others.
const goneAfter = 8

// fewKnown is the number of known series up to which none is dropped for disuse. A variable for the tests.
var fewKnown = 10_000

// forgetUnused drops the series that were not found in this epoch and begins the next. The caller holds t.mu.
func (t *Tables) forgetUnused() {
	epoch := t.epoch.Load()
	for k, s := range t.known {
		if s.used.Load() != epoch || !s.series.Alive() {
			t.drop(k, s)
		}
	}
	t.finds.Store(0)
	t.epoch.Add(1)
}

// drop forgets a series. The caller holds t.mu.
func (t *Tables) drop(k key, s *known) {
	t.bytes.Add(-int64(knownBytes + s.series.KeyBytes()))
	s.next.Store(nil) // a series that stays may point to this one: it shall not keep a chain alive
	delete(t.known, k)
}

// forget makes room: it drops the series that were not found in this epoch, and half of all if those are few. The
// caller holds t.mu.
func (t *Tables) forget() {
	before := len(t.known)
	t.forgetUnused()
	if 4*len(t.known) <= 3*before {
		return
	}
	for k, s := range t.known {
		if 2*len(t.known) <= before {
			return
		}
		t.drop(k, s)
	}
}
