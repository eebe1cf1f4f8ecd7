package providercache_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestInstall_RefusesACacheThatIsTheTarget(t *testing.T) {
	m := newMachine(t)
	d := m.directory(t)
	d.Cache = d.Target
	err := attempt(t, d.Installer, getproviders.Requirements{}, nil)
	must.Contain(t, err, "can't be its Target")
}
