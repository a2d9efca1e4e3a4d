package gen

import (
	"math"
	"math/bits"
)

// random is the stream of random words of one row: a counter mixed by a wide multiplication.
type random struct{ state uint64 }

func newRandom(seed uint64, row int64) random {
	return random{mix(seed^0x9e3779b97f4a7c15) ^ mix(uint64(row)+0x632be59bd9b4e019)}
}

func (r *random) next() uint64 {
	r.state += 0xa0761d6478bd642f
	return mix(r.state)
}

// mix scatters the bits of x: equal for equal x, else unrelated.
func mix(x uint64) uint64 {
	x ^= x >> 32
	hi, lo := bits.Mul64(x^0xe7037ed1a0b428db, x*0x8ebc6af09c88c6e3+0x589965cc75374cc3)
	return hi ^ lo
}

// below is an integer in [0, n).
func (r *random) below(n uint64) uint64 {
	hi, _ := bits.Mul64(r.next(), n)
	return hi
}

// unit is a number in [0, 1).
func (r *random) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

// curve is a distribution over the reals as its quantiles at k/1024, with straight lines between.
type curve [1025]float64

// curveBits is the width of the quantile number; what is left of the random word places the value between two.
const curveBits = 10

func (c *curve) draw(r *random) float64 {
	u := r.next()
	k := u >> (64 - curveBits)
	f := float64(u<<curveBits>>11) / (1 << 53)
	return c[k] + f*(c[k+1]-c[k])
}

// logNormal has the given median; sigma is the standard deviation of the logarithm.
func logNormal(median, sigma float64) *curve {
	c := new(curve)
	for k := range c {
		p := (float64(k) + 0.01) / (float64(len(c)-1) + 0.02) // ends at four standard deviations, not at infinity
		c[k] = median * math.Exp(sigma*math.Sqrt2*math.Erfinv(2*p-1))
	}
	return c
}

// byRank returns ranks in [0, n): the probability of rank k is close to 1/((k+1) ln n).
func byRank(n int) *curve {
	c := new(curve)
	for k := range c {
		c[k] = math.Exp(math.Log(float64(n))*float64(k)/float64(len(c)-1)) - 1
	}
	return c
}

// rank draws from a byRank curve.
func (c *curve) rank(r *random) uint64 { return uint64(c.draw(r)) }

// picker draws one of at most 256 things by weight, to 1/4096.
type picker [4096]uint8

func newPicker(weights ...float64) *picker {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	p := new(picker)
	at, until := 0, weights[0]
	for i := range p {
		for at < len(weights)-1 && (float64(i)+0.5)/float64(len(p))*sum > until {
			at++
			until += weights[at]
		}
		p[i] = uint8(at)
	}
	return p
}

// zipf returns n weights, that of rank k being 1/(k+1)^s.
func zipf(n int, s float64) []float64 {
	w := make([]float64, n)
	for k := range w {
		w[k] = math.Pow(float64(k+1), -s)
	}
	return w
}

func (p *picker) pick(r *random) int { return int(p[r.next()>>52]) }
