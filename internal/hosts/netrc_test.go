package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestNetrc_Files(t *testing.T) {
	for _, tc := range []struct {
		variable, home, goos string
		want                 []string
	}{
		{"", "/home/u", "linux", []string{"/home/u/.netrc"}},
		{"", "/home/u", "windows", []string{"/home/u/_netrc", "/home/u/.netrc"}},
		{"", "", "linux", nil},
		{"/x", "/home/u", "linux", []string{"/x"}},
		{"/x", "", "windows", []string{"/x"}},
	} {
		env := func(name string) string { return map[string]string{"NETRC": tc.variable}[name] }
		var got []string
		for _, file := range NetrcFiles(env, tc.home, tc.goos) {
			got = append(got, filepath.ToSlash(file))
		}
		must.EqualSlices(t, got, tc.want)
	}
}

// TestNetrc_Entries has a file, a URL, and the user and password for it; "" for no entry.
func TestNetrc_Entries(t *testing.T) {
	for given, want := range map[string]string{
		" => https://example.com/":                                                                                                    "",                // empty file
		"machine example.com login u password p => https://example.com/x":                                                             "u:p",             // one line
		"machine\nexample.com\n\tlogin u\n\n\tpassword p\n => https://example.com/":                                                   "u:p",             // many lines
		"machine example.com\r\nlogin u\r\npassword p\r\n => https://example.com/":                                                    "u:p",             // Windows' line ends
		"machine example.com login u password p => https://example.org/":                                                              "",                // another machine
		"machine example.com login u password p => https://www.example.com/":                                                          "",                // a subdomain is another machine
		"machine Example.COM login u password p => https://EXAMPLE.com/":                                                              "u:p",             // capitals
		"machine example.com login u password p => https://example.com:443/":                                                          "u:p",             // default port in the URL
		"machine example.com:443 login u password p => https://example.com/":                                                          "u:p",             // default port in the file
		"machine example.com login u password p => https://example.com:8443/":                                                         "u:p",             // a host means all its ports
		"machine example.com login u password p machine example.com:8443 login v password q => https://example.com:8443/":             "v:q",             // the port counts more, wherever it is
		"machine example.com login u password p machine example.com:8443 login v password q => https://example.com/":                  "u:p",             // and is for itself
		"machine example.com login u password p\ndefault login v password q => https://example.com:8443/":                             "u:p",             // a host counts more than default
		"machine example.com:8443 login u password p\ndefault login v password q => https://example.com:9443/":                        "v:q",             // another port of the host
		"machine example.com:8443\nmachine example.com login u password p\ndefault login v password q => https://example.com:8443/":   "",                // nothing for this port
		"machine ::1 login u password p\ndefault login v password q => https://[::1]:8443/":                                           "u:p",             // IPv6, all ports
		"machine example.com:8443 login u password p => https://example.com:8443/":                                                    "u:p",             // port in the file
		"machine example.com:8443 login u password p => https://example.com/":                                                         "",                // port in the file only
		"machine localhost:80 login u password p => http://localhost:443/":                                                            "",                // the other scheme's port
		"machine localhost login u password p => http://localhost/":                                                                   "u:p",             // http on loopback
		"machine ::1 login u password p => https://[::1]/":                                                                            "u:p",             // IPv6
		"machine [::1]:8443 login u password p => https://[::1]:8443/":                                                                "u:p",             // IPv6 with port
		"machine a login u password p\nmachine a login v password q => https://a/":                                                    "u:p",             // the first entry counts
		"machine a login u password p\ndefault login v password q => https://b/":                                                      "v:q",             // default
		"default login v password q machine a login u password p => https://a/":                                                       "u:p",             // default first
		"machine a password p => https://a/":                                                                                          ":p",              // only a password
		"machine a login u => https://a/":                                                                                             "u:",              // only a user
		"machine a account x\ndefault login v password q => https://a/":                                                               "",                // nothing
		"machine a password p account x port 5 login u => https://a/":                                                                 "u:p",             // any order, more words
		"# machine a login x password y\nmachine a # login z\n login u password p # x => https://a/":                                  "u:p",             // comments
		"machine a login u password #p => https://a/":                                                                                 "u:#p",            // password that looks like a comment
		"machine a login machine password default => https://a/":                                                                      "machine:default", // password that is a keyword
		"macdef init\nmachine a login x password y\ncd /\n\nmachine a login u password p => https://a/":                               "u:p",             // macro
		"machine a login u password p\nmacdef init\r\nmachine b login x password y\r\n\r\nmachine b login v password q => https://b/": "v:q",             // macro in an entry
		"machine a login u password p\nmacdef init\nmachine b login x password y\n => https://b/":                                     "",                // macro that doesn't end
		"login u password p machine a => https://a/":                                                                                  "",                // words before the first machine
		"machine => https://a/":                    "",    // machine without a name
		"machine a login u password => https://a/": "u:",  // password without a value
		"default login u password p => https:///x": "u:p", // no host
	} {
		text, at, _ := strings.Cut(given, " => ")
		_, parsed, err := readNetrc(t.Context(), []string{netrcFile(t, text)})
		must.Succeed(t, err, given)
		got := ""
		if entry, ok := parsed.find(mustURL(t, at), true); ok {
			got = entry.user + ":" + entry.password
		}
		must.Equal(t, got, want, given)
	}
}

func netrcFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "netrc")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestNetrc_OnEachHop follows redirects and lists what each URL received.
func TestNetrc_OnEachHop(t *testing.T) {
	file := netrcFile(t, `
machine example.com login u password one
machine cdn.example login u password two
machine example.com:8443 login u password three
default login u password other
`)
	redirects := map[string]string{
		"https://example.com/same":      "https://example.com/archive",
		"https://example.com/cdn":       "https://cdn.example/archive",
		"https://example.com/port":      "https://example.com:8443/archive",
		"https://example.com/port2":     "https://example.com:9999/archive",
		"https://example.com/plain":     "http://example.com/archive",
		"https://example.com/stranger":  "https://stranger.example/archive",
		"https://example.com/back":      "https://stranger.example/back",
		"https://stranger.example/back": "https://example.com/archive",
	}
	for given, want := range map[string]string{ // a URL, and an Authorization of the request itself
		"https://example.com/archive":           "one",
		"https://example.com/archive Bearer x":  "Bearer x",
		"https://me:pw@example.com/archive":     "pw",
		"https://stranger.example/archive":      "other",
		"http://example.com/archive":            "-",
		"http://stranger.example/archive":       "-",
		"http://127.0.0.1/archive":              "other",
		"https://example.com/same":              "one one",
		"https://example.com/cdn":               "one two",
		"https://example.com/port":              "one three",
		"https://example.com/port2":             "one one",
		"https://example.com/plain":             "one -",
		"https://example.com/stranger":          "one -",
		"https://example.com/back":              "one - one",
		"https://example.com/stranger Bearer x": "Bearer x -",
		"https://example.com/cdn Bearer x":      "Bearer x two",
	} {
		t.Run(given, func(t *testing.T) {
			at, header, _ := strings.Cut(given, " ")
			var told []string
			client := asking(t, 0, func(req *http.Request) *http.Response {
				_, password, ok := req.BasicAuth()
				if header := req.Header.Get("Authorization"); !ok {
					password = header
				}
				if password == "" {
					password = "-"
				}
				told = append(told, password)
				bare := *req.URL
				bare.User = nil
				if to := redirects[bare.String()]; to != "" {
					return answer(req, 302, "Location", to)
				}
				return answer(req, 200)
			})
			req := get(t, at)
			if header != "" {
				req.Header.Set("Authorization", header)
			}
			closed(t)(Do(WithNetrc(client, []string{file}), req))
			must.Equal(t, strings.Join(told, " "), want)
			must.Equal(t, req.Header.Get("Authorization"), header, "the caller's request was changed")
		})
	}
}

func TestNetrc_IsReadOnceAndLate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "netrc")
	var told recorder
	client := WithNetrc(asking(t, 0, func(req *http.Request) *http.Response {
		user, _, _ := req.BasicAuth()
		told.add("[" + user + "]")
		return answer(req, 200)
	}), []string{filepath.Join(t.TempDir(), "missing"), file})
	for _, user := range []string{"first", "second"} {
		must.Succeed(t, os.WriteFile(file, []byte("machine example.com login "+user+" password p"), 0o600))
		closed(t)(client.Do(get(t, "https://example.com/")))
	}
	must.Equal(t, told.all(), "[first] [first]")
}

func TestNetrc_WithoutAFileChangesNothing(t *testing.T) {
	client := asking(t, 0, func(req *http.Request) *http.Response {
		must.Equal(t, req.Header.Get("Authorization"), "")
		return answer(req, 200)
	})
	for _, file := range []string{filepath.Join(t.TempDir(), "missing"), filepath.Join(netrcFile(t, ""), ".netrc")} { // the home is a file
		closed(t)(WithNetrc(client, []string{file}).Do(get(t, "https://example.com/")))
	}
}

func TestNetrc_ThatCannotBeRead(t *testing.T) {
	big := netrcFile(t, strings.Repeat("machine example.com password hunter2\n", netrcBytes/30))
	for _, path := range []string{t.TempDir(), big} {
		_, err := Do(WithNetrc(newClient(t, quick(0, failing(errors.New("the request was made")))), []string{path}), get(t, "https://example.com/"))
		if err == nil || !strings.Contains(err.Error(), path) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "was made") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestNetrc_KeepsTheClient(t *testing.T) {
	client := WithNetrc(nil, nil)
	if http.DefaultClient.Transport != nil || client == http.DefaultClient {
		t.Error("the default client was changed")
	}
	given := newClient(t, quick(0))
	before := given.Transport
	client = WithNetrc(given, nil)
	if given.Transport != before || client.CheckRedirect == nil {
		t.Error("the client was changed, or isn't a copy")
	}
	if _, ok := client.Transport.(interface{ CloseIdleConnections() }); !ok {
		t.Error("CloseIdleConnections doesn't reach the transport")
	}
}

func TestNetrc_IsNeverPrinted(t *testing.T) {
	const secret = "tHisIsTheP4ssword"
	client := WithNetrc(asking(t, 0, func(req *http.Request) *http.Response { return answer(req, 200) }), []string{netrcFile(t, "machine example.com login u password "+secret)})
	closed(t)(client.Do(get(t, "https://example.com/")))
	mustConceal(t, client, secret)
	mustConceal(t, client.Transport, secret)
}

func FuzzParseNetrc(f *testing.F) {
	for _, seed := range []string{"", "machine a login u password p", "default login u password p", "macdef x\n\n\nmachine a", "# x\nmachine", "machine \x00 login \xff", "account"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed := parseNetrc(text)
		for _, e := range parsed {
			for _, word := range []string{e.machine, e.user, e.password} {
				if strings.ContainsAny(word, netrcSpace) || !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
					t.Fatalf("odd word %q", word)
				}
			}
		}
		if _, ok := parsed.find(&url.URL{Scheme: "https", Host: "nobody.example"}, false); ok && !strings.Contains(strings.ToLower(text), "nobody.example") {
			t.Error("a login for a host that isn't there")
		}
	})
}

func TestNetrcMachines_ListsNoLogins(t *testing.T) {
	missing, file := filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "netrc")
	must.Write(t, file, "machine A.example login u password secret\ndefault login u password secret\n")
	for want, files := range map[string][]string{file + `: ["a.example" ""]`: {missing, file, missing}, ": []": {missing}} {
		found, machines, err := NetrcMachines(t.Context(), files)
		must.Succeed(t, err)
		must.Equal(t, fmt.Sprintf("%s: %q", found, machines), want)
	}
}
