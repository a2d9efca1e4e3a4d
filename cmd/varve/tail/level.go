package tail

import (
	"strconv"
	"strings"
)

// Colours of levels, as the numbers of the terminal's own.
const (
	gray   = "90"
	plain  = ""
	green  = "32"
	cyan   = "36"
	yellow = "33"
	red    = "31"
	alarm  = "1;97;41"
)

// wordColor is the colour of a level that is a word in lower case.
func wordColor(word string) string {
	switch word {
	case "trace", "trc", "finest", "finer", "verbose", "t", "debug", "dbg", "fine", "d":
		return gray
	case "info", "information", "informational", "inf", "i", "log":
		return green
	case "notice", "n", "success":
		return cyan
	case "warn", "warning", "wrn", "w":
		return yellow
	case "error", "err", "e", "severe", "failure":
		return red
	case "critical", "crit", "fatal", "panic", "alert", "emergency", "emerg", "c", "f":
		return alarm
	}
	return plain
}

// syslog are the colours of its severities, which are numbered from 0, the gravest; telemetry are those of its numbers
// 1 to 24 by four.
var (
	syslog    = [...]string{alarm, alarm, alarm, red, yellow, cyan, green, gray}
	telemetry = [...]string{gray, gray, green, yellow, red, alarm}
)

// levelColor is the colour of a level, as a word or as a number of syslog or of telemetry; plain for what is none.
func levelColor(level string) string {
	text := strings.ToLower(level)
	if color := wordColor(text); color != plain {
		return color
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return wordColor(strings.TrimRight(text, "0123456789")) // telemetry has ERROR2
	case n >= 0 && n < len(syslog):
		return syslog[n]
	case n >= 1 && n <= 24:
		return telemetry[(n-1)/4]
	}
	return plain
}
