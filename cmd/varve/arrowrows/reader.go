package arrowrows

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"varve/engine/vector"
)

// Bounds of what one message of a stream may claim to have, bytes: the reader makes room for it before it comes.
const (
	MaxMetadata = 64 << 20
	MaxBody     = 1 << 30
)

// fileMagic stands before the stream of an Arrow file, padded to eight bytes.
const fileMagic = "ARROW1\x00\x00"

// Reader reads the rows of an Arrow stream, or of an Arrow file, which holds one. It has one record batch in memory.
type Reader struct {
	Fields []vector.Field
	r      *ipc.Reader
	from   int64 // rows of the current record batch that were given
}

// Looks reports whether a text begins as an Arrow stream or an Arrow file does.
func Looks(head []byte) bool {
	const continued = "\xff\xff\xff\xff"
	return len(head) >= 8 && (string(head[:8]) == fileMagic || string(head[:4]) == continued && head[4]&7 == 0)
}

// NewReader begins to read.
func NewReader(from io.Reader) (r *Reader, err error) {
	defer unpanic(&err)
	b := bufio.NewReader(from)
	if head, err := b.Peek(len(fileMagic)); err == nil && string(head) == fileMagic {
		if _, err := b.Discard(len(fileMagic)); err != nil {
			return nil, err
		}
	}
	messages := ended{ipc.NewMessageReader(b, ipc.WithMetadataSizeLimit(MaxMetadata), ipc.WithBodySizeLimit(MaxBody))}
	r = &Reader{}
	if r.r, err = ipc.NewReaderFromMessageReader(messages); err != nil {
		return nil, err
	}
	r.Fields, err = Fields(r.r.Schema())
	return r, err
}

// ended reads messages up to the mark that every writer sets at the end of its stream: without it, the stream was cut.
type ended struct{ ipc.MessageReader }

func (e ended) Message() (*ipc.Message, error) {
	m, err := e.MessageReader.Message()
	if err != io.EOF && errors.Is(err, io.EOF) { // the mark is an io.EOF alone
		err = io.ErrUnexpectedEOF
	}
	return m, err
}

// unpanic makes an error of a panic of the library.
func unpanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged Arrow: %v", p)
	}
}

// Next gives the next rows, at most vector.Size, which are the reader's until the next call; io.EOF: there are none
// left.
func (r *Reader) Next() (b *vector.Batch, err error) {
	defer unpanic(&err)
	for r.from == 0 || r.from >= r.r.RecordBatch().NumRows() {
		if !r.r.Next() {
			if err := r.r.Err(); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			return nil, io.EOF
		}
		if r.from = 0; r.r.RecordBatch().NumRows() > 0 {
			break
		}
	}
	all := r.r.RecordBatch()
	to := min(r.from+vector.Size, all.NumRows())
	some := all.NewSlice(r.from, to)
	r.from = to
	return Batch(some, r.Fields)
}

// Close lets go of the record batch.
func (r *Reader) Close() { r.r.Release() }
