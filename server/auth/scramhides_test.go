package auth

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/server/web"
)

// scramShown is what a client sees of a name: the salt and the cost.
func scramShown(t *testing.T, u *Users, name string) (salt []byte, cost string) {
	t.Helper()
	reply, err := u.SCRAM(name).First([]byte("n,,n=,r=x"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(reply), ",")
	salt, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(parts[1], "s="))
	if err != nil {
		t.Fatal(err)
	}
	return salt, parts[2]
}

// verifierText is a verifier with a cost and a salt of some bytes.
func verifierText(cost, salt int) string {
	return fmt.Sprintf("pbkdf2_sha256:%d:%x:%x", cost, bytes.Repeat([]byte{7}, salt), make([]byte, 32))
}

func fileOfUsers(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSCRAMUnknownNamesLookLikeUsers: names without a user have the costs and lengths of salts of users, each of them,
// and keep them when the list is read again. So do names of users whose passwords are in clear.
func TestSCRAMUnknownNamesLookLikeUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	fileOfUsers(t, path, "ann=pass", "bea="+verifierText(5000, 16), "cay="+verifierText(9000, 24))
	u, err := Open("static_user_provider:file:"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	kind := func(name string) string {
		salt, cost := scramShown(t, u, name)
		return fmt.Sprint(len(salt), " ", cost)
	}
	shown := map[string]string{}
	for i := range 200 {
		name := fmt.Sprint("absent", i)
		salt, cost := scramShown(t, u, name)
		shown[name] = fmt.Sprintf("%x %s", salt, cost)
		kinds[kind(name)]++
	}
	if len(kinds) != 3 {
		t.Errorf("unknown names have %v, want the three kinds of the list", kinds)
	}
	for _, name := range []string{"ann", "bea", "cay"} {
		if kinds[kind(name)] < 20 {
			t.Errorf("%s has %s, unknown names have %v", name, kind(name), kinds)
		}
	}
	salt, _ := scramShown(t, u, "ann")
	fileOfUsers(t, path, "dan=word", "ann=pass", "bea="+verifierText(5000, 16), "eve="+verifierText(9000, 24))
	if changed, err := u.Reload(); !changed || err != nil {
		t.Fatal(changed, err)
	}
	for name, before := range shown {
		salt, cost := scramShown(t, u, name)
		if now := fmt.Sprintf("%x %s", salt, cost); now != before {
			t.Errorf("%s shows %s after a reload, before %s", name, now, before)
		}
	}
	if now, _ := scramShown(t, u, "ann"); !bytes.Equal(now, salt) {
		t.Errorf("the salt of a user is %x after a reload, before %x", now, salt)
	}
}

// TestSCRAMCurrent: who has authenticated has the rights of the present list, and none with another password.
func TestSCRAMCurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	fileOfUsers(t, path, "ann=pass", "bea="+verifierText(5000, 16))
	u, err := Open("static_user_provider:file:"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ann, bea := u.SCRAM("ann").Current(), u.SCRAM("bea").Current()
	for _, one := range []struct {
		lines     []string
		ann, bea  bool
		modeOfAnn web.Mode
	}{
		{[]string{"ann:ro=pass", "bea=" + verifierText(5000, 16)}, true, true, web.ReadOnly},
		{[]string{"ann:wo=pass", "bea=" + verifierText(5001, 16)}, true, false, web.WriteOnly},
		{[]string{"ann=other", "bea=" + verifierText(5000, 17)}, false, false, 0},
		{[]string{"ann=plain:pass", "bea=pass"}, true, false, web.ReadWrite},
		{[]string{"cay=pass"}, false, false, 0},
	} {
		fileOfUsers(t, path, one.lines...)
		if _, err := u.Reload(); err != nil {
			t.Fatal(err)
		}
		user, err := ann()
		if (err == nil) != one.ann || err == nil && user != (web.User{Name: "ann", Mode: one.modeOfAnn}) {
			t.Errorf("%q: ann is %v, %v", one.lines, user, err)
		}
		if _, err = bea(); (err == nil) != one.bea || err != nil && status.Of(err) != status.UserNotFound {
			t.Errorf("%q: bea: %v", one.lines, err)
		}
	}
}
