package sources

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
)

func TestOpenRemote_SaysWhatAURLHasToBe(t *testing.T) {
	t.Parallel()
	m := &cli.Meta{Context: t.Context()}
	for location, says := range map[string]string{
		"oci://user:secret1@host.example/a":    "Packages can't be kept in oci://host.example/a: It has to be oci://HOST/PATH, without user",
		"oci://host.example/a?token=secret1":   "Packages can't be kept in oci://host.example/a: It has to be oci://HOST/PATH, without user",
		"oci://host.example/${namespace}":      "one repository has all packages",
		"HTTPS://user:secret1@host.example/a":  "Packages can't be kept in https://host.example/a: It has to be https://HOST/PATH, without user",
		"https://host.example/a#secret1":       "Packages can't be kept in https://host.example/a: It has to be https://HOST/PATH, without user",
		"http://user:secret1@host.example/a":   "Packages can't be kept in http://host.example/a: It has to be s3://",
		"file:///secret1/a":                    "Packages can't be kept there: It has to be s3://",
		"azblob://account/a":                   "Packages can't be kept in azblob://account/a: the storage of Azure isn't read or written: use its container registry, whose URL is oci://NAME.azurecr.io",
		"s3://":                                "Packages can't be kept there: It has to be s3://BUCKET/PREFIX, without user",
		"https://user:secret1@host.example:x/": "Packages can't be kept there: It has to be https://HOST/PATH",
	} {
		s := New(m, getproviders.Terraform(""), false)
		_, ok := s.OpenRemote(location, "")
		if ok || !strings.Contains(strings.ToLower(s.Log.All[0].Detail), strings.ToLower(says)) || strings.Contains(s.Log.All[0].Detail, "secret1") {
			t.Errorf("%s: %v", location, s.Log.All)
		}
	}
	s := New(m, getproviders.Terraform(""), false)
	if remote, ok := s.OpenRemote("HTTPS://host.example/a", ""); !ok || remote.String() != "https://host.example/a" {
		t.Errorf("%v", s.Log.All)
	}
}
