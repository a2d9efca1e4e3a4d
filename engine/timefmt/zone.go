package timefmt

import (
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones must be known on machines without a zone database
)

// zones caches what Zone found. Only names that exist get in, some thousands at most.
var zones sync.Map // string -> *time.Location

// Zone finds a time zone by IANA name (Asia/Shanghai) or offset (+08:00, +1:00, -0930). Equal names give the same
// pointer, and UTC gives time.UTC.
func Zone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	switch name {
	case "UTC", "utc", "Z", "z", "Etc/UTC":
		return time.UTC, nil
	case "", "Local":
		return nil, fmt.Errorf("invalid time zone %q", name)
	}
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location), nil
	}
	z, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	got, _ := zones.LoadOrStore(name, z)
	return got.(*time.Location), nil
}

func loadZone(name string) (*time.Location, error) {
	if name[0] != '+' && name[0] != '-' {
		z, err := time.LoadLocation(name)
		if err != nil {
			return nil, fmt.Errorf("invalid time zone %q", name)
		}
		return z, nil
	}
	hour, rest, ok := readDigits(name[1:], 1, 2)
	minute := 0
	if ok && rest != "" {
		rest = strings.TrimPrefix(rest, ":")
		minute, rest, ok = readDigits(rest, 2, 2)
	}
	if !ok || rest != "" || minute > 59 || hour > 23 { // less than a day either way, as ISO 8601 has it
		return nil, fmt.Errorf("invalid time zone %q", name)
	}
	sec := hour*3600 + minute*60
	if name[0] == '-' {
		sec = -sec
	}
	if sec == 0 {
		return time.UTC, nil
	}
	return time.FixedZone(fmt.Sprintf("%c%02d:%02d", name[0], hour, minute), sec), nil
}
