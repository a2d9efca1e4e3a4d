package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
)

const (
	// mostKept bounds the bytes of a value, a key or a reason that the table of rejects keeps.
	mostKept = 16 << 10
	// rejectsTTL is how long the table keeps messages.
	rejectsTTL = "30d"
)

// reject is a message that cannot be stored.
type reject struct {
	record *kgo.Record
	why    string
}

// rejectFields are the columns of the table. value and key are bytes: nobody knows what they are.
var rejectFields = []vector.Field{
	{Name: "time", Type: vector.Timestamp(9)}, {Name: "source", Type: vector.StringType},
	{Name: "topic", Type: vector.StringType}, {Name: "partition", Type: vector.Int64Type},
	{Name: "offset", Type: vector.Int64Type}, {Name: "timestamp", Type: vector.Timestamp(3)},
	{Name: "key", Type: vector.BinaryType}, {Name: "value", Type: vector.BinaryType},
	{Name: "value_bytes", Type: vector.Int64Type}, {Name: "error", Type: vector.StringType},
}

// writeRejects writes messages into the table of rejects, with the steps behind them.
func (l *lane) writeRejects(ctx context.Context, list []reject, taking *engine.Taking) error {
	options, err := schema.ParseOptions(map[string]string{"append_mode": "true", "ttl": rejectsTTL})
	if err != nil {
		return err
	}
	c := l.s.config
	var set engine.WriteSet
	b := set.Rows(schema.Name{DB: c.DB, Table: c.Rejects}, engine.Hint{AutoCreate: true, TimeIndex: "time",
		Options: options, Comment: "messages that could not be stored"})
	var cols []*vector.ColumnBuilder
	for _, f := range rejectFields {
		col, err := b.Column(f.Name, f.Type)
		if err != nil {
			return err
		}
		cols = append(cols, col)
	}
	b.Pin()
	now := time.Now().UnixNano()
	for i, one := range list {
		r := one.record
		cols[0].SetInt(now + int64(i))
		cols[1].SetString(c.Name)
		cols[2].SetString(r.Topic)
		cols[3].SetInt(int64(r.Partition))
		cols[4].SetInt(r.Offset)
		cols[5].SetInt(r.Timestamp.UnixMilli())
		if r.Key != nil {
			cols[6].SetBytes(r.Key[:min(len(r.Key), mostKept)])
		}
		cols[7].SetBytes(r.Value[:min(len(r.Value), mostKept)])
		cols[8].SetInt(int64(len(r.Value)))
		cols[9].SetString(readable(one.why))
		b.EndRow()
	}
	_, err = l.s.all.o.Store.Write(engine.WithTaking(ctx, taking), &set)
	return err
}
