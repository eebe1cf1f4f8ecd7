package fetch

import (
	"strings"
	"testing"
)

func TestChecksum_IsFoundInAList(t *testing.T) {
	const other = "00000000000000000000000000000000000000000000000000000000000000ff"
	names := []string{"net.zip", "/dl/net.zip", "dl/net.zip"}
	for list, want := range map[string]bool{
		other + "  other.zip\n" + someSHA256 + "  net.zip\n": true,  // text
		someSHA256 + " *net.zip\r\n":                         true,  // binary
		someSHA256 + " ?net.zip":                             true,  // perl
		someSHA256 + "  ./dl/net.zip":                        true,  // dot
		"# sums\nSHA256 (net.zip) = " + someSHA256:           true,  // bsd
		"SHA256 (other.zip) = " + someSHA256:                 false, // bsd, other
		"CRC (net.zip) = " + someSHA256:                      false, // bsd, no kind
		someSHA256 + "\n":                                    true,  // alone
		other + "  other.zip":                                false, // of others
		"":                                                   false, // empty
		"file:x  net.zip":                                    false, // a list in it
		strings.Repeat("z", 64) + "  net.zip":                false, // not hex
		someSHA256 + "  other/net.zip":                       false, // a directory's
	} {
		got, found := parseChecksums(list, names)
		if found != want || found && got != (checksum{"sha256", someSHA256}) {
			t.Errorf("%q: %+v, %t", list, got, found)
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
