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

// User is the user whose files and environment variables are read, and the operating system.
type User struct {
	Environ []string // as os.Environ returns it; nil means no variables
	HomeDir string   // "" if unknown: then no files are read there
	GOOS    string   // as runtime.GOOS, which is the default
}

// Getenv returns the value of a variable, or "" if it isn't set. The last of several entries
// counts; on Windows names are compared without regard to case.
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

// NetworkOptions are the parameters of [Config.Network]. The zero value works: requests have the
// tokens of the configuration.
type NetworkOptions struct {
	// Client is for registries and mirrors, and the base of the client for packages; nil means one
	// that tries a failed request once more.
	Client *http.Client

	// User has tokens in variables (TF_TOKEN_...) and a .netrc, and a directory with the programs
	// of credentials_helper blocks.
	User User

	// SameHost sends the token of a registry or a mirror with requests for packages on the same
	// host, too.
	SameHost bool

	// OfflineBy is the name of what forbids requests, for errors, such as "-offline". If it isn't
	// "", the clients refuse all requests, no credentials helper is started, and Client isn't used.
	OfflineBy string
}

// Network has the clients and credentials for all hosts. A program should make one and share it, so
// that connections are reused and service discovery asks each host once.
type Network struct {
	Client      *http.Client      // for registries and mirrors
	Archives    *http.Client      // for packages, as in providercache.Installer; it sends the credentials of .netrc
	Credentials hosts.Credentials // from variables, then the configuration, then the helper; nil means none
	Discovery   *hosts.Discovery  // has the services of host blocks
	Aliases     hosts.Aliases     // other names of hosts in Credentials and Discovery; set them before the first request
	OfflineBy   string            // as in NetworkOptions

	sources *par.Memo[string, getproviders.Source] // the sources made so far; nil means that they aren't shared
}

// SharingSources returns a network whose sources are made once and share their caches, for one product. A long-lived program calls it
// again to drop the cached answers.
func (n Network) SharingSources() Network {
	n.sources = new(par.Memo[string, getproviders.Source])
	return n
}

// source returns the shared source of a place, and makes it at the first call.
func (n Network) source(place string, make func() getproviders.Source) getproviders.Source {
	if n.sources == nil {
		return make()
	}
	made, _ := n.sources.Do(context.Background(), place, func(context.Context) (getproviders.Source, error) { return make(), nil })
	return made
}

// Network makes the clients and credentials that the configuration asks for. It sends no request
// and starts no program.
//
// A missing credentials helper is a warning, because its tokens may not be needed. If one of the
// problems is an error, the Network can't be used.
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

// credentials returns the user's tokens in their order of precedence.
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

// FindHelper returns the program of a credentials helper in Terraform's directories for them, without starting it: the newest
// version; of equal versions that of the first directory. Names are compared without regard to case. It returns an error if no
// program is found; Terraform only logs that, and continues without a helper.
func (u User) FindHelper(name string) (exe string, err error) {
	return findHelper(name, u.helperDirs(getproviders.CurrentPlatform()))
}

// helperDirs returns Terraform's directories for the programs of credentials helpers.
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
		entries, _ := os.ReadDir(dir) // an unreadable directory has no helper
		for _, entry := range entries {
			found := helperFile(entry.Name(), name, runtime.GOOS)
			if found == nil || newest != nil && found.LessThanOrEqual(newest) {
				continue
			}
			path := dir + string(filepath.Separator) + entry.Name() // exec would search PATH for a bare name
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

// helperFile returns the version of a helper in a file with this name, 0 if the name has no version, or nil if it
// is another file. Only Windows requires the suffix ".exe".
func helperFile(file, name, goos string) *version.Version {
	stem, isExe := strings.CutSuffix(strings.ToLower(file), ".exe")
	rest, ok := strings.CutPrefix(stem, helperPrefix+strings.ToLower(name))
	if !ok || goos == "windows" && !isExe {
		return nil
	}
	text, ok := strings.CutPrefix(cmp.Or(rest, "_v0"), "_v")
	text, _, _ = strings.Cut(text, "_x") // the suffix of an old plugin protocol
	found, err := version.NewSemver(text)
	if err != nil || !ok {
		return nil
	}
	return found
}
