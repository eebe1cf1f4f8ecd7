package link

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// Other users could change a file that they can write to after it was verified, and could replace
// it between the check and the link.
func TestHardLink_RefusesFilesThatOthersCanWriteTo(t *testing.T) {
	ways := map[string]func(t *testing.T, path string){
		"for all": func(t *testing.T, path string) { must.Succeed(t, cachetest.OpenToAll(path)) },
	}
	maps.Copy(ways, openings)
	for name, open := range ways {
		for _, meanwhile := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, meanwhile: %t", name, meanwhile), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), cachetest.WidgetFile)
				cachetest.WriteTo(t, path, "the provider")
				if !meanwhile {
					open(t, path)
				}
				file := must.Get(originalOf(path))(t)
				if meanwhile {
					open(t, path)
				}
				must.Fail(t, hardLink(file, path+".link"), ErrNotOwnFile)
			})
		}
	}
}
