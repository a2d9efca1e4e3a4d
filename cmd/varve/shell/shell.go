// Package shell is varve sql: it cuts scripts into statements, sends them to a server one by one, and prints what they give.
//
//	shell.go run.go split.go       the session, a statement, a text of many
//	answer.go value.go             an answer as it arrives, its values
//	format.go table.go             how results are printed
//
// # Promises
//
// An answer is printed as it arrives: no more of it is held than a row, or in tables 1,000 rows. Results go to
// Options.Out alone. Numbers are printed with all their digits.
package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/engine/timefmt"
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
	RawTimes     bool   // times are numbers
	KeepGoing    bool   // behind an error
	ReadOnly     string // why nothing may be changed; empty: it may
	Colour       bool
	Footer       bool // say rows and times on Notes
	Terminal     int  // the width of the terminal that Out is; 0: it is none

	Out   io.Writer // results
	Notes io.Writer // all else
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
	failed   bool // a statement, with KeepGoing
}

// New makes a shell. Errors are client.UsageErrors.
func New(o Options) (*Shell, error) {
	if !KnownFormat(o.Format) {
		return nil, &client.UsageError{Err: fmt.Errorf("--format %s is not known", o.Format)}
	}
	s := &Shell{o: o, db: o.DB, format: o.Format, rawTimes: o.RawTimes,
		look: look{maxWidth: o.MaxWidth, terminal: o.Terminal, autoVertical: o.AutoVertical, colour: o.Colour}}
	if s.db == "" {
		s.db = "public"
	}
	return s, s.setZone(o.Zone)
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

// localZone names the zone of this machine as the server knows it: its offset where it has no name.
func localZone() string {
	for _, name := range []string{os.Getenv("TZ"), linkedZone(), time.Local.String()} {
		if name == "" || name == "Local" {
			continue
		}
		if _, err := timefmt.Zone(name); err == nil {
			return name
		}
	}
	return time.Now().Format("-07:00")
}

// linkedZone is the name of the zone that the system's link leads to.
func linkedZone() string {
	const mark = "zoneinfo/"
	target, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	for i := range target {
		if len(target[i:]) > len(mark) && target[i:i+len(mark)] == mark {
			return target[i+len(mark):]
		}
	}
	return ""
}

// Run runs the statements of a text as it is read; name is that of the file, for errors. The first error ends it, unless KeepGoing says
// otherwise: then each is a note, and the last line is an error that says so.
func (s *Shell) Run(ctx context.Context, name string, text io.Reader) error {
	failed, err := s.script(ctx, name, text)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%s: %d statements failed", name, failed)
		if failed == 1 {
			err = fmt.Errorf("%s: a statement failed", name)
		}
	}
	return err
}
