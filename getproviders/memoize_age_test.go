package getproviders

import (
	"context"
	"testing"
	"testing/synctest"
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
	for _, c := range []struct {
		passed time.Duration
		want   int
	}{{14 * time.Minute, 1}, {16 * time.Minute, 2}} {
		synctest.Test(t, func(t *testing.T) {
			asked := new(counted)
			source := Memoize(asked)
			for range 2 {
				must.Get(source.Versions(t.Context(), Provider{}))(t)
				must.Get(source.Package(t.Context(), Provider{}, Version{}, Platform{}))(t)
				time.Sleep(c.passed)
			}
			must.Equal(t, *asked, counted{c.want, c.want}, c.passed)
		})
	}
}
