// Package servecmd is the command "serve": a mirror that fills itself, for all machines of a company.
package servecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
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
	cert, key        string // files; "": plain http, if there is no acme
	acme             acmeOptions
	json             bool
	tokens           string // a file; "": everyone may read
	include, exclude []string
	place            string // a directory, or the URL of a bucket

	browserHosts []string // names by which browsers may find a server on loopback

	connections int // at once; 0: maxConnections

	maxSize    string   // of all archives; "": nothing is removed
	keepLocked []string // lock files and directories

	command []string // to run while the server runs; none: the server runs until it is interrupted
	hosts   []string // that the command finds here, beside the usual ones
	https   bool     // with an authority for this run alone
}

const defaultListen = "127.0.0.1:8080"

func (o *options) flags() cli.Flags {
	return cli.Flags{
		{Name: "listen", Arg: "=ADDRESS", Value: cli.String(&o.listen), Help: "Where to listen: HOST:PORT, or :PORT on all of the machine's addresses. Port 0 is any that is free. A socket that systemd " +
			"hands over comes first. The default is " + defaultListen + "."},
		{Name: "tls-cert", Arg: "=FILE", Value: cli.String(&o.cert), Help: "Speak https with this certificate, in PEM, with those that issued it behind it. Terraform and OpenTofu need https."},
		{Name: "tls-key", Arg: "=FILE", Value: cli.String(&o.key), Help: "The certificate's private key, in PEM."},
		{Name: "acme", Arg: "=HOST", Value: cli.Strings(&o.acme.hosts), Help: "Speak https, with a certificate for this name that an authority issues by ACME. With this option you agree to the terms of the authority. The authority's server has to reach " +
			"this one at port 443, or by -acme-http. The option can be used several times."},
		{Name: "acme-directory", Arg: "=URL", Value: cli.String(&o.acme.directory), Help: "The authority. The default is Let's Encrypt."},
		{Name: "acme-ca", Arg: "=FILE", Value: cli.String(&o.acme.ca), Help: "Trust these authorities, in PEM, at the URL of -acme-directory, too."},
		{Name: "acme-http", Arg: "=ADDRESS", Value: cli.String(&o.acme.http), Help: "Answer the authority's challenges by http, too, at this address, which it has to reach as port 80."},
		{Name: "acme-email", Arg: "=ADDRESS", Value: cli.String(&o.acme.email), Help: "Where the authority may write to."},
		{Name: "acme-store", Arg: "=DIR or URL", Value: cli.String(&o.acme.store), Help: "Keep certificates and their keys there. The default is the place of the packages, below serve/acme/."},
		{Name: "json", Value: cli.Bool(&o.json), Help: "Print an object with the URL, and the lines on stderr as JSON objects."},
		{Name: "tokens", Arg: "=FILE", Value: cli.String(&o.tokens), Help: "Answer only requests with one of the bearer tokens in this file, one in a line. It is read again when it has changed. " +
			"Archives can also be had by the URLs in the documents, which are signed, and good for half an hour at most."},
		{Name: "include", Arg: "=PATTERN", Value: cli.Strings(&o.include), Help: "Serve only providers that match, such as \"hashicorp/*\". The option can be used several times."},
		{Name: "exclude", Arg: "=PATTERN", Value: cli.Strings(&o.exclude), Help: "Serve no provider that matches. The option can be used several times."},
		{Name: "browser-host", Arg: "=HOST", Value: cli.Strings(&o.browserHosts), Help: "Without -tokens, and with http on a loopback address: answer browsers that find the server by this name, such as that of a proxy without https. " +
			"Other programs, and browsers that come by https, may use any name. The option can be used several times."},
		{Name: "max-connections", Arg: "=N", Value: cli.Positive(&o.connections), Help: "Accept N connections at once, and answer as many requests; further ones wait. The default is 4096."},
		{Name: "max-size", Arg: "=SIZE", Value: cli.String(&o.maxSize), Help: "Remove archives that weren't used for the longest time, every hour, when all of them take more: 200GB, 1.5TiB. " +
			"None is removed that was used within two hours. All servers of a bucket have this option, or none. Without it nothing is removed."},
		{Name: "keep-locked", Arg: "=PATH", Value: cli.Strings(&o.keepLocked), Help: "Never remove what this lock file selects, or those in and below this directory. They are read again each time. The option can be used several times."},
		{Name: "host", Arg: "=HOST", Value: cli.Strings(&o.hosts), Help: "With a command: the registry of this host is found at the server, too. The option can be used several times. " +
			"Those of Terraform, of OpenTofu and of host blocks always are."},
		{Name: "https", Value: cli.Bool(&o.https), Help: "With a command: speak https, with a certificate that an authority made for this run has issued. SSL_CERT_FILE of the command " +
			"has it beside the usual ones, which programs in Go use on Linux."},
	}
}

func help() cli.Help {
	return cli.Help{Usage: []string{"serve [options] <dir>", "serve [options] s3://BUCKET/PREFIX", "serve [options] gs://BUCKET/PREFIX",
		"serve [options] [DIR or URL] -- COMMAND [ARG...]"}, About: about, Flags: new(options).flags(), More: more}
}

const about = `  Serves a network mirror for Terraform, OpenTofu and tfdeps. Its path is
  /mirror/. With a host block, the same URL is a registry of providers and
  modules. What the server doesn't have, it gets from where the CLI
  configuration says, and keeps it in the directory or bucket. An archive is
  downloaded once for all clients, and is kept only if it is authentic and the
  policy allows it. Providers that were installed once can be installed while
  the registries are down.`

const more = `With a command, the server runs as long as the command, on a free port of this
machine and under a secret path. TF_CLI_CONFIG_FILE of the command names a copy
of the CLI configuration in which the registries are at this server. Archives
are kept below the user's directory for caches, if no other place is given. The
exit code is the command's.

Several servers can share a bucket. /healthz answers when the server runs, and
/readyz when it can read its directory or bucket; both need no token. /metrics
is for Prometheus, and / a page that shows how the server does. The server
writes a line to stderr for each request, without tokens and signatures. An
interrupt, or SIGTERM, ends the server when the requests that run have been
answered, after half a minute at most.`

// run serves until the user interrupts the program.
func run(m *cli.Meta, args []string) (int, error) {
	o := options{listen: defaultListen}
	if at := slices.Index(args, "--"); at >= 0 {
		args, o.command = args[:at], args[at+1:]
		if o.listen = "127.0.0.1:0"; len(o.command) == 0 {
			return 0, &cli.UsageError{Text: "Error: there is no command behind --", Help: true}
		}
	}
	given, err := o.flags().Parse(args)
	if err != nil {
		return 0, err
	}
	if o.command != nil && len(given.Operands) == 0 && m.CacheDir != "" {
		given.Operands = []string{filepath.Join(m.CacheDir, "serve", "v1")}
	}
	if len(given.Operands) != 1 {
		return 0, &cli.UsageError{Text: "Error: serve needs one directory, or one URL of a bucket", Help: true}
	}
	o.place = given.Operands[0]
	if (o.cert == "") != (o.key == "") {
		return 0, &cli.UsageError{Text: "Error: -tls-cert and -tls-key belong together"}
	}
	if err := o.acme.check(); err != nil {
		return 0, &cli.UsageError{Text: "Error: " + err.Error(), Cause: err}
	}
	if len(o.acme.hosts) > 0 && (o.cert != "" || o.command != nil) {
		return 0, &cli.UsageError{Text: "Error: -acme is for a server without -tls-cert and without a command behind --"}
	}
	if o.command == nil && (len(o.hosts) > 0 || o.https) || o.command != nil && (o.cert != "" || o.tokens != "") {
		return 0, &cli.UsageError{Text: "Error: -host and -https are for a command behind --, and -tls-cert and -tokens for a server without one"}
	}
	product := products.Unversioned(m)
	if o.maxSize == "" && len(o.keepLocked) > 0 {
		return 0, &cli.UsageError{Text: "Error: -keep-locked needs -max-size: without -max-size nothing is removed"}
	}
	var remove *collector
	if o.maxSize != "" {
		remove = &collector{locked: o.keepLocked, product: product}
		if remove.maxBytes, err = parseSize(o.maxSize); err != nil {
			return 0, &cli.UsageError{Text: "Error: -max-size: " + err.Error(), Cause: err}
		}
	}
	o.connections = cmp.Or(o.connections, maxConnections)
	serverOptions := mirrorserver.Options{Product: product, Requests: o.connections, Now: m.Now, Log: slog.New(logHandler(m, o, slog.LevelInfo))}
	if serverOptions.Include, err = patterns(product, o.include); err == nil {
		serverOptions.Exclude, err = patterns(product, o.exclude)
	}
	if err != nil {
		return 0, &cli.UsageError{Text: "Error: " + err.Error(), Cause: err}
	}
	if o.command != nil {
		serverOptions.Log = slog.New(logHandler(m, o, slog.LevelError)) // stderr is the command's
	}
	own := *m // it loses the warnings that are shown before the command
	code, problems := serve(&own, o, product, serverOptions, remove)
	if o.json && o.command == nil { // programs read stderr line by line
		return cli.End(func(all problem.List) { logProblems(m.Context, serverOptions.Log, all) }, slices.Concat(own.Warnings, problems), code), nil
	}
	return own.Finish(nil, problems, cli.Output{Data: true, Code: code}), nil
}

// logProblems writes errors and warnings as lines of the server's log.
func logProblems(ctx context.Context, log *slog.Logger, problems problem.List) {
	for _, p := range problems {
		level := slog.LevelError
		if problem.IsWarning(p) {
			level = slog.LevelWarn
		}
		log.Log(ctx, level, p.Summary, "detail", p.Detail, "code", view.CodeOfProblem(p))
	}
}

// logHandler writes the lines of the server's log.
func logHandler(m *cli.Meta, o options, least slog.Level) slog.Handler {
	if o.json {
		return slog.NewJSONHandler(m.Stderr, &slog.HandlerOptions{Level: least})
	}
	return slog.NewTextHandler(m.Stderr, &slog.HandlerOptions{Level: least})
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

// serve opens all that the server needs, and serves. The code is that of the command, if there is one.
func serve(m *cli.Meta, o options, product getproviders.Product, to mirrorserver.Options, remove *collector) (code int, problems problem.List) {
	front := front{log: to.Log, now: m.Now, version: m.Version, begun: m.Begun, upstreams: newUpstreams(), held: new(par.Latest[held])}
	asking := *m
	if m.NewClient != nil {
		asking.NewClient = func(agent string, onRetry func(hosts.Retry)) (*http.Client, error) {
			client, err := m.NewClient(agent, onRetry)
			if err != nil {
				return nil, err
			}
			return hosts.WithRevalidation(hosts.WithObserver(client, m.Now, front.upstreams.observe)), nil
		}
	}
	config, net, problems := sources.Online(&asking, product, "")
	if problems.HasErrors() {
		return 1, problems
	}
	from := *config
	if o.command != nil { // installs from all other places by itself
		from.Installation = []cliconfig.Method{{Kind: cliconfig.Direct}}
	}
	source, err := newRenewed(func() (getproviders.Source, error) {
		return sources.Options{Net: net, Config: &from, Product: product}.All(m)
	}, m.Now)
	if err != nil {
		return 1, append(problems, failure(err))
	}
	bucket, failed := openBucket(m, net, o.place)
	if failed != nil {
		return 1, append(problems, failed)
	}
	defer bucket.Close()
	to.MarkUses = remove != nil
	to.Client, to.Policy = net.Archives, net.Policy.Against(nil, nil)
	to.Modules = registries{net: net, product: product, include: to.Include}
	if o.tokens != "" {
		tokens := &tokenFile{path: o.tokens, log: to.Log}
		if err := tokens.read(); err != nil {
			return 1, append(problems, failure(fmt.Errorf("the tokens of -tokens can't be read: %w", withoutOp(err))))
		}
		to.Allow, front.allow = tokens.allow, tokens.allow
		if to.SigningKey, err = signingKey(m.Context, bucket); err != nil {
			return 1, append(problems, failure(fmt.Errorf("the key for signed URLs, which -tokens needs, can't be kept: %w", err)))
		}
	}
	if front.mirror, err = mirrorserver.Handler(source, bucket, to); err != nil {
		return 1, append(problems, failure(err))
	}
	defer front.mirror.Close()
	if remove != nil {
		remove.log = to.Log
		defer background(m.Context, func(ctx context.Context) { remove.run(ctx, front.mirror) })()
	}
	server := newServer(to.Log)
	if o.command != nil {
		m.Finish(nil, problems, cli.Output{Data: true}) // warnings, before the command writes
		m.Warnings = nil
		code, problems, err = serveCommand(m, o, &child{config: config, net: net, front: front, log: to.Log}, server)
	} else {
		defer background(m.Context, front.look)()
		server.Handler = front.handler()
		err = listen(m, net, o, bucket, server, to.Log)
	}
	if err != nil {
		return 1, append(problems, failure(err))
	}
	return code, problems
}

// warn tells of what others could do with a server that listens on an address.
func warn(o options, on net.Addr, log *slog.Logger) {
	if showsTokens(o, on) {
		log.Warn("this server speaks http: tokens can be read by all who see its traffic. Use -tls-cert and -tls-key, or listen on localhost behind a server that speaks https")
	}
	if asksAnyHost(o, on) {
		log.Warn("a request can have this server ask any host that it names: the option -include says which providers and hosts there are")
	}
}

// background runs a function, and returns what ends it.
func background(ctx context.Context, f func(context.Context)) (end func()) {
	tasks := par.NewTasks()
	tasks.Begin(ctx, f)
	return func() { tasks.Close(context.Canceled) }
}

// asksAnyHost reports whether others can have the server send requests to hosts that they choose, of which some may
// answer it alone.
func asksAnyHost(o options, on net.Addr) bool {
	return len(o.include) == 0 && o.tokens == "" && !isLocal(on)
}

// showsTokens reports whether tokens come over http from other machines.
func showsTokens(o options, on net.Addr) bool {
	return o.tokens != "" && !o.speaksTLS() && !isLocal(on)
}

// speaksTLS reports whether clients come by https to the server itself.
func (o options) speaksTLS() bool { return o.cert != "" || len(o.acme.hosts) > 0 }

// isLocal reports whether only this machine reaches the address of a listener.
func isLocal(on net.Addr) bool {
	if _, ok := on.(*net.UnixAddr); ok {
		return true
	}
	return isLoopback(on)
}

// failure is an error with what its parts advise.
func failure(err error) *problem.Problem {
	text := problem.Sentence(err)
	if explained := view.Explained(err); strings.Contains(explained, "\n\nhint: ") {
		text = explained
	}
	return problem.CodedError("serve_failed", "Failed to serve", text)
}

func openBucket(m *cli.Meta, net sources.Network, place string) (blob.Bucket, *problem.Problem) {
	if sources.IsURL(place) {
		return net.OpenBucket(m.Context, m, place)
	}
	if info, err := os.Stat(place); err == nil && !info.IsDir() {
		return nil, failure(fmt.Errorf("the file %s is no directory. Name the directory in which the server keeps its packages", place))
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return nil, failure(fmt.Errorf("the directory %s can't be made: %w. Name one that this user may write to", place, withoutOp(err)))
	}
	return blob.NewDirectory(place), nil
}

// withoutOp is an error about a file without the name of the system's call.
func withoutOp(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}
