package export

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"varve/cmd/varve/client"
)

// Format is the form of a file of rows.
type Format string

// The formats. Arrow is an IPC stream, as the server answers it.
const (
	CSV     Format = "csv"
	NDJSON  Format = "ndjson"
	JSON    Format = "json"
	Arrow   Format = "arrow"
	Parquet Format = "parquet"
)

// endings are those of file names.
var endings = map[string]Format{".csv": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".json": JSON, ".arrow": Arrow,
	".arrows": Arrow, ".parquet": Parquet}

// Packing is how a file is compressed as a whole.
type Packing string

// The packings.
const (
	Plain Packing = ""
	Gzip  Packing = ".gz"
	Zstd  Packing = ".zst"
)

// formatOf tells the form of a file by its name; format, if not empty, comes first. Its error is a UsageError.
func formatOf(name string, format Format) (Format, Packing, error) {
	packing := Packing(strings.ToLower(filepath.Ext(name)))
	if packing == Gzip || packing == Zstd {
		name = name[:len(name)-len(packing)]
	} else {
		packing = Plain
	}
	if format == "" {
		format = endings[strings.ToLower(filepath.Ext(name))]
	}
	switch {
	case format == "" && name == "-":
		return CSV, Plain, nil
	case format == "":
		return "", "",
			&client.UsageError{Err: fmt.Errorf(
				"--output %s: its name ends with none of the formats (.csv .ndjson .json .arrow .parquet, then perhaps .gz or "+
					".zst): give --format", name)}
	case format == Parquet && packing != Plain:
		return "", "", &client.UsageError{Err: fmt.Errorf("--output %s%s: parquet is compressed inside: leave out %s",
			name, packing, packing)}
	}
	return format, packing, nil
}

// zstdWindow bounds what packing and unpacking hold, bytes.
const zstdWindow = 1 << 20

// packer compresses what is written, up to Close, which leaves w open. What one packer wrote can follow what another
// did.
func packer(w io.Writer, p Packing) (io.WriteCloser, error) {
	switch p {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow),
			zstd.WithLowerEncoderMem(true))
	}
	return open{w}, nil
}

// open is a writer that is not closed.
type open struct{ io.Writer }

func (open) Close() error { return nil }
