package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"varve/engine"
	"varve/server/web"
)

// partitionID names a partition of a source.
type partitionID struct {
	topic     string
	partition int32
}

// partition is a partition that the source has, or had.
type partition struct {
	owned     bool
	queue     string // id of its topic
	next      int64  // offset of the first message that is not taken
	committed int64  // what the brokers were told
	end       int64  // offset behind the last message; -1: not known
}

// source reads topics. Its client calls committed, begin, revoked and lost one at a time, beside read and outOfRange.
type source struct {
	all    *Sources
	config *Config
	log    *slog.Logger
	client *kgo.Client
	counts counts

	mu         sync.Mutex             // protects what follows
	asked      map[partitionID]commit // what the group was told last, of partitions that are about to begin
	partitions map[partitionID]*partition
	lanes      map[string]*lane
	trouble    string // why nothing is read, or a topic is not written; empty: all is well
	absent     bool   // the trouble is that the brokers are away
	since      time.Time
	heard      time.Time            // when a broker answered last
	purged     map[string]time.Time // when a topic was last asked for anew
}

func newSource(all *Sources, c *Config) *source {
	return &source{all: all, config: c, log: all.o.Logger.With("source", c.Name),
		asked:      map[partitionID]commit{},
		partitions: map[partitionID]*partition{}, lanes: map[string]*lane{}, purged: map[string]time.Time{},
		trouble: "it has not begun", since: time.Now()}
}

// run reads until ctx ends.
func (s *source) run(ctx context.Context) {
	if err := s.all.o.Store.Wait(ctx); err != nil {
		s.troubled(fmt.Errorf("the store is not ready: %w", err))
		return
	}
	for try := 0; ctx.Err() == nil; try++ {
		err := s.read(ctx)
		if ctx.Err() == nil {
			s.troubled(err)
			pause(ctx, pauseAfter(try))
		}
	}
}

// read reads until ctx ends, or until nothing can be read at all.
func (s *source) read(ctx context.Context) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	// What the client has that is not polled. All sources leave most of the account to messages and to others.
	share := s.hold(ctx, s.bounded(2*s.config.FetchBytes, int64(4*len(s.all.list))))
	defer share.Release()
	if s.client, err = kgo.NewClient(opts...); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { s.commitLoop(running) })
	defer func() {
		stop()
		s.stopLanes()
		beside.Wait()
		last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		s.commit(last, nil)
		s.client.CloseAllowingRebalance()
		s.disown(nil)
	}()
	s.log.Info("reading", "brokers", s.config.Brokers, "group", s.config.Group)
	for {
		fetches := s.client.PollRecords(running, maxPoll) // no partition comes or goes until AllowRebalance
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return errors.New("the client was closed")
		}
		var batches []*batch
		fetches.EachTopic(func(t kgo.FetchTopic) { batches = append(batches, s.batch(&t)) })
		s.faults(running, fetches)
		s.client.AllowRebalance()
		for _, b := range batches {
			s.dispatch(running, b)
		}
	}
}

// maxPoll bounds the messages that are polled at a time.
const maxPoll = 20_000

// hold counts bytes in the account of memory, and waits until there is room.
func (s *source) hold(ctx context.Context, bytes int64) *web.Share {
	for try := 0; ; try++ {
		share := s.all.o.Intake.Share()
		err := share.Hold(ctx, s.bounded(bytes, 2)) // a message alone may be larger than the account
		if err == nil || ctx.Err() != nil {
			return share
		}
		share.Release()
		s.troubled(fmt.Errorf("messages wait for memory: %w", err))
		pause(ctx, pauseAfter(try))
	}
}

// bounded returns bytes, at most the given part of the account of memory.
func (s *source) bounded(bytes, part int64) int64 {
	if limit := s.all.o.Intake.Limit(); limit > 0 {
		return min(bytes, limit/part)
	}
	return bytes
}

// pause waits for some time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// batch collects the messages of a topic.
func (s *source) batch(t *kgo.FetchTopic) *batch {
	b := &batch{owners: map[int32]*partition{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range t.Partitions {
		f := &t.Partitions[i]
		p := s.partitions[partitionID{t.Topic, f.Partition}]
		if p == nil {
			continue
		}
		b.owners[f.Partition] = p
		p.end = max(p.end, f.HighWatermark)
		b.records = append(b.records, f.Records...)
	}
	return b
}

// dispatch hands messages to the lane of their topic, once there is memory for them.
func (s *source) dispatch(ctx context.Context, b *batch) {
	if len(b.records) == 0 {
		return
	}
	l := s.lane(ctx, b.records[0].Topic)
	for _, piece := range b.pieces(s.all.o.Intake.Limit() / 8) {
		piece.share = s.hold(ctx, piece.bytes)
		l.enqueue(ctx, piece)
	}
}

// lane finds or begins the lane of a topic.
func (s *source) lane(ctx context.Context, topic string) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[topic]
	if l == nil {
		l = newLane(s, topic)
		s.lanes[topic] = l
		go l.run(ctx)
	}
	return l
}

// stopLanes waits for the lanes, whose context is over.
func (s *source) stopLanes() {
	s.mu.Lock()
	lanes := s.lanes
	s.lanes = map[string]*lane{}
	s.mu.Unlock()
	for _, l := range lanes {
		<-l.ended
	}
}

// seenEnd notes how far a partition goes.
func (s *source) seenEnd(id partitionID, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.partitions[id]; p != nil && end >= 0 {
		p.end = end
	}
}

// faults looks at what could not be fetched.
func (s *source) faults(ctx context.Context, fetches kgo.Fetches) {
	fetches.EachError(func(topic string, number int32, err error) {
		id := partitionID{topic, number}
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, kgo.ErrClientClosed):
		case errors.Is(err, kerr.OffsetOutOfRange):
			s.outOfRange(ctx, id)
		case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID),
			errors.Is(err, kerr.InconsistentTopicID):
			s.askAnew(topic, err)
		default:
			s.failed()
			s.troubled(fmt.Errorf("topic %s, partition %d: %w", topic, number, err))
		}
	})
}

// askAnew forgets a topic and asks for it again: it was deleted, and perhaps made anew.
func (s *source) askAnew(topic string, why error) {
	s.mu.Lock()
	again := topic != "" && time.Since(s.purged[topic]) > 5*time.Second
	if again {
		s.purged[topic] = time.Now()
	}
	s.mu.Unlock()
	if !again {
		return
	}
	s.troubled(fmt.Errorf("topic %s is not there, or is another one now: %w", topic, why))
	s.client.PurgeTopicsFromClient(topic)
	if s.config.TopicsRegex == "" {
		s.client.AddConsumeTopics(topic)
	}
}

// committed notes what the group was told of partitions that are about to begin.
func (s *source) committed(_ context.Context, _ *kgo.Client, answer *kmsg.OffsetFetchResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := func(topic string, number int32, offset int64, metadata *string, code int16) {
		c := commit{offset: offset}
		if metadata != nil {
			c.by = *metadata
		}
		if code == 0 {
			s.asked[partitionID{topic, number}] = c
		}
	}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			note(t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode)
		}
	}
	for _, g := range answer.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				note(t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode)
			}
		}
	}
	return nil
}

// revoked lets partitions go: what is under way is finished, and the group is told how far they were read.
func (s *source) revoked(ctx context.Context, _ *kgo.Client, lost map[string][]int32) {
	if len(lost) == 0 {
		return
	}
	s.all.figures.rebalances.WithLabelValues(s.config.Name).Inc()
	s.disown(lost)
	s.finish(lost)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s.commit(ctx, lost)
	s.log.Info("partitions go to other members of the group", "partitions", lost)
}

// lost lets partitions go that others may have already.
func (s *source) lost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	if len(lost) > 0 {
		s.disown(lost)
		s.finish(lost)
		s.log.Warn("the group gave partitions to others: this server was not heard of in time", "partitions", lost)
	}
}

// disown notes that the source has partitions no more; nil: none at all.
func (s *source) disown(lost map[string][]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lost == nil {
		for _, p := range s.partitions {
			p.owned = false
		}
	}
	for topic, numbers := range lost {
		for _, n := range numbers {
			if p := s.partitions[partitionID{topic, n}]; p != nil {
				p.owned = false
			}
		}
	}
}

// finish waits for writes of topics that are under way.
func (s *source) finish(topics map[string][]int32) {
	for topic := range topics {
		s.mu.Lock()
		l := s.lanes[topic]
		s.mu.Unlock()
		if l != nil {
			l.await()
		}
	}
}

// troubled notes why nothing is read, and logs it if that is news.
func (s *source) troubled(err error) {
	s.mu.Lock()
	news := s.trouble != err.Error()
	if news {
		s.trouble, s.since = err.Error(), time.Now()
	}
	s.mu.Unlock()
	if news {
		s.log.Warn("the queue is not read; this is tried again", "error", err)
	}
}

// silence is how long no broker may have answered before they are called away: one of several may be.
const silence = 3 * time.Second

// away notes that a broker cannot be reached. It is logged once, until a broker answers.
func (s *source) away(err error) {
	s.failed()
	s.mu.Lock()
	news := !s.absent && time.Since(s.heard) > silence
	if news {
		s.absent, s.trouble, s.since = true, "the brokers are away: "+err.Error(), time.Now()
	}
	s.mu.Unlock()
	if news {
		s.log.Warn("the brokers are away; this is tried again", "error", err)
	}
}

// back notes that a broker answers.
func (s *source) back() {
	s.mu.Lock()
	was := s.absent
	s.heard = time.Now()
	if was {
		s.absent, s.trouble, s.since = false, "", time.Now()
	}
	s.mu.Unlock()
	if was {
		s.log.Info("the brokers are back")
	}
}

// well notes that messages are stored.
func (s *source) well() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trouble != "" && !s.absent {
		s.trouble, s.since = "", time.Now()
	}
}

// steps are the steps behind messages: from where the partitions are to behind the last message of each.
func (s *source) steps(list []*kgo.Record) []engine.Advance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var steps []engine.Advance
	at := map[int32]int{}
	for _, r := range list {
		i, there := at[r.Partition]
		if !there {
			p := s.partitions[partitionID{r.Topic, r.Partition}]
			i, at[r.Partition] = len(steps), len(steps)
			steps = append(steps, engine.Advance{From: p.next, Position: engine.Position{Source: s.config.Name,
				Topic: r.Topic, Partition: r.Partition, Queue: p.queue}})
		}
		steps[i].Next = r.Offset + 1
	}
	return steps
}

// advance notes that steps are in the store.
func (s *source) advance(steps []engine.Advance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range steps {
		if p := s.partitions[partitionID{steps[i].Topic, steps[i].Partition}]; p != nil {
			p.next = steps[i].Next
		}
	}
}

// wanted leaves out messages of partitions that the source has no more, or has again, and those that are taken.
func (s *source) wanted(b *batch) []*kgo.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []*kgo.Record
	for _, r := range b.records {
		p := b.owners[r.Partition]
		if p == s.partitions[partitionID{r.Topic, r.Partition}] && p.owned && r.Offset >= p.next {
			kept = append(kept, r)
		}
	}
	return kept
}

// counts are the figures of a source since the start.
type counts struct{ messages, bytes, rejected, errors atomic.Int64 }

// took counts messages that are stored.
func (s *source) took(topic string, messages int, bytes int64) {
	s.counts.messages.Add(int64(messages))
	s.counts.bytes.Add(bytes)
	f := s.all.figures
	f.messages.WithLabelValues(s.config.Name, topic).Add(float64(messages))
	f.bytes.WithLabelValues(s.config.Name, topic).Add(float64(bytes))
}

// failed counts a try that failed.
func (s *source) failed() {
	s.counts.errors.Add(1)
	s.all.figures.errors.WithLabelValues(s.config.Name).Inc()
}
