package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// hashIterations is the cost of a new verifier: a good part of a second, for each guess of an attacker but only once
// for a user who signs in.
const hashIterations = 600_000

// CheckName returns what is wrong with the user of a line, written NAME or NAME:MODE.
func CheckName(user string) error {
	if strings.HasPrefix(user, "#") || strings.ContainsAny(user, "\r\n=") {
		return fmt.Errorf("user %q: a name is one line without = that does not begin with #", user)
	}
	_, err := parseUser(user + "=x")
	return err
}

// Line makes the line of a user file for a user, written NAME or NAME:MODE, with the hash of a password; without a name
// it is the hash alone.
func Line(user, password string) (string, error) {
	if password == "" {
		return "", errors.New("the password is empty")
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	hash, err := derive(password, salt, hashIterations, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("hash of the password: %w", err)
	}
	line := fmt.Sprintf("pbkdf2_sha256:%d:%x:%x", hashIterations, salt, hash)
	if user == "" {
		return line, nil
	}
	return user + "=" + line, CheckName(user)
}

// BadLine is a line of a user file that does not count, or counts in place of another.
type BadLine struct {
	Number int // from 1
	Reason string
}

// CheckFile reads a user file as a server does and gives the number of users and the lines that are wrong. A file
// without users is an error.
func CheckFile(path string) (users int, bad []BadLine, err error) {
	text, err := readUserFile(path)
	if err != nil {
		return 0, nil, err
	}
	first := map[string]int{}
	list := parseUsers(text, func(number int, reason error) {
		bad = append(bad, BadLine{number, reason.Error()})
	}, func(number int, name string) {
		if before := first[name]; before != 0 {
			bad = append(bad, BadLine{number,
				fmt.Sprintf("user %s stands in line %d already: this line counts", name, before)})
		}
		first[name] = number
	})
	if len(list) == 0 {
		err = fmt.Errorf("user file %s names no user", path)
	}
	return len(list), bad, err
}
