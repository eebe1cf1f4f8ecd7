// Package servecmd is the command "serve": a mirror that fills itself, for all machines of a company.
package servecmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// Command is "serve".
func Command() cli.Command {
	return cli.Command{Name: "serve", Synopsis: "Serve a mirror that fills itself from the registries", Help: help(), Run: run}
}

// options are what the arguments ask for.
type options struct {
	listen           string
	cert, key        string // files; "": plain http
	tokens           string // a file; "": everyone may read
	include, exclude []string
	place            string // a directory, or the URL of a bucket
}

const defaultListen = "127.0.0.1:8080"

func (o *options) flags() cli.Flags {
	return cli.Flags{
		{Name: "listen", Arg: "=ADDRESS", Value: cli.String(&o.listen), Help: "Where to listen: HOST:PORT, or :PORT on all of the machine's addresses. Port 0 is any that is free. " +
			"The default is " + defaultListen + "."},
		{Name: "tls-cert", Arg: "=FILE", Value: cli.String(&o.cert), Help: "Speak https with this certificate, in PEM, with those that issued it behind it. Terraform and OpenTofu need https."},
		{Name: "tls-key", Arg: "=FILE", Value: cli.String(&o.key), Help: "The certificate's private key, in PEM."},
		{Name: "tokens", Arg: "=FILE", Value: cli.String(&o.tokens), Help: "Answer only requests with one of the bearer tokens in this file, one in a line. It is read again when it has changed. " +
			"Archives can also be had by the URLs in the documents, which are signed, and good for half an hour at most."},
		{Name: "include", Arg: "=PATTERN", Value: cli.Strings(&o.include), Help: "Serve only providers that match, such as \"hashicorp/*\". The option can be used several times."},
		{Name: "exclude", Arg: "=PATTERN", Value: cli.Strings(&o.exclude), Help: "Serve no provider that matches. The option can be used several times."},
	}
}

func help() cli.Help {
	return cli.Help{Usage: []string{"serve [options] <dir>", "serve [options] s3://BUCKET/PREFIX", "serve [options] gs://BUCKET/PREFIX"}, About: about, Flags: new(options).flags(), More: more}
}

const about = `  Serves a network mirror for Terraform, OpenTofu and tfdeps, below /mirror/, which
  is also a registry of providers and modules, for host blocks. What it doesn't have it gets from where the CLI configuration says, and keeps it in
  the directory or bucket. An archive is downloaded once for all who ask for it,
  and is kept only if it is authentic and the policy allows it. What was installed
  once can be installed while the registries are down.`

const more = `Several servers can share a bucket. /healthz answers when the server runs, and
/readyz when it can read its directory or bucket; both need no token. Each request
is a line on stderr, without tokens and signatures. An interrupt, or SIGTERM, ends
the server when the requests that run have been answered, after half a minute at
most.`

// run serves until the user interrupts the program.
func run(m *cli.Meta, args []string) (int, error) {
	o := options{listen: defaultListen}
	given, err := o.flags().Parse(args)
	if err != nil {
		return 0, err
	}
	if len(given.Operands) != 1 {
		return 0, &cli.UsageError{Text: "Error: serve needs one directory, or one URL of a bucket", Help: true}
	}
	o.place = given.Operands[0]
	if (o.cert == "") != (o.key == "") {
		return 0, &cli.UsageError{Text: "Error: -tls-cert and -tls-key belong together"}
	}
	product := products.Unversioned(m)
	serverOptions := mirrorserver.Options{Product: product, Now: m.Now, Log: slog.New(slog.NewTextHandler(m.Stderr, nil))}
	if serverOptions.Include, err = patterns(product, o.include); err == nil {
		serverOptions.Exclude, err = patterns(product, o.exclude)
	}
	if err != nil {
		return 0, &cli.UsageError{Text: "Error: " + err.Error(), Cause: err}
	}
	return m.Finish(nil, serve(m, o, product, serverOptions), cli.Output{Data: true}), nil
}

func patterns(product getproviders.Product, given []string) (all []getproviders.Pattern, err error) {
	for _, text := range given {
		pattern, err := product.ParsePattern(text)
		if err != nil {
			return nil, err
		}
		all = append(all, pattern)
	}
	return all, nil
}

// serve opens all that the server needs, and serves.
func serve(m *cli.Meta, o options, product getproviders.Product, to mirrorserver.Options) problem.List {
	config, net, problems := sources.Online(m, product, "")
	if problems.HasErrors() {
		return problems
	}
	newSource := func() (getproviders.Source, error) {
		return sources.Options{Net: net, Config: config, Product: product}.All(m)
	}
	source, err := newRenewed(newSource, m.Now)
	if err != nil {
		return append(problems, failure(err))
	}
	bucket, failed := openBucket(m, net, o.place)
	if failed != nil {
		return append(problems, failed)
	}
	defer bucket.Close()
	front := front{log: to.Log, now: m.Now}
	to.Client, to.Policy = net.Archives, net.Policy.Against(nil, nil)
	to.Modules = registries{net: net, product: product, include: to.Include}
	if o.tokens != "" {
		tokens := &tokenFile{path: o.tokens, log: to.Log}
		if err := tokens.read(); err != nil {
			return append(problems, failure(err))
		}
		to.Allow = tokens.allow
		if to.SigningKey, err = signingKey(m.Context, bucket); err != nil {
			return append(problems, failure(err))
		}
	}
	if front.mirror, err = mirrorserver.Handler(source, bucket, to); err != nil {
		return append(problems, failure(err))
	}
	defer front.mirror.Close()
	if asksAnyHost(o) {
		to.Log.Warn("a request can have this server ask any host that it names: the option -include says which providers and hosts there are")
	}
	if err := listen(m, o, &http.Server{Handler: front.handler(), ErrorLog: slog.NewLogLogger(to.Log.Handler(), slog.LevelWarn)}); err != nil {
		problems = append(problems, failure(err))
	}
	return problems
}

// asksAnyHost reports whether others can have the server send requests to hosts that they choose, of which some may answer it alone.
func asksAnyHost(o options) bool {
	host, _, err := net.SplitHostPort(o.listen)
	address, addressErr := netip.ParseAddr(host)
	return len(o.include) == 0 && o.tokens == "" && !(err == nil && (host == "localhost" || addressErr == nil && address.IsLoopback()))
}

func failure(err error) *problem.Problem {
	return problem.Error("Failed to serve", problem.Sentence(err))
}

func openBucket(m *cli.Meta, net sources.Network, place string) (blob.Bucket, *problem.Problem) {
	if sources.IsURL(place) {
		return net.OpenBucket(m.Context, m, place)
	}
	return blob.NewDirectory(place), nil
}

const (
	headerTimeout = 10 * time.Second // for the header of a request; a body has none
	idleTimeout   = 2 * time.Minute
	endTimeout    = 30 * time.Second // for requests that run when the server is to end
	always        = 1 << 62          // longer than any process
)

// listen serves until the context ends, and then until the requests that run have been answered. There is no limit for the time that an
// archive takes.
func listen(m *cli.Meta, o options, server *http.Server) error {
	server.ReadHeaderTimeout, server.IdleTimeout = headerTimeout, idleTimeout
	scheme := "http"
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return err
		}
		scheme, server.TLSConfig = "https", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	listener, err := new(net.ListenConfig).Listen(m.Context, "tcp", o.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(m.Stdout, "Serving a mirror at %s://%s/mirror/\n", scheme, listener.Addr())
	return par.Together(m.Context,
		func(context.Context) (err error) {
			if server.TLSConfig != nil {
				err = server.ServeTLS(listener, "", "")
			} else {
				err = server.Serve(listener)
			}
			if errors.Is(err, http.ErrServerClosed) {
				err = nil
			}
			return err
		},
		func(ctx context.Context) error {
			par.Pause(ctx, always) // ends with the context, and only with it
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
			defer cancel()
			if err := server.Shutdown(limited); err != nil {
				return errors.Join(fmt.Errorf("requests were cut off: %w", err), server.Close())
			}
			return nil
		},
	)
}
