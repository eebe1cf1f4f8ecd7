package getproviders

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

const (
	sumA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	sumB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestChecksumList_FindsAFile(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		found    string // as the error has it; "ok" for no error
	}{
		"among others":               {sumB + "  b.zip\n" + sumA + "  a.zip\n", "ok"},
		"without a last newline":     {sumA + "  a.zip", "ok"},
		"with carriage returns":      {sumA + "  a.zip\r\n", "ok"},
		"with more fields":           {sumA + " a.zip and more\n", "ok"},
		"in upper case":              {strings.ToUpper(sumA) + "  a.zip\n", "ok"},
		"beside lines of other use":  {"# comment\n\n \nalone\n" + sumA + "  a.zip\n", "ok"},
		"with another hash":          {sumB + "  a.zip\n", sumB},
		"the first line counts":      {sumB + "  a.zip\n" + sumA + "  a.zip\n", sumB},
		"with what isn't a hash":     {"cafe  a.zip\n", "cafe"},
		"with a hash and more":       {sumA + "00  a.zip\n", sumA + "00"},
		"not by the start of a name": {sumA + "  a.zip.old\n", ""},
		"not with the binary marker": {sumA + " *a.zip\n", ""},
		"not in other case":          {sumA + "  A.zip\n", ""},
		"not in a third field":       {sumA + "  b.zip a.zip\n", ""},
		"not in nothing":             {"", ""},
	} {
		sum, _ := Hash("zh:" + sumA).SHA256()
		_, err := signedChecksums{FileName: "a.zip", SHA256: sum, Sums: []byte(test.document)}.Authenticate(Digests{})
		if test.found == "ok" {
			must.Equal(t, CodeOf(err), "checksum_mismatch", name) // of the archive, which comes next
			continue
		}
		want := fmt.Sprintf("the checksum list has %q for \"a.zip\", expected zh:%s", test.found, sumA)
		if test.found == "" {
			want = "the checksum list has no SHA-256 for \"a.zip\", expected zh:" + sumA
		}
		if CodeOf(err) != "checksum_list_mismatch" || !errors.Is(err, ErrAuthentication) || err.Error() != want {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
}

func TestChecksumList_NeverHasAFileWithoutAName(t *testing.T) {
	zh, listed := parseChecksums([]byte(sumA + "\n")).find("")
	must.Equal(t, string(zh)+listed, "", "a line without a name stands for a file without one")
}

func TestChecksumList_GivesAllHashesOrNone(t *testing.T) {
	both := []Hash{"zh:" + sumB, "zh:" + sumA}
	for name, test := range map[string]struct {
		document string
		want     []Hash
	}{
		"archives and other files":   {sumB + "  b.zip\n" + sumA + "  manifest.json\n", both},
		"blank lines":                {"\n" + sumB + "  b.zip\n\n \t\n" + sumA + "  a.zip\n\n", both},
		"binary markers":             {sumB + " *b.zip\n" + sumA + " *a.zip\n", both},
		"upper case is made lower":   {strings.ToUpper(sumB) + "  b.zip\n" + sumA + "  a.zip\n", both},
		"a line without a name":      {sumB + "  b.zip\n" + sumA + "\n", nil},
		"a hash that is too short":   {sumB + "  b.zip\n" + sumA[1:] + "  a.zip\n", nil},
		"a hash that is no hex":      {sumB + "  b.zip\n" + sumA[1:] + "x  a.zip\n", nil},
		"a comment":                  {"# by sha256sum\n" + sumB + "  b.zip\n", nil},
		"an empty document":          {"", nil},
		"a document of blank lines":  {"\n\n\n", nil},
		"something else than a list": {"<html><body>Log in</body></html>", nil},
	} {
		must.EqualSlices(t, parseChecksums([]byte(test.document)).hashes(), test.want, name)
	}
}

// FuzzParseChecksums: for any document, nothing panics, the hashes have the form of lock files, and
// each listed file is found by its name.
func FuzzParseChecksums(f *testing.F) {
	null := must.Get(os.ReadFile("testdata/vectors/hashicorp-null-3.1.0_SHA256SUMS"))(f)
	f.Add(null)
	f.Add([]byte(sumA + "  a.zip\n\n" + sumB + " *b.zip\r\n"))
	f.Add([]byte(sumA + "\n"))
	f.Add([]byte("\n \n\x00\xff\u2028\u0085 \v\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, document []byte) {
		list := parseChecksums(document)
		seen := map[string]bool{}
		for _, line := range list {
			zh, ok := line.zh()
			if found, _ := list.find(line.name); ok && line.name != "" && !seen[line.name] && found != zh {
				t.Errorf("%q isn't found with its own hash", line.name)
			}
			seen[line.name] = true
		}
		all := list.hashes()
		if len(all) != 0 && len(all) != len(list) {
			t.Errorf("%d hashes of %d lines", len(all), len(list))
		}
		for _, h := range all {
			if len(h) != 67 || !strings.HasPrefix(string(h), "zh:") || strings.ToLower(string(h)) != string(h) {
				t.Errorf("malformed hash %q", h)
			}
		}
		if len(list) > bytes.Count(document, []byte("\n"))+1 {
			t.Errorf("%d lines", len(list))
		}
	})
}
