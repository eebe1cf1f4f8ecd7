package hosts

import (
	"math"
	"strconv"
	"time"
)

// ResolveRetries turns the text of TF_REGISTRY_DISCOVERY_RETRY into
// ClientOptions.Retries: a positive number, else 1.
func ResolveRetries(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return 1
}

// ResolveTimeout turns the text of TF_REGISTRY_CLIENT_TIMEOUT, in seconds,
// into ClientOptions.HeaderTimeout: a positive number, else 10. Where the
// real tool limits each metadata request as a whole, here each of its phases
// has that long.
func ResolveTimeout(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return defaultHeaderTimeout
	}
	return time.Duration(min(int64(n), math.MaxInt64/int64(time.Second))) * time.Second
}
