package cliconfig

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// User is whose files and variables count, and on which system.
type User struct {
	Environ []string // as os.Environ returns it; nil: no variables
	HomeDir string   // "": not known, so that nothing is looked for there
	GOOS    string   // as runtime.GOOS, which "" stands for
}

// Getenv returns the value of a variable, "" if it isn't set. The last of
// several entries counts; on Windows the case of names doesn't matter.
func (u User) Getenv(name string) string {
	for _, entry := range slices.Backward(u.Environ) {
		key, value, ok := strings.Cut(entry, "=")
		if ok && (key == name || u.goos() == "windows" && strings.EqualFold(key, name)) {
			return value
		}
	}
	return ""
}

func (u User) goos() string {
	return cmp.Or(u.GOOS, runtime.GOOS)
}

// NetworkOptions is what [Config.Network] needs beside the configuration. The
// zero value works: hosts are asked with the tokens of the configuration.
type NetworkOptions struct {
	// Client is for registries and mirrors, and the bottom of the one for
	// packages; nil: one of hosts.NewClient, which tries a failed request again.
	Client *http.Client

	// User has tokens in variables (TF_TOKEN_...) and a .netrc, and it is in the
	// user's directory that the program of a credentials_helper block lies.
	User User

	// SameHost lets the token of a registry or a mirror go to packages that lie
	// on the same host, too.
	SameHost bool

	// OfflineBy is what forbids requests, such as "-offline", as errors name it.
	// If it isn't "", the clients refuse to send anything, no program is asked
	// for tokens, and Client is not used.
	OfflineBy string
}

// Network is how hosts are reached. A program makes one for all that it asks
// for, so that connections are shared, and a host is asked once what it offers.
type Network struct {
	Client      *http.Client      // for registries and mirrors
	Archives    *http.Client      // for packages, as in providercache.Installer; it sends what .netrc says
	Credentials hosts.Credentials // of variables, then of the configuration, then of the helper; nil: none
	Discovery   *hosts.Discovery  // knows what host blocks say
	Aliases     hosts.Aliases     // hosts that others stand for, in Credentials and Discovery; set before the first request
	OfflineBy   string            // as in NetworkOptions

	sources *par.Memo[string, getproviders.Source] // that were made already; nil: they are made each time
}

// SharingSources returns the network, whose sources are made once for all that is asked from now on, for one product: what one of them
// has been told is known to the next. A program that lives long makes its sources again, and has what they remember forgotten.
func (n Network) SharingSources() Network {
	n.sources = new(par.Memo[string, getproviders.Source])
	return n
}

// source makes the source of a place, or returns the one that was made before: it knows what it was asked.
func (n Network) source(place string, make func() getproviders.Source) getproviders.Source {
	if n.sources == nil {
		return make()
	}
	made, _ := n.sources.Do(context.Background(), place, func(context.Context) (getproviders.Source, error) { return make(), nil })
	return made
}

// Network makes the clients and credentials that the configuration asks for. It
// sends nothing, and starts no program.
//
// A credentials helper that isn't there is a warning, as the tokens may not be
// needed. If one of the problems is an error, the Network can't be used.
func (c *Config) Network(o NetworkOptions) (Network, []Problem) {
	aliases := hosts.Aliases{}
	if o.OfflineBy != "" {
		client := hosts.NewOfflineClient(o.OfflineBy)
		return Network{
			Client: client, Archives: client, OfflineBy: o.OfflineBy, Aliases: aliases,
			Discovery: &hosts.Discovery{Client: client, Forced: c.Hosts, Aliases: aliases},
		}, nil
	}
	client := o.Client
	if client == nil {
		var err error
		if client, err = hosts.NewClient(hosts.ClientOptions{Retries: 1}); err != nil {
			return Network{}, []Problem{{Summary: "Can't make an HTTP client", Detail: err.Error()}}
		}
	}
	credentials, problems := c.credentials(o.User)
	credentials = hosts.WithAliases(credentials, aliases)
	archives := hosts.WithNetrc(client, hosts.NetrcFiles(o.User.Getenv, o.User.HomeDir, o.User.goos()))
	if o.SameHost {
		archives = hosts.WithArchiveCredentials(archives, credentials)
	}
	return Network{
		Client: client, Archives: archives, Credentials: credentials, Aliases: aliases,
		Discovery: &hosts.Discovery{Client: client, Credentials: credentials, Forced: c.Hosts, Aliases: aliases},
	}, problems
}

// credentials are the user's tokens, in the order in which they count.
func (c *Config) credentials(user User) (hosts.Credentials, []Problem) {
	known := []hosts.Credentials{hosts.EnvTokens(user.Environ), c.Tokens}
	if c.Helper == nil {
		return hosts.FirstOf(known...), nil
	}
	exe, err := user.FindHelper(c.Helper.Name)
	if err != nil {
		return hosts.FirstOf(known...), []Problem{{
			Warning: true, Code: "credentials_helper_not_found",
			Summary: "Credentials helper not found",
			Detail: fmt.Sprintf("The CLI configuration asks for a credentials helper, and there is %v."+
				" Requests go without the tokens that it may know.", err),
		}}
	}
	return hosts.FirstOf(append(known, hosts.NewHelperTokens(exe, c.Helper.args, user.Environ))...), nil
}

// FindHelper returns the program of a credentials helper that is in the directories in which Terraform looks for them, without
// starting it: the one with the newest version; of equal ones that of the first directory. Names are compared without regard to
// case. If there is none that is an error, which the real tool writes to its log, and goes on without a helper.
func (u User) FindHelper(name string) (exe string, err error) {
	return findHelper(name, u.helperDirs(getproviders.CurrentPlatform()))
}

// helperDirs are those in which Terraform looks for the programs of credentials helpers.
func (u User) helperDirs(platform getproviders.Platform) []string {
	if u.configDir() == "" {
		return nil
	}
	plugins := filepath.Join(u.configDir(), "plugins")
	return []string{plugins, filepath.Join(plugins, platform.String())}
}

const helperPrefix = "terraform-credentials-"

func findHelper(name string, dirs []string) (exe string, err error) {
	var newest *version.Version
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what can't be read has no helper for us
		for _, entry := range entries {
			found := helperFile(entry.Name(), name, runtime.GOOS)
			if found == nil || newest != nil && found.LessThanOrEqual(newest) {
				continue
			}
			path := dir + string(filepath.Separator) + entry.Name() // exec would look for a bare name in PATH
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				exe, newest = path, found
			}
		}
	}
	if exe == "" {
		return "", &hosts.Fault{ID: "credentials_helper_not_found", Err: fmt.Errorf("no program for the credentials helper %q: there is no %s in %s",
			name, helperPrefix+name, cmp.Or(strings.Join(dirs, " or "), "any directory"))}
	}
	return exe, nil
}

// helperFile is the version of a helper whose file has this name, 0 if the name has none; nil: it is another file.
// Windows runs only what ends in ".exe"; elsewhere that doesn't matter.
func helperFile(file, name, goos string) *version.Version {
	stem, isExe := strings.CutSuffix(strings.ToLower(file), ".exe")
	rest, ok := strings.CutPrefix(stem, helperPrefix+strings.ToLower(name))
	if !ok || goos == "windows" && !isExe {
		return nil
	}
	text, ok := strings.CutPrefix(cmp.Or(rest, "_v0"), "_v")
	text, _, _ = strings.Cut(text, "_x") // of a protocol that plugins had once
	found, err := version.NewSemver(text)
	if err != nil || !ok {
		return nil
	}
	return found
}
