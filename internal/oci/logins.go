package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Logins finds credentials as OpenTofu does: in blocks of its CLI configuration, and in the files of Docker and
// Podman. The most specific login has precedence: that of the longest path, then that of the host, then a helper for
// all hosts; the first of equal ones. The zero value has none. Many goroutines may use it; don't change its fields
// after the first use.
type Logins struct {
	Blocks []LoginBlock
	// Helper is the name of the helper for all other hosts; "" means none.
	Helper string
	// Files are the files to read, which must exist; nil means the default files that exist, if Ambient is set.
	Files   []string
	Ambient bool
	// Environ and HomeDir determine the default files for the system GOOS, or for this one if that is "". Helpers get
	// Environ; nil means the environment of this process.
	Environ []string
	HomeDir string
	GOOS    string

	read  par.Memo[struct{}, []dockerConfig]
	asked par.Memo[[2]string, Login]
}

// LoginBlock has the credentials for a host, or for the repositories below a path of it.
type LoginBlock struct {
	Prefix string // HOST, or HOST/PATH
	Login  Login
	Helper string // replaces Login; "" means Login
}

// candidate is a possible login.
type candidate struct {
	precise int // 0: doesn't match; 1: for all hosts; 2: for the host; more: by the number of path parts
	login   Login
	helper  string
	err     error
}

// Find returns the login for a repository, or the zero Login. It starts a helper if the configuration says so.
// Errors have no secrets.
func (l *Logins) Find(ctx context.Context, r Repository) (Login, error) {
	all := []candidate{{}}
	for _, b := range l.Blocks {
		all = append(all, candidate{precise: precision(b.Prefix, r), login: b.Login, helper: b.Helper})
	}
	if l.Helper != "" {
		all = append(all, candidate{precise: 1, helper: l.Helper})
	}
	files, err := l.read.Do(ctx, struct{}{}, func(context.Context) ([]dockerConfig, error) { return l.readFiles() })
	if err != nil {
		return Login{}, err
	}
	for _, file := range files {
		all = append(all, file.candidates(r)...)
	}
	best := slices.MaxFunc(all, func(a, b candidate) int { return a.precise - b.precise }) // the first of equal ones
	switch {
	case best.err != nil:
		return Login{}, best.err
	case best.helper == "":
		return best.login, nil
	}
	return l.asked.Do(ctx, [2]string{best.helper, r.Registry}, func(ctx context.Context) (Login, error) { return l.askHelper(ctx, best.helper, r.Registry) })
}

// precision returns how specific HOST or HOST/PATH is for a repository; 0 if it doesn't match.
func precision(prefix string, r Repository) int {
	host, path, deep := strings.Cut(prefix, "/")
	switch {
	case prefix == "" || host != r.Registry:
		return 0
	case !deep:
		return 2
	case path == r.Name || path != "" && strings.HasPrefix(r.Name, path+"/"):
		return 3 + strings.Count(path, "/")
	}
	return 0
}

// dockerConfig is a configuration file of Docker or Podman.
type dockerConfig struct {
	path  string
	Auths map[string]*struct {
		Auth []byte `json:"auth"`
	} `json:"auths"`
	CredHelpers map[string]string `json:"credHelpers"`
	CredsStore  string            `json:"credsStore"`
}

// maxDockerConfig is the largest such file that is read.
const maxDockerConfig = 4 << 20

// readFiles reads the files. It skips unreadable default files.
func (l *Logins) readFiles() (all []dockerConfig, err error) {
	paths, named := l.Files, l.Files != nil
	if !named && l.Ambient {
		paths = l.usualFiles()
	}
	for _, path := range paths {
		config := dockerConfig{path: path}
		content, err := wholefile.Read(path, maxDockerConfig)
		if err == nil {
			if json.Unmarshal(content, &config) != nil { // the decoder's error may repeat a secret
				err = errors.New("it isn't the JSON of Docker's configuration")
			}
		}
		switch {
		case err == nil:
			all = append(all, config)
		case named && errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("the credentials for OCI registries: there is no file %s", path)
		case named:
			return nil, fmt.Errorf("the credentials for OCI registries in %s: %w", path, err)
		}
	}
	return all, nil
}

// usualFiles returns the default files of Podman, and then of Docker.
func (l *Logins) usualFiles() (paths []string) {
	goos := cmp.Or(l.GOOS, runtime.GOOS)
	getenv := func(name string) string { return subprocess.Variable(l.Environ, name) }
	add := func(dir string, names ...string) {
		if dir != "" {
			paths = append(paths, filepath.Join(dir, filepath.Join(names...)))
		}
	}
	if goos == "linux" {
		add(getenv("XDG_RUNTIME_DIR"), "containers", "auth.json")
	}
	if goos == "darwin" || goos == "windows" {
		add(l.HomeDir, ".config", "containers", "auth.json")
	}
	if config := getenv("XDG_CONFIG_HOME"); config != "" {
		add(config, "containers", "auth.json")
	} else {
		add(l.HomeDir, ".config", "containers", "auth.json")
	}
	add(l.HomeDir, ".docker", "config.json")
	add(l.HomeDir, ".dockercfg")
	return paths
}

// candidates returns a file's logins for a repository.
func (d dockerConfig) candidates(r Repository) (all []candidate) {
	for prefix, auth := range d.Auths {
		precise := precision(prefix, r)
		if precise == 0 || auth == nil || len(auth.Auth) == 0 {
			continue
		}
		c := candidate{precise: precise}
		var ok bool
		if c.login.Username, c.login.Password, ok = strings.Cut(string(auth.Auth), ":"); !ok {
			c.err = fmt.Errorf("the entry %q of %s has no username and password", prefix, d.path)
		}
		all = append(all, c)
	}
	if helper := d.CredHelpers[r.Registry]; helper != "" {
		all = append(all, candidate{precise: 2, helper: helper})
	}
	if d.CredsStore != "" {
		all = append(all, candidate{precise: 1, helper: d.CredsStore})
	}
	return all
}

const (
	// helperKnowsNothing is the output of a helper that has no login for the host.
	helperKnowsNothing = "credentials not found in native keychain"
	// helperToken is the username if the secret is a token.
	helperToken = "<token>"
	// helperBytes is how much of a helper's output is kept, far more than any login needs.
	helperBytes = 1 << 20
)

// askHelper starts a Docker credential helper. It returns the zero Login if the helper has none for the
// host.
func (l *Logins) askHelper(ctx context.Context, name, host string) (Login, error) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return Login{}, fmt.Errorf("%.100q can't be the name of a credential helper of Docker's", name)
	}
	said, complaint := &subprocess.Head{Limit: helperBytes}, &subprocess.Head{Limit: helperBytes}
	cmd, err := subprocess.Command(ctx, l.Environ, "", "docker-credential-"+name, "get")
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("https://"+host), said, complaint
		err = cmd.Run()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	var found struct{ Username, Secret string }
	answer := said.Printable()
	switch {
	case ctx.Err() != nil:
		return Login{}, context.Cause(ctx)
	case err != nil && answer == helperKnowsNothing:
		return Login{}, nil
	case err != nil:
		if strings.Contains(answer, "{") { // it may hold a secret; otherwise it says why the helper failed
			answer = ""
		}
		err = fmt.Errorf("%w: %.1000s", err, strings.TrimSpace(answer+" "+complaint.Printable()))
	case json.Unmarshal(said.Kept, &found) != nil: // the decoder's error may repeat a secret
		err = errors.New("its answer is not a JSON object")
	}
	if err != nil {
		return Login{}, fmt.Errorf("%w: the credential helper docker-credential-%s failed for %s: %w", hosts.ErrUnauthorized, name, host, err)
	}
	if found.Username == helperToken {
		return Login{RefreshToken: found.Secret}, nil
	}
	return Login{Username: found.Username, Password: found.Secret}, nil
}
