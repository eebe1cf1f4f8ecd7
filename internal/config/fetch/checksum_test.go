package fetch

import (
	"strings"
	"testing"
)

func TestChecksum_IsFoundInAList(t *testing.T) {
	const other = "00000000000000000000000000000000000000000000000000000000000000ff"
	names := []string{"net.zip", "/dl/net.zip", "dl/net.zip"}
	for name, c := range map[string]struct {
		list  string
		found bool
	}{
		"text":          {other + "  other.zip\n" + someSHA256 + "  net.zip\n", true},
		"binary":        {someSHA256 + " *net.zip\r\n", true},
		"perl":          {someSHA256 + " ?net.zip", true},
		"dot":           {someSHA256 + "  ./dl/net.zip", true},
		"bsd":           {"# sums\nSHA256 (net.zip) = " + someSHA256, true},
		"bsd, other":    {"SHA256 (other.zip) = " + someSHA256, false},
		"bsd, no kind":  {"CRC (net.zip) = " + someSHA256, false},
		"alone":         {someSHA256 + "\n", true},
		"of others":     {other + "  other.zip", false},
		"empty":         {"", false},
		"a list in it":  {"file:x  net.zip", false},
		"not hex":       {strings.Repeat("z", 64) + "  net.zip", false},
		"a directory's": {someSHA256 + "  other/net.zip", false},
	} {
		got, found := parseChecksums(c.list, names)
		if found != c.found || found && got != (checksum{"sha256", someSHA256}) {
			t.Errorf("%s: %+v, %t", name, got, found)
		}
	}
}

func FuzzParseChecksums(f *testing.F) {
	f.Add(someSHA256+"  net.zip\n", "net.zip")
	f.Add("MD5 (net.zip) = d41d8cd98f00b204e9800998ecf8427e", "net.zip")
	f.Fuzz(func(t *testing.T, list, name string) {
		sum, found := parseChecksums(list, []string{name})
		if found == (sum == checksum{}) || sum.kind == "file" {
			t.Errorf("%+v, %t", sum, found)
		}
	})
}
