package store

import (
	"strings"
	"testing"

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
