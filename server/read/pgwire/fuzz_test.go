package pgwire

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/vector"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// desk stands for SQL: it parses, and answers each statement with three numbers.
type desk struct{}

func (desk) HasDatabase(name string) bool { return name == "public" }

func (desk) ParseDialect(_ context.Context, text string, d *parse.Dialect) ([]parse.Statement, func(), error) {
	list, err := parse.ParseDialect(text, nil, d)
	return list, func() {}, err
}

var deskFields = []vector.Field{{Name: "n", Type: vector.Int64Type}}

func (desk) Describe(context.Context, *sqlexec.Session, parse.Statement) ([]vector.Field, error) {
	return deskFields, nil
}

func (desk) SetReads(*sqlexec.Session, string, string) error { return nil }

func (desk) Kill(*parse.Kill) error     { return nil }
func (desk) Allowance() *exec.Allowance { return nil } // without a limit

func (desk) Attend(ctx context.Context, _ *sqlexec.Session, _ string, part func(ctx context.Context) error) error {
	return part(ctx)
}

func (desk) Session(user web.User) *sqlexec.Session { return &sqlexec.Session{User: user.Name} }

func (desk) Enter(context.Context, parse.Statement, func()) (func(), error) { return func() {}, nil }

func (desk) Execute(context.Context, web.User, *sqlexec.Session, parse.Statement) (*sqlexec.Result, error) {
	return &sqlexec.Result{Fields: deskFields, Rows: &three{}}, nil
}

func (desk) Allows(web.User, parse.Statement) error { return nil }
func (desk) Writes(parse.Statement) bool            { return false }

type three struct{ over bool }

func (r *three) Next(b *vector.Batch) (bool, error) {
	if r.over {
		return false, nil
	}
	r.over = true
	b.N, b.Cols = 3, []*vector.Vector{{Type: vector.Int64Type, Ints: []int64{1, 2, 3}}}
	return true, nil
}

func (*three) Close() {}

// FuzzMessages: whatever comes after the beginning of a session ends with the connection closed, and what the server
// sends are messages.
func FuzzMessages(f *testing.F) {
	add := func(list ...pgproto3.FrontendMessage) {
		var b []byte
		for _, m := range list {
			b = must(m.Encode(b))
		}
		f.Add(b)
	}
	add(&pgproto3.Query{String: "SELECT 1; BEGIN; SHOW timezone; COMMIT"})
	add(&pgproto3.Parse{Query: "SELECT $1::INT, $2", ParameterOIDs: []uint32{0, 1016}},
		&pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Bind{ParameterFormatCodes: []int16{0, 1},
			Parameters:        [][]byte{[]byte("7"), []byte("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00")},
			ResultFormatCodes: []int16{1}}, &pgproto3.Execute{MaxRows: 2}, &pgproto3.Execute{}, &pgproto3.Sync{})
	add(&pgproto3.Query{String: "BEGIN"}, &pgproto3.Query{String: "DECLARE c CURSOR FOR SELECT 1"},
		&pgproto3.Query{String: "FETCH 2 FROM c; MOVE c; CLOSE c; SAVEPOINT s; ROLLBACK TO s"}, &pgproto3.Terminate{})
	add(&pgproto3.Close{ObjectType: 'P'}, &pgproto3.Flush{}, &pgproto3.CopyFail{}, &pgproto3.Sync{})
	f.Add([]byte("Q\x00\x00\x00\x08SE"))
	s := New(Options{Executor: desk{}, Statements: desk{}, MaxMessage: 64 << 10})
	f.Fuzz(func(t *testing.T, data []byte) {
		client, server := net.Pipe()
		k := s.begin(server)
		if k == nil {
			t.Fatal("there is no place")
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			s.run(k)
		}()
		client.SetDeadline(time.Now().Add(10 * time.Second))
		go func() { // a server that closes the connection ends the writes
			client.Write([]byte("\x00\x00\x00\x12\x00\x03\x00\x00user\x00ann\x00\x00"))
			client.Write(data)
			client.Write([]byte("X\x00\x00\x00\x04"))
			client.Close()
		}()
		front := pgproto3.NewFrontend(client, client)
		for {
			if _, err := front.Receive(); err != nil {
				if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) &&
					!errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("what the server sent: %v", err)
				}
				break
			}
		}
		client.Close()
		<-over
	})
}
