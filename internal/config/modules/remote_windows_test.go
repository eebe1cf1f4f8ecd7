package modules

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// A path begins with a drive letter, which isn't a URL's scheme.
func TestParseRemote_PathsOfDrives(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]Remote{
		`C:\modules\net`: {Package: "file:///C:/modules/net"}, "d:/net.zip//sub?archive=zip": {Package: "file:///d:/net.zip?archive=zip", Subdir: "sub"},
	} {
		must.Equal(t, must.Get(parseRemote(source))(t), want, source)
	}
	for _, source := range []string{"::", "u:secret@h", "C:x"} {
		if found, err := parseRemote(source); err == nil && strings.HasPrefix(found.Package, "file:") {
			t.Errorf("%s is %s", source, found.Package)
		}
	}
}
