package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// ErrNoTerminal: there is nobody to ask.
var ErrNoTerminal = errors.New("there is no terminal to ask on")

// IsTerminal reports whether what is written to a stream, or read of it, is that of a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns a terminal has; 0: it is none.
func Width(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !IsTerminal(f) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// terminal opens the terminal that the process was started on: standard input may be data. A process whose errors go
// elsewhere is one of a script.
func terminal() (*os.File, error) {
	if !IsTerminal(os.Stderr) {
		return nil, ErrNoTerminal
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, ErrNoTerminal
	}
	return tty, nil
}

// AskPassword reads a line from the terminal that is not shown. Without a terminal it is ErrNoTerminal.
func AskPassword(prompt string) (string, error) {
	tty, err := terminal()
	if err != nil {
		return "", err
	}
	defer tty.Close()
	fd := int(tty.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	defer restoreAtSignal(fd, state)()
	if err := hideTyping(fd); err != nil { // before the prompt stands there, and with Ctrl-C as it was
		return "", err
	}
	fmt.Fprint(tty, prompt)
	word, err := term.ReadPassword(fd)
	err = errors.Join(err, term.Restore(fd, state))
	fmt.Fprintln(tty)
	return string(word), err
}

// hideTyping lets a terminal show nothing of what is typed. Keys keep their meanings, lines and signals among them.
func hideTyping(fd int) error {
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return err
	}
	modes.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setModes, modes)
}

// KeepKeys lets a terminal show nothing of what is typed and keep it as it is, key by key, for who reads it next.
// Ctrl-C and such still send signals.
func KeepKeys(fd int) error {
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return err
	}
	modes.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR
	modes.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, setModes, modes)
}

// dropTyped forgets what was typed and not read yet. It does without Fd, which would take the deadlines from a file.
func dropTyped(tty *os.File) error {
	raw, err := tty.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		var modes *unix.Termios
		if modes, err = unix.IoctlGetTermios(int(fd), getModes); err == nil {
			err = unix.IoctlSetTermios(int(fd), setFresh, modes)
		}
	})
	return errors.Join(failed, err)
}

// Confirm asks a question whose answer is yes or no, which is no. What was typed before it stood there is no answer.
// Without a terminal it is ErrNoTerminal; when ctx ends, it is its cause.
func Confirm(ctx context.Context, question string) (bool, error) {
	tty, err := terminal()
	if err != nil {
		return false, err
	}
	defer tty.Close()
	if err := dropTyped(tty); err != nil {
		return false, err
	}
	fmt.Fprintf(tty, "%s [y/N] ", question)
	lines := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(tty).ReadString('\n')
		if err != nil {
			line = "" // no answer is no
			fmt.Fprintln(tty)
		}
		lines <- line
	}()
	var line string
	select {
	case line = <-lines:
	case <-ctx.Done():
		// Reading ends with it where terminals have deadlines; elsewhere it goes on until the next line or the end of
		// the process.
		if tty.SetReadDeadline(time.Now()) == nil {
			<-lines
		}
		return false, context.Cause(ctx)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
