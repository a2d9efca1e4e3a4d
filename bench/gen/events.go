package gen

import (
	"fmt"
)

// Sizes of the populations that web events are drawn from. 10 million rows hold 2.4 million sessions and more than a
// million users.
const (
	eventHosts    = 200
	eventUsers    = 4_000_000
	eventScatter  = 1_234_567 // prime to eventUsers: frequent users have numbers all over
	eventProducts = 500_000
	eventQueries  = 400_000
	eventDomains  = 500
	eventCities   = 5 // of each country

	// sessionSpan rows that follow each other belong to sessionsAtOnce sessions.
	sessionSpan, sessionsAtOnce = 256, 64
)

// Columns of the dimension tables: sizes and steps.
const (
	// UserRows is the number of rows of analytics-users, a quarter of all users.
	UserRows = 1_000_000
	// UserBuckets is the number of values of its column bucket: 142,857 users have each of them.
	UserBuckets = 7
	// HostRows is the number of rows of analytics-hosts.
	HostRows = eventHosts
	// ReleaseRows is the number of rows of analytics-releases, releasesOf of each host.
	ReleaseRows = eventHosts * releasesOf
	releasesOf  = 10
)

// ColumnKind is what the values of a column are.
type ColumnKind string

// Kinds of columns. A Time is a count of us since the epoch. Values of an Absent kind are not in every row.
const (
	Time        ColumnKind = "time"
	Int         ColumnKind = "int"
	Float       ColumnKind = "float"
	Text        ColumnKind = "text"
	Bool        ColumnKind = "bool"
	AbsentText  ColumnKind = "text?"
	AbsentFloat ColumnKind = "float?"
)

// Column is one column of an analytics set, as other databases have to be told.
type Column struct {
	Name string     `json:"name"`
	Kind ColumnKind `json:"kind"`
}

// analyticsColumns are the columns of the sets of the mode analytics, in the order of their rows.
var analyticsColumns = map[string][]Column{
	"analytics": {{"ts", Time}, {"event_id", Int}, {"kind", Text}, {"user_id", Int}, {"session_id", Text},
		{"host", Text}, {"path", Text}, {"title", Text}, {"query", Text}, {"referrer", Text}, {"method", Text},
		{"status", Int}, {"bytes", Int}, {"duration_ms", Float}, {"ttfb_ms", Float}, {"is_bot", Bool},
		{"is_mobile", Bool}, {"country", Text}, {"city", Text}, {"region", Text}, {"browser", Text},
		{"browser_version", Int}, {"os", Text}, {"width", Int}, {"height", Int}, {"client_ip", Int},
		{"campaign", AbsentText}, {"price", AbsentFloat}, {"props", Text}, {"tags", Text}},
	"analytics-users": {{"ts", Time}, {"user_id", Int}, {"bucket", Int}, {"plan", Text}, {"score", Float},
		{"home", Text}},
	"analytics-hosts":    {{"ts", Time}, {"host", Text}, {"team", Text}, {"tier", Int}},
	"analytics-releases": {{"ts", Time}, {"host", Text}, {"build", Text}},
}

var (
	eventKinds    = [...]string{"view", "click", "search", "cart", "buy", "error"}
	eventBrowsers = [...]string{"chrome", "safari", "firefox", "edge", "opera", "samsung", "other"}
	eventSystems  = [...]string{"windows", "android", "ios", "macos", "linux"}
	eventPlans    = [...]string{"free", "basic", "pro", "team", "enterprise"}
	eventScreens  = [...][2]uint64{{1920, 1080}, {390, 844}, {1366, 768}, {1536, 864}, {412, 915}, {2560, 1440},
		{1440, 900}, {768, 1024}}
	eventCountries = [...]string{"us", "de", "in", "br", "gb", "fr", "jp", "ca", "es", "it", "mx", "pl", "nl", "id",
		"tr", "au", "kr", "ar", "se", "ch", "be", "at", "no", "dk", "fi", "pt", "cz", "ro", "hu", "gr", "ie", "il",
		"za", "ng", "ke", "eg", "sa", "ae", "th", "vn", "ph", "my", "sg", "nz", "cl", "co", "pe", "ua", "rs", "bg"}
)

// events draws the web events of one set and writes them.
type events struct {
	seed  uint64
	clock clock

	host, country, browser, system, screen, kind, page, category, plan, status, tag *picker
	user, product, query, domain, campaign                                          *curve
	duration, share, size, price                                                    *curve

	hostText   [eventHosts]string
	domainText [eventDomains]string
}

func newEvents(o Options) *events {
	m := &events{
		seed: o.Seed, clock: newClock(o),
		host:     newPicker(zipf(eventHosts, 0.9)...),
		country:  newPicker(zipf(len(eventCountries), 1)...),
		browser:  newPicker(60, 18, 8, 6, 3, 3, 2),
		system:   newPicker(42, 28, 16, 10, 4),
		screen:   newPicker(24, 22, 14, 10, 12, 8, 6, 4),
		kind:     newPicker(620, 220, 80, 50, 20, 10),
		page:     newPicker(300, 210, 130, 90, 70, 60, 80, 60),
		category: newPicker(zipf(len(categories), 1)...),
		plan:     newPicker(60, 20, 12, 6, 2),
		status:   newPicker(4413, 152, 152, 124, 42, 39, 33, 23, 13, 9),
		tag:      newPicker(zipf(len(words), 1)...),
		user:     byRank(eventUsers), product: byRank(eventProducts), query: byRank(eventQueries),
		domain: byRank(eventDomains), campaign: byRank(60),
		duration: logNormal(42, 1.2), share: logNormal(300, 0.5), size: logNormal(5200, 1.4),
		price: logNormal(39, 0.9),
	}
	for i := range m.hostText {
		m.hostText[i] = hostOf(i)
	}
	for i := range m.domainText {
		scheme, www := []string{"https://", "http://"}[i%5/4], []string{"www.", "", ""}[i%3]
		m.domainText[i] = fmt.Sprintf("%s%s%s-%s%d.example/", scheme, www, words[i%len(words)],
			words[i*7%len(words)], i)
	}
	return m
}

// hostOf is the name of the host of a rank.
func hostOf(rank int) string {
	return fmt.Sprintf("%s-%03d.web.example", services[rank%len(services)].name, rank)
}

// session is what all events of one visit share.
type session struct {
	id                                           uint64
	user, ip                                     uint64
	host, country, city, browser, system, screen int
	version, campaign                            uint64
	plan                                         int
	bot, mobile, hasCampaign                     bool
}

// visit makes a session by its number.
func (m *events) visit(number uint64) (s session) {
	r := newRandom(m.seed^0x5e5510, int64(number))
	s.id = r.next()
	s.user = m.user.rank(&r) * eventScatter % eventUsers
	if x := r.next(); x&1 == 0 { // half of the visits are of anybody, half of those who come often
		s.user = x >> 1 % eventUsers
	}
	s.host, s.country = m.host.pick(&r), m.country.pick(&r)
	s.city, s.browser, s.system = int(r.below(eventCities)), m.browser.pick(&r), m.system.pick(&r)
	s.screen, s.version = m.screen.pick(&r), 90+r.below(50)
	s.ip = uint64(address(m.seed, s.user*3+r.below(2)))
	s.bot, s.plan = r.below(100) < 4, m.plan.pick(&r)
	s.mobile = s.system == 1 || s.system == 2
	s.campaign, s.hasCampaign = m.campaign.rank(&r), r.below(100) < 12
	return s
}

func (m *events) appendJSON(dst []byte, i int64) []byte {
	r := newRandom(m.seed, i)
	dst = appendUint(append(dst, `{"ts":`...), uint64(m.clock.micros(i, &r)))
	s := m.visit(uint64(i)/sessionSpan*sessionsAtOnce + r.below(sessionsAtOnce))
	kind := m.kind.pick(&r)
	dst = appendUint(append(dst, `,"event_id":`...), r.next()>>1)
	dst = append(append(dst, `,"kind":"`...), eventKinds[kind]...)
	dst = appendUint(append(dst, `","user_id":`...), s.user)
	dst = appendHex(append(dst, `,"session_id":"`...), s.id)
	dst = append(append(dst, `","host":"`...), m.hostText[s.host]...)
	dst = m.appendPage(dst, &r, s.user)
	dst = m.appendQuery(append(dst, `","query":"`...), &r, kind == 2)
	dst = m.appendReferrer(append(dst, `","referrer":"`...), &r)
	dst = append(append(dst, `","method":"`...), methods[[]int{0, 0, 0, 1, 1, 0}[kind]]...)
	dst = appendUint(append(dst, `","status":`...), statuses[m.status.pick(&r)])
	dst = appendUint(append(dst, `,"bytes":`...), uint64(m.size.draw(&r))+1)
	ms := m.duration.draw(&r)
	dst = appendThousandths(append(dst, `,"duration_ms":`...), uint64(ms*1000)+1)
	dst = appendThousandths(append(dst, `,"ttfb_ms":`...), uint64(ms*m.share.draw(&r))+1)
	dst = appendBool(append(dst, `,"is_bot":`...), s.bot)
	dst = appendBool(append(dst, `,"is_mobile":`...), s.mobile)
	dst = append(append(dst, `,"country":"`...), eventCountries[s.country]...)
	dst = append(append(dst, `","city":"`...), words[(s.country*7+s.city*3)%len(words)]...)
	dst = append(append(dst, '-'), eventCountries[s.country]...)
	dst = append(append(dst, `","region":"`...), regions[s.country%len(regions)]...)
	dst = append(append(dst, `","browser":"`...), eventBrowsers[s.browser]...)
	dst = appendUint(append(dst, `","browser_version":`...), s.version)
	dst = append(append(dst, `,"os":"`...), eventSystems[s.system]...)
	dst = appendUint(append(dst, `","width":`...), eventScreens[s.screen][0])
	dst = appendUint(append(dst, `,"height":`...), eventScreens[s.screen][1])
	dst = appendUint(append(dst, `,"client_ip":`...), s.ip)
	if s.hasCampaign {
		dst = append(appendUint(append(dst, `,"campaign":"c`...), s.campaign), '"')
	}
	if kind >= 3 && kind <= 4 {
		dst = appendThousandths(append(dst, `,"price":`...), uint64(m.price.draw(&r)*1000))
	}
	dst = m.appendProps(append(dst, `,"props":"`...), &r, &s)
	dst = m.appendTags(append(dst, `","tags":"`...), &r)
	return append(dst, "\"}\n"...)
}

// appendPage appends path and title.
func (m *events) appendPage(dst []byte, r *random, user uint64) []byte {
	dst = append(dst, `","path":"`...)
	switch m.page.pick(r) {
	case 0:
		n := m.product.rank(r)
		dst = appendUint(append(dst, "/p/"...), n)
		dst = append(append(dst, `","title":"The `...), words[n%uint64(len(words))]...)
		return appendUint(append(dst, ", item "...), n%10_000)
	case 1:
		category, page := categories[m.category.pick(r)], 1+r.below(40)
		dst = append(append(dst, "/c/"...), category...)
		dst = appendUint(append(dst, "/page/"...), page)
		return append(append(dst, `","title":"All `...), category...)
	case 2:
		return append(dst, `/","title":"Welcome`...)
	case 3:
		return append(dst, `/search","title":"Results`...)
	case 4:
		dst = appendUint(append(dst, "/u/"...), user)
		return append(dst, `/orders","title":"Your orders`...)
	case 5:
		return append(dst, `/checkout/payment","title":"Payment`...)
	case 6:
		word, other := words[r.below(uint64(len(words)))], words[m.tag.pick(r)]
		dst = append(appendUint(append(dst, "/blog/"...), 2015+r.below(12)), '/')
		dst = append(append(append(dst, word...), '-'), other...)
		return append(append(append(append(dst, `","title":"On `...), word...), " and "...), other...)
	default:
		return append(appendHex(append(dst, "/cart/"...), r.next()), `","title":"Your cart`...)
	}
}

// appendQuery appends what was searched for; most events of other kinds have the empty text.
func (m *events) appendQuery(dst []byte, r *random, search bool) []byte {
	if !search && r.below(100) >= 12 {
		return dst
	}
	n, count := m.query.rank(r), uint64(len(words))
	dst = append(append(append(dst, words[n%count]...), ' '), words[n/count%count]...)
	if n >= count*count {
		dst = appendUint(append(dst, ' '), n/(count*count))
	}
	return dst
}

func (m *events) appendReferrer(dst []byte, r *random) []byte {
	if r.below(100) < 35 {
		return dst
	}
	dst = append(dst, m.domainText[m.domain.rank(r)]...)
	dst = append(append(dst, words[m.tag.pick(r)]...), '/')
	return appendUint(dst, r.below(2000))
}

// appendProps appends an object as text inside of a JSON text.
func (m *events) appendProps(dst []byte, r *random, s *session) []byte {
	dst = append(append(dst, `{\"plan\":\"`...), eventPlans[s.plan]...)
	dst = appendUint(append(dst, `\",\"cart\":{\"items\":`...), r.below(12))
	dst = appendThousandths(append(dst, `,\"total\":`...), uint64(m.price.draw(r)*1000))
	dst = appendUint(append(dst, `},\"test\":\"`...), r.below(16))
	dst = appendHex(append(dst, `\",\"request\":\"`...), r.next())
	return append(appendBool(append(dst, `\",\"beta\":`...), s.id&7 == 0), '}')
}

// appendTags appends a list of texts as text inside of a JSON text.
func (m *events) appendTags(dst []byte, r *random) []byte {
	dst = append(dst, '[')
	for k := range 1 + r.below(3) {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, `\"`...), words[m.tag.pick(r)]...), `\"`...)
	}
	return append(dst, ']')
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// dimension writes the rows of a table that events are joined with.
type dimension struct {
	seed  uint64
	clock clock
}

// appendUser appends a user whose number is a multiple of four: the others are in no row.
func (m *dimension) appendUser(dst []byte, i int64) []byte {
	r := newRandom(m.seed^0x05e2, i)
	dst = appendUint(append(dst, `{"ts":`...), uint64(m.clock.micros(i, &r)))
	dst = appendUint(append(dst, `,"user_id":`...), uint64(i)*(eventUsers/UserRows))
	dst = appendUint(append(dst, `,"bucket":`...), uint64(i%UserBuckets))
	dst = append(append(dst, `,"plan":"`...), eventPlans[r.below(uint64(len(eventPlans)))]...)
	dst = appendThousandths(append(dst, `","score":`...), r.below(100_000))
	dst = append(append(dst, `,"home":"`...), eventCountries[r.below(uint64(len(eventCountries)))]...)
	return append(dst, "\"}\n"...)
}

func (m *dimension) appendHost(dst []byte, i int64) []byte {
	r := newRandom(m.seed^0x4057, i)
	dst = appendUint(append(dst, `{"ts":`...), uint64(m.clock.micros(i, &r)))
	dst = append(append(dst, `,"host":"`...), hostOf(int(i))...)
	dst = append(append(dst, `","team":"`...), services[i%int64(len(services))].name...)
	dst = appendUint(append(dst, `","tier":`...), r.below(3))
	return append(dst, "}\n"...)
}

func (m *dimension) appendRelease(dst []byte, i int64) []byte {
	r := newRandom(m.seed^0x4e1ea5e, i)
	dst = appendUint(append(dst, `{"ts":`...), uint64(m.clock.micros(i, &r)))
	dst = append(append(dst, `,"host":"`...), hostOf(int(i%eventHosts))...)
	dst = appendUint(append(dst, `","build":"v`...), uint64(i/eventHosts))
	return append(appendUint(append(dst, '.'), r.below(30)), "\"}\n"...)
}
