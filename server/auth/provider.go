package auth

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"varve/server/web"
)

// Bounds of a pbkdf2_sha256 verifier.
const (
	maxIterations = 1_000_000
	maxSalt       = 1024
)

// maxUserFile bounds what is read of a user file.
const maxUserFile = 4 << 20

// Open reads the users of a provider: static_user_provider:file:<path>, static_user_provider:cmd:<u>=<p>[,...] or
// watch_file_user_provider:<path>.
func Open(provider string, log *slog.Logger) (*Users, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	u := &Users{log: log, checks: newChecks()}
	rand.Read(u.salts[:]) // never fails
	if path, ok := strings.CutPrefix(provider, "watch_file_user_provider:"); ok {
		u.path, u.watched = path, true
		state, err := stat(path)
		if err != nil {
			return nil, fmt.Errorf("user_provider: %w", err)
		}
		u.seen = state
		return u, u.load(path)
	}
	rest, ok := strings.CutPrefix(provider, "static_user_provider:")
	if !ok {
		return nil,
			fmt.Errorf(
				"user_provider %q: expected one of static_user_provider:file:<path>, static_user_provider:cmd:<users>, "+
					"watch_file_user_provider:<path>", Mask(provider))
	}
	if path, ok := strings.CutPrefix(rest, "file:"); ok {
		u.path = path
		return u, u.load(path)
	}
	list, ok := strings.CutPrefix(rest, "cmd:")
	if !ok {
		return nil,
			fmt.Errorf("user_provider %q: static_user_provider: is followed by file:<path> or cmd:<user>=<password>",
				Mask(provider))
	}
	users := map[string]*user{}
	for i, line := range strings.Split(list, ",") {
		one, err := parseUser(line)
		if err != nil {
			return nil, fmt.Errorf("user_provider: user %d of static_user_provider:cmd: %w", i+1, err)
		}
		users[one.name] = one
	}
	u.list.Store(newUserList(users))
	return u, nil
}

// Mask is a provider as logs and /config show it: with its path, without passwords. A text of no known form may be a
// misspelt provider with passwords, so its end is hidden too.
func Mask(provider string) string {
	if strings.HasPrefix(provider, "static_user_provider:file:") ||
		strings.HasPrefix(provider, "watch_file_user_provider:") {
		return provider
	}
	shown := len("static_user_provider:cmd:")
	if !strings.HasPrefix(provider, "static_user_provider:cmd:") {
		shown = strings.IndexAny(provider, ":=") + 1
	}
	if shown == 0 {
		return provider
	}
	return provider[:shown] + "***"
}

// fileState is the size and time of a file when it was read: if they differ, the file changed.
type fileState struct {
	size int64
	time time.Time
}

func stat(path string) (fileState, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileState{info.Size(), info.ModTime()}, nil
}

// Refresh reads a watched file again if it changed, and reports whether the users were replaced. If the file cannot be
// read or names no user, the old users stay. For other providers it does nothing. One goroutine at a time.
func (u *Users) Refresh() bool {
	if !u.watched {
		return false
	}
	state, err := stat(u.path)
	if err != nil || state == u.seen {
		return false
	}
	u.seen = state
	before := u.text
	if err := u.load(u.path); err != nil {
		u.log.Warn("the user file changed and cannot be used: the users stay as they were", "error", err)
		return false
	}
	if u.text == before { // it was touched, or Reload was here
		return false
	}
	u.log.Info("user file read again", "file", u.path, "users", u.Len())
	return true
}

// Reload reads the user file again, watched or not, and reports whether its bytes changed and the users were replaced.
// If the file cannot be read or names no user, the old users stay. For providers without a file it does nothing. One
// goroutine at a time, the one of Refresh.
func (u *Users) Reload() (changed bool, err error) {
	if u.path == "" {
		return false, nil
	}
	before := u.text
	err = u.load(u.path)
	return err == nil && u.text != before, err
}

// load replaces the users by those of a file, unless its bytes are those that were read last. It skips wrong lines with
// a warning.
func (u *Users) load(path string) error {
	text, err := readUserFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	if sum == u.text {
		return nil
	}
	users := parseUsers(text, func(number int, reason error) {
		u.log.Warn("line of the user file skipped", "file", path, "line", number, "reason", reason)
	}, func(int, string) {})
	if len(users) == 0 {
		return fmt.Errorf("user file %s names no user", path)
	}
	u.list.Store(newUserList(users))
	u.text = sum
	return nil
}

func readUserFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("user file: %w", err)
	}
	if info.Size() > maxUserFile {
		return nil, fmt.Errorf("user file %s has %d bytes, the limit is %d", path, info.Size(), maxUserFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("user file: %w", err)
	}
	return text, nil
}

// parseUsers reads the text of a user file. It calls wrong for each line that is wrong and named for each that names a
// user.
func parseUsers(text []byte, wrong func(number int, reason error),
	named func(number int, name string)) map[string]*user {
	users := map[string]*user{}
	number := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		one, err := parseUser(line)
		if err != nil {
			wrong(number, err)
			continue
		}
		named(number, one.name)
		users[one.name] = one
	}
	return users
}

// parseUser reads user[:mode]=verifier. Errors never show the verifier.
func parseUser(line string) (*user, error) {
	if strings.Count(line, "=") != 1 {
		return nil, fmt.Errorf("a line is user[:mode]=verifier with exactly one =")
	}
	head, secret, _ := strings.Cut(line, "=")
	name, mode, hasMode := strings.Cut(strings.TrimSpace(head), ":")
	u := &user{name: strings.TrimSpace(name)}
	if u.name == "" {
		return nil, fmt.Errorf("the user name is empty")
	}
	if hasMode {
		m, ok := modes[strings.ToLower(strings.TrimSpace(mode))]
		if !ok {
			return nil, fmt.Errorf("user %s: the mode is %q, expected rw, ro or wo", u.name, mode)
		}
		u.mode = m
	}
	v, err := parseVerifier(secret)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.name, err)
	}
	u.verify = v
	return u, nil
}

var modes = map[string]web.Mode{
	"rw": web.ReadWrite, "readwrite": web.ReadWrite, "read_write": web.ReadWrite,
	"ro": web.ReadOnly, "readonly": web.ReadOnly, "read_only": web.ReadOnly,
	"wo": web.WriteOnly, "writeonly": web.WriteOnly, "write_only": web.WriteOnly,
}

func parseVerifier(text string) (verifier, error) {
	if rest, ok := strings.CutPrefix(text, "pbkdf2_sha256:"); ok {
		return parsePBKDF2(rest)
	}
	text = strings.TrimPrefix(text, "plain:")
	if text == "" {
		return nil, fmt.Errorf("the password is empty")
	}
	return newPlain(text), nil
}

// derive derives a key of some bytes from a password. Tests count its iterations.
var derive = func(password string, salt []byte, iterations, length int) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, salt, iterations, length)
}

// derived is a password as PBKDF2 with HMAC-SHA-256 left it.
type derived struct {
	iterations int
	salt, hash []byte
}

func parsePBKDF2(text string) (verifier, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("a verifier is pbkdf2_sha256:<iterations>:<hex salt>:<hex hash>")
	}
	n, err := strconv.Atoi(parts[0])
	if err != nil || n < 1 || n > maxIterations {
		return nil, fmt.Errorf("iterations must be a number from 1 to %d", maxIterations)
	}
	salt, err := hex.DecodeString(parts[1])
	if err != nil || len(salt) < 1 || len(salt) > maxSalt {
		return nil, fmt.Errorf("the salt must be 1 to %d bytes in hex", maxSalt)
	}
	hash, err := hex.DecodeString(strings.TrimSpace(parts[2]))
	if err != nil || len(hash) != sha256.Size {
		return nil, fmt.Errorf("the hash must be %d bytes in hex", sha256.Size)
	}
	return &derived{n, salt, hash}, nil
}

func (d *derived) matches(password string) bool {
	h, err := derive(password, d.salt, d.iterations, len(d.hash))
	return err == nil && subtle.ConstantTimeCompare(h, d.hash) == 1
}

func (d *derived) cost() int { return d.iterations }

func (d *derived) scram() (int, []byte) { return d.iterations, d.salt }

func (d *derived) salted([]byte) ([]byte, error) { return d.hash, nil }

func (d *derived) same(other verifier) bool {
	o, ok := other.(*derived)
	return ok && o.iterations == d.iterations && bytes.Equal(o.salt, d.salt) && bytes.Equal(o.hash, d.hash)
}
