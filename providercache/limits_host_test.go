package providercache_test

import (
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestLimits_DownloadsAreBoundedForEachHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hosts  int
		limits providercache.Limits
		want   int
	}{
		"one of each host":  {hosts: 3, limits: providercache.Limits{PerHost: 1, Downloads: 16}, want: 3},
		"all in all":        {hosts: 3, limits: providercache.Limits{PerHost: 2, Downloads: 4}, want: 4},
		"all from one host": {hosts: 1, want: 16},
		"from many":         {hosts: 12, want: 32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, web := webSource(t, 0, nil)
			req := getproviders.Requirements{}
			for i := range 48 {
				name := fmt.Sprintf("p%d", i)
				web.bodies["/"+name] = zipOf(t, map[string]string{"terraform-provider-" + name: noise(50_000)})
				source.Add("acme/"+name, "1.0.0", httpArchive(t, fmt.Sprintf("https://h%d.example.com/%s", i%c.hosts, name)))
				req.Add(provider("acme/"+name), getproviders.Requirement{})
			}
			in := newInstaller(t, source)
			in.Fetcher.Client, in.Fetcher.Limits = impatient(t, web), c.limits
			install(t, in, req, nil)
			if web.max > c.want || web.open != 0 {
				t.Errorf("%d downloads at once, %d bodies never closed; want at most %d, and none", web.max, web.open, c.want)
			}
		})
	}
}
