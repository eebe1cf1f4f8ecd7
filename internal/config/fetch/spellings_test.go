package fetch

import (
	"archive/tar"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestCheckSpellings_FindsNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		names string // with spaces between them
		says  string // "": the names are fine
	}{
		{"main.tf a/main.tf b/main.tf a/b.tf", ""},
		{"main.tf main.tf", ""}, // what that means is for unpacking to say
		{"a.tf A.tf", `"a.tf" and "A.tf" differ only in case`},
		{"dir/a.tf Dir/b.tf", `"dir" and "Dir" differ only in case`},
		{"./x/ü x/Ü", "differ only in case"},
		{"caf\u00e9.tf cafe\u0301.tf", "how accents are encoded"},
	} {
		entries, headers := map[string]string{}, []tar.Header{}
		for _, name := range strings.Fields(test.names) {
			entries[name] = ""
			headers = append(headers, tar.Header{Name: name})
		}
		packed := tarred(t, headers...)
		for kind, content := range map[string][]byte{"zip": providertest.Zip(entries), "tar": plain(t, packed), "tgz": packed} {
			file := filepath.Join(t.TempDir(), "archive")
			must.Write(t, file, content)
			err := checkSpellings(t.Context(), kind, file, bounds{files: 100}.filled())
			if (err != nil) != (test.says != "") || kind != "zip" && err != nil && !strings.Contains(err.Error(), test.says) { // the entries of the zip have any order
				t.Errorf("%q as %s: %v", test.names, kind, err)
			}
			for cut := range content { // unpacking says what is wrong with it
				must.Write(t, file, content[:cut])
				if err := checkSpellings(t.Context(), kind, file, bounds{files: 100}.filled()); err != nil && test.says == "" {
					t.Errorf("%q as %s, cut off: %v", test.names, kind, err)
				}
				if cut > 40 {
					break
				}
			}
		}
	}
}

// TestCheckSpellings_EndsWithTheLimits has an archive larger than the limit, so that the search for
// names unpacks no more of it.
func TestCheckSpellings_EndsWithTheLimits(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "archive")
	must.Write(t, file, tarred(t, tar.Header{Name: "a.tf", Linkname: string(make([]byte, 4<<20))}, tar.Header{Name: "A.tf"}))
	must.Refuse(checkSpellings(t.Context(), "tgz", file, bounds{unpacked: 4 << 20, files: 10}))(t, "within the limits")
	must.Succeed(t, checkSpellings(t.Context(), "tgz", file, bounds{unpacked: 1, files: 10}), "more than the limit is read")
	ended, end := context.WithCancelCause(t.Context())
	end(errors.New("interrupted"))
	if err := checkSpellings(ended, "tgz", file, bounds{}.filled()); err == nil || err.Error() != "interrupted" {
		t.Errorf("it goes on after an interrupt: %v", err)
	}
}
