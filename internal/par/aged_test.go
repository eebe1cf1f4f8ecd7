package par

import (
	"context"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestAged_AsksAgainWhenAValueIsOld(t *testing.T) {
	for _, c := range []struct {
		maxAge, passed time.Duration
		want           int
	}{
		{0, 14 * time.Minute, 1}, {0, 16 * time.Minute, 2}, {time.Hour, 16 * time.Minute, 1}, {time.Hour, 61 * time.Minute, 2}, {-1, 1000 * time.Hour, 1},
	} {
		var aged Aged[string, int]
		asked, now := 0, time.Unix(0, 0)
		for range 2 {
			_, err := aged.Do(t.Context(), "key", func() time.Time { return now }, c.maxAge, func(context.Context) (int, error) {
				asked++
				now = now.Add(2 * time.Hour) // what takes long isn't old when it is there
				return asked, nil
			})
			must.Succeed(t, err)
			now = now.Add(c.passed)
		}
		must.Equal(t, asked, c.want, c)
	}
}
