package vrl

import (
	"strconv"
	"strings"
	"time"

	"varve/pipeline/value"
)

const (
	// MaxSteps bounds the work of one run in closures and in loops over values. A run over the largest event takes a
	// few hundred thousand steps; a script whose work is the square of that is ended.
	MaxSteps = 10_000_000
	// MaxStringBytes is the largest string that one operation may make.
	MaxStringBytes = 16 << 20
	// MaxRunBytes is how much memory the values of one run may take.
	MaxRunBytes = value.MaxEventBytes
)

// Frame is the working memory of one run of a program. A frame is for one goroutine at a time. Reuse it from event to
// event: a warm frame does not allocate.
type Frame struct {
	// Arena is the memory of the event's values. Run does not reset it: whoever reads the events does.
	Arena *value.Arena
	// Meta is the object `%`, empty at the start of a run.
	Meta value.Value

	// now is the time of the run, asked once.
	now time.Time
	// Clock gives the time of the run; nil is time.Now.
	Clock func() time.Time
	// Journal takes what function log writes; nil: nothing does.
	Journal *Journal

	program *Program
	event   value.Value
	slots   []value.Value // variables
	stack   []value.Value // arguments of the calls under way
	hints   []int32       // where each field of the program's paths stood last
	steps   int
	failure Failure
	result  value.Value // of return
}

// NewFrame makes a frame that allocates from an arena.
func NewFrame(a *value.Arena) *Frame { return &Frame{Arena: a} }

// Now is the time of the run.
func (f *Frame) Now() time.Time {
	if f.now.IsZero() {
		if f.Clock != nil {
			f.now = f.Clock()
		} else {
			f.now = time.Now()
		}
	}
	return f.now
}

// Zone is the time zone of the program: for texts that name none.
func (f *Frame) Zone() *time.Location { return f.program.zone }

// Spend takes steps off the budget of the run; a failure says that it is used up.
func (f *Frame) Spend(steps int) *Failure {
	if f.steps -= steps; f.steps < 0 {
		return f.failText("the run takes more than " + strconv.Itoa(MaxSteps) + " steps")
	}
	if f.Arena != nil && f.Arena.Used() > MaxRunBytes {
		return f.failText(tooMuchMemory)
	}
	return nil
}

// Room fails if a string of so many bytes may not be made.
func (f *Frame) Room(bytes int) *Failure {
	switch {
	case bytes > MaxStringBytes:
		return f.failText("a string of more than " + strconv.Itoa(MaxStringBytes) + " bytes would be made")
	case bytes > smallString && f.Arena != nil && f.Arena.Used()+bytes > MaxRunBytes:
		return f.failText(tooMuchMemory)
	}
	return nil
}

// smallString is up to which size strings are made without looking at the memory of the run: a script without closures,
// where looking at it is done each time, cannot make many.
const smallString = 1024

var tooMuchMemory = "the run takes more than " + strconv.Itoa(MaxRunBytes) + " bytes of memory"

// FindAll returns the matches of an expression, at most n unless n is negative, each with the ends of its groups.
func (f *Frame) FindAll(x *value.Regex, s string, n int) ([][]int, *Failure) {
	re := x.OnAll(f.Arena, s)
	const unmeasured = 1 << 20 // bytes of matches that are not worth a look before
	each := 40 + 16*(1+re.NumSubexp())
	if most := len(s) + 1; each*most > unmeasured && (n < 0 || each*n > unmeasured) {
		count := 0
		re.ReplaceAllStringFunc(s, func(string) string {
			count++
			return ""
		})
		if n >= 0 {
			count = min(count, n)
		}
		if !f.Arena.Holds(count * each) {
			return nil, f.failText(tooMuchMemory)
		}
	}
	return re.FindAllStringSubmatchIndex(s, n), nil
}

// Own returns an array that may be changed: the array itself if nothing else refers to it, as in x = push(x, 1), or a
// copy, which costs steps.
func (f *Frame) Own(list *value.Array) *value.Array {
	own := list.Own(f.Arena)
	if own != list {
		f.steps -= list.Len()
	}
	return own
}

// Made returns a string that was made outside the arena.
func (f *Frame) Made(s string) value.Value {
	f.Arena.Made(len(s))
	return value.String(s)
}

// sized returns a value that was put together, unless it is too large.
func (f *Frame) sized(v value.Value) (value.Value, *Failure) {
	if v.TooLarge() {
		return f.FailErr(value.ErrTooLarge)
	}
	return v, nil
}

// Failure is the reason why a run, or a part of it, ended. It lives in the frame until the next failure; its message is
// built on demand.
type Failure struct {
	how    ending
	format string
	args   [4]value.Value
	err    error
	calls  []*callSite // the calls it came through, innermost first
}

type ending uint8

const (
	byError ending = iota
	byAbort
	byReturn
)

// callSite is a call in the source, for messages.
type callSite struct {
	prefix string // function call error for "NAME" at (S:E):
}

// Fail creates the failure of a function; the message is formatted only when it is read. In format, %s stands for a
// value as text (strings as they are, others as JSON), %q for the same in quotes, %k for the kind of a value, %% for a
// percent sign. At most four values are allowed.
func (f *Frame) Fail(format string, args ...value.Value) (value.Value, *Failure) {
	fl := &f.failure
	fl.how, fl.format, fl.err, fl.calls = byError, format, nil, fl.calls[:0]
	copy(fl.args[:], args)
	return value.Null, fl
}

// FailErr makes a failure of an error.
func (f *Frame) FailErr(err error) (value.Value, *Failure) {
	_, fl := f.Fail("")
	fl.err = err
	return value.Null, fl
}

// failText makes a failure of a text that is no format.
func (f *Frame) failText(text string) *Failure {
	_, fl := f.Fail("%s", value.String(text))
	return fl
}

// Append appends the message of the failure.
func (fl *Failure) Append(dst []byte) []byte {
	for i := len(fl.calls) - 1; i >= 0; i-- {
		dst = append(dst, fl.calls[i].prefix...)
	}
	if fl.err != nil {
		return append(dst, fl.err.Error()...)
	}
	arg := 0
	for rest := fl.format; ; {
		text, after, found := strings.Cut(rest, "%")
		dst = append(dst, text...)
		if !found || after == "" {
			return dst
		}
		verb := after[0]
		rest = after[1:]
		if verb == '%' || arg >= len(fl.args) {
			dst = append(dst, '%')
			continue
		}
		v := fl.args[arg]
		arg++
		switch verb {
		case 'k':
			dst = append(dst, v.Kind().String()...)
		case 'q':
			dst = append(appendText(append(dst, '"'), v), '"')
		default:
			dst = appendText(dst, v)
		}
	}
}

// appendText appends a value as text in a message.
func appendText(dst []byte, v value.Value) []byte {
	if v.Kind() == value.StringKind {
		return append(dst, v.Str()...)
	}
	return value.AppendJSON(dst, v)
}

// RuntimeError is how a run ended that has no result.
type RuntimeError struct {
	Message string
	// Aborted says that the script ended itself by abort.
	Aborted bool
}

func (e *RuntimeError) Error() string { return e.Message }
