package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"varve/cmd/varve/client"
	"varve/server/auth"
)

type userCommand struct {
	Hash  userHashCommand  `cmd:"" help:"Print a line for the user file with the hash of a password."`
	Check userCheckCommand `cmd:"" help:"Name the lines of a user file that do not count."`
}

type userHashCommand struct {
	User string `arg:"" optional:"" name:"name" help:"The user, as NAME or NAME:MODE with the mode rw, ro or wo; without it only the hash is printed."`
}

type userCheckCommand struct {
	File string `arg:"" help:"The user file."`
}

// Help is what varve user hash --help says besides.
func (userHashCommand) Help() string {
	return "The password is asked twice; without a terminal it is the first line of standard input.\n\n" +
		examples("varve user hash ops >> /etc/varve/users", "varve user hash reader:ro < password.txt")
}

// Help is what varve user check --help says besides.
func (userCheckCommand) Help() string {
	return "Exit code 2: there are such lines, or there is no user at all.\n\n" +
		examples("varve user check /etc/varve/users")
}

// Run asks for a password and prints its line.
func (u *userHashCommand) Run(s streams) error {
	if u.User != "" {
		if err := auth.CheckName(u.User); err != nil {
			return &client.UsageError{Err: err}
		}
	}
	word, err := newPassword(s.in)
	if err != nil {
		return err
	}
	line, err := auth.Line(u.User, word)
	if err != nil {
		return &client.UsageError{Err: err}
	}
	_, err = fmt.Fprintln(s.out, line)
	return err
}

// newPassword asks for a password twice, or takes the first line of a standard input that is no terminal.
func newPassword(in io.Reader) (string, error) {
	if !client.IsTerminal(in) {
		word, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(word, "\r\n"), nil
	}
	word, err := client.AskPassword("Password: ")
	if err != nil {
		return "", err
	}
	again, err := client.AskPassword("Again: ")
	if err != nil {
		return "", err
	}
	if word != again {
		return "", errors.New("the passwords differ: nothing is printed")
	}
	return word, nil
}

func (u *userCheckCommand) Run(s streams) error {
	users, bad, err := auth.CheckFile(u.File)
	for _, line := range bad {
		if _, err := fmt.Fprintf(s.out, "%s:%d: %s\n", u.File, line.Number, line.Reason); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return &configError{err.Error()}
	case len(bad) > 0:
		return &configError{fmt.Sprintf("%s: %s of %s are to be mended", u.File, count(len(bad), "line"), u.File)}
	}
	_, err = fmt.Fprintf(s.out, "%s: %s\n", u.File, count(users, "user"))
	return err
}
