package promql

import (
	"context"
	"encoding/binary"
	"strings"
	"sync"

	"varve/engine"
	"varve/engine/invariant"
	"varve/engine/vector"
	"varve/sqlexec/promql/histogram"
)

// readRows is how many rows are read at once: enough to pay for the way to them, few enough to stay in the cache.
const readRows = 64 << 10

// tableSeries is series of tables: those of the selection, once for each field that is read.
type tableSeries struct {
	wanted    []wanted
	selection *engine.Selection // nil: nothing
	memory    Memory            // nil: no limit
	symbols   *engine.Symbols
	count     int
	series    []tableSerie // nil: series i is the only field of series i of the selection
	few       int          // labels of all series, which are made together; 0: each set is made when it is asked for
	made      sync.Once
	labels    []Labels // made with the first that is asked for
}

// tableSerie is a field of a series of the selection.
type tableSerie struct {
	at    int32 // in the selection
	field int32 // of its table
}

// fewLabels is the number of series up to which label sets are made at once, when the first is asked for, and kept. A
// variable for the tests.
var fewLabels = invariant.Limit(16<<10, 1)

func (s *tableSeries) Len() int { return s.count }

func (s *tableSeries) serie(i int) tableSerie {
	if s.series == nil {
		return tableSerie{at: int32(i)}
	}
	return s.series[i]
}

// Labels is the label set of a series. It may be asked for after Close.
func (s *tableSeries) Labels(i int) Labels {
	if s.few > 0 {
		s.made.Do(s.makeLabels)
		return s.labels[i]
	}
	return s.ownLabels(i)
}

// ownLabels is a label set that is made for the caller alone.
func (s *tableSeries) ownLabels(i int) Labels {
	return s.appendLabels(make([]Label, 0, len(s.selection.Labels(int(s.serie(i).at)))+2), s.serie(i))
}

// appendNumbers appends numbers that tell label sets apart: series with equal ones have equal sets.
func (s *tableSeries) appendNumbers(dst []byte, i int) []byte {
	x := s.serie(i)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.selection.Table(int(x.at))))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(x.field))
	for _, l := range s.selection.Labels(int(x.at)) {
		dst = binary.LittleEndian.AppendUint32(dst, l.Name)
		dst = binary.LittleEndian.AppendUint32(dst, l.Value)
	}
	return dst
}

// appendLabels appends the labels of a series in order.
func (s *tableSeries) appendLabels(dst []Label, x tableSerie) Labels {
	w := &s.wanted[s.selection.Table(int(x.at))]
	from := len(dst)
	dst = append(dst, Label{NameLabel, w.table.Schema.Name.Table})
	if w.several {
		dst = append(dst, Label{fieldLabel, w.fields[x.field].name})
	}
	for _, l := range s.selection.Labels(int(x.at)) {
		dst = append(dst, Label{s.symbols.String(l.Name), s.symbols.String(l.Value)})
	}
	sortFirst(dst[from:], 1+int(vector.Bit(w.several)))
	return dst
}

// Close lets go of the rows.
func (s *tableSeries) Close() {
	if s.selection != nil {
		s.selection.Close()
	}
}

// number lists the series, and takes the memory of the label sets of few.
func (s *tableSeries) number(t *Tables) error {
	single := true // each table has one field
	for i := range s.wanted {
		single = single && len(s.wanted[i].fields) == 1
	}
	if s.count = s.selection.Len(); !single {
		if err := s.listFields(t); err != nil {
			return err
		}
	}
	if s.count > fewLabels {
		return nil
	}
	for i := range s.count {
		s.few += len(s.selection.Labels(int(s.serie(i).at))) + 2
	}
	return t.reserve(int64(s.few)*labelBytes + int64(s.count)*24)
}

// makeLabels makes the label sets of all series, in one block of memory.
func (s *tableSeries) makeLabels() {
	s.labels = make([]Labels, s.count)
	slab := make([]Label, 0, s.few)
	for i := range s.labels {
		from := len(slab)
		slab = s.appendLabels(slab, s.serie(i))
		s.labels[i] = Labels(slab[from:len(slab):len(slab)])
	}
}

// listFields lists the fields of each series of the selection.
func (s *tableSeries) listFields(t *Tables) error {
	n := 0
	for i := range s.selection.Len() {
		n += len(s.wanted[s.selection.Table(i)].fields)
	}
	if err := t.reserve(int64(n) * 8); err != nil {
		return err
	}
	s.count, s.series = n, make([]tableSerie, 0, n)
	for i := range s.selection.Len() {
		for f := range s.wanted[s.selection.Table(i)].fields {
			s.series = append(s.series, tableSerie{int32(i), int32(f)})
		}
	}
	return nil
}

// sortFirst moves the first n labels to their places among the others, which are sorted.
func sortFirst(ls Labels, n int) {
	for i := n - 1; i >= 0; i-- {
		for k := i; k+1 < len(ls) && strings.Compare(ls[k].Name, ls[k+1].Name) > 0; k++ {
			ls[k], ls[k+1] = ls[k+1], ls[k]
		}
	}
}

// Scan reads the series in ranges of about readRows rows.
func (s *tableSeries) Scan(ctx context.Context, from, to int, visit func(i int, s Samples) error) error {
	block := engine.BorrowSampleBlock()
	defer block.GiveBack()
	own := merged{memory: s.memory}
	for from < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		first := int(s.serie(from).at)
		last, next, rows := first, from, 0
		for next < to {
			at := int(s.serie(next).at)
			if next == from || at != last {
				n := s.selection.Rows(at, at+1)
				if rows > 0 && rows+n > readRows {
					break
				}
				rows += n
			}
			last = at
			next++
		}
		if err := s.selection.Read(first, last+1, block); err != nil {
			return err
		}
		for ; from < next; from++ {
			x := s.serie(from)
			samples, err := own.of(block, int(x.at), &s.wanted[s.selection.Table(int(x.at))].fields[x.field])
			if err != nil {
				return err
			}
			if err := visit(from, samples); err != nil {
				return err
			}
		}
	}
	return nil
}

// merged holds the floats, histograms and start times of a series that are being merged.
type merged struct {
	Samples
	memory  Memory // nil: no limit
	counted int64  // bytes that the histograms of a series took at most
}

// of is the samples of a field of a series. Floats alone are taken as they lie.
func (m *merged) of(b *engine.SampleBlock, i int, f *field) (Samples, error) {
	var s Samples
	if f.value >= 0 {
		s.T, s.V = b.Floats(i, f.value)
	}
	if f.histogram >= 0 {
		times, packed := b.Bytes(i, f.histogram)
		if len(times) > 0 {
			if err := m.mix(s.T, s.V, times, packed); err != nil {
				return Samples{}, err
			}
			s = m.Samples
			s.ST = nil
		}
	}
	if f.start >= 0 {
		if times, starts := b.Floats(i, f.start); len(times) > 0 {
			m.ST = alignStarts(m.ST[:0], s.T, times, starts)
			s.ST = m.ST
		}
	}
	return s, nil
}

// mix merges floats and histograms by time. At one time the histogram counts.
func (m *merged) mix(ft []int64, fv []float64, ht []int64, packed engine.Packed) error {
	m.T, m.V, m.H = m.T[:0], m.V[:0], m.H[:0]
	bytes := int64(0)
	for k, t := range ht {
		for len(ft) > 0 && ft[0] < t {
			m.T, m.V, m.H = append(m.T, ft[0]), append(m.V, fv[0]), append(m.H, nil)
			ft, fv = ft[1:], fv[1:]
		}
		if len(ft) > 0 && ft[0] == t {
			ft, fv = ft[1:], fv[1:]
		}
		h, err := histogram.Decode(packed.At(k))
		if err != nil {
			return err
		}
		if bytes += h.Bytes(); bytes > m.counted && m.memory != nil {
			if err := m.memory.Reserve(bytes - m.counted); err != nil {
				return err
			}
			m.counted = bytes
		}
		m.T, m.V, m.H = append(m.T, t), append(m.V, 0), append(m.H, h)
	}
	for k, t := range ft {
		m.T, m.V, m.H = append(m.T, t), append(m.V, fv[k]), append(m.H, nil)
	}
	return nil
}

// alignStarts finds the start time of each sample; 0 if it has none.
func alignStarts(dst, ts, times []int64, starts []float64) []int64 {
	for _, t := range ts {
		for len(times) > 0 && times[0] < t {
			times, starts = times[1:], starts[1:]
		}
		if len(times) > 0 && times[0] == t {
			dst = append(dst, int64(starts[0]))
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}
