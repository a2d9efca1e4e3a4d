package processor

import (
	"slices"
	"time"

	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/pipeline/value"
)

// defaultFormats are the formats of a date processor that names none, in the order of trying.
var defaultFormats = []string{
	"%Y-%m-%dT%H:%M:%S%:z", "%Y-%m-%dT%H:%M:%S%.3f%:z", "%Y-%m-%dT%H:%M:%S%.6f%:z", "%Y-%m-%dT%H:%M:%S%.9f%:z",
	"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S%.3f%z", "%Y-%m-%dT%H:%M:%S%.6f%z", "%Y-%m-%dT%H:%M:%S%.9f%z",
	"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%.3f", "%Y-%m-%dT%H:%M:%S%.6f",
	"%Y-%m-%dT%H:%M:%S%.9f",
}

// date reads times from text.
type date struct {
	fields
	layouts []*timefmt.Layout
	formats []string // of the layouts
	zone    *time.Location
	zoneErr error // of an unknown zone, which entries meet
}

func newDate(s Settings, names *Names) (Processor, error) {
	d := &date{}
	formats := defaultFormats
	for x, err := range d.own(s, names) {
		if err != nil {
			return nil, err
		}
		switch x.Key {
		case "formats":
			own, err := x.Strings()
			if err != nil {
				return nil, err
			}
			if formats = defaultFormats; len(own) > 0 {
				slices.Sort(own)
				formats = slices.Compact(own)
			}
		case "timezone":
			name, err := x.String()
			if err != nil {
				return nil, err
			}
			if d.zone, err = timefmt.Zone(name); err != nil {
				d.zoneErr = status.Wrap(err, status.InvalidArguments, "Parse date timezone error %s", name)
			} else {
				d.zoneErr = nil
			}
		case "locale":
			if _, err := x.String(); err != nil {
				return nil, err
			}
		}
	}
	d.formats = formats
	for _, f := range formats {
		l, err := timefmt.Compile(f)
		if err != nil {
			return nil, s.Invalid("Invalid date format '%s': %v", f, err)
		}
		d.layouts = append(d.layouts, l)
	}
	return d, nil
}

func (d *date) Run(e *Event) error {
	for i := range d.list {
		f := &d.list[i]
		text, ok, err := d.text(e, f, "date")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if d.zoneErr != nil {
			return About(d.zoneErr, f.name, value.String(text), "")
		}
		ns, ok := d.parse(text)
		if !ok {
			err := status.New(status.InvalidArguments, "Processor date: failed to parse %s", shorten(text))
			return About(err, f.name, value.String(text), tried("formats", d.formats))
		}
		e.Set(f.target, value.Timestamp(ns))
	}
	return nil
}

func (d *date) parse(text string) (ns int64, ok bool) {
	for _, l := range d.layouts {
		if ns, _, err := l.Parse(text, d.zone); err == nil {
			return ns, true
		}
	}
	return 0, false
}
