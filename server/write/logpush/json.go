package logpush

import (
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/status"
)

// jsonReader reads a push document:
//
//	{"streams":[{"stream":{label:value,...},"values":[["<ns>","line",{name:value,...}],...]},...]}
//
// A time may also be a number. Values of labels and of metadata that are no strings count as their text.
type jsonReader struct {
	r    jsontext.Reader
	into sink

	labels, metadata []label
	skipped          int
}

func badJSON(err error) error {
	return status.New(status.InvalidArguments, "Failed to parse payload as json: %v", err)
}

func badDocument(text string) error {
	return status.New(status.InvalidArguments, "Invalid Loki JSON request: %s", text)
}

// read hands the lines of a body to a sink. skipped counts streams and lines of another form, which are left out.
func (j *jsonReader) read(body []byte, into sink) (skipped int, err error) {
	if !utf8.Valid(body) {
		return 0, badDocument("the body is not valid UTF-8")
	}
	j.into, j.skipped = into, 0
	r := &j.r
	r.Reset(body)
	switch r.Peek() {
	case jsontext.Object:
	default:
		if r.Skip(); r.End() {
			return 0, badDocument("payload is not an object")
		}
		return 0, badJSON(r.Err())
	}
	found := false
	for r.Enter(jsontext.Object); r.Member(); {
		if string(r.Key) != "streams" {
			r.Skip()
			continue
		}
		if found = true; r.Peek() != jsontext.Array {
			return 0, badDocument("streams is not an array")
		}
		for r.Enter(jsontext.Array); r.Element(); {
			if err := j.stream(); err != nil {
				return 0, err
			}
		}
	}
	r.End()
	switch {
	case r.Err() != nil:
		return 0, badJSON(r.Err())
	case !found:
		return 0, badDocument("missing streams")
	}
	return j.skipped, nil
}

// stream reads one stream. Its labels may come behind its lines.
func (j *jsonReader) stream() error {
	r := &j.r
	if r.Peek() != jsontext.Object {
		return j.skip()
	}
	var before jsontext.Reader // at the lines
	labelled, lines, postponed := false, false, false
	for r.Enter(jsontext.Object); r.Member(); {
		switch string(r.Key) {
		case "stream":
			if labelled || r.Peek() != jsontext.Object {
				j.skip()
				continue
			}
			labelled = true
			r.Forget()
			if err := j.begin(); err != nil {
				return err
			}
		case "values":
			if lines || r.Peek() != jsontext.Array {
				j.skip()
				continue
			}
			if lines = true; !labelled {
				before, postponed = *r, true
				r.Skip()
				continue
			}
			if err := j.lines(r); err != nil {
				return err
			}
		default:
			r.Skip()
		}
	}
	switch {
	case r.Err() != nil:
		return nil // read returns the error
	case !labelled:
		j.skipped++
		return nil
	case postponed:
		return j.lines(&before)
	}
	return nil
}

// skip goes past a value that is no stream or no line.
func (j *jsonReader) skip() error {
	j.r.Skip()
	j.skipped++
	return nil
}

// begin reads labels, and begins their stream.
func (j *jsonReader) begin() error {
	var err error
	if j.labels, err = appendPairs(j.labels[:0], &j.r); err != nil || j.r.Err() != nil {
		return err
	}
	return j.into.stream(sortLabels(j.labels))
}

// appendPairs appends the members of an object as text. A null is left out.
func appendPairs(dst []label, r *jsontext.Reader) ([]label, error) {
	for r.Enter(jsontext.Object); r.Member(); {
		if len(dst) == maxPairs {
			return dst, errPairs
		}
		name := r.KeptKey()
		if value, ok := r.Plain(); ok {
			dst = append(dst, label{name, value})
		}
	}
	return dst, nil
}

// lines reads the lines of the stream that was begun.
func (j *jsonReader) lines(r *jsontext.Reader) error {
	mark := r.Mark() // behind the texts of labels, which are needed for all lines
	for r.Enter(jsontext.Array); r.Element(); {
		r.ForgetTo(mark)
		if r.Peek() != jsontext.Array {
			r.Skip()
			j.skipped++
			continue
		}
		if err := j.line(r); err != nil {
			return err
		}
	}
	return nil
}

// line reads [time, line, metadata].
func (j *jsonReader) line(r *jsontext.Reader) error {
	var ns int64
	var line []byte
	good := true
	j.metadata = j.metadata[:0]
	n := 0
	for r.Enter(jsontext.Array); r.Element(); n++ {
		switch k := r.Peek(); {
		case n == 0 && (k == jsontext.String || k == jsontext.Number):
			text, _ := r.Plain()
			var ok bool
			if ns, ok = parseInt(text); !ok {
				good = false
			}
		case n == 1 && k == jsontext.String:
			line = r.String()
		case n == 2 && k == jsontext.Object:
			var err error
			if j.metadata, err = appendPairs(j.metadata, r); err != nil {
				return err
			}
		default:
			if r.Skip(); n < 2 {
				good = false
			}
		}
	}
	switch {
	case r.Err() != nil:
		return nil
	case !good || n < 2:
		j.skipped++
		return nil
	}
	return j.into.line(ns, line, j.metadata, int64(len(r.Text())))
}

// parseInt reads a whole number.
func parseInt(text []byte) (x int64, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	var u uint64
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	if u > 1<<63-1 {
		return 0, false
	}
	if x = int64(u); len(digits) < len(text) {
		x = -x
	}
	return x, true
}
