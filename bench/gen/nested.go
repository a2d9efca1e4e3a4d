package gen

import (
	"fmt"
	"time"
)

const (
	accounts = 1_000_000
	relays   = 24
)

// collections of commits by weight; form is the shape of the record.
var collections = [...]struct {
	name   string
	weight float64
	form   int
}{
	{"feed.like", 907, subject}, {"feed.post", 479, post}, {"graph.follow", 349, target}, {"feed.repost", 276, subject},
	{"graph.block", 228, target}, {"actor.profile", 189, subject}, {"graph.listitem", 165, target},
	{"feed.threadgate", 160, subject},
}

// Shapes of a commit's record.
const (
	subject = iota // {"subject":{"uri","cid"}}
	target         // {"target"}
	post           // {"langs":[],"text","score","reply":{"parent":{}}}
)

var languages = [...]string{"en", "ja", "pt", "de", "es", "ko", "fr"}

// nested draws and writes the events of one set.
type nested struct {
	seed  uint64
	clock clock

	account, lag *curve

	kind, operation, collection, language, word *picker

	relayText [relays][2]string // the members relay.host up to region, pod up to lag_ms
}

func newNested(o Options) *nested {
	weights := make([]float64, len(collections))
	for i, c := range collections {
		weights[i] = c.weight
	}
	m := &nested{
		seed: o.Seed, clock: newClock(o),
		account: byRank(accounts), lag: logNormal(3.4, 0.9),
		kind: newPicker(2753, 136, 111), operation: newPicker(2486, 134, 133),
		collection: newPicker(weights...), language: newPicker(139, 85, 57, 51, 42, 35, 28),
		word: newPicker(zipf(len(words), 0.7)...),
	}
	for i := range m.relayText {
		r := newRandom(m.seed^0x7e1a, int64(i))
		tier := []string{"core", "edge"}[r.below(2)]
		m.relayText[i][0] = fmt.Sprintf(`"relay":{"host":"relay-%d.example.net","region":"`, i)
		m.relayText[i][1] = fmt.Sprintf(`","pod":{"name":"relay-%s","labels":{"app":"relay","tier":"%s"}},"lag_ms":`,
			appendBase32(nil, &r, 8), tier)
	}
	return m
}

func (m *nested) appendJSON(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	us := m.clock.micros(i, &r)
	dst = append(dst, `{"time_us":`...)
	dst = appendUint(dst, uint64(us))
	dst = append(dst, `,"did":"`...)
	dst = m.appendAccount(dst, &r)
	kind := m.kind.pick(&r)
	dst = append(dst, `","kind":"`...)
	dst = append(dst, [...]string{"commit", "account", "identity"}[kind]...)
	dst = append(dst, `","seq":`...)
	dst = appendUint(dst, uint64(100_000_000+i))
	dst = append(dst, ',')
	relay := &m.relayText[r.below(relays)]
	dst = append(dst, relay[0]...)
	dst = append(dst, regions[r.below(uint64(len(regions)))]...)
	dst = append(dst, relay[1]...)
	dst = appendThousandths(dst, uint64(m.lag.draw(&r)*1000))
	switch kind {
	case 0:
		dst = append(dst, `},"commit":{`...)
		dst = m.appendCommit(dst, us, &r)
	case 1:
		dst = append(dst, `},"account":{"active":`...)
		if r.below(5) > 0 {
			dst = append(dst, `true`...)
		} else {
			dst = append(dst, `false`...)
		}
	default:
		dst = append(dst, `},"identity":{"handle":"`...)
		dst = append(dst, words[r.below(uint64(len(words)))]...)
		dst = appendUint(dst, r.below(10_000))
		dst = append(dst, `.example.social"`...)
	}
	return append(dst, "}}\n"...)
}

func (m *nested) appendAccount(dst []byte, r *random) []byte {
	id := newRandom(m.seed^0xd1d, int64(m.account.rank(r)))
	return appendBase32(append(dst, "did:plc:"...), &id, 24)
}

func (m *nested) appendCommit(dst []byte, us int64, r *random) []byte {
	c := collections[m.collection.pick(r)]
	operation := m.operation.pick(r)
	dst = appendBase32(append(dst, `"rev":"3l`...), r, 11)
	dst = append(dst, `","operation":"`...)
	dst = append(dst, [...]string{"create", "update", "delete"}[operation]...)
	dst = append(dst, `","collection":"`...)
	dst = append(dst, c.name...)
	dst = appendBase32(append(dst, `","rkey":"3l`...), r, 11)
	dst = append(dst, '"')
	if operation == 2 {
		return dst
	}
	dst = append(dst, `,"cid":"`...)
	dst = appendContent(dst, r)
	dst = append(dst, `","record":{"$type":"`...)
	dst = append(dst, c.name...)
	dst = append(dst, `","createdAt":"`...)
	dst = time.UnixMicro(us).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	dst = append(dst, `",`...)
	switch c.form {
	case subject:
		dst = m.appendURI(append(dst, `"subject":{"uri":"`...), r)
		dst = append(dst, `","cid":"`...)
		dst = appendContent(dst, r)
		dst = append(dst, `"}`...)
	case target:
		dst = m.appendAccount(append(dst, `"target":"`...), r)
		dst = append(dst, '"')
	default:
		dst = m.appendPost(dst, r)
	}
	return append(dst, '}')
}

// appendContent appends a content id of 55 characters.
func appendContent(dst []byte, r *random) []byte {
	return appendBase32(append(dst, "bafyrei"...), r, 48)
}

func (m *nested) appendURI(dst []byte, r *random) []byte {
	dst = m.appendAccount(append(dst, "at://"...), r)
	return appendBase32(append(dst, "/feed.post/3l"...), r, 11)
}

func (m *nested) appendPost(dst []byte, r *random) []byte {
	dst = append(dst, `"langs":["`...)
	dst = append(dst, languages[m.language.pick(r)]...)
	if r.below(10) == 0 {
		dst = append(dst, `","`...)
		dst = append(dst, languages[m.language.pick(r)]...)
	}
	dst = append(dst, `"],"text":"`...)
	for n := 4 + r.below(24); n > 0; n-- {
		dst = append(dst, words[m.word.pick(r)]...)
		dst = append(dst, ' ')
	}
	dst = dst[:len(dst)-1]
	if r.below(15) == 0 {
		dst = append(dst, ` \"quoted\"\nnew line \u00e9`...)
	}
	dst = append(dst, `","score":`...)
	dst = appendThousandths(dst, r.below(10_000))
	if r.below(8) < 3 {
		dst = m.appendURI(append(dst, `,"reply":{"parent":{"uri":"`...), r)
		dst = appendUint(append(dst, `","depth":`...), 1+m.depth(r))
		dst = append(dst, "}}"...)
	}
	return dst
}

// depth of a reply: half as likely with each level, at most 63.
func (m *nested) depth(r *random) (n uint64) {
	for x := r.next(); x&1 == 0 && n < 62; x >>= 1 {
		n++
	}
	return n
}
