package servecmd

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/dns/dnsmessage"
)

func TestACME_RefusesWhatCantWork(t *testing.T) {
	for _, line := range []string{
		"-acme=mirror x", "-acme=mirror.example.com:443 x", "-acme=127.0.0.1 x", "-acme= x", "-acme-email=a@example.com x",
		"-acme=mirror.example.com -acme-directory=http://ca.example.com/ x", "-acme=mirror.example.com -acme-directory=directory x",
		"-acme=mirror.example.com -acme-directory=https://a:secret1@ca.example.com/ x", "-acme=mirror.example.com -acme-directory=https://ca.example.com/?key=secret1 x",
		"-acme=mirror.example.com -tls-cert=a -tls-key=b x", "-acme=mirror.example.com x -- true",
	} {
		_, err := run(&cli.Meta{Context: t.Context()}, strings.Fields(line))
		if _, ok := errors.AsType[*cli.UsageError](err); !ok || !strings.Contains(err.Error(), "-acme") || strings.Contains(err.Error(), "secret1") {
			t.Errorf("%s: %v", line, err)
		}
	}
	must.Succeed(t, (&acmeOptions{hosts: []string{"mirror.example.com", "a.example.com"}, directory: "https://ca.example.com/acme", email: "a@example.com"}).check())
}

// TestCertificates_AreForNamesAsTLSHasThem tests names with a dot at the end, which no client sends, and in other spellings.
func TestCertificates_AreForNamesAsTLSHasThem(t *testing.T) {
	t.Parallel()
	o := acmeOptions{hosts: []string{"Mirror.example.com.", "bücher.example"}}
	must.Succeed(t, o.check())
	issued := must.Get(newCertificates(o, "tests", blob.NewDirectory(t.TempDir()), quiet))(t)
	must.EqualSlices(t, issued.hosts, []string{"mirror.example.com", "xn--bcher-kva.example"})
	for _, name := range issued.hosts {
		must.Equal(t, issued.manager.HostPolicy(t.Context(), name), nil)
	}
}

func TestServeAt_NamesTheOption(t *testing.T) {
	t.Parallel()
	o := options{acme: acmeOptions{hosts: []string{"mirror.example.com"}, store: "ftp://a:secret1@bucket"}}
	err := serveAt(&cli.Meta{Context: t.Context()}, sources.Network{}, o, nil, nil, nil, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "-acme-store: ftp://bucket can't be used: it has to be s3://") {
		t.Errorf("%v", err)
	}
}

func TestKeptCertificates_AreInTheBucket(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	kept, ctx := keptCertificates{blob.NewDirectory(root)}, t.Context()
	must.Fail(t, must.ErrorOf(kept.Get(ctx, "acme_account+key")), autocert.ErrCacheMiss)
	must.Succeed(t, errors.Join(kept.Put(ctx, "acme_account+key", []byte("1")), kept.Put(ctx, "acme_account+key", []byte("2"))))
	must.Equal(t, string(must.Get(kept.Get(ctx, "acme_account+key"))(t)), "2")
	if stat, err := os.Stat(filepath.Join(root, "serve/acme/acme_account+key")); err != nil || stat.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read it: %v, %v", stat, err)
	}
	must.Succeed(t, errors.Join(kept.Delete(ctx, "acme_account+key"), kept.Delete(ctx, "acme_account+key")))
}

func TestCertificates_NameTheServer(t *testing.T) {
	issued := &certificates{hosts: []string{"mirror.example.com", "other.example.com"}}
	for port, want := range map[int]string{443: "mirror.example.com", 8443: "mirror.example.com:8443"} {
		must.Equal(t, issued.nameOf(&net.TCPAddr{IP: net.IPv6zero, Port: port}), want)
	}
	must.Equal(t, (*certificates)(nil).nameOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443}), "127.0.0.1:443")
	must.Equal(t, (*certificates)(nil).nameOf(&net.TCPAddr{IP: net.IPv6zero, Port: 80}), must.Get(os.Hostname())(t)+":80")
}

// TestServe_GetsItsCertificates gets a certificate from the test CA pebble, by each kind of challenge. Another server
// with the same bucket uses the same certificate.
func TestServe_GetsItsCertificates(t *testing.T) {
	t.Parallel()
	pebble := peertest.LookProgram(t, "pebble")
	for name, byHTTP := range map[string]bool{"by TLS": false, "by http": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, challenges, nowhere := loopback(t), loopback(t), loopback(t)
			tlsPort, httpPort := portOf(listener), portOf(nowhere)
			if byHTTP {
				tlsPort, httpPort = portOf(nowhere), portOf(challenges)
			}
			authority := startPebble(t, pebble, tlsPort, httpPort)
			nowhere.Close()
			challenges.Close()
			o := acmeOptions{hosts: []string{"mirror.example.com"}, directory: authority.url + "/dir", ca: authority.ca, email: "admin@example.com"}
			if byHTTP {
				o.http = challenges.Addr().String()
			}
			bucket := blob.NewDirectory(t.TempDir())
			first := certificateOf(t, o, bucket, listener)
			roots := authority.roots(t)
			must.Get(first.Verify(x509.VerifyOptions{DNSName: "mirror.example.com", Roots: roots.issuers, Intermediates: roots.intermediates}))(t)
			must.Equal(t, certificateOf(t, o, bucket, loopback(t)).SerialNumber.Cmp(first.SerialNumber), 0, "another server with the bucket has another certificate")
		})
	}
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	return l
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// certificateOf serves until a client has seen the server's certificate.
func certificateOf(t *testing.T, o acmeOptions, bucket blob.Bucket, listener net.Listener) *x509.Certificate {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	server := newServer(log)
	server.Handler = http.NotFoundHandler()
	end := running(t, func(ctx context.Context) error {
		m := &cli.Meta{Context: ctx, Stdout: io.Discard, Version: "1"}
		return serveAt(m, sources.Network{}, options{acme: o, connections: maxConnections}, bucket, server, listener, newFront(log, time.Now))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // another test may have taken a port that was opened again
	defer cancel()
	conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: o.hosts[0], InsecureSkipVerify: true, NextProtos: []string{"h2"}}}).DialContext(ctx, "tcp", listener.Addr().String())
	if err == nil {
		conn.Close() // before the server ends, which waits for it
	}
	must.Succeed(t, errors.Join(err, end()), &out)
	state := conn.(*tls.Conn).ConnectionState()
	must.Equal(t, state.NegotiatedProtocol, "h2")
	return state.PeerCertificates[0]
}

// pebbleAuthority is a pebble that runs.
type pebbleAuthority struct {
	url, management string
	ca              string // the file of the authority of its own server
	client          *http.Client
}

// startPebble starts an authority that takes every name for this machine, and sends its challenges to two ports.
func startPebble(t *testing.T, program string, tlsPort, httpPort int) pebbleAuthority {
	t.Helper()
	ca := providertest.NewCA()
	cert, key, err := ca.ServerPEM()
	must.Succeed(t, err)
	dir, names := t.TempDir(), serveNames(t)
	must.WriteAll(t, dir, map[string][]byte{"cert.pem": cert, "key.pem": key, "ca.pem": ca.PEM()})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.PEM())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	for range 5 { // its ports may be taken before it has them, by listeners that answer nothing
		at, management := loopback(t), loopback(t)
		a := pebbleAuthority{ca: filepath.Join(dir, "ca.pem"), client: &http.Client{Transport: transport, Timeout: 10 * time.Second},
			url: "https://localhost:" + fmt.Sprint(portOf(at)), management: "https://localhost:" + fmt.Sprint(portOf(management))}
		config := must.Get(json.Marshal(map[string]any{"pebble": map[string]any{
			"listenAddress": at.Addr().String(), "managementListenAddress": management.Addr().String(), "certificate": "cert.pem", "privateKey": "key.pem",
			"httpPort": httpPort, "tlsPort": tlsPort,
		}}))(t)
		must.Write(t, filepath.Join(dir, "config.json"), config)
		at.Close()
		management.Close()
		var out bytes.Buffer
		cmd := exec.Command(program, "-config=config.json", "-dnsserver="+names)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, []string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0"}, &out, &out
		must.Succeed(t, cmd.Start())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait()
		}()
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			<-ended
		})
		if a.answers(ended) {
			return a
		}
	}
	t.Fatal("pebble doesn't start")
	return pebbleAuthority{}
}

// answers waits until the authority answers, or has ended.
func (a pebbleAuthority) answers(ended <-chan struct{}) bool {
	for {
		resp, err := a.client.Get(a.url + "/dir")
		if err == nil {
			resp.Body.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

type issuers struct{ issuers, intermediates *x509.CertPool }

// roots returns the root certificates that pebble has made for this run.
func (a pebbleAuthority) roots(t *testing.T) issuers {
	t.Helper()
	all := issuers{x509.NewCertPool(), x509.NewCertPool()}
	for name, pool := range map[string]*x509.CertPool{"roots": all.issuers, "intermediates": all.intermediates} {
		resp := must.Get(a.client.Get(a.management + "/" + name + "/0"))(t)
		defer resp.Body.Close()
		content, err := io.ReadAll(resp.Body)
		if err != nil || !pool.AppendCertsFromPEM(content) {
			t.Fatalf("%v: %s", err, content)
		}
	}
	return all
}

// serveNames is a name server, by TCP as pebble asks, that has 127.0.0.1 for every name.
func serveNames(t *testing.T) (address string) {
	t.Helper()
	listener := loopback(t)
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				for answerName(conn) == nil {
				}
			})
		}
	})
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// answerName answers one question: a message, with its length before it.
func answerName(conn net.Conn) error {
	var length uint16
	if err := binary.Read(conn, binary.BigEndian, &length); err != nil {
		return err
	}
	question := make([]byte, length)
	if _, err := io.ReadFull(conn, question); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return err
	}
	m.Response, m.Additionals = true, nil
	for _, q := range m.Questions {
		if q.Type == dnsmessage.TypeA {
			header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}})
		}
	}
	answer, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
}
