package auth

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"varve/engine/status"
	"varve/server/web"
)

func login(u *Users, name, password string) (web.User, error) {
	return u.Login(context.Background(), name, password, "10.0.0.1")
}

// slow is a line of a user file with a derived hash of so many iterations.
func slow(t testing.TB, name, password string, iterations int) string {
	t.Helper()
	hash, err := pbkdf2.Key(sha256.New, password, []byte("salt"), iterations, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s=pbkdf2_sha256:%d:%s:%s", name, iterations, hex.EncodeToString([]byte("salt")),
		hex.EncodeToString(hash))
}

// counted is a verifier that counts what it costs.
type counted struct {
	verifier
	spent *int
}

func (c counted) matches(password string) bool {
	*c.spent++
	return c.verifier.matches(password)
}

// TestSameWorkForEveryName counts what refused logins cost of users with plain and with derived passwords and of
// nobody: all of them derive as many times as the slowest, so that their time does not tell whether there is a user of
// the name.
func TestSameWorkForEveryName(t *testing.T) {
	u, err := Open("static_user_provider:cmd:fast=f,"+slow(t, "middle", "m", 200)+","+slow(t, "slow", "s", 600), nil)
	if err != nil {
		t.Fatal(err)
	}
	spent, real := 0, derive
	t.Cleanup(func() { derive = real })
	derive = func(password string, salt []byte, iterations, length int) ([]byte, error) {
		spent += iterations
		return real(password, salt, iterations, length)
	}
	for _, name := range []string{"fast", "middle", "slow", "nobody"} {
		spent = 0
		if _, err := login(u, name, "wrong"); status.Of(err) != status.UserPasswordMismatch {
			t.Fatal(err)
		}
		if spent != 600 {
			t.Errorf("a wrong password of %s takes %d iterations, want 600", name, spent)
		}
	}
	if got := u.Refused(); got != 4 {
		t.Errorf("%d refused logins are counted, want 4", got)
	}
}

// TestRightPasswordsAreCheckedOnce: afterwards a keyed hash is enough, and it opens no other user's door.
func TestRightPasswordsAreCheckedOnce(t *testing.T) {
	u, err := Open("static_user_provider:cmd:ann=a,"+slow(t, "bob", "b", 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, one := range u.list.Load().users {
		one.verify = counted{one.verify, &checks}
	}
	for range 10 {
		for _, name := range []string{"ann", "bob"} {
			if got, err := login(u, name, name[:1]); err != nil || got.Name != name {
				t.Fatal(got, err)
			}
		}
	}
	if checks != 2 {
		t.Errorf("%d checks of two passwords", checks)
	}
	for _, wrong := range [][2]string{{"ann", "b"}, {"bob", "a"}, {"ann", "x"}, {"nobody", "a"}} {
		if _, err := login(u, wrong[0], wrong[1]); err == nil {
			t.Errorf("%s gets in with %s", wrong[0], wrong[1])
		}
	}
}

// TestChecksAtATime: an address waits for itself, others have a turn of their own while a slot is free, and what waits
// too long a line is refused.
func TestChecksAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChecks()
		c.slots = make(chan struct{}, 2)
		ctx, cancel := context.WithCancel(context.Background())
		leave, err := c.enter(ctx, "bad")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 100)
		for range 100 {
			go func() {
				leave, err := c.enter(ctx, "bad")
				if err == nil {
					leave()
				}
				ended <- err
			}()
		}
		synctest.Wait()
		refused := len(ended)
		if refused != 100-maxWaiting {
			t.Errorf("%d of 100 are refused at once, want %d", refused, 100-maxWaiting)
		}
		for range refused {
			if err := <-ended; status.Of(err) != status.RateLimited {
				t.Errorf("refused with %v", err)
			}
		}
		other, err := c.enter(context.Background(), "good") // beside all of them
		if err != nil {
			t.Fatal(err)
		}
		other()
		leave()
		synctest.Wait()
		var errs []error
		for range maxWaiting {
			errs = append(errs, <-ended)
		}
		if slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Errorf("those that waited end with %v", errs)
		}

		leave, err = c.enter(ctx, "bad")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := c.enter(ctx, "bad")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left waits on: %v", err)
		}
		leave()
		if len(c.clients) != 0 {
			t.Errorf("%d addresses are remembered", len(c.clients))
		}
	})
}

// TestSameAttemptIsVerifiedOnce: however many requests come with the same name and password, they wait for one check;
// those with others have their own, and one that could not be made is not the others' answer.
func TestSameAttemptIsVerifiedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChecks()
		ctx := context.Background()
		leave, err := c.enter(ctx, "here")
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(ctx)
		first := make(chan error, 1)
		go func() {
			_, err := c.once(gone, attempt{name: "ann"}, "here", func() bool { return true })
			first <- err
		}()
		synctest.Wait()
		verified := map[string]int{} // under the turn of the address
		ended := make(chan error, 400)
		for range 200 {
			for name, right := range map[string]bool{"ann": true, "bob": false} {
				go func() {
					match, err := c.once(ctx, attempt{name: name}, "here", func() bool {
						verified[name]++
						return right
					})
					if match != right {
						err = errors.Join(err, fmt.Errorf("%s: %v", name, match))
					}
					ended <- err
				}()
			}
		}
		synctest.Wait()
		cancel() // the client that the others wait for leaves
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left: %v", err)
		}
		synctest.Wait()
		leave()
		for range 400 {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		if verified["ann"] != 1 || verified["bob"] != 1 {
			t.Errorf("verified %v, want each once", verified)
		}
		if len(c.logins) != 0 || len(c.clients) != 0 {
			t.Errorf("%d attempts and %d addresses are remembered", len(c.logins), len(c.clients))
		}
	})
}
