package entries

import (
	"strconv"

	"varve/engine/jsontext"
	"varve/flatten"
)

// timeAlone reports whether the parameters name nothing but one field at the top of entries that holds the time.
func (f *Fields) timeAlone() bool {
	return len(f.time) == 1 && len(f.message)+len(f.ignored)+len(f.extra)+len(f.inside) == 0
}

// splice is Append for the case of timeAlone: it replaces the member that holds the time and copies the rest as it
// stands, in a third of the time that Append takes. ok is false for an entry that needs more: dst is as it was.
func (f *Fields) splice(dst, text []byte, now int64) (out []byte, ok bool) {
	r := &f.r
	ns, from, to := now, -1, -1
	members, behind := 0, 0 // behind is how many members stand before the time
	for r.Enter(jsontext.Object); ; members++ {
		before := r.Offset()
		if !r.Member() {
			break
		}
		if string(r.Key) != f.time[0] {
			if string(r.Key) == flatten.DefaultTimeColumn {
				return dst, false // the later of the two would count
			}
			r.Skip()
			continue
		}
		value, given := r.Plain()
		if from >= 0 || !given {
			return dst, false
		}
		if ns, ok = Time(value); !ok {
			return dst, false
		}
		from, to, behind = before, r.Offset(), members
	}
	end := r.Offset() - 1 // of the members
	if r.End(); r.Err() != nil {
		return dst, false
	}
	if from < 0 {
		from, to, behind = end, end, members
	}
	dst = AppendRaw(dst, text[:from])
	if behind > 0 {
		dst = append(dst, ',')
	}
	dst = append(dst, `"`+flatten.DefaultTimeColumn+`":`...)
	dst = strconv.AppendInt(dst, ns, 10)
	return AppendRaw(dst, text[to:]), true
}
