package kafka

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// commitLoop tells the brokers how far the source is, for tools that show lag and for members of the group that get its
// partitions. Now and then it asks how far the partitions go.
func (s *source) commitLoop(ctx context.Context) {
	commit, look := time.NewTicker(s.all.o.commitEvery), time.NewTicker(s.all.o.lookEvery)
	defer commit.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-commit.C:
			limited, cancel := context.WithTimeout(ctx, 10*time.Second)
			s.commit(limited, nil)
			cancel()
		case <-look.C:
			s.lookAtEnds(ctx)
		}
	}
}

// commit tells the group how far partitions are read, those of a choice or, with nil, all that the source has. The
// metadata is the name of the store, by which it knows later that nobody else has read on.
func (s *source) commit(ctx context.Context, of map[string][]int32) {
	news := map[string]map[int32]kgo.EpochOffset{}
	s.mu.Lock()
	for id, p := range s.partitions {
		chosen := of == nil && p.owned || slices.Contains(of[id.topic], id.partition)
		if chosen && p.next != p.committed {
			if news[id.topic] == nil {
				news[id.topic] = map[int32]kgo.EpochOffset{}
			}
			news[id.topic][id.partition] = kgo.EpochOffset{Epoch: -1, Offset: p.next}
		}
	}
	s.mu.Unlock()
	if len(news) == 0 {
		return
	}
	name := s.all.o.Store.Store()
	ctx = kgo.PreCommitFnContext(ctx, func(r *kmsg.OffsetCommitRequest) error {
		for i := range r.Topics {
			for j := range r.Topics[i].Partitions {
				r.Topics[i].Partitions[j].Metadata = &name
			}
		}
		return nil
	})
	s.client.CommitOffsetsSync(ctx, news,
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
			if err != nil {
				s.log.Debug("the group cannot be told how far it is", "error", err)
				return
			}
			s.told(news, answer)
		})
}

// told notes what the group knows now.
func (s *source) told(news map[string]map[int32]kgo.EpochOffset, answer *kmsg.OffsetCommitResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range answer.Topics {
		for _, a := range t.Partitions {
			p := s.partitions[partitionID{t.Topic, a.Partition}]
			if p != nil && a.ErrorCode == 0 {
				p.committed = news[t.Topic][a.Partition].Offset
			}
		}
	}
}

// lookAtEnds asks how far the partitions go.
func (s *source) lookAtEnds(ctx context.Context) {
	given := map[string]map[int32]kgo.Offset{}
	s.mu.Lock()
	for id, p := range s.partitions {
		if p.owned {
			if given[id.topic] == nil {
				given[id.topic] = map[int32]kgo.Offset{}
			}
			given[id.topic][id.partition] = kgo.NewOffset()
		}
	}
	s.mu.Unlock()
	if len(given) == 0 {
		return
	}
	found, err := s.listOffsets(ctx, given, -1)
	if err != nil {
		return // the next look, or fetch, tells
	}
	for id, end := range found {
		s.seenEnd(id, end)
	}
}
