package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"varve/cmd/varve/client"
)

// deepest is how many scripts may run one another.
const deepest = 16

func (s *Shell) include(ctx context.Context, arg string) error {
	if arg == "" {
		return usage(`\i FILE is wanted`)
	}
	if s.depth == deepest {
		return usage("%s: scripts run each other %d levels deep", arg, deepest)
	}
	file, err := os.Open(arg)
	if err != nil {
		return err
	}
	defer file.Close()
	s.depth++
	defer func() { s.depth-- }()
	return s.script(ctx, arg, file)
}

func (s *Shell) redirect(_ context.Context, arg string) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.look.terminal, s.look.colour = 0, s.o.Colour // results go elsewhere, until one is for the terminal again
	command, piped := strings.CutPrefix(arg, "|")
	switch {
	case arg == "":
		return nil
	case piped:
		err := s.pipe(strings.TrimSpace(command))
		s.look.colour = s.o.Colour && (s.out == nil || s.o.ColourFiles)
		return err
	}
	file, err := os.Create(arg)
	if err != nil {
		return err
	}
	s.out, s.ended = file, file.Close
	s.look.colour = s.o.Colour && s.o.ColourFiles
	return nil
}

// pipe sends results to a command.
func (s *Shell) pipe(command string) error {
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = s.o.Out, s.o.Notes
	to, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("\\o |%s: %w", command, err)
	}
	s.out = to
	s.ended = func() error {
		to.Close() //nolint:errcheck // the command may have ended
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		return nil
	}
	return nil
}

func (s *Shell) system(ctx context.Context, arg string) error {
	if arg == "" {
		arg = "exec ${SHELL:-sh}"
	}
	return s.runOnTerminal(ctx, arg)
}

// runOnTerminal runs a command that may ask.
func (s *Shell) runOnTerminal(_ context.Context, command string) error {
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.o.In, s.o.Out, s.o.Notes
	back := s.keys.lend()
	err := cmd.Run()
	back()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return s.note("exit code %d", exit.ExitCode())
	}
	return err
}

// edit lets a file, or the last statement, be edited, and runs what comes of it.
func (s *Shell) edit(ctx context.Context, arg string) error {
	if s.o.Editor == "" {
		return usage(`\e needs a terminal`)
	}
	if arg == "" {
		temp, err := os.CreateTemp("", "varve-*.sql")
		if err != nil {
			return err
		}
		defer os.Remove(temp.Name())
		_, err = io.WriteString(temp, s.last+"\n")
		if err = errors.Join(err, temp.Close()); err != nil {
			return err
		}
		arg = temp.Name()
	}
	if err := s.runOnTerminal(ctx, s.o.Editor+" '"+strings.ReplaceAll(arg, "'", `'\''`)+"'"); err != nil {
		return err
	}
	text, err := os.ReadFile(arg)
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return err
	}
	if err := s.note("%s", client.AppendVisible(nil, []byte(strings.TrimSpace(string(text))), "\n\t")); err != nil {
		return err
	}
	return s.script(ctx, "", strings.NewReader(string(text)))
}

// tail shows the rows of a table that come.
func (s *Shell) tail(ctx context.Context, arg string) error {
	table, search, _ := strings.Cut(arg, " ")
	if s.o.Tail == nil || !s.asking {
		return usage(`\tail needs a terminal; there is varve tail`)
	}
	t, err := s.find(ctx, table)
	if err != nil {
		return err
	}
	return s.o.Tail(ctx, t.db, t.name, strings.TrimSpace(search), s.zone)
}
