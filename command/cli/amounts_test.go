package cli

import (
	"testing"
	"time"
)

func TestParseAge_ReadsUnits(t *testing.T) {
	for given, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "2w": 336 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute,
		"": 0, "d": 0, "0d": 0, "-1d": 0, "-1h": 0, "1.5d": 0, "30": 0, "999999999d": 0, "soon": 0,
	} {
		got, err := ParseAge(given)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %v, %v", given, got, err)
		}
	}
}

func TestParseBytes_ReadsUnits(t *testing.T) {
	for given, want := range map[string]int64{
		"0": 0, "123": -1, "20GB": 20e9, "20gb": 20e9, "1.5GiB": 3 << 29, "500M": 500e6, "1 TB": 1e12, "7B": 7,
		"": -1, "GB": -1, "-1": -1, "inf": -1, "nan": -1, "9e30": -1, "1XB": -1, "1e30GB": -1,
	} {
		got, err := ParseBytes(given)
		if (want < 0) != (err != nil) || err == nil && got != want {
			t.Errorf("%q is %d, %v", given, got, err)
		}
	}
}

func FuzzAmounts(f *testing.F) {
	for _, given := range []string{"30d", "20GB", "1.5GiB", "", "-", "1e400", "0x1pgb"} {
		f.Add(given)
	}
	f.Fuzz(func(t *testing.T, given string) {
		if age, err := ParseAge(given); err == nil && age <= 0 {
			t.Errorf("%q is %v", given, age)
		}
		if n, err := ParseBytes(given); err == nil && n < 0 {
			t.Errorf("%q is %d", given, n)
		}
	})
}
