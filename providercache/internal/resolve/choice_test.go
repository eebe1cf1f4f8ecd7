package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// listing is a source that has versions of all providers, and nothing else.
type listing struct {
	getproviders.Available
	located *int // questions for a SourceURL; nil: it has none
}

func (l listing) Versions(context.Context, getproviders.Provider) (getproviders.Available, error) {
	return l.Available, nil
}

func (listing) Package(context.Context, getproviders.Provider, getproviders.Version, getproviders.Platform) (p getproviders.Package, err error) {
	return p, errors.New("no package is asked for here")
}

func (l listing) Describe(getproviders.Provider) getproviders.Description {
	d := getproviders.Description{Name: "a list"}
	if l.located != nil {
		d.SourceURL = func(context.Context, getproviders.Provider, getproviders.Version, getproviders.Platform) (string, error) {
			*l.located++
			return "https://example.com/", nil
		}
	}
	return d
}

func TestNewest_LocatesNoVersionThatItDoesNotAskAbout(t *testing.T) {
	source := listing{located: new(int)}
	for i := range 30 {
		source.Available.Versions = append(source.Available.Versions, getproviders.MustParseVersion(fmt.Sprintf("1.%d.0", i)))
	}
	r := resolve.Resolver{Source: source, Queries: 1, Emit: func(context.Context, event.Event) {}, Choice: resolve.Choice{Listed: func(_ context.Context, c getproviders.Candidate) error {
		must.Equal(t, c.SourceURL, "https://example.com/")
		return nil
	}}}
	p := getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "widget"}
	must.Equal(t, must.Get(r.Newest(t.Context(), getproviders.Selection{Provider: p}, nil))(t).Version.String(), "1.29.0")
	must.Equal(t, *source.located, 1)
}

func TestNewest_LeavesOutWhatIsRefused(t *testing.T) {
	var source listing
	for i := range 30 {
		source.Available.Versions = append(source.Available.Versions, getproviders.MustParseVersion(fmt.Sprintf("1.%d.0", i)))
	}
	p := getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "widget"}
	refuse := func(versions string) func(context.Context, getproviders.Candidate) error {
		return func(_ context.Context, c getproviders.Candidate) error {
			if versions == "all" || strings.Contains(" "+versions+" ", " "+c.Version.String()+" ") {
				return errors.New("it may not")
			}
			return nil
		}
	}
	for name, tt := range map[string]struct {
		listed, dated, undated string
		want, left             string
		asked                  int // requests for dates
		signed                 string
	}{
		"nothing is refused":          {"", "", "", "1.29.0", "", 1, ""},
		"by a list":                   {"1.29.0 1.28.0 1.3.0", "", "", "1.27.0", "1.29.0, 1.28.0: it may not", 1, ""},
		"by their age":                {"", "1.29.0", "", "1.28.0", "1.29.0: it may not", 2, ""},
		"by both":                     {"1.29.0 1.27.0", "1.28.0", "", "1.26.0", "1.29.0, 1.28.0, 1.27.0: it may not", 2, ""},
		"whose age can't be known":    {"", "1.29.0", "1.28.0", "1.28.0", "1.29.0: it may not", 2, ""},
		"by who signed them":          {"", "1.28.0", "", "1.27.0", "1.29.0, 1.28.0: it may not", 3, "1.29.0"},
		"all, of which ten are dated": {"1.29.0", "all", "", "", "no version is left that may be chosen: 1.29.0, 1.28.0, 1.27.0, 1.26.0, 1.25.0, 1.24.0, 1.23.0, 1.22.0, 1.21.0, 1.20.0, and 1 more: it may not; 19 older ones weren't examined", 10, ""},
		"all, by a list":              {"all", "", "", "", "1.20.0, and 20 more: it may not", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			asked := 0
			r := resolve.Resolver{Source: source, Queries: 1,
				Choice: resolve.Choice{Listed: refuse(tt.listed), Dated: refuse(tt.dated), Signed: refuse(tt.signed)},
				Signer: func(_ context.Context, s getproviders.Selection) (getproviders.Candidate, bool, error) {
					return getproviders.Candidate{Provider: s.Provider, Version: s.Version}, true, nil
				},
				Date: func(_ context.Context, s getproviders.Selection) (getproviders.Candidate, bool, error) {
					asked++
					return getproviders.Candidate{Provider: s.Provider, Version: s.Version}, s.Version.String() != tt.undated, nil
				},
				Emit: func(_ context.Context, e event.Event) {
					if e.Kind == event.LeftOut {
						told = append(told, e.LeftOut.String())
					}
				}}
			chosen, err := r.Newest(t.Context(), getproviders.Selection{Provider: p}, nil)
			must.Equal(t, asked, tt.asked)
			if tt.want == "" {
				must.Fail(t, err, getproviders.ErrRefused)
				must.Contain(t, err.Error(), tt.left)
				must.Equal(t, getproviders.CodeOf(err), "refused_by_policy")
				return
			}
			must.Succeed(t, err)
			must.Equal(t, chosen.Version.String(), tt.want)
			must.Equal(t, strings.Join(told, "\n"), tt.left)
		})
	}
}
