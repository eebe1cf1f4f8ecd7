package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ages are units of time beside those that Go knows.
var ages = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ParseAge reads "30d", "2w", "36h" or "90m".
func ParseAge(given string) (time.Duration, error) {
	for suffix, unit := range ages {
		number, ok := strings.CutSuffix(given, suffix)
		if n, err := strconv.ParseUint(number, 10, 32); ok && err == nil && n > 0 && n <= uint64(math.MaxInt64/unit) {
			return time.Duration(n) * unit, nil
		}
	}
	if age, err := time.ParseDuration(given); err == nil && age > 0 {
		return age, nil
	}
	return 0, fmt.Errorf("%q is no length of time: it has to be like 30d, 2w or 12h", given)
}

// sizes are units of bytes. Without an "i" they are powers of ten, as disks are
// sold.
var sizes = []struct {
	suffix string
	unit   float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"b", 1},
}

// ParseBytes reads "20GB", "1.5GiB", "500M" or "100B". A number alone is refused, because
// who writes it may think of another unit; 0 needs none.
func ParseBytes(given string) (int64, error) {
	if given == "0" {
		return 0, nil
	}
	if _, err := strconv.ParseFloat(given, 64); err == nil {
		return 0, fmt.Errorf("%q has no unit: it has to be like %[1]sGB, %[1]sMB or %[1]sB", given)
	}
	for _, size := range sizes {
		number, ok := strings.CutSuffix(strings.ToLower(given), size.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := n * size.unit; err == nil && n >= 0 && bytes < math.MaxInt64 {
			return int64(bytes), nil
		}
		break
	}
	return 0, fmt.Errorf("%q is no size: it has to be like 20GB, 500MB or 1.5GiB", given)
}
