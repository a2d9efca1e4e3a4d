package shell

import (
	"golang.org/x/term"

	"varve/cmd/varve/client"
)

// keys are those of the terminal in a session with a line editor. While a statement runs they wait, unseen and as they
// were pressed: a terminal that makes lines of them would take Ctrl-D, Ctrl-R and others for itself, and the editor
// would never see them. Only Ctrl-C and such still send signals.
type keys struct {
	fd     int
	before *term.State // as the session found the terminal
}

// keepKeys begins to keep the keys of a terminal; what is none stays as it is. s.keys.giveBack ends it.
func (s *Shell) keepKeys() error {
	f, ok := s.o.In.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return err
	}
	s.keys = &keys{fd, before}
	return client.KeepKeys(fd)
}

// giveBack makes the terminal as it was found.
func (k *keys) giveBack() {
	if k != nil {
		term.Restore(k.fd, k.before) //nolint:errcheck // it was one before
	}
}

// lend gives the terminal to somebody else, such as a pager, until back.
func (k *keys) lend() (back func()) {
	k.giveBack()
	return func() {
		if k != nil {
			client.KeepKeys(k.fd) //nolint:errcheck // it was one before
		}
	}
}
