package gen

import (
	"fmt"
	"math"
	"time"
)

// Sizes of the populations that access entries are drawn from. 10 million rows hold 1.76 million distinct paths,
// 384,000 clients and 774,000 users.
const (
	clients  = 400_000
	users    = 1_000_000
	products = 200_000
	carts    = 1_000_000
	images   = 200_000
	agents   = 200
	hosts    = 12 // of each service
)

// services by falling weight; number is the first of its hosts' numbers divided by hosts, medianMS its usual latency.
var services = [...]struct {
	name     string
	number   int
	weight   float64
	medianMS float64
}{
	{"frontend", 0, 1124, 11}, {"cart", 1, 637, 17}, {"checkout", 2, 480, 22}, {"catalog", 3, 389, 27},
	{"search", 4, 324, 34}, {"payment", 5, 254, 12}, {"shipping", 6, 237, 16}, {"account", 7, 204, 22},
	{"recommend", 8, 176, 30}, {"currency", 9, 153, 44}, {"email", 10, 140, 14}, {"review", 14, 118, 33},
	{"inventory", 12, 116, 21}, {"pricing", 13, 115, 32}, {"ads", 11, 109, 16}, {"gateway", 16, 98, 18},
	{"session", 15, 97, 14}, {"fraud", 18, 89, 35}, {"image", 17, 75, 24}, {"notify", 19, 65, 34},
}

var (
	methods  = [...]string{"GET", "POST", "PUT", "DELETE"}
	statuses = [...]uint64{200, 304, 201, 404, 403, 500, 502, 302, 503, 429}
	referers = [...]string{"-", "https://shop.example.com/", "https://shop.example.com/search",
		"https://news.example.org/deals", "https://mail.example.net/inbox", "https://social.example.com/feed"}
	categories = [...]string{"shoes", "books", "garden", "toys", "phones", "kitchen", "audio", "games", "bikes",
		"office", "beauty", "tools"}
)

// level of an entry, as an index into levels.
const (
	info = iota
	debug
	warn
	failure
)

var levels = [...]string{"info", "debug", "warn", "error"}

// entry is one drawn access entry, before it is written in one of the forms.
type entry struct {
	ms                            int64 // since the epoch
	level, service, host          int
	region, method, status, agent int
	referer                       int
	bytes, latencyUS, user        uint64
	client                        uint32
	trace                         [2]uint64
	cached                        bool
	errorCode                     uint64 // of level failure
}

// access draws the entries of one set and writes them.
type access struct {
	seed  uint64
	clock clock

	service, status, method, referer, agent, path, category, word, code *picker

	latency               [len(services)]*curve // ms
	size                  *curve
	client, user, product *curve
	image, page           *curve
	agentText             [agents]string
	hostText              [len(services)][hosts]string // the members service and host
}

func newAccess(o Options) *access {
	m := &access{
		seed: o.Seed, clock: newClock(o),
		status:   newPicker(4413, 152, 152, 124, 42, 39, 33, 23, 13, 9),
		method:   newPicker(3027, 950, 528, 495),
		referer:  newPicker(1766, 1045, 742, 589, 478, 380),
		agent:    newPicker(zipf(agents, 0.9)...),
		path:     newPicker(305, 125, 100, 98, 82, 80, 61, 60, 54, 38),
		category: newPicker(zipf(len(categories), 1)...),
		word:     newPicker(zipf(len(words), 1)...),
		code:     newPicker(zipf(40, 1)...),
		size:     logNormal(1793, 1.38),
		client:   byRank(clients), user: byRank(users), product: byRank(products),
		image: byRank(images), page: byRank(500),
	}
	weights := make([]float64, len(services))
	for i, s := range services {
		weights[i] = s.weight
		m.latency[i] = logNormal(s.medianMS, 1.15)
		for h := range hosts {
			m.hostText[i][h] = fmt.Sprintf(`"service":"%s","host":"%s-%03d"`, s.name, s.name, s.number*hosts+h)
		}
	}
	m.service = newPicker(weights...)
	for i := range m.agentText {
		m.agentText[i] = agentText(m.seed, i)
	}
	return m
}

// agentText is the user agent of a rank: browsers, the shop's own program, and a few programs.
func agentText(seed uint64, rank int) string {
	r := newRandom(seed^0xa9e27, int64(rank))
	chrome := fmt.Sprintf("AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.%d Safari/537.36", 90+r.below(50),
		4000+r.below(3000), r.below(200))
	firefox := 88 + r.below(40)
	switch []int{0, 1, 2, 3, 4, 5, 0, 3, 6, 1, 7, 8, 9, 2, 5, 0, 3, 4, 1, 10}[rank%20] {
	case 0:
		return "Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome
	case 1:
		return "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + chrome
	case 2:
		return fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0", firefox, firefox)
	case 3:
		return fmt.Sprintf("shop-app/%d.%d.%d (build %d; okhttp 4.12)", 1+r.below(8), r.below(10), r.below(5),
			10000+r.below(10000))
	case 4:
		return "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) " + chrome
	case 5:
		return "Mozilla/5.0 (Linux; Android 14; Pixel 8) " + chrome
	case 6:
		return "Mozilla/5.0 (X11; Linux x86_64) " + chrome
	case 7:
		return fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:%d.0) Gecko/20100101 Firefox/%d.0", firefox,
			firefox)
	case 8:
		return fmt.Sprintf("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7; rv:%d.0) Gecko/20100101 Firefox/%d.0",
			firefox, firefox)
	case 9:
		return fmt.Sprintf("curl/8.%d.%d", r.below(10), r.below(3))
	default:
		return fmt.Sprintf("kube-probe/1.%d", 24+r.below(8))
	}
}

// draw makes entry i. The random words that are left in r are for its path and message.
func (m *access) draw(i int64, r *random) (e entry) {
	e.ms = m.clock.micros(i, r) / 1000
	e.service = m.service.pick(r)
	x := r.next() // several small choices from one word
	e.host = int(x & 0xffff * hosts >> 16)
	e.region = int(x >> 16 & 0xffff * uint64(len(regions)) >> 16)
	e.cached = x>>32&0xffff < 0xffff*34/100
	e.method, e.status, e.referer, e.agent = m.method.pick(r), m.status.pick(r), m.referer.pick(r), m.agent.pick(r)
	e.bytes = uint64(m.size.draw(r)) + 1
	e.user = m.user.rank(r)
	e.client = address(m.seed, m.client.rank(r))
	e.trace = [2]uint64{r.next(), r.next()}
	ms := m.latency[e.service].draw(r)
	switch status := statuses[e.status]; {
	case status >= 500:
		e.level, e.errorCode = failure, 1000+uint64(m.code.pick(r))
		ms *= 8
	case status >= 400:
		e.level = warn
	case x>>48 < 0xffff*5/100:
		e.level = debug
	}
	e.latencyUS = uint64(ms*1000) + 1
	return e
}

// address is the client address of a rank: never in a private or reserved block.
func address(seed, rank uint64) uint32 {
	h := mix(seed ^ mix(rank+0xadd7e55))
	return uint32(11+h>>56%114)<<24 | uint32(h)&0xffffff
}

func (m *access) appendJSON(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	dst = append(dst, `{"ts":`...)
	dst = appendUint(dst, uint64(e.ms))
	dst = append(dst, `,"level":"`...)
	dst = append(dst, levels[e.level]...)
	dst = append(dst, `",`...)
	dst = append(dst, m.hostText[e.service][e.host]...)
	dst = append(dst, `,"region":"`...)
	dst = append(dst, regions[e.region]...)
	dst = append(dst, `","method":"`...)
	dst = append(dst, methods[e.method]...)
	dst = append(dst, `","path":"`...)
	dst = m.appendPath(dst, &r)
	dst = append(dst, `","status":`...)
	dst = appendUint(dst, statuses[e.status])
	dst = append(dst, `,"bytes":`...)
	dst = appendUint(dst, e.bytes)
	dst = append(dst, `,"latency_ms":`...)
	dst = appendThousandths(dst, e.latencyUS)
	dst = append(dst, `,"client_ip":"`...)
	dst = appendAddress(dst, e.client)
	dst = append(dst, `","user_id":`...)
	dst = appendUint(dst, e.user)
	dst = append(dst, `,"user_agent":"`...)
	dst = append(dst, m.agentText[e.agent]...)
	dst = append(dst, `","referer":"`...)
	dst = append(dst, referers[e.referer]...)
	dst = append(dst, `","trace_id":"`...)
	dst = appendHex(appendHex(dst, e.trace[0]), e.trace[1])
	if e.cached {
		dst = append(dst, `","cached":true`...)
	} else {
		dst = append(dst, `","cached":false`...)
	}
	if e.level == failure {
		dst = append(dst, `,"error_code":"E`...)
		dst = appendUint(dst, e.errorCode)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"message":"`...)
	dst = m.appendMessage(dst, &e, &r)
	return append(dst, "\"}\n"...)
}

func (m *access) appendPath(dst []byte, r *random) []byte {
	switch m.path.pick(r) {
	case 0:
		return appendUint(append(dst, "/api/v1/products/"...), m.product.rank(r))
	case 1:
		dst = appendUint(append(dst, "/api/v2/cart/"...), r.below(carts))
		return append(dst, "/items"...)
	case 2:
		dst = append(dst, "/catalog/"...)
		dst = append(dst, categories[m.category.pick(r)]...)
		return appendUint(append(dst, "/page/"...), 1+m.page.rank(r))
	case 3:
		dst = append(dst, "/search?q="...)
		dst = append(dst, words[m.word.pick(r)]...)
		dst = append(dst, '+')
		return append(dst, words[r.below(uint64(len(words)))]...)
	case 4:
		return append(dst, "/checkout"...)
	case 5:
		name := newRandom(m.seed^0x1a6e, int64(m.image.rank(r)))
		dst = appendBase32(append(dst, "/static/img/"...), &name, 10)
		return append(dst, ".webp"...)
	case 6:
		dst = appendHex(append(dst, "/api/v1/orders/"...), r.next())
		return append(dst, "/status"...)
	case 7:
		return append(dst, "/healthz"...)
	case 8:
		dst = appendUint(append(dst, "/account/"...), m.user.rank(r))
		return append(dst, "/profile"...)
	default:
		return append(dst, "/login"...)
	}
}

func (m *access) appendMessage(dst []byte, e *entry, r *random) []byte {
	switch e.level {
	case warn:
		return m.appendWarning(dst, e, r)
	case failure:
		return m.appendFailure(dst, e, r)
	}
	switch r.below(6) {
	case 0:
		dst = append(dst, "GET upstream pool "...)
		dst = append(dst, words[r.below(uint64(len(words)))]...)
		dst = append(dst, " picked backend "...)
		return appendAddress(dst, 10<<24|uint32(r.below(16<<8)))
	case 1:
		dst = appendUint(append(dst, "Received block blk_"...), r.next()>>1)
		dst = appendUint(append(dst, " of size "...), r.below(64<<20))
		return append(dst, " from storage backend"...)
	case 2:
		dst = appendBase32(append(dst, "session "...), r, 12)
		return appendUint(append(dst, " renewed for user "...), e.user)
	case 3:
		dst = appendThousandths(append(dst, "request completed in "...), e.latencyUS)
		return appendUint(append(dst, " ms for user "...), e.user)
	case 4:
		return append(dst, "health check ok, all dependencies reachable"...)
	default:
		dst = appendUint(append(dst, "cache lookup key product:"...), m.product.rank(r))
		return appendUint(append(dst, " served from tier l"...), 1+r.below(3))
	}
}

func (m *access) appendWarning(dst []byte, e *entry, r *random) []byte {
	switch r.below(3) {
	case 0:
		return appendUint(append(dst, "rate limit token bucket empty for tenant "...), r.below(500))
	case 1:
		return appendUint(append(dst, "resource not found for user "...), e.user)
	default:
		dst = appendUint(append(dst, "Failed password for invalid user u"...), r.below(3000))
		dst = appendAddress(append(dst, " from "...), e.client)
		return appendUint(append(dst, " port "...), 1024+r.below(math.MaxUint16-1024))
	}
}

func (m *access) appendFailure(dst []byte, e *entry, r *random) []byte {
	switch r.below(6) {
	case 0:
		dst = appendUint(append(dst, "context deadline exceeded while calling db-primary-"...), r.below(8))
		dst = appendUint(append(dst, " after "...), 500+r.below(4500))
		return append(dst, "ms (client timeout)"...)
	case 1:
		dst = appendUint(append(dst, "failed to acquire lock order_"...), r.below(carts))
		return append(dst, ": lease held by another node"...)
	case 2:
		dst = appendUint(append(dst, "upstream request failed: connection reset by peer, retry "...), 1+r.below(3))
		return append(dst, " of 3"...)
	case 3:
		dst = appendAddress(append(dst, "TLS handshake error from "...), e.client)
		return append(dst, ": remote error: bad certificate"...)
	case 4:
		dst = appendUint(append(dst, "panic recovered: runtime error: index out of range ["...), 8+r.below(24))
		return append(dst, "] with length 8"...)
	default:
		return appendUint(append(dst, "java.lang.OutOfMemoryError: Java heap space in worker "...), r.below(64))
	}
}

// appendCombined writes the entry as a web server's line in combined format.
func (m *access) appendCombined(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	e := m.draw(i, &r)
	dst = appendAddress(dst, e.client)
	dst = append(dst, " - - ["...)
	dst = time.UnixMilli(e.ms).UTC().AppendFormat(dst, "02/Jan/2006:15:04:05 -0700")
	dst = append(dst, `] "`...)
	dst = append(dst, methods[e.method]...)
	dst = append(dst, ' ')
	dst = m.appendPath(dst, &r)
	dst = append(dst, ` HTTP/1.1" `...)
	dst = appendUint(dst, statuses[e.status])
	dst = append(dst, ' ')
	dst = appendUint(dst, e.bytes)
	dst = append(dst, ` "`...)
	dst = append(dst, referers[e.referer]...)
	dst = append(dst, `" "`...)
	dst = append(dst, m.agentText[e.agent]...)
	return append(dst, "\"\n"...)
}
