package git

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// serve lets git's own server program serve a repository over HTTPS, and returns its URL. The bench
// trusts its certificate.
func serve(tb testing.TB, o *origin, b *bench, wrap func(http.Handler) http.Handler) (server *providertest.Server, url string) {
	tb.Helper()
	needShell(tb) // else git http-backend isn't a CGI program
	var handler http.Handler = &cgi.Handler{
		Path: o.program, Args: []string{"http-backend"}, Dir: o.dir, Stderr: tb.Output(),
		Env: append([]string{"GIT_PROJECT_ROOT=" + o.dir, "GIT_HTTP_EXPORT_ALL=1"}, o.environ...),
	}
	if wrap != nil {
		handler = wrap(handler)
	}
	server = must.Get(providertest.NewServer(providertest.ServerOptions{Handler: handler}))(tb)
	tb.Cleanup(server.Close)
	ca := filepath.Join(b.work, "ca.pem")
	must.Write(tb, ca, server.CAPEM())
	b.Environ = append(b.Environ, "GIT_SSL_CAINFO="+ca)
	return server, server.BaseURL() + "/.git"
}

// configure writes the user's configuration.
func (b *bench) configure(text string) {
	b.tb.Helper()
	must.Write(b.tb, subprocess.Variable(b.Environ, "GIT_CONFIG_GLOBAL"), text)
}

// Some servers send a commit to which no ref points, and others don't.
func TestCheckout_ServersOfAllKinds(t *testing.T) {
	t.Parallel()
	for n, c := range []struct {
		name   string
		client string // its configuration
		server string // a setting of the repository that is on
		dumb   bool
		alone  int // fetches for a commit inside a branch
	}{
		{name: "second protocol", alone: 1},
		{name: "first protocol, refusing", client: "[protocol]\n\tversion = 0\n", alone: 2},
		{name: "first protocol, allowing", client: "[protocol]\n\tversion = 0\n", server: "uploadpack.allowReachableSHA1InWant", alone: 1},
		{name: "files only", dumb: true, alone: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, ids, b := parallelBench(t)
			b.count()
			if c.server != "" {
				o.git("config", c.server, "true")
			}
			o.git("tag", "-d", "dev") // so that no ref is dev1
			o.git("update-server-info")
			_, url := serve(t, o, b, func(h http.Handler) http.Handler {
				if c.dumb {
					return http.FileServer(http.Dir(o.dir))
				}
				return h
			})
			b.configure(c.client)
			for i, r := range []struct {
				ref, want string
				fetches   int
			}{{ids["dev1"], "dev1", c.alone}, {"v1.0.0", "main2", 1}, {"", "main3", 1}, {"only/branch", "branch2", 1}, {"only/branch~1", "branch1", 1}} {
				if i > 0 && i%4 != n && !peertest.All() {
					continue
				}
				fresh := newBench(t)
				fresh.Environ, fresh.Program, fresh.log = b.Environ, b.Program, b.log
				fresh.finds(Request{URL: url}, ids, map[string]string{r.ref: r.want})
				if runs := b.runs(); runs["fetch"] > 2 || !c.dumb && runs["fetch"] != r.fetches || runs["ls-remote"] > 1 {
					t.Errorf("ref %q: %v", r.ref, runs)
				}
				fresh.again().files(Request{URL: url, Ref: ids[r.want]})
				must.Equal(t, b.runs()["all"], 2, "ref, later", r.ref)
			}
		})
	}
}

func TestCheckout_LoginIsUsedAndNotShown(t *testing.T) {
	o, ids, b := parallelBench(t)
	_, url := serve(t, o, b, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if _, password, ok := req.BasicAuth(); !ok || password != "s3cret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, req)
		})
	})
	with := func(login string) string { return strings.Replace(url, "https://", "https://"+login+"@", 1) }
	for _, req := range []Request{{URL: url}, {URL: with("user:wr0ng")}, {URL: with("wr0ng")}, {URL: with("user:wr0ng") + "?x=wr0ng", Ref: "v1.0.0"}} {
		err := b.refused(req)
		must.Fail(t, err, ErrUnreachable, req.URL)
		must.NotContain(t, err.Error(), "wr0ng", req.URL)
	}
	commit, _ := b.files(Request{URL: with("user:s3cret"), Ref: "v1.0.0"})
	must.Equal(t, commit, ids["main2"])
	if commit, _ := b.files(Request{URL: with("other"), Ref: "v1.0.0", Commit: ids["main2"]}); commit != ids["main2"] {
		t.Errorf("with another login the store is another one")
	}
	must.Succeed(t, filepath.WalkDir(b.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		must.NotContain(t, string(content), "s3cret", path)
		must.NotContain(t, string(content), "wr0ng", path)
		return err
	}))
}

// A repository on the network can't make git check out files of this machine.
func TestCheckout_SubmoduleOfARemoteRepositoryMayNotBeLocal(t *testing.T) {
	t.Parallel()
	secret := newOrigin(t)
	commit := secret.commit("password", "x")
	for _, url := range peertest.FirstIfShort(1, secret.url(), secret.dir, "file://localhost"+strings.TrimPrefix(secret.url(), "file://")) {
		o := newOrigin(t)
		o.addSubmodule("sub", url, commit)
		b := newBench(t)
		_, remote := serve(t, o, b, nil)
		b.configure("[protocol \"file\"]\n\tallow = always\n")
		must.Fail(t, b.refused(Request{URL: remote}), ErrAddress, url)
	}
	// Other settings of git in the user's configuration apply.
	o := newOrigin(t)
	o.addSubmodule("sub", "https://example.com/x", commit)
	b := newBench(t)
	_, remote := serve(t, o, b, nil)
	b.configure("[url \"file://" + peertest.ScriptPath(secret.dir) + "\"]\n\tinsteadOf = https://example.com/x\n")
	must.Contain(t, b.refused(Request{URL: remote}), "transport 'file' not allowed", "through a rewritten URL")
}

func TestCheckout_CancelEndsGitAndWhatItStarted(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.Dir = ""
	arrived, left := make(chan struct{}), make(chan struct{})
	_, url := serve(t, o, b, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPost { // of the helper that git fetch has started
				close(arrived)
				<-req.Context().Done()
				close(left)
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(w, req)
		})
	})
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(why)
	}()
	_, _, err := b.checkout(ctx, Request{URL: url, Ref: ids["main1"]})
	if !errors.Is(err, why) || errors.Is(err, ErrUnreachable) {
		t.Errorf("error %v", err)
	}
	<-left
	must.Fail(t, must.ErrorOf(b.checkout(ctx, Request{URL: url})), why, "after the end")
}

// A script replaces ssh: it prints its arguments, and serves the repository.
func TestCheckout_KeyIsGivenToSSHAndRemoved(t *testing.T) {
	needShell(t)
	o, ids, b := parallelBench(t)
	log := filepath.Join(b.work, "ssh-log")
	to := peertest.ScriptPath(log)
	ssh := script(t, filepath.Join(b.work, "an ssh"), `
		printf '%s\n' "$*" >>'`+to+`'
		while [ $# -gt 1 ]; do
			if [ "$1" = -i ]; then ls -l "$2" >>'`+to+`'; cat "$2" >>'`+to+`'; fi
			shift
		done
		eval "$1"`)
	b.Environ = append(b.Environ, "GIT_SSH_COMMAND='"+peertest.ScriptPath(ssh)+"' -o MyOption", "GIT_SSH_VARIANT=ssh")
	req := Request{URL: "ssh://git@example.com" + peertest.ScriptPath(o.dir), Ref: "v1.0.0", SSHKey: []byte("THE KEY\n")}
	commit, _ := b.files(req)
	must.Equal(t, commit, ids["main2"])
	content := must.Get(os.ReadFile(log))(t)
	said, mode := string(content), "-rw------- "
	if runtime.GOOS == "windows" { // which has no modes
		mode = "-rw-"
	}
	if strings.Count(said, "THE KEY") != 2 || strings.Count(said, "-o MyOption -i ") != 2 || strings.Count(said, mode) != 2 {
		t.Errorf("ssh was given:\n%s", said)
	}
	for _, word := range strings.Fields(said) {
		if _, err := os.Stat(word); err == nil && strings.Contains(word, scratch.Prefix) && filepath.Base(word) == "key" {
			t.Errorf("%s is still there", word)
		}
	}
	must.Get(b.Checkout(t.Context(), Request{URL: "git@example.com:" + peertest.ScriptPath(o.dir), Ref: "v1.0.0"}, filepath.Join(b.work, "scp")))(t)
	content, _ = os.ReadFile(log)
	must.Equal(t, strings.Count(string(content), "THE KEY"), 2, "a request without a key has used that of another one")
}

func TestCheckout_FailuresSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	o.commit("f", "x")
	for _, c := range []struct {
		name   string
		change func(*bench)
		req    Request
		want   error
		says   string
	}{
		{"no such repository", nil, Request{URL: o.url() + "/no"}, ErrUnreachable, "does not appear to be a git repository"},
		{"no such repository, by commit", nil, Request{URL: o.url() + "/no", Ref: strings.Repeat("a", 40)}, ErrUnreachable, "does not appear to be a git repository"},
		{"no such host", nil, Request{URL: "https://u:s3cret@nowhere.invalid/a", Ref: "v1"}, ErrUnreachable, `https://nowhere.invalid/a, ref "v1"`},
		{"no such ref", nil, o.at("v9"), ErrNotFound, `the repository has no ref "v9"`},
		{"no git on PATH", func(b *bench) { b.Environ = []string{"PATH=" + b.work} }, o.at(""), ErrNoProgram, "install it"},
		{"git in a relative directory", func(b *bench) { b.Environ = []string{"PATH=."} }, o.at(""), ErrNoProgram, "install it"},
		{"no environment", func(b *bench) { b.Environ = nil }, o.at(""), ErrNoProgram, "install it"},
		{"no such program", func(b *bench) { b.Program = filepath.Join(b.work, "none") }, o.at(""), ErrNoProgram, "none"},
		{"offline", func(b *bench) { b.Offline = true }, o.at(""), ErrOffline, "offline"},
	} {
		b := newBench(t)
		if c.change != nil {
			c.change(b)
		}
		err := b.refused(c.req)
		var whole *getproviders.Fault
		if !errors.Is(err, c.want) || !errors.As(err, &whole) || whole.Source == "" || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
