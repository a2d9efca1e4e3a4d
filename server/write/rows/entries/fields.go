package entries

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/flatten"
)

// Fields say, by the parameters of a request, which field of an entry holds the message and which the time, which
// fields become tags, and which are left out or added. Fields inside objects are named with dots. One goroutine at a
// time.
type Fields struct {
	// Tags are the fields that become tags.
	Tags []string
	// Debug wants the entries in the log instead of the store.
	Debug bool

	message, time, ignored []string
	extra                  []member
	inside                 map[string]bool // objects that a parameter looks into
	roles                  *roles          // of the fields; nil: not made yet
	r                      jsontext.Reader
	path                   []byte
}

type member struct{ name, value string }

// Parameters are the names of the parameters that ParseFields reads.
var Parameters = [...]string{"_msg_field", "_time_field", "_stream_fields", "ignore_fields", "extra_fields", "debug"}

// maxNames bounds the fields that a parameter names.
const maxNames = 256

// MessageColumn is the column of the message.
const MessageColumn = "message"

// TimeIndex is the custom time index of entries whose time Append sets.
const TimeIndex = flatten.DefaultTimeColumn + ";epoch;ns"

// ParseFields reads the parameters of a query; nil: there is none.
func ParseFields(args *fasthttp.Args) (*Fields, error) {
	if !slices.ContainsFunc(Parameters[:], args.Has) {
		return nil, nil
	}
	f := &Fields{inside: map[string]bool{}}
	lists := [...]*[]string{&f.message, &f.time, &f.Tags, &f.ignored}
	for i, list := range lists {
		for name := range strings.SplitSeq(string(args.Peek(Parameters[i])), ",") {
			if name = strings.TrimSpace(name); name != "" {
				*list = append(*list, name)
			}
		}
		if len(*list) > maxNames {
			return nil, status.New(status.InvalidArguments, "parameter %s names more than %d fields", Parameters[i],
				maxNames)
		}
	}
	for pair := range strings.SplitSeq(string(args.Peek("extra_fields")), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || len(f.extra) == maxNames {
			return nil, status.New(status.InvalidArguments,
				"parameter extra_fields is a list of at most %d pairs name=value", maxNames)
		}
		f.extra = append(f.extra, member{name, value})
	}
	switch text := string(args.Peek("debug")); text {
	case "", "0", "false":
	case "1", "true":
		f.Debug = true
	default:
		return nil, status.New(status.InvalidArguments, "parameter debug is 1 or 0, not %.20q", text)
	}
	for _, list := range [...][]string{f.message, f.time, f.ignored} {
		for _, name := range list {
			for i := range len(name) {
				if name[i] == '.' {
					f.inside[name[:i]] = true
				}
			}
		}
	}
	return f, nil
}

// WithTime takes the time of entries from a field at their top, whatever the parameters say; f may be nil.
func (f *Fields) WithTime(name string) *Fields {
	if f == nil {
		f = &Fields{}
	}
	f.time, f.roles = []string{name}, nil
	return f
}

// HasTime reports whether entries have their time in a field.
func (f *Fields) HasTime() bool { return f != nil && len(f.time) > 0 }

// found is the first field of a list that an entry has.
type found struct {
	rank int
	name string
	text []byte
	ns   int64
}

// Append appends an entry, which is a JSON object, as the parameters want it. An entry without a time gets now.
func (f *Fields) Append(dst, text []byte, now int64) ([]byte, error) {
	r := &f.r
	r.Reset(text)
	defer r.Reset(nil) // lets go of the text
	if f.roles == nil {
		f.roles = newRoles(f)
	}
	if f.timeAlone() {
		if out, ok := f.splice(dst, text, now); ok {
			return out, nil
		}
		r.Reset(text)
	}
	message, moment := found{rank: len(f.message)}, found{rank: len(f.time), ns: now}
	if len(f.message)+len(f.time) > 0 {
		f.path = f.path[:0]
		f.find(&message, &moment)
		if r.Err() == nil {
			r.Reset(text)
		}
	}
	dst = append(dst, '{')
	f.path = f.path[:0]
	dst = f.copy(dst, message.name, moment.name)
	if r.End(); r.Err() != nil {
		return dst, status.New(status.InvalidArguments, "an entry is not a JSON object: %v", r.Err())
	}
	if message.name != "" {
		dst = AppendAsText(append(comma(dst), `"`+MessageColumn+`":`...), message.text)
	}
	for _, m := range f.extra {
		dst = append(jsontext.AppendString(comma(dst), m.name), ':')
		dst = jsontext.AppendString(dst, m.value)
	}
	if len(f.time) > 0 {
		dst = append(comma(dst), `"`+flatten.DefaultTimeColumn+`":`...)
		dst = strconv.AppendInt(dst, moment.ns, 10)
	}
	return append(dst, '}'), nil
}

// AppendRaw appends a value as it is written in JSON, on one line: line ends in it stand between tokens.
func AppendRaw(dst, value []byte) []byte {
	at := len(dst)
	dst = append(dst, value...)
	for {
		n := bytes.IndexByte(dst[at:], '\n')
		if n < 0 {
			return dst
		}
		at += n
		dst[at] = ' '
	}
}

// AppendAsText appends a value as text, unless it is an object or null, so that values of all kinds go into one column.
func AppendAsText(dst, value []byte) []byte {
	if len(value) == 0 || value[0] == '"' || value[0] == '{' || value[0] == 'n' {
		return AppendRaw(dst, value)
	}
	return jsontext.AppendString(dst, value)
}

// comma appends a comma, unless the next member is the first of its object.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// enter appends a key to the path. leave is the length of the path before.
func (f *Fields) enter(key []byte) (leave int) {
	leave = len(f.path)
	if leave > 0 {
		f.path = append(f.path, '.')
	}
	f.path = append(f.path, key...)
	return leave
}

// find looks for the message and the time in the object that follows.
func (f *Fields) find(message, moment *found) {
	r := &f.r
	for r.Enter(jsontext.Object); r.Member(); {
		leave := f.enter(r.Key)
		switch {
		case r.Peek() == jsontext.Object && f.inside[string(f.path)]:
			f.find(message, moment)
		default:
			of := f.roles.of(f.path)
			kind, text := r.Peek(), r.Raw()
			if i := of.message - 1; i >= 0 && i < message.rank && kind != jsontext.Null && string(text) != `""` {
				*message = found{rank: i, name: string(f.path), text: text}
			}
			if i := of.time - 1; i >= 0 && i < moment.rank {
				var plain jsontext.Reader
				plain.Reset(text)
				value, _ := plain.Plain()
				if ns, ok := Time(value); ok {
					*moment = found{rank: i, name: string(f.path), ns: ns}
				}
			}
		}
		f.path = f.path[:leave]
	}
}

// copy appends the members of the next object, without those that are left out or that Append writes elsewhere.
func (f *Fields) copy(dst []byte, message, moment string) []byte {
	r := &f.r
	for r.Enter(jsontext.Object); r.Member(); {
		leave := f.enter(r.Key)
		of := f.roles.of(f.path)
		switch path := string(f.path); {
		case path != "" && (path == message || path == moment) || of.ignored || leave == 0 && of.extra:
			r.Skip()
		case r.Peek() == jsontext.Object && f.inside[path]:
			dst = append(jsontext.AppendString(comma(dst), r.Key), `:{`...)
			dst = append(f.copy(dst, message, moment), '}')
		case of.time > 0: // the time is in another field, or in none
			dst = append(jsontext.AppendString(comma(dst), r.Key), ':')
			dst = AppendAsText(dst, r.Raw())
		default:
			dst = append(jsontext.AppendString(comma(dst), r.Key), ':')
			dst = AppendRaw(dst, r.Raw())
		}
		f.path = f.path[:leave]
	}
	return dst
}
