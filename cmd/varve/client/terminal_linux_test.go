package client

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain runs, in a process of its own on a terminal, what asks there.
func TestMain(m *testing.M) {
	switch os.Getenv("CLIENT_TEST_ASKS") {
	case "password":
		word, err := AskPassword("Password: ")
		fmt.Printf("got %q %v\n", word, err)
	case "confirm":
		ctx, stop := Interruptible(context.Background())
		defer stop()
		yes, err := Confirm(ctx, "Really?")
		fmt.Printf("got %v %v\n", yes, err)
	default:
		os.Exit(m.Run())
	}
}

// openTerminal gives both ends of a pseudo terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// TestAsking: questions go to the terminal though standard input is none, passwords are not shown, and no answer is no.
func TestAsking(t *testing.T) {
	for _, c := range []struct{ what, before, prompt, typed, want string }{
		{"password", "", "Password: ", "geheim\n", `got "geheim" <nil>`},
		{"password", "", "Password: ", "\x03", ""}, // the process ends
		{"confirm", "", "Really? [y/N] ", "y\n", "got true <nil>"},
		{"confirm", "", "Really? [y/N] ", "\n", "got false <nil>"},
		{"confirm", "", "Really? [y/N] ", "\x04", "got false <nil>"},
		{"confirm", "", "Really? [y/N] ", "\x03", "got false interrupted"},
		{"confirm", "y\ny", "Really? [y/N] ", "\n", "got false <nil>"},
	} {
		master, slave := openTerminal(t)
		if _, err := master.WriteString(c.before); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "CLIENT_TEST_ASKS="+c.what)
		command.Stderr = slave
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		shown := ""
		for b := make([]byte, 1); !strings.HasSuffix(shown, c.prompt); {
			if _, err := master.Read(b); err != nil {
				t.Fatalf("%s: %v after %q", c.what, err, shown)
			}
			shown += string(b)
		}
		if _, err := master.WriteString(c.typed); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		if got := strings.TrimSpace(line); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		command.Wait() //nolint:errcheck // what it printed was looked at
		slave.Close()
		rest := make([]byte, 4096)
		n, _ := master.Read(rest)
		if strings.Contains(string(rest[:n]), "geheim") {
			t.Errorf("the password is shown: %q", rest[:n])
		}
	}
}

func TestNobodyToAsk(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "CLIENT_TEST_ASKS=password")
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := command.Output()
	if want := `got "" there is no terminal to ask on`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}
