package getproviders

import (
	"context"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// counted is a source that counts questions.
type counted struct{ versions, packages int }

func (c *counted) Versions(context.Context, Provider) (Available, error) {
	c.versions++
	return Available{Versions: []Version{{Major: 1}}}, nil
}

func (c *counted) Package(context.Context, Provider, Version, Platform) (Package, error) {
	c.packages++
	return Package{}, nil
}

func (c *counted) Describe(Provider) Description { return Description{Name: "counted"} }

func TestMemoize_AsksAgainWhenAnswersAreOld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		passed time.Duration
		want   int
	}{{14 * time.Minute, 1}, {16 * time.Minute, 2}} {
		asked, now := new(counted), time.Unix(0, 0)
		source := Memoize(asked).(*memoized)
		source.now = func() time.Time { return now }
		for range 2 {
			_, err := source.Versions(t.Context(), Provider{})
			if err == nil {
				_, err = source.Package(t.Context(), Provider{}, Version{}, Platform{})
			}
			must.Succeed(t, err)
			now = now.Add(c.passed)
		}
		if asked.versions != c.want || asked.packages != c.want {
			t.Errorf("after %v: asked %d and %d times, want %d", c.passed, asked.versions, asked.packages, c.want)
		}
	}
}
