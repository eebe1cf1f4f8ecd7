package terminal

import (
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestAmounts(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Megabytes(0), "0 kB"},
		{Megabytes(1), "1 kB"},
		{Megabytes(999_999), "1000 kB"},
		{Megabytes(1_550_000), "1.6 MB"},
		{Megabytes(214_400_000), "214 MB"},
		{Megabytes(1_550_000_000), "1.6 GB"},
		{HowFar(7*1_000_000, -1), "7.0 MB"},
		{HowFar(0, 0), "0 kB"},
		{HowFar(50*1_000_000, 100*1_000_000), "50 MB of 100 MB (50%)"},
		{amounts(35*1_000_000, 150*1_000_000), "35/150 MB"},
		{amounts(35*1_000_000, -1), "35 MB"},
		{amounts(500*1_000_000, 2000*1_000_000), "0.5/2.0 GB"},
		{amounts(1200*1000, 3*1_000_000), "1.2/3.0 MB"},
		{amounts(12_300, 20_000), "12/20 kB"},
		{Seconds(-time.Second), "0ms"},
		{Seconds(999 * time.Millisecond), "999ms"},
		{Seconds(59_990 * time.Millisecond), "59.9s"},
		{Seconds(3725 * time.Second), "1h2m5s"},
		{whole(300 * time.Millisecond), "1s"},
		{whole(61_400 * time.Millisecond), "1m1s"},
	} {
		must.Equal(t, tt.got, tt.want)
	}
}
