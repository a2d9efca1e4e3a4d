package admin

import (
	"fmt"
	"math"
	"strconv"
)

// appendStandby appends what the server is to its standby or to its primary, where there is one. The answer is open to
// everybody: it names no address.
func (h *Handler) appendStandby(body []byte) []byte {
	s := h.o.Store.Standing()
	role := "primary"
	switch {
	case s.Follows != "":
		role = "standby"
	case s.Replaced > s.Epoch:
		role = "replaced"
	case s.Standby == "" && s.Epoch == 0:
		return body
	}
	body = fmt.Appendf(body, `,"standby":{"role":"%s","epoch":%d`, role, s.Epoch)
	if f := h.o.Store.Standby(); f != nil {
		shown, copied := f.Lag()
		figures := f.Figures()
		body = appendSeconds(append(body, `,"lag_seconds":`...), shown)
		body = appendSeconds(append(body, `,"disk_lag_seconds":`...), copied)
		body = fmt.Appendf(body, `,"whole":%v,"missing_parts":%d,"missing_bytes":%d,"copied_bytes":%d,"failing":%v`,
			figures.Whole, figures.MissingParts, figures.MissingBytes, figures.CopiedBytes, figures.Error != "")
	} else if silent := h.o.Store.Primary().Silent(); role == "primary" && silent != math.MaxInt64 {
		body = appendSeconds(append(body, `,"silent_seconds":`...), silent.Seconds())
	}
	return append(body, '}')
}

// appendSeconds appends a number of seconds; null where it is not known.
func appendSeconds(body []byte, s float64) []byte {
	if math.IsInf(s, 0) {
		return append(body, "null"...)
	}
	return strconv.AppendFloat(body, s, 'f', 3, 64)
}
