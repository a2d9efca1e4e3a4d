package export

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/zstd"

	"varve/cmd/varve/arrowrows"
	"varve/cmd/varve/client"
	"varve/sqlexec/rowfile"
)

// Parquet has its table of contents at the end, so that nobody can go on with a file that is begun: the rows are
// collected as Arrow, and Parquet is made of them when they are all there.

// completeParquet makes the file of the part.
func (r *running) completeParquet(ctx context.Context, rows *part) error {
	if err := rows.w.Flush(); err != nil {
		return err
	}
	made, err := create(rows.name + ".made")
	if err != nil {
		return err
	}
	if err := toParquet(ctx, rows.f, made, r.o.RawTimes); err != nil {
		return errors.Join(err, made.leave(), os.Remove(made.name+partEnding))
	}
	if err := made.complete(); err != nil {
		return err
	}
	if err := os.Rename(made.name, rows.name); err != nil {
		return err
	}
	return errors.Join(rows.f.Close(), rows.forget(), client.SyncDir(filepath.Dir(rows.name)))
}

// parquetToStream collects the rows in a temporary file.
func (r *running) parquetToStream(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "varve-export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rows, err := create(filepath.Join(dir, "rows"))
	if err != nil {
		return err
	}
	defer rows.f.Close()
	r.sink = &sink{out: rows, format: Arrow, packing: Zstd, empty: true}
	err = r.fill(ctx, rows)
	r.notes.Wipe()
	if err != nil {
		return err
	}
	r.sayDifference()
	if err := rows.w.Flush(); err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(out, 256<<10)
	if err := toParquet(ctx, rows.f, buffer, r.o.RawTimes); err != nil {
		return err
	}
	return buffer.Flush()
}

// toParquet makes Parquet of a packed Arrow stream.
func toParquet(ctx context.Context, rows io.ReadSeeker, out io.Writer, rawTimes bool) error {
	if _, err := rows.Seek(0, io.SeekStart); err != nil {
		return err
	}
	unpacked, err := zstd.NewReader(rows, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return err
	}
	defer unpacked.Close()
	s := &sink{rawTimes: rawTimes}
	var w rowfile.Writer
	err = readArrow(unpacked, func(schema *arrow.Schema, batch arrow.RecordBatch) (err error) {
		if batch == nil {
			if s.fields, err = arrowrows.Fields(schema); err != nil {
				return err
			}
			w, err = rowfile.NewWriter(out, s.written(), rowfile.WriteOptions{Format: rowfile.Parquet})
			s.text = w
			return err
		}
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		return s.write(batch)
	})
	if err != nil {
		return err
	}
	return w.Close()
}
