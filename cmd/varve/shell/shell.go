// Package shell implements `varve sql`: it cuts scripts into statements, sends them to a server one by one, and prints
// their results.
//
//	shell.go run.go split.go            the session, a statement, a text of many
//	answer.go value.go                  an answer as it arrives, its values
//	format.go table.go pager.go         how results are printed
//	interact.go history.go keys.go      what is typed
//	edit.go highlight.go                how it is edited
//	complete.go words.go names.go       what could be typed next
//	meta.go describe.go files.go        commands with a backslash
//	hist.go plot.go watch.go            results as pictures, results that are asked again
//
// # Promises
//
// The shell prints an answer as it arrives and holds no more of it than one row, or 1,000 rows for tables. Results go
// to Options.Out alone. Numbers are printed with all their digits.
package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// Options of a Shell.
type Options struct {
	Client *client.Client
	DB     string
	// Zone is that of times; empty means the machine's own.
	Zone         string
	Format       string // one of Formats
	MaxWidth     int    // of a cell of a table; 0: what fits into the terminal
	AutoVertical bool   // print tables vertically that are wider than the terminal
	Fit          bool   // and those that are wider although their cells were cut
	RawTimes     bool   // times are numbers
	KeepGoing    bool   // behind an error
	ReadOnly     string // why nothing may be changed; empty: it may
	Colour       bool
	ColourFiles  bool // results that \o sends to files and commands have colours too
	Footer       bool // say rows and times on Notes
	// Size is that of the terminal that Out is; nil: it is none.
	Size func() (columns, rows int)
	// Pager is the command that shows results taller than the terminal; empty: they are not held back.
	Pager string

	Out   io.Writer // results
	Notes io.Writer // all else

	Session
}

// Session is what a shell that asks for statements needs besides.
type Session struct {
	In          io.Reader // the terminal
	Plain       bool      // the terminal can do nothing but show lines
	HistoryFile string    // empty: none is kept
	Label       string    // stands before the prompt
	Production  bool      // the prompt warns, and DROP asks
	Editor      string    // the command that edits files
	// Tail shows the rows of a table that come, until ctx ends.
	Tail func(ctx context.Context, db, table, search string, zone *time.Location) error
	// Confirm asks a question whose answer is yes or no.
	Confirm func(ctx context.Context, question string) (bool, error)
	// Exit ends the process at a signal.
	Exit func(code int)
}

// Shell is a session: statements in, results out. One goroutine at a time.
type Shell struct {
	o        Options
	db       string
	zone     *time.Location
	zoneName string // as the server knows it
	format   string
	vertical bool // \x
	look     look
	rawTimes bool
	failed   int  // statements, with KeepGoing
	footer   bool // \timing
	asking   bool // somebody sits at a terminal
	depth    int  // of scripts that scripts run

	last  string    // the statement that ran last
	since string    // \since: a time, as the user wrote it
	out   io.Writer // where \o sends results; nil: to Options.Out
	ended func() error
	names names
	keys  *keys // of the terminal; nil: it is as it was
}

// New makes a shell. Errors are client.UsageErrors.
func New(o Options) (*Shell, error) {
	if !KnownFormat(o.Format) {
		return nil, &client.UsageError{Err: fmt.Errorf("--format %s is not known", o.Format)}
	}
	s := &Shell{o: o, db: o.DB, format: o.Format, rawTimes: o.RawTimes, footer: o.Footer, since: defaultSince,
		look: look{maxWidth: o.MaxWidth, autoVertical: o.AutoVertical, fit: o.Fit, colour: o.Colour}}
	if s.db == "" {
		s.db = "public"
	}
	return s, s.setZone(o.Zone)
}

// Close ends what \o began.
func (s *Shell) Close() error {
	if s.ended == nil {
		return nil
	}
	err := s.ended()
	s.out, s.ended = nil, nil
	return err
}

// setZone changes the zone of times.
func (s *Shell) setZone(name string) error {
	if name == "" || strings.EqualFold(name, "local") {
		name = localZone()
	}
	zone, err := client.Zone(name)
	if err != nil {
		return err
	}
	s.zone, s.zoneName = zone, name
	return nil
}

// Zone names the zone of times.
func (s *Shell) Zone() string { return s.zoneName }

// localZone names the zone of this machine as the server knows it: its offset where it has no name.
func localZone() string {
	for _, name := range []string{os.Getenv("TZ"), linkedZone(), time.Local.String()} {
		if name == "" || name == "Local" {
			continue
		}
		if _, err := client.Zone(name); err == nil {
			return name
		}
	}
	return time.Now().Format("-07:00")
}

// linkedZone is the name of the zone that the system's link leads to.
func linkedZone() string {
	target, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(target, "zoneinfo/")
	return name
}

// Run runs the statements of a text as it is read; name is that of the file, for errors. The first error ends it,
// unless KeepGoing says otherwise: then each is a note, and Failed counts them.
func (s *Shell) Run(ctx context.Context, name string, text io.Reader) error {
	return s.script(ctx, name, text)
}

// Failed is the error of statements that failed and were passed over; nil: none did.
func (s *Shell) Failed() error {
	switch s.failed {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("a statement failed")
	}
	return fmt.Errorf("%d statements failed", s.failed)
}
