package admin

import (
	"fmt"
	"hash/fnv"
	"html"
	"strings"
)

// The picture's measures, pixels.
const (
	flameWidth  = 1200
	flameRow    = 17
	flameHead   = 40
	flameChar   = 6.6 // width of a letter at 11 px monospace
	flameNarrow = 0.3 // boxes below this are left out
	flameDeep   = 400 // rows beyond this are left out
)

// svg draws the stacks: a box per function, as wide as its share, callers below what they call. Titles show in the
// browser when the pointer rests on a box.
func (s *stacks) svg() []byte {
	rows := min(s.root.depth(), flameDeep)
	height := flameHead + rows*flameRow + 10
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="monospace" font-size="11">
<rect width="100%%" height="100%%" fill="#fdfdf8"/>
<text x="10" y="22" font-size="14">%s in %d functions</text>
`, flameWidth, height, flameWidth, height, s.show(s.root.value), len(s.lines))
	if s.root.value > 0 {
		s.draw(&b, s.root, 10, flameWidth-20, 0, rows)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// draw draws n from x on, width pixels wide, in a row counted from the bottom, and what it called above it.
func (s *stacks) draw(b *strings.Builder, n *node, x, width float64, row, rows int) {
	y := flameHead + (rows-1-row)*flameRow
	share := 100 * float64(n.value) / float64(s.root.value)
	fmt.Fprintf(b, `<g><title>%s: %s, %.2f%%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" rx="1"/>`,
		html.EscapeString(n.name), s.show(n.value), share, x, y, max(width-0.5, 0.2), flameRow-1, colour(n.name))
	if letters := int((width - 6) / flameChar); letters >= 3 {
		label := n.name[strings.LastIndexByte(n.name, '/')+1:]
		if len(label) > letters {
			label = strings.ToValidUTF8(label[:letters-2], "") + ".."
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d">%s</text>`, x+3, y+12, html.EscapeString(label))
	}
	b.WriteString("</g>\n")
	if row+1 >= rows {
		return
	}
	for _, c := range n.sorted() {
		w := width * float64(c.value) / float64(n.value)
		if w < flameNarrow {
			break
		}
		s.draw(b, c, x, w, row+1, rows)
		x += w
	}
}

// colour is a warm colour that a function keeps from picture to picture.
func colour(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	v := h.Sum32()
	return fmt.Sprintf("#%02x%02x%02x", 205+v%50, 90+v>>8%120, 40+v>>16%50)
}
