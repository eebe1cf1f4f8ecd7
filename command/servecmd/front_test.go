package servecmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// allows reports whether a request with this header is let in.
func (t *tokenFile) allows(header string) bool {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", header)
	return t.allow(r)
}

func TestTokenFile_IsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	write := func(content string, at time.Time) {
		t.Helper()
		must.Write(t, path, content)
		must.Succeed(t, os.Chtimes(path, at, at))
	}
	file := &tokenFile{path: path, log: quiet}
	must.Refuse(file.read())(t, "there is no file, and no error")
	write("# no token\n\n", time.Unix(1, 0))
	must.Refuse(file.read())(t, "there is no token, and no error")
	write("# of ci\n one \ntwo\n", time.Unix(2, 0))
	must.Get(file.read())(t)
	for header, want := range map[string]bool{"Bearer one": true, "bearer two": true, "Bearer three": false, "Bearer ": false, "Basic one": false, "Basic eDpvbmU=": true, "Basic b25lOng=": false, "": false, "Bearer # of ci": false} {
		must.Equal(t, file.allows(header), want, header, !want)
	}
	write("three\n", time.Unix(3, 0))
	if file.allows("Bearer one") || !file.allows("Bearer three") {
		t.Error("the file isn't read again when it has changed")
	}
}

// TestTokenFile_LetsNobodyInByWhatWasThere: a removed token must not work, because it was probably stolen.
func TestTokenFile_LetsNobodyInByWhatWasThere(t *testing.T) {
	const stolen = "stolen\n"
	takes := map[string]func(path string) error{
		"deleted":     os.Remove,
		"a directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a link":      func(path string) error { return errors.Join(os.Remove(path), os.Symlink("nowhere", path)) },
	}
	for name, content := range map[string]string{
		"emptied": "", "too large": stolen + strings.Repeat("#", tokenBytes), "no token": "# none\n", "another": "tokens\n",
		"commented": "#" + stolen, "in two": "sto\nlen", "one of two": "#\nkept\n",
	} {
		takes[name] = func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for name, take := range takes {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens")
			at := time.Unix(1, 0) // the clock of a file system may tick once in two seconds
			file := &tokenFile{path: path, log: quiet}
			give := func() {
				t.Helper()
				must.Succeed(t, errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte(stolen), 0o600), os.Chtimes(path, at, at)))
				if !file.allows("Bearer stolen") {
					t.Fatal("the token of the file isn't allowed")
				}
			}
			give()
			if err := take(path); err != nil {
				t.Skip(err) // symbolic links need a privilege on Windows
			}
			_ = os.Chtimes(path, at, at)
			if file.allows("Bearer stolen") {
				t.Error("the token is allowed that was in the file")
			}
			give()
		})
	}
}

func TestSigningKey_IsTheSameForAllServersOfABucket(t *testing.T) {
	dir := t.TempDir()
	one, err := signingKey(t.Context(), blob.NewDirectory(dir))
	must.Succeed(t, err)
	must.Len(t, one, 32)
	if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(keyName))); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v, %v", info.Mode(), err)
	}
	must.EqualSlices(t, one, must.Get(signingKey(t.Context(), blob.NewDirectory(dir)))(t))
	if other, err := signingKey(t.Context(), blob.NewDirectory(t.TempDir())); err != nil || slices.Equal(one, other) {
		t.Errorf("another bucket has the same key: %v", err)
	}
}

// address is where a listener is: an IP address, or a path.
type address string

func (a address) addr() net.Addr {
	if ip := net.ParseIP(string(a)); ip != nil {
		return &net.TCPAddr{IP: ip, Port: 80}
	}
	return &net.UnixAddr{Name: string(a), Net: "unix"}
}

// addresses says whether other machines can reach each address.
var addresses = map[address]bool{"0.0.0.0": true, "::": true, "192.0.2.1": true, "127.0.0.1": false, "::1": false, "/run/serve.sock": false}

// running runs a server until end is called, which returns the server's error.
func running(t *testing.T, serve func(context.Context) error) (end func() error) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx) }()
	return func() error {
		stop()
		return <-ended
	}
}

// TestServeUntil_AnswersWhatItHasBegun: a request that runs when the server shuts down is answered, and no further one.
func TestServeUntil_AnswersWhatItHasBegun(t *testing.T) {
	t.Parallel()
	listener := loopback(t)
	begun, let := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-let
		_, _ = w.Write([]byte("all of it"))
	})}
	end := running(t, func(ctx context.Context) error {
		return serveUntil(t.Context(), server, listener, time.Minute, func(context.Context) error {
			<-ctx.Done()
			return nil
		})
	})
	ended := make(chan error, 1)
	answer := make(chan string, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get("http://" + listener.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-begun
	go func() { ended <- end() }()
	for {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break // it listens no more
		}
		conn.Close()
		time.Sleep(time.Millisecond)
	}
	close(let)
	if got, err := <-answer, <-ended; got != "all of it" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	return l
}

func TestNameOf_IsForPeople(t *testing.T) {
	must.Equal(t, nameOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443}), "127.0.0.1:443")
	must.Equal(t, nameOf(&net.TCPAddr{IP: net.IPv6zero, Port: 80}), must.Get(os.Hostname())(t)+":80")
}

// TestServe_SaysFirstWhatItLendsToWhom: the first log line says who may use the server.
func TestServe_SaysFirstWhatItLendsToWhom(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	const everyone, everyHost = "its network and the tokens", "level=WARN msg=\"the server begins, and asks every host on the internet"
	for line, want := range map[string]string{
		"-listen=0.0.0.0:0":                 everyone,
		"-listen=0.0.0.0:0 -max-size=1TB":   everyone,
		"-listen=0.0.0.0:0 -include=acme/*": "level=INFO msg=\"the server begins\" address=[::]:PORT who=everyone include=registry.terraform.io/acme/* exclude=nothing",
		"-listen=127.0.0.1:0 -include=acme/* -include=tf.example.com/*/* -exclude=acme/net": "who=\"this machine\" include=\"registry.terraform.io/acme/*, tf.example.com/*/*\" exclude=registry.terraform.io/acme/net",
		"-listen=127.0.0.1:0": everyHost,
	} {
		var out bytes.Buffer
		dir := t.TempDir()
		m := &cli.Meta{Context: ended, Stdout: io.Discard, Stderr: &out, Now: time.Now, HomeDir: dir, NewClient: hosts.NewClient}
		must.Equal(t, must.Get(run(m, append(strings.Fields(line), filepath.Join(dir, "store"))))(t), 0, line, &out)
		first, _, _ := strings.Cut(out.String(), "\n")
		first = regexp.MustCompile(`:\d+ who=`).ReplaceAllString(first, ":PORT who=")
		must.Contain(t, first, want, line)
		must.Equal(t, strings.Contains(first, "everyone who reaches this server at "), want == everyone, line, &out)
	}
}

// TestBegin_WarnsOfTheListenerThatThereIs: a socket of systemd may be public, whatever -listen says.
func TestBegin_WarnsOfTheListenerThatThereIs(t *testing.T) {
	for address, want := range addresses {
		var out bytes.Buffer
		begin(options{listen: defaultListen}, address.addr(), slog.New(slog.NewTextHandler(&out, nil)))
		must.Equal(t, strings.Contains(out.String(), "everyone who reaches"), want, address, &out)
		on, guarded := address.addr(), options{tokens: "file"}
		must.Equal(t, lends(options{}, on), want, address)
		must.Equal(t, showsTokens(guarded, on), want, address)
		if lends(guarded, on) || lends(options{include: []string{"a/b"}}, on) {
			t.Errorf("%s: what has tokens, or names its hosts", address)
		}
		if guarded.cert = "tls.crt"; showsTokens(guarded, on) || showsTokens(options{}, on) {
			t.Errorf("%s: with a certificate, or without tokens", address)
		}
	}
}

// TestBegin_WarnsOfServersForEveryHost: those with a token, too, can have such a server ask any host.
func TestBegin_WarnsOfServersForEveryHost(t *testing.T) {
	line := func(o options) string {
		var out bytes.Buffer
		begin(o, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, slog.New(slog.NewTextHandler(&out, nil)))
		return out.String()
	}
	must.Contain(t, line(options{tokens: "file"}), "level=WARN msg=\"the server begins, and asks every host")
	must.Contain(t, line(options{tokens: "file"}), "who=\"those with a token\"")
	must.Contain(t, line(options{tokens: "file", include: []string{"acme/*"}}), "level=INFO msg=\"the server begins\"")
}

// TestFresh_RemembersNothing: a source's cache is dropped after each request.
func TestFresh_RemembersNothing(t *testing.T) {
	made, broken := 0, errors.New("broken")
	var failure error
	source := fresh{&getproviders.RegistrySource{}, func() (getproviders.Source, error) {
		made++
		return &getproviders.RegistrySource{}, failure
	}}
	if one, two := source.Fresh(), source.Fresh(); one == two || made != 2 {
		t.Errorf("made %d times, want twice", made)
	}
	if failure = broken; source.Fresh() != source.Source {
		t.Error("a source that can't be made isn't the first one")
	}
}

// TestFront_EndsWhatClientsHoldUp: a client that takes nothing of an answer, or doesn't send the body that it announced, has
// no connection for ever.
func TestFront_EndsWhatClientsHoldUp(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	f := quietFront()
	f.taking = 500 * time.Millisecond // longer than a busy machine holds up one piece
	f.sending = 50 * time.Millisecond
	server := httptest.NewServer(f.logged(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			for range 5 {
				time.Sleep(120 * time.Millisecond)
				_, _ = w.Write(make([]byte, 8<<10))
			}
		}
		piece := make([]byte, 32<<10)
		for r.URL.Path == "/endless" {
			if _, err := w.Write(piece); err != nil {
				ended <- err
				return
			}
		}
	})))
	defer server.Close()
	dial := func(request string) net.Conn {
		t.Helper()
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err == nil {
			_, err = io.WriteString(conn, request)
		}
		must.Succeed(t, err)
		return conn
	}
	idle := dial("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
	defer idle.Close()
	select {
	case err := <-ended:
		must.Fail(t, err, os.ErrDeadlineExceeded)
	case <-time.After(20 * time.Second):
		t.Fatal("a client that takes nothing is never cut off")
	}
	silent := dial("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
	defer silent.Close()
	_ = silent.SetReadDeadline(time.Now().Add(20 * time.Second)) // for the failure of the test
	must.Succeed(t, must.ErrorOf(io.Copy(io.Discard, silent)), "a client without the body")
	if resp, err := server.Client().Get(server.URL + "/long"); err != nil {
		t.Error(err)
	} else {
		n, err := io.Copy(io.Discard, resp.Body)
		if resp.Body.Close(); err != nil || n != 40<<10 {
			t.Errorf("an answer that takes longer, of which all is taken: %d bytes, %v", n, err)
		}
	}
	steady := dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	defer steady.Close()
	for range 3 { // one after the other on one connection, with pauses
		must.Equal(t, must.Get(http.ReadResponse(bufio.NewReader(steady), nil))(t).StatusCode, http.StatusOK)
		time.Sleep(60 * time.Millisecond)
		must.Get(io.WriteString(steady, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	}
}

// TestFront_WaitsForWhatIsntThereYet: a request that waits for its turn, or for an upstream that pauses, isn't cut off,
// because its client isn't slow. HTTP/2 checks deadlines also when nothing is written.
func TestFront_WaitsForWhatIsntThereYet(t *testing.T) {
	t.Parallel()
	f := quietFront()
	f.taking = 500 * time.Millisecond
	server := httptest.NewUnstartedServer(f.logged(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 2 {
			time.Sleep(700 * time.Millisecond)
			_, _ = w.Write(make([]byte, 8<<10))
		}
	})))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	resp := must.Get(server.Client().Get(server.URL))(t)
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != 16<<10 || resp.ProtoMajor != 2 {
		t.Errorf("%s: %d bytes, %v", resp.Proto, n, err)
	}
}

// TestServe_BoundsConnectionsAndHeaders tests a limit of one connection with an idle one, and a
// header above the limit.
func TestServe_BoundsConnectionsAndHeaders(t *testing.T) {
	listener := loopback(t)
	at := listener.Addr().String()
	dial := func() net.Conn {
		conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", at))(t)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // for the failure of the test
		return conn
	}
	accepted := make(chan net.Conn, 10)
	server := newServer(quiet)
	server.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			accepted <- conn
		}
	}
	end := running(t, func(ctx context.Context) error {
		return serveOn(&cli.Meta{Context: ctx, Stdout: io.Discard}, options{connections: 1}, server, listener, quietFront())
	})
	silent := dial()
	<-accepted
	waiting := dial()
	defer waiting.Close()
	if _, err := fmt.Fprintf(waiting, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", 2*maxHeader)); err != nil {
		t.Log(err) // the server may have answered before it has read everything
	}
	must.Len(t, accepted, 0, "a second connection is accepted")
	silent.Close()
	must.Equal(t, must.Get(http.ReadResponse(bufio.NewReader(waiting), nil))(t).StatusCode, http.StatusRequestHeaderFieldsTooLarge, "a header that is too long")
	must.Succeed(t, end())
}

// TestLog_HasNothingThatIsObeyed puts commands for CI services and terminals into texts of a registry and of a
// client: the log of the server has none.
func TestLog_HasNothingThatIsObeyed(t *testing.T) {
	const words = "gone\n::set-output name=x::y ##vso[task.setvariable variable=PATH]/x ##teamcity[x] \u009d0;x\u009c \u202e ##[group]"
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		log := slog.New(logHandler(&cli.Meta{Stderr: &out}, options{json: asJSON}, slog.LevelInfo))
		log.Debug("nothing")
		log.Error("request failed", "error", words)
		f := newFront(log, time.Now)
		r := httptest.NewRequest(http.MethodGet, "/mirror/%23%23vso%5Btask.x%5D", nil)
		r.Header.Set("User-Agent", words)
		f.logged(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
		newServer(log).ErrorLog.Print(words)
		text := out.String()
		for _, bad := range []string{"##vso[", "##teamcity[", "##[", "\n::", "\u009d", "\u202e"} {
			must.NotContain(t, text, bad)
		}
		if lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n"); len(lines) != 3 {
			t.Errorf("%d lines: %q", len(lines), lines)
		} else if line := (struct{ Level, Error string }{}); asJSON != (json.Unmarshal([]byte(lines[0]), &line) == nil && line.Level == "ERROR" && line.Error == words) {
			t.Errorf("%q", lines[0])
		}
	}
}
