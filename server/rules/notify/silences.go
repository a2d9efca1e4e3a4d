package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"varve/engine/status"
)

// Bounds of silences.
const (
	maxSilenceBytes = 16 << 20 // of what all Alertmanagers answer together
	maxMatchers     = 64       // of a silence
	maxSilenceText  = 16 << 10 // bytes of a value or a comment
	silenceTime     = 5 * time.Second
)

// Silence keeps an Alertmanager from telling people of alerts for a time. The names in JSON are those of its API v2.
type Silence struct {
	ID        string    `json:"id,omitempty"`
	Matchers  []Matcher `json:"matchers"`
	StartsAt  time.Time `json:"startsAt"`
	EndsAt    time.Time `json:"endsAt"`
	CreatedBy string    `json:"createdBy"`
	Comment   string    `json:"comment"`
	Status    struct {
		State string `json:"state"` // pending, active or expired
	} `json:"status,omitzero"`
	// At are the Alertmanagers that have it, without their secrets.
	At []string `json:"alertmanagers,omitempty"`
}

// Matcher is a condition of a silence.
type Matcher struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	IsRegex bool   `json:"isRegex"`
	IsEqual *bool  `json:"isEqual,omitempty"` // nil: true

	pattern *regexp.Regexp
}

// compile makes the pattern of a matcher.
func (m *Matcher) compile() (err error) {
	if m.IsRegex {
		m.pattern, err = regexp.Compile("^(?:" + m.Value + ")$")
	}
	return err
}

// matches reports whether the value of a label passes; a label that is absent has an empty one.
func (m *Matcher) matches(value string) bool {
	is := value == m.Value
	if m.IsRegex {
		is = m.pattern != nil && m.pattern.MatchString(value)
	}
	return is == (m.IsEqual == nil || *m.IsEqual)
}

// Active reports whether a silence is in force.
func (s *Silence) Active() bool { return s.Status.State == "active" }

// Matches reports whether a silence is for an alert with some labels.
func (s *Silence) Matches(labels map[string]string) bool {
	return len(s.Matchers) > 0 && !slices.ContainsFunc(s.Matchers,
		func(m Matcher) bool { return !m.matches(labels[m.Name]) })
}

// check holds a silence that a client sends against what one must be.
func (s *Silence) check(now time.Time) error {
	refuse := func(format string, args ...any) error {
		return status.New(status.InvalidArguments, "the silence is not taken: "+format, args...)
	}
	switch {
	case len(s.Matchers) == 0 || len(s.Matchers) > maxMatchers:
		return refuse("it has %d matchers, 1 to %d are expected", len(s.Matchers), maxMatchers)
	case len(s.Comment) > maxSilenceText || len(s.CreatedBy) > maxSilenceText || len(s.ID) > 256:
		return refuse("its comment, its author or its id is too long")
	case !s.EndsAt.After(now) || !s.EndsAt.After(s.StartsAt):
		return refuse("endsAt %s is not after its begin and after now", s.EndsAt.UTC().Format(time.RFC3339))
	}
	all := true
	for i := range s.Matchers {
		m := &s.Matchers[i]
		if m.Name == "" || len(m.Name) > maxSilenceText || len(m.Value) > maxSilenceText {
			return refuse("matcher %d has no label, or a text of more than %d bytes", i+1, maxSilenceText)
		}
		if err := m.compile(); err != nil {
			return refuse("matcher %d: %s", i+1, err)
		}
		all = all && m.matches("")
	}
	if all {
		return refuse("it would match every alert: at least one matcher must ask for a label")
	}
	return nil
}

// managers are the Alertmanagers.
func (n *Notifier) managers() (list []*target) {
	for _, t := range n.targets {
		if t.kind == "alertmanager" {
			list = append(list, t)
		}
	}
	return list
}

// errNone says that there is nobody to ask.
var errNone = status.New(status.InvalidArguments,
	"no Alertmanager is configured: rules.alertmanagers names those that silence alerts")

// Silences lists the silences of all Alertmanagers, the last to end first, those with the same id once. failed are the
// Alertmanagers that cannot be asked, with the reasons.
func (n *Notifier) Silences(ctx context.Context) (list []Silence, failed map[string]error) {
	managers := n.managers()
	found, errs := make([][]Silence, len(managers)), make([]error, len(managers))
	var asked sync.WaitGroup
	for i, t := range managers {
		asked.Go(func() {
			errs[i] = t.api(ctx, http.MethodGet, "silences", nil, &found[i], maxSilenceBytes/len(managers))
		})
	}
	asked.Wait()
	failed = map[string]error{}
	all := map[string]*Silence{}
	for i, t := range managers {
		if errs[i] != nil {
			failed[t.shown] = errs[i]
		}
		for k := range found[i] {
			s := &found[i][k]
			for j := range s.Matchers {
				s.Matchers[j].compile() //nolint:errcheck // what it cannot read here matches nothing
			}
			if known := all[s.ID]; known != nil {
				known.At = append(known.At, t.shown)
				continue
			}
			s.At, all[s.ID] = []string{t.shown}, s
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[id])
	}
	slices.SortStableFunc(list, func(a, b Silence) int { return b.EndsAt.Compare(a.EndsAt) })
	return list, failed
}

// cluster is what an Alertmanager says of those that it shares silences with.
type cluster struct {
	Cluster struct {
		Name  string `json:"name"`
		Peers []struct {
			Name string `json:"name"`
		} `json:"peers"`
	} `json:"cluster"`
}

// Silence makes a silence, or changes the one with its id, in each Alertmanager; of those that form a cluster in one,
// as they share silences. It returns the ids. Errors of the client are InvalidArguments.
func (n *Notifier) Silence(ctx context.Context, s Silence, now time.Time) (ids []string, err error) {
	managers := n.managers()
	if len(managers) == 0 {
		return nil, errNone
	}
	if s.StartsAt.IsZero() {
		s.StartsAt = now
	}
	if err := s.check(now); err != nil {
		return nil, err
	}
	if s.ID != "" { // others do not know it
		if managers, err = n.having(ctx, s.ID, managers); err != nil {
			return nil, err
		}
	}
	s.Status.State, s.At = "", nil
	peers := map[string]bool{}
	for _, t := range managers {
		var at cluster
		if err := t.api(ctx, http.MethodGet, "status", nil, &at, maxAnswer); err != nil {
			return ids, t.notMade(ids, err)
		}
		if at.Cluster.Name != "" && peers[at.Cluster.Name] {
			continue
		}
		var made struct {
			ID string `json:"silenceID"`
		}
		if err := t.api(ctx, http.MethodPost, "silences", &s, &made, maxAnswer); err != nil {
			return ids, t.notMade(ids, err)
		}
		ids = append(ids, made.ID)
		for _, p := range at.Cluster.Peers {
			peers[p.Name] = true
		}
	}
	return ids, nil
}

// notMade is the error of a silence that was made elsewhere or nowhere.
func (t *target) notMade(ids []string, err error) error {
	if len(ids) == 0 {
		return err
	}
	return status.Wrap(err, status.Of(err), "the silence is made elsewhere as %s, but not at %s: %s",
		strings.Join(ids, ", "), t.shown, err)
}

// having are the Alertmanagers that have a silence.
func (n *Notifier) having(ctx context.Context, id string, managers []*target) (list []*target, err error) {
	all, failed := n.Silences(ctx)
	at := slices.IndexFunc(all, func(s Silence) bool { return s.ID == id })
	if at < 0 {
		for _, why := range failed {
			return nil, why
		}
		return nil, ErrNoSilence
	}
	for _, t := range managers {
		if slices.Contains(all[at].At, t.shown) {
			list = append(list, t)
		}
	}
	return list, nil
}

// ErrNoSilence says that no Alertmanager has a silence.
var ErrNoSilence = status.New(status.InvalidArguments, "no Alertmanager has a silence with this id")

// Expire ends a silence in the Alertmanagers that have it. The error may be ErrNoSilence.
func (n *Notifier) Expire(ctx context.Context, id string) error {
	managers := n.managers()
	if len(managers) == 0 {
		return errNone
	}
	managers, err := n.having(ctx, id, managers)
	if err != nil {
		return err
	}
	expired := false
	for _, t := range managers {
		failed := t.api(ctx, http.MethodDelete, "silence/"+url.PathEscape(id), nil, nil, maxAnswer)
		expired = expired || failed == nil
		err = cmp.Or(err, failed)
	}
	if expired { // in a cluster the others may have heard of it already
		return nil
	}
	return err
}

// api asks an Alertmanager: body is sent as JSON and answer read from it, unless nil. most bounds the answer, in bytes.
// What it refuses is InvalidArguments, where it cannot be asked External.
func (t *target) api(ctx context.Context, method, path string, body, answer any, most int) error {
	ctx, cancel := context.WithTimeout(ctx, silenceTime)
	defer cancel()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(t.url, "alerts")+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "varve")
	if t.user != nil {
		password, _ := t.user.Password()
		r.SetBasicAuth(t.user.Username(), password)
	}
	away := func(err error) error {
		return status.New(status.External, "the Alertmanager %s cannot be asked: %s", t.shown, err)
	}
	got, err := t.n.client.Do(r)
	if err != nil {
		return away(hideURL(err))
	}
	defer got.Body.Close()
	said, err := io.ReadAll(io.LimitReader(got.Body, int64(most)+1))
	switch {
	case err != nil:
		return away(hideURL(err))
	case len(said) > most:
		return away(fmt.Errorf("it answers with more than %d bytes", most))
	case got.StatusCode == http.StatusBadRequest:
		return status.New(status.InvalidArguments, "the Alertmanager %s refuses it: %.300s", t.shown, said)
	case got.StatusCode == http.StatusNotFound:
		return ErrNoSilence
	case got.StatusCode/100 != 2:
		return away(fmt.Errorf("it answers %s", got.Status))
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(said, answer); err != nil {
		return away(fmt.Errorf("it answers with something else: %w", err))
	}
	return nil
}
