package ingest

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// An input has a stream, a random name, of which the ids of its batches are made, and a file beside the state with the
// ends of the batches that were sent. A run that goes on behind one that was cut off, or that lost answers, cuts its
// batches at the same places, so that they have the same ids, and the server knows which of them it has.

// newStream is a name for what is sent of an input.
func newStream() string {
	var b [8]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	return hex.EncodeToString(b[:])
}

// sentName is the file of the ends of batches of a stream.
func (s *state) sentName(stream string) string { return s.path + "." + stream + ".sent" }

// sends notes where a part ends, before it is sent for the first time.
func (s *state) sends(in *input, p *part) error {
	if in.record == nil {
		return nil
	}
	f, err := os.OpenFile(s.sentName(in.record.Stream), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%d %d\n", p.from.Byte, p.to.Byte)
	return errors.Join(err, f.Close())
}

// sentEnds are the places at which an earlier run cut what it sent, in order, each once.
func (s *state) sentEnds(stream string) ([]int64, error) {
	text, err := os.ReadFile(s.sentName(stream))
	if isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ends []int64
	for line := range bytes.Lines(text) {
		var from, to int64
		if _, err := fmt.Sscanf(string(line), "%d %d\n", &from, &to); err == nil { // the last may be cut off
			ends = append(ends, from, to)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends), nil
}

// nextEnd is the first of some ends behind a place, with those that follow it; 0: there is none.
func nextEnd(ends []int64, at int64) (next int64, rest []int64) {
	for len(ends) > 0 && ends[0] <= at {
		ends = ends[1:]
	}
	if len(ends) == 0 {
		return 0, nil
	}
	return ends[0], ends
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// id names a part of a batch for the server: the same entries of the same stream have the same one.
func (b *batch) id(p *part) (string, error) {
	sum, size := crc32.Checksum(p.body, castagnoli), int64(len(p.body))
	if b.long != nil {
		h := crc32.New(castagnoli)
		if _, err := io.Copy(h, io.NewSectionReader(b.long, 0, b.bytes)); err != nil {
			return "", err
		}
		sum, size = h.Sum32(), b.bytes
	}
	return fmt.Sprintf("%s-%d-%d-%08x", b.in.stream, p.to.Byte, size, sum), nil
}
