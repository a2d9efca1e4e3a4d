package main

import (
	"reflect"
	"slices"

	"varve/server/auth"
)

// reload takes over what may change while the server runs: certificates, users, files of rules and the log level. It
// says what changed, and which other keys of the configuration are others now.
func (n *node) reload(s *serveCommand, io streams, logs *logs) {
	n.notify.tell("STATUS=reading the configuration again")
	defer n.notify.tell(n.status())
	n.reloadCertificates()
	n.reloadRules()
	if n.users != nil {
		n.reloadUsers()
	}
	config, err := s.load(io.environ)
	if err != nil {
		n.log.Error("the configuration cannot be read again: its keys stay as they were", "error", err)
		return
	}
	from, to, err := logs.Set(config.Logging.Level)
	if err != nil {
		n.log.Error("the log level cannot be used", "error", err)
		return
	}
	if waiting := changedKeys(n.config, config); len(waiting) > 0 {
		n.log.Warn("keys of the configuration changed that hold from the next start on", "keys", waiting)
	}
	if from != to {
		n.log.Info("configuration read again", "log_level_from", from, "log_level_to", to)
		return
	}
	n.log.Info("configuration read again: the log level stays", "log_level", to)
}

func (n *node) reloadUsers() {
	before := n.users.Len()
	changed, err := n.users.Reload()
	switch {
	case err != nil:
		n.log.Error("the user file cannot be read again: the users stay as they were", "provider",
			auth.Mask(n.config.UserProvider), "error", err)
	case changed:
		n.log.Info("user file read again", "users_before", before, "users", n.users.Len())
	}
}

// changedKeys are the keys in which two configurations differ, but for the log level, which changes at once.
func changedKeys(before, now *Config) (names []string) {
	old := before.keys()
	for i, k := range now.keys() {
		if k.name != "logging.level" && !reflect.DeepEqual(old[i].into, k.into) {
			names = append(names, k.name)
		}
	}
	if !slices.EqualFunc(before.Queues, now.Queues, func(a, b *queueConfig) bool { return reflect.DeepEqual(a, b) }) {
		names = append(names, "kafka")
	}
	slices.Sort(names)
	return names
}
