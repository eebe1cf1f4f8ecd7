package providercache_test

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestInstall_RefusesACacheThatIsTheTarget(t *testing.T) {
	m := newMachine(t)
	d := m.directory(t)
	d.Cache = d.Target
	_, _, err := d.Install(t.Context(), getproviders.Requirements{}, nil, providercache.Normal)
	if err == nil || !strings.Contains(err.Error(), "can't be its Target") {
		t.Errorf("got %v", err)
	}
}
