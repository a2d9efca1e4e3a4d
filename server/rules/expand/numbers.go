package expand

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// float reads a number, or a text that is one.
func float(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case string:
		return strconv.ParseFloat(v, 64)
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case time.Duration:
		return v.Seconds(), nil
	}
	return 0, fmt.Errorf("can't convert %T to float", v)
}

// number makes a function of templates of one of numbers.
func number(show func(float64) (string, error)) func(v any) (string, error) {
	return func(v any) (string, error) {
		x, err := float(v)
		if err != nil {
			return "", err
		}
		return show(x)
	}
}

// plain is a number with four digits.
func plain(x float64) string { return fmt.Sprintf("%.4g", x) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// humanize is a number with a metric prefix.
func humanize(x float64) (string, error) {
	if x == 0 || !finite(x) {
		return plain(x), nil
	}
	prefix := ""
	if math.Abs(x) >= 1 {
		for _, p := range [...]string{"k", "M", "G", "T", "P", "E", "Z", "Y"} {
			if math.Abs(x) < 1000 {
				break
			}
			prefix = p
			x /= 1000
		}
		return plain(x) + prefix, nil
	}
	for _, p := range [...]string{"m", "u", "n", "p", "f", "a", "z", "y"} {
		if math.Abs(x) >= 1 {
			break
		}
		prefix = p
		x *= 1000
	}
	return plain(x) + prefix, nil
}

// humanize1024 is a number with a prefix of powers of 1024.
func humanize1024(x float64) (string, error) {
	if math.Abs(x) <= 1 || !finite(x) {
		return plain(x), nil
	}
	prefix := ""
	for _, p := range [...]string{"ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"} {
		if math.Abs(x) < 1024 {
			break
		}
		prefix = p
		x /= 1024
	}
	return plain(x) + prefix, nil
}

// humanizeDuration is a number of seconds with units.
func humanizeDuration(x float64) (string, error) {
	if !finite(x) {
		return plain(x), nil
	}
	if x == 0 {
		return plain(x) + "s", nil
	}
	if math.Abs(x) < 1 {
		prefix := ""
		for _, p := range [...]string{"m", "u", "n", "p", "f", "a", "z", "y"} {
			if math.Abs(x) >= 1 {
				break
			}
			prefix = p
			x *= 1000
		}
		return plain(x) + prefix + "s", nil
	}
	sign := ""
	if x < 0 {
		sign, x = "-", -x
	}
	whole := int64(min(x, 1<<62))
	seconds, minutes, hours, days := whole%60, whole/60%60, whole/3600%24, whole/86400
	switch {
	case days > 0:
		return fmt.Sprintf("%s%dd %dh %dm %ds", sign, days, hours, minutes, seconds), nil
	case hours > 0:
		return fmt.Sprintf("%s%dh %dm %ds", sign, hours, minutes, seconds), nil
	case minutes > 0:
		return fmt.Sprintf("%s%dm %ds", sign, minutes, seconds), nil
	}
	return sign + plain(x) + "s", nil
}

// humanizePercentage is a ratio in percent.
func humanizePercentage(x float64) (string, error) { return plain(x*100) + "%", nil }

// humanizeTimestamp is a number of seconds since the epoch as a time.
func humanizeTimestamp(x float64) (string, error) {
	if !finite(x) {
		return plain(x), nil
	}
	t, err := instant(x)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

// instant is a number of seconds since the epoch as a time, in UTC.
func instant(x float64) (time.Time, error) {
	ns := x * 1e9
	if !finite(ns) || math.Abs(ns) >= math.MaxInt64 {
		return time.Time{}, fmt.Errorf(
			"%v cannot be represented as a nanoseconds timestamp since it overflows int64", x)
	}
	return time.Unix(0, int64(math.Round(x*1000))*int64(time.Millisecond)).UTC(), nil
}
