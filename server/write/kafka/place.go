package kafka

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"varve/engine"
)

// commit is what a group was told of a partition, and by which store.
type commit struct {
	offset int64 // -1: nothing
	by     string
}

// noQueue is the id of a topic whose brokers tell none.
var noQueue = strings.Repeat("0", 32)

// bounds are the offsets that a partition has: from start up to, but without, end.
type bounds struct{ start, end int64 }

// begin says where partitions begin that the source gets. While the brokers do not tell what it needs it asks again.
func (s *source) begin(ctx context.Context, given map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset,
	error) {
	for try := 0; ; try++ {
		out, err := s.places(ctx, given)
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		s.troubled(fmt.Errorf("the places to begin at are not known: %w", err))
		pause(ctx, pauseAfter(try))
	}
}

func (s *source) places(ctx context.Context, given map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset,
	error) {
	kept, err := s.kept()
	if err != nil {
		return nil, err
	}
	queues, err := s.queues(ctx, given)
	if err != nil {
		return nil, err
	}
	has, err := s.bounds(ctx, given)
	if err != nil {
		return nil, err
	}
	out := map[string]map[int32]kgo.Offset{}
	for topic, numbers := range given {
		out[topic] = map[int32]kgo.Offset{}
		for n := range numbers {
			id := partitionID{topic, n}
			k, known := kept[id]
			asked := s.takeAsked(id)
			at, why := place(s.config.Begin, s.all.o.Store.Store(), queues[topic], k, known, asked, has[id])
			if err := s.settle(ctx, id, queues[topic], k, known, at, why); err != nil {
				return nil, err
			}
			s.seenEnd(id, has[id].end)
			out[topic][n] = kgo.NewOffset().At(at)
		}
	}
	s.well()
	return out, nil
}

// Why a partition does not go on where it was.
const (
	goesOn      = ""
	recreated   = "recreated"    // the topic was made anew
	expired     = "expired"      // the brokers have removed messages
	cutShort    = "cut"          // the brokers have lost messages
	groupIsPast = "group"        // another server has read on
	firstTime   = "new"          // neither the store nor the group knows it
	byGroup     = "new to store" // the group knows it
)

// place is where a partition begins. The store's own position counts, if this store told the group last, or nobody has
// read on since.
func place(begin, store, queue string, kept engine.Position, known bool, asked commit, has bounds) (int64, string) {
	at, why := has.start, firstTime
	switch {
	case known && kept.Queue != queue && kept.Queue != noQueue && queue != noQueue:
		if known, why = false, recreated; asked.by == store {
			asked.offset = -1 // it was said of the topic before
		}
		begin = "earliest"
	case known:
		at, why = kept.Next, goesOn
	}
	switch {
	case known && asked.by != store && asked.offset > kept.Next:
		at, why = asked.offset, groupIsPast
	case !known && asked.offset >= 0:
		at = asked.offset
		if why == firstTime {
			why = byGroup
		}
	case !known && begin == "latest":
		at = has.end
	}
	switch {
	case at < has.start && why == recreated:
		at = has.start
	case at < has.start:
		at, why = has.start, expired
	case at > has.end && queue == noQueue:
		at, why = has.start, recreated
	case at > has.end:
		at, why = has.end, cutShort
	}
	return at, why
}

// takeAsked returns what the group was told last of a partition, and forgets it.
func (s *source) takeAsked(id partitionID) commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, told := s.asked[id]
	if !told {
		asked.offset = -1
	}
	delete(s.asked, id)
	return asked
}

// settle takes a partition over at an offset, and tells whom it concerns.
func (s *source) settle(ctx context.Context, id partitionID, queue string, kept engine.Position, known bool, at int64,
	why string) error {
	if why == recreated || why == expired || why == cutShort {
		s.all.figures.resets.WithLabelValues(s.config.Name, why).Inc()
		text := map[string]string{recreated: "the topic was made anew: it is read from its beginning",
			expired:  "the brokers have removed messages that were not read: they are lost",
			cutShort: "the brokers have fewer messages than were read: they have lost some"}[why]
		lost := int64(0)
		if why == expired && known {
			lost = at - kept.Next
			s.all.figures.missed.WithLabelValues(s.config.Name, id.topic).Add(float64(lost))
		}
		s.log.Warn(text, "topic", id.topic, "partition", id.partition, "was", kept.Next, "is", at, "lost", lost)
	}
	if known && kept.Queue == queue && at < kept.Next {
		taking := &engine.Taking{Steps: []engine.Advance{{From: kept.Next, Rewound: true, Position: engine.Position{
			Source: s.config.Name, Topic: id.topic, Partition: id.partition, Queue: queue, Next: at}}}}
		if err := s.all.o.Store.Take(ctx, taking); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partitions[id] = &partition{owned: true, queue: queue, next: at, committed: -1, end: -1}
	s.log.Info("a partition begins", "topic", id.topic, "partition", id.partition, "offset", at, "because", why)
	return nil
}

// kept are the positions that the store has.
func (s *source) kept() (map[partitionID]engine.Position, error) {
	list, err := s.all.o.Store.Positions(s.config.Name)
	if err != nil {
		return nil, err
	}
	kept := map[partitionID]engine.Position{}
	for _, p := range list {
		kept[partitionID{p.Topic, p.Partition}] = p
	}
	return kept, nil
}

// queues asks for the ids of topics.
func (s *source) queues(ctx context.Context, topics map[string]map[int32]kgo.Offset) (map[string]string, error) {
	ask := kmsg.NewPtrMetadataRequest()
	out := map[string]string{}
	for topic := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &topic
		ask.Topics = append(ask.Topics, t)
		out[topic] = noQueue
	}
	answer, err := ask.RequestWith(ctx, s.client)
	if err != nil {
		return nil, err
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, err
		}
		if t.Topic != nil {
			out[*t.Topic] = hex.EncodeToString(t.TopicID[:])
		}
	}
	return out, nil
}

// bounds asks for the first and the last offsets of partitions.
func (s *source) bounds(ctx context.Context, given map[string]map[int32]kgo.Offset) (map[partitionID]bounds, error) {
	out := map[partitionID]bounds{}
	for _, at := range [...]int64{-2, -1} { // the first, the last
		found, err := s.listOffsets(ctx, given, at)
		if err != nil {
			return nil, err
		}
		for id, offset := range found {
			b := out[id]
			if at == -2 {
				b.start = offset
			} else {
				b.end = offset
			}
			out[id] = b
		}
	}
	for topic, numbers := range given {
		for n := range numbers {
			if _, found := out[partitionID{topic, n}]; !found {
				return nil, fmt.Errorf("topic %s, partition %d: its brokers do not tell its offsets", topic, n)
			}
		}
	}
	return out, nil
}

// listOffsets asks for the offsets at a time; -2 is the first, -1 the one behind the last.
func (s *source) listOffsets(ctx context.Context, given map[string]map[int32]kgo.Offset,
	at int64) (map[partitionID]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ask := kmsg.NewPtrListOffsetsRequest()
	ask.ReplicaID, ask.IsolationLevel = -1, 1
	for topic, numbers := range given {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for n := range numbers {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = n, at
			t.Partitions = append(t.Partitions, p)
		}
		ask.Topics = append(ask.Topics, t)
	}
	answer, err := ask.RequestWith(ctx, s.client)
	if err != nil {
		return nil, err
	}
	out := map[partitionID]int64{}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("topic %s, partition %d: %w", t.Topic, p.Partition, err)
			}
			out[partitionID{t.Topic, p.Partition}] = p.Offset
		}
	}
	return out, nil
}

// outOfRange begins a partition anew whose next offset the brokers do not have.
func (s *source) outOfRange(ctx context.Context, id partitionID) {
	gone := map[string][]int32{id.topic: {id.partition}}
	s.disown(gone)
	s.finish(gone)
	given := map[string]map[int32]kgo.Offset{id.topic: {id.partition: kgo.NewOffset()}}
	out, err := s.places(ctx, given)
	if err != nil {
		s.troubled(err)
		return
	}
	at := out[id.topic][id.partition].EpochOffset()
	at.Epoch = -1
	s.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{id.topic: {id.partition: at}})
}
