package expr

import (
	"math"
	"strconv"

	"varve/engine/convert"
	"varve/engine/vector"
)

// Series are the values of generate_series(from, to, step), and of range, which leaves out the end.
type Series struct {
	Type     vector.Type // BIGINT or a timestamp
	From, To int64
	Step     int64 // of numbers
	// Of times: months are counted from the first time, so that a series from the 31st has the ends of shorter months.
	Months, Days int64
	Nanos        int64
	Open         bool // To is not one of them
}

// next is the k'th value, the one after x.
func (s *Series) next(x, k int64) (int64, bool) {
	if s.Type == vector.Int64Type {
		n := x + s.Step
		return n, (n > x) == (s.Step > 0) // else it wrapped around
	}
	if s.Months == 0 {
		return shift(x, s.Type, 0, s.Days, s.Nanos)
	}
	if s.Nanos != 0 && k > math.MaxInt64/max(s.Nanos, -s.Nanos) {
		return 0, false
	}
	return shift(s.From, s.Type, k*s.Months, k*s.Days, k*s.Nanos)
}

// SeriesReader returns the values of a series in order.
type SeriesReader struct {
	series Series
	rises  bool
	x, k   int64 // the k'th value, from 1, comes next
	more   bool  // there is a next value, unless it is beyond the end
}

// Read begins with the first value. A step that leads nowhere is an error.
func (s Series) Read() (SeriesReader, error) {
	rises := s.Step > 0
	if s.Type != vector.Int64Type {
		second, ok := s.next(s.From, 1)
		if !ok || second == s.From {
			return SeriesReader{}, planError("the step of a series leads nowhere")
		}
		rises = second > s.From
	} else if s.Step == 0 {
		return SeriesReader{}, planError("the step of a series cannot be 0")
	}
	return SeriesReader{series: s, rises: rises, x: s.From, k: 1, more: true}, nil
}

// Next returns the next value; false after the last.
func (r *SeriesReader) Next() (int64, bool) {
	x, to := r.x, r.series.To
	if !r.more || x == to && r.series.Open || x != to && (x < to) != r.rises {
		return 0, false
	}
	r.x, r.more = r.series.next(x, r.k)
	r.k++
	return x, true
}

// SeriesArgs casts the arguments of generate_series or range to the types that they are computed with: whole numbers,
// or two times and an interval, which may be a constant text. The first of one number is 0.
func (c *Context) SeriesArgs(name string, args []Expr) ([]Expr, vector.Type, error) {
	if len(args) == 0 || len(args) > 3 {
		return nil, i64, planError("%s needs one to three arguments, found %d", name, len(args))
	}
	t := args[0].Type()
	if t.IsTimestamp() || t.ID == vector.TypeDate {
		if len(args) != 3 {
			return nil, t, planError("%s of times needs two times and an interval", name)
		}
		step := args[2]
		if _, constant := step.(*Const); constant && step.Type().IsText() {
			var err error
			if step, err = c.Cast(step, vector.Interval, false); err != nil {
				return nil, t, err
			}
		}
		if step.Type() != vector.Interval {
			return nil, t, planError("%s of times needs two times and an interval", name)
		}
		if t.ID == vector.TypeDate {
			t = vector.Timestamp(3)
		}
		ends, err := c.castAll(args[:2], t)
		return append(ends, step), t, err
	}
	for _, a := range args {
		if !a.Type().IsInteger() && a.Type() != vector.NullType {
			return nil, t, planError("%s needs integers, or times and an interval, found %s", name, a.Type())
		}
	}
	whole, err := c.castAll(args, i64)
	if err == nil && len(args) == 1 {
		whole = append([]Expr{Int(0)}, whole...)
	}
	return whole, i64, err
}

// SeriesAt is the series of row i of the arguments that SeriesArgs has given.
func SeriesAt(name string, args []*vector.Vector, i int) Series {
	s := Series{Type: args[0].Type, From: args[0].Int(i), To: args[1].Int(i), Step: 1, Open: name == "range"}
	switch {
	case len(args) < 3:
	case args[2].Type == vector.Interval:
		months, days, ns := convert.Interval(args[2].Bytes(i))
		s.Months, s.Days, s.Nanos = int64(months), int64(days), ns
	default:
		s.Step = args[2].Int(i)
	}
	return s
}

func init() {
	for _, name := range []string{"generate_series", "range"} {
		register(&Function{min: 1, max: 3, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, t, err := c.SeriesArgs(name, args)
			return args, vector.List(t),
				func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
					for i := range n {
						at := len(out.Heap)
						if valid == nil || valid.Get(i) {
							if err := appendSeries(out, SeriesAt(name, a, i)); err != nil {
								return err
							}
						}
						if err := endText(out, at); err != nil {
							return err
						}
					}
					return nil
				}, err
		}}, name)
	}
}

// appendSeries appends a series as a list to the heap of out.
func appendSeries(out *vector.Vector, s Series) error {
	values, err := s.Read()
	if err != nil {
		return err
	}
	at := len(out.Heap)
	out.Heap = append(out.Heap, '[')
	for x, ok := values.Next(); ok; x, ok = values.Next() {
		if err := checkHeap(out, numberText+listMarks); err != nil {
			return err
		}
		if len(out.Heap) > at+1 {
			out.Heap = append(out.Heap, ',')
		}
		out.Heap = strconv.AppendInt(out.Heap, x, 10)
		if len(out.Heap)-at > maxText {
			return errTextLength
		}
	}
	out.Heap = append(out.Heap, ']')
	return nil
}
