package store

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestHasRoom_KnowsHowLongPathsMayBe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		goos   string
		length int
		fits   bool
	}{{"linux", 4095 - packageRoom, true}, {"linux", 4096 - packageRoom, false}, {"darwin", 1023 - packageRoom, true}, {"darwin", 1024 - packageRoom, false}, {"windows", 5000, true}} {
		must.Equal(t, hasRoom(strings.Repeat("d", test.length), test.goos) == nil, test.fits, test.length, test.goos)
	}
}

// The colon of a port is for drives and streams on Windows, and some names are those of devices.
func TestHolds_KnowsWhatWindowsCantName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider getproviders.Provider
		goos     string
		held     bool
	}{
		{getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "widget"}, "windows", true},
		{getproviders.Provider{Hostname: "example.com:8443", Namespace: "acme", Type: "widget"}, "windows", false},
		{getproviders.Provider{Hostname: "example.com", Namespace: "aux", Type: "widget"}, "windows", false},
		{getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "com1"}, "windows", false},
		{getproviders.Provider{Hostname: "example.com:8443", Namespace: "aux", Type: "com1"}, "linux", true},
	} {
		err := Holds(test.provider, test.goos)
		must.Equal(t, err == nil, test.held, test.provider, test.goos)
		if err != nil {
			must.Contain(t, err, test.provider.String())
		}
	}
}
