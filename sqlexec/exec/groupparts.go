package exec

import (
	"context"
	"runtime"
	"sync"

	"varve/engine/vector"
	"varve/sqlexec/spill"
)

// division is rows and groups that were divided: a partition is the groups that it has in each of those in memory, then
// the rows of its file.
type division struct {
	level int
	kept  []*kept
	files []*spill.File
}

// divided ends the writing and gives the partitions.
func (s *aggregateSink) divided(ctx context.Context) (Source, error) {
	d := &division{files: make([]*spill.File, parts)}
	for _, w := range s.workers {
		if w.away == nil {
			continue
		}
		if err := w.away.spread.Flush(); err != nil {
			return nil, err
		}
		w.away = nil
	}
	var err error
	if s.spilling.to != nil {
		if d.files, err = s.finishFiles(s.spilling.to); err != nil {
			return nil, err
		}
	}
	if d.kept, err = s.keptOf(); err != nil {
		return nil, err
	}
	return &dividedSource{s: s, ctx: ctx, of: d}, nil
}

// finishFiles ends the files of partitions and counts them.
func (s *aggregateSink) finishFiles(p *spill.Partitions) ([]*spill.File, error) {
	files, err := p.Finish()
	if err != nil {
		return nil, err
	}
	if f := s.spilling.figures; f != nil {
		for _, file := range files {
			if file != nil {
				f.Spilled.Add(file.Bytes)
				f.Files.Add(1)
			}
		}
		f.Partitions.Add(parts)
	}
	return files, nil
}

// dividedSource is the groups of all partitions, to one reader.
type dividedSource struct {
	s   *aggregateSink
	ctx context.Context
	of  *division
}

// Reader gives all rows to worker 0.
func (d *dividedSource) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	r := &dividedReader{s: d.s, of: d.of, out: make(chan *finished)}
	r.ctx, r.cancel = context.WithCancel(d.ctx)
	return r
}

// finished is the result of a partition. When it was read its memory is given back.
type finished struct {
	rows   Reader
	memory *overdraft
}

// dividedReader reads what goroutines make of partitions, one of them each at a time.
type dividedReader struct {
	s      *aggregateSink
	of     *division
	ctx    context.Context
	cancel context.CancelFunc
	begun  bool
	wg     sync.WaitGroup
	out    chan *finished // closed when all partitions were given
	at     *finished

	mu   sync.Mutex // protects the following fields
	next int        // partition that is taken up next
	err  error
}

func (r *dividedReader) Next(b *vector.Batch) (bool, error) {
	if !r.begun {
		r.begin()
	}
	for {
		if r.at != nil {
			if ok, err := r.at.rows.Next(b); ok || err != nil {
				return ok, err
			}
			r.at.memory.close()
			r.at = nil
		}
		f, ok := <-r.out
		if !ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.err == nil {
				r.err = r.ctx.Err()
			}
			return false, r.err
		}
		r.at = f
	}
}

// begin lets the goroutines go.
func (r *dividedReader) begin() {
	r.begun = true
	for range min(runtime.GOMAXPROCS(0), parts) {
		r.wg.Go(func() {
			err := r.work()
			if err == nil {
				return
			}
			r.mu.Lock()
			if r.err == nil {
				r.err = err
			}
			r.mu.Unlock()
			r.cancel()
		})
	}
	go func() {
		r.wg.Wait()
		for _, w := range r.s.workers { // all of their groups were taken
			w.memory.close()
		}
		close(r.out)
	}()
}

// work takes up partitions until there are no more. A panic is the query's end, not the server's.
func (r *dividedReader) work() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	for {
		r.mu.Lock()
		part := r.next
		r.next++
		r.mu.Unlock()
		if part >= parts {
			return nil
		}
		if err := r.part(r.of, part); err != nil {
			return err
		}
	}
}

// part makes the groups of a partition and gives them out. When they do not fit it divides them again.
func (r *dividedReader) part(d *division, part int) error {
	file := d.files[part]
	some := file != nil
	for _, k := range d.kept {
		some = some || len(k.of(part)) > 0
	}
	if !some {
		return nil
	}
	s := r.s
	memory := newOverdraft(s.budget, &s.spilling.parts, d.level < mostDivisions)
	g := s.newGrouperOf(memory)
	given := false
	defer func() {
		if !given {
			memory.close()
		}
	}()
	for _, k := range d.kept {
		if err := k.take(s, g, part); err != nil {
			return err
		}
	}
	if file != nil {
		again, err := r.read(g, file, d.level+1)
		if err == nil {
			err = file.Remove()
		}
		if err != nil || again != nil {
			return r.each(again, err)
		}
	}
	b, err := g.result(r.ctx)
	if exhausted(err) && g.divisible() {
		return r.each(r.divide(g, s.newPartitions(), d.level+1))
	}
	if err != nil {
		return err
	}
	select {
	case r.out <- &finished{Values(b).Reader(0), memory}:
		given = true
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// each makes the groups of all partitions of a further division, one after another.
func (r *dividedReader) each(d *division, err error) error {
	for p := 0; p < parts && err == nil; p++ {
		err = r.part(d, p)
	}
	return err
}

// divisible reports whether a division leaves less.
func (g *grouper) divisible() bool { return g.memory.most > 0 && g.groups.n > 1 }

// read adds the rows of a file to groups. When the groups become too large it divides them and what rows there are
// still.
func (r *dividedReader) read(g *grouper, file *spill.File, level int) (again *division, err error) {
	in, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer func() {
		// A file that was only read has nothing to lose.
		_ = in.Close()
	}()
	s := r.s
	most := max(s.budget.pool.limit/partShare, leastDivided)
	least := max(most/8, leastDivided)
	var to *spill.Partitions
	first := int64(-1) // what the groups take after the first rows
	for b := (vector.Batch{}); ; {
		ok, err := in.Next(&b)
		if err == nil {
			err = r.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case !ok && to == nil:
			return nil, nil
		case !ok:
			return r.divide(g, to, level)
		case to != nil:
			err = g.away.add(b.Cols, b.N)
		default:
			err = s.addOwn(g, b.Cols, b.N)
			if err == nil {
				err = g.account()
			}
			if first < 0 {
				first = g.memory.taken()
			}
			grown := g.memory.taken() - first
			if err == nil && g.divisible() && (grown > most || g.memory.short() && grown > least) {
				to = s.newPartitions()
				g.away = s.newAway(to, level)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// divide ends a further division, of the groups of a partition and of its rows.
func (r *dividedReader) divide(g *grouper, to *spill.Partitions, level int) (*division, error) {
	if g.away != nil {
		if err := g.away.spread.Flush(); err != nil {
			return nil, err
		}
		g.away = nil
	}
	files, err := r.s.finishFiles(to)
	if err != nil {
		return nil, err
	}
	k, err := r.s.keptOwn(g, level)
	return &division{level: level, kept: []*kept{k}, files: files}, err
}

// Close ends the goroutines and waits for them.
func (r *dividedReader) Close() {
	r.cancel()
	if r.at != nil {
		r.at.memory.close()
		r.at = nil
	}
	if !r.begun {
		return
	}
	for f := range r.out {
		f.memory.close()
	}
}
