package gen

import "fmt"

// The set lineproto is what agents send of their hosts: one line of line protocol a host every ten seconds, with 10
// tags and 10 fields that are integers which wander (about 344 bytes).

// Sizes of the fleet of lineproto.
const (
	lineHosts = 1000
	lineStep  = 10_000_000_000 // ns between two lines of a host
)

// lineFields are the states of a processor.
var lineFields = [...]string{"usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq",
	"usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"}

// lineproto writes the lines; heads are measurement and tags of the hosts.
type lineproto struct {
	seed    uint64
	startNS int64
	heads   [lineHosts]string
}

func newLineproto(o Options) *lineproto {
	m := &lineproto{seed: o.Seed, startNS: o.Start * 1e6}
	for i := range m.heads {
		r := newRandom(o.Seed^0x11e, int64(i))
		region := regions[r.below(uint64(len(regions)))]
		m.heads[i] = fmt.Sprintf(
			"%s,hostname=host_%d,region=%s,datacenter=%s%c,rack=%d,os=Ubuntu16.04LTS,arch=x64,team=%s,service=%d,service_version=%d,service_environment=%s ",
			o.Table, i, region, region, 'a'+rune(r.below(3)), r.below(100),
			[...]string{"SF", "NYC", "LON", "CHI"}[r.below(4)], r.below(20), r.below(2),
			[...]string{"production", "staging", "test"}[r.below(3)])
	}
	return m
}

func (m *lineproto) append(dst []byte, i int64) []byte {
	host, step := i%lineHosts, i/lineHosts
	dst = append(dst, m.heads[host]...)
	r := newRandom(m.seed, i)
	for f, name := range lineFields {
		if f > 0 {
			dst = append(dst, ',')
		}
		// A slow triangle of the host's own, and a step to either side.
		level := (uint64(step) + mix(uint64(host)<<8|uint64(f))) % 200
		level = min(level, 200-level)
		dst = append(appendUint(append(append(dst, name...), '='), level+r.below(3)), 'i')
	}
	return append(appendUint(append(dst, ' '), uint64(m.startNS+step*lineStep)), '\n')
}
