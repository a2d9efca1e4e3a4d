package shell

import (
	"context"
	"sync"
	"time"
)

// Completion asks the server for names, which are good for namesKept. Typing waits no longer than namesWait; what comes
// later is there the next time.
const (
	namesKept    = 30 * time.Second
	namesWait    = 200 * time.Millisecond
	namesTimeout = 5 * time.Second
)

// names are answers of small statements that are asked again and again.
type names struct {
	mu    sync.Mutex
	lists map[string]*nameList // by database and statement
}

type nameList struct {
	rows [][]any
	at   time.Time
	busy chan struct{} // is closed when the answer has come; nil: none is asked for
}

// list is the answer of a statement, or what is known of it.
func (s *Shell) list(sql string) [][]any {
	n := &s.names
	n.mu.Lock()
	key := s.db + "\x00" + sql
	if n.lists == nil {
		n.lists = map[string]*nameList{}
	}
	l := n.lists[key]
	if l == nil {
		l = &nameList{}
		n.lists[key] = l
	}
	if time.Since(l.at) < namesKept {
		defer n.mu.Unlock()
		return l.rows
	}
	if l.busy == nil {
		l.busy = make(chan struct{})
		go s.fetch(l, s.db, sql)
	}
	busy := l.busy
	n.mu.Unlock()
	select {
	case <-busy:
	case <-time.After(namesWait):
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return l.rows
}

// fetch asks the server. It belongs to the process: nobody waits for it longer than namesWait, and it ends by itself.
func (s *Shell) fetch(l *nameList, db, sql string) {
	ctx, cancel := context.WithTimeout(context.Background(), namesTimeout)
	defer cancel()
	answer, err := s.o.Client.Query(ctx, db, sql)
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	if err == nil {
		l.rows, l.at = answer.Rows, time.Now()
	}
	close(l.busy)
	l.busy = nil
}

// forget drops all answers: a statement has changed what there is.
func (n *names) forget() {
	n.mu.Lock()
	n.lists = nil
	n.mu.Unlock()
}
