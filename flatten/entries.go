package flatten

import "io"

// Entries reads a body and passes each entry to each as text: a valid JSON value, or a line. The text is invalid after
// each returns. Of the options only IgnoreErrors has an effect. After an error of each, no further entry is passed; the
// rest of the body is read only for its own errors, which take precedence. entries is the number of entries, as far as
// the body was read.
func (d *Decoder) Entries(body io.Reader, f Framing, o Options, each func(text []byte) error) (entries int, err error) {
	o.CheckOnly = true // no rows are made here
	d.each = each
	defer func() { d.each = nil }()
	res, err := d.Decode(body, f, o, nil)
	return res.Entries, err
}

// Dropped is the number of lines of the last body that never were entries; see Result.
func (d *Decoder) Dropped() int { return d.res.Dropped }

// show counts an entry that makes no row, and hands it on.
func (d *Decoder) show(text []byte) {
	d.res.Entries++
	if d.each != nil && d.err == nil {
		d.err = d.each(text)
	}
}
