package providercache_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestInstall_RefusesACacheThatIsTheTarget(t *testing.T) {
	m := newMachine(t)
	d := m.directory(t)
	d.Cache = d.Target
	_, _, err := d.Install(t.Context(), getproviders.Requirements{}, nil, providercache.Normal)
	must.Contain(t, err, "can't be its Target")
}
