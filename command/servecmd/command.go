// Package servecmd is the command "serve": a mirror that fills itself, for all machines of a company.
package servecmd

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
)

// Commands returns "serve" and its subcommands.
func Commands() []cli.Command {
	return []cli.Command{{Name: "serve", Synopsis: "Serve a mirror that fills itself from the registries",
		Usage: "serve [options] <dir>\nserve [options] s3://BUCKET/PREFIX\nserve [options] gs://BUCKET/PREFIX\nserve [options] [DIR or URL] -- COMMAND [ARG...]", About: about, Flags: new(options).flags, More: more, Run: run, Lines: true},
		{Name: "serve gc", Synopsis: "Remove what no one has asked a server for", Run: runGC,
			Usage: "serve gc [options] <dir>\nserve gc [options] s3://BUCKET/PREFIX", About: "  Removes archives from the directory or bucket of servers, once, as they do\n  with -max-size and -max-unused. What is asked for again is downloaded again.", Flags: new(collectOptions).gcFlags},
	}
}

// options are the parsed arguments.
type options struct {
	listen           string
	cert, key        string // files; "" means http, unless there is acme
	acme             acmeOptions
	json             bool
	tokens           string // a file; "" means that everyone may read
	metricsTokens    string // a file; "" means as for the page
	metricsListen    string // "" means the address of the mirror
	include, exclude []string
	networks         []netip.Prefix // private networks of registries
	place            string         // a directory, or the URL of a bucket

	browserHosts []string // names by which browsers may find a server on loopback

	drain       time.Duration
	logFormat   string         // "" means text, or JSON with json
	proxies     []netip.Prefix // trusted to say who the client is
	perClient   int            // requests at once; 0 means no limit
	downloads   int            // at once; 0 means the server's default
	perHost     int            // of these, from one host
	connections int            // at once
	memory      int64          // bytes for documents
	disk        int64          // bytes for archives that arrive; 0 means no limit

	collectOptions

	command []string // to run while the server runs; without it the server runs until it is interrupted
	hosts   []string // further hosts whose registries the command finds here
	https   bool     // with a CA for this run only
}

// logsJSON reports whether the lines of the log are JSON.
func (o options) logsJSON() bool {
	return cmp.Or(o.logFormat, map[bool]string{true: "json"}[o.json]) == "json"
}

const (
	defaultListen = "127.0.0.1:8080"
	defaultMemory = 1 << 30
	defaultDrain  = 5 * time.Second
	leastMemory   = 64 << 20
)

func (o *options) flags() cli.Flags {
	return append(cli.Flags{
		cli.Text("listen=ADDRESS", &o.listen,
			"Where to listen: HOST:PORT, or :PORT on all of the machine's addresses. Port 0 is any that is free. A socket that systemd "+
				"hands over comes first. The default is "+defaultListen+"."),
		cli.Text("tls-cert=FILE", &o.cert, "Speak https with this certificate, in PEM, with those that issued it behind it. Terraform and OpenTofu need https. The files are read again for each connection, and on SIGHUP."),
		cli.Text("tls-key=FILE", &o.key, "The certificate's private key, in PEM."),
		cli.Option("acme=HOST", cli.Strings(&o.acme.hosts),
			"Speak https, with a certificate for this name that an authority issues by ACME. With this option you agree to the terms of the authority. The authority's server has to reach "+
				"this one at port 443, or by -acme-http. The option can be used several times."),
		cli.Text("acme-directory=URL", &o.acme.directory, "The authority. The default is Let's Encrypt."),
		cli.Text("acme-ca=FILE", &o.acme.ca, "Trust these authorities, in PEM, at the URL of -acme-directory, too."),
		cli.Text("acme-http=ADDRESS", &o.acme.http, "Answer the authority's challenges by http, too, at this address, which it has to reach as port 80."),
		cli.Text("acme-email=ADDRESS", &o.acme.email, "Where the authority may write to."),
		cli.Text("acme-store=DIR or URL", &o.acme.store, "Keep certificates and their keys there. The default is the place of the packages, below serve/acme/."),
		cli.Switch("json", &o.json, "Print an object with the URL, and the lines on stderr as JSON objects."),
		cli.Text("tokens=FILE", &o.tokens,
			"Answer only requests with one of the bearer tokens in this file, one in a line, with a name for the log behind it. It is read for each request; while it is empty or can't be read, none is answered. "+
				"Archives can also be had by the URLs in the documents, which are signed, and good for half an hour at most."),
		cli.Text("metrics-listen=ADDRESS", &o.metricsListen, "Answer /metrics, and /healthz and /readyz as well, at this address, by http. There /metrics needs no token but those of -metrics-token."),
		cli.Text("metrics-token=FILE", &o.metricsTokens, "Answer /metrics only to requests with one of the bearer tokens in this file, and not to those of -tokens. It is read for each request."),
		cli.Option("include=PATTERN", cli.Strings(&o.include),
			"Serve only providers and modules that match, such as \"hashicorp/*\". The option can be used several times."),
		cli.Option("exclude=PATTERN", cli.Strings(&o.exclude), "Serve no provider and no module that matches. The option can be used several times."),
		cli.Option("allow-network=CIDR", networks(&o.networks),
			"Also connect to hosts in this network, such as 10.20.0.0/16, which requests and registries name. Without it, they are on the internet, or are named "+
				"by -include, -host or the CLI configuration. The option can be used several times."),
		cli.Option("browser-host=HOST", cli.Strings(&o.browserHosts),
			"Without -tokens, and with http on a loopback address: answer browsers that find the server by this name, such as that of a proxy without https. "+
				"Other programs, and browsers that come by https, may use any name. The option can be used several times."),
		cli.Option("drain=DURATION", cli.Duration(&o.drain),
			"On SIGTERM, answer for this long while /readyz says that the server isn't ready, and then stop to listen: 10s. The default is 5s, which is right for balancers that ask every two seconds."),
		cli.Option("log-format=FORMAT", cli.Func(func(given string) error {
			if o.logFormat = given; given != "json" && given != "text" {
				return errors.New("it has to be json or text")
			}
			return nil
		}), "Write the lines on stderr as json or as text. The default is text, and json with -json."),
		cli.Option("trusted-proxy=CIDR", networks(&o.proxies),
			"Proxies in this network say for whom they ask: in X-Forwarded-For, or if there is none in Forwarded. They have to remove what clients send there. The option can be used several times."),
		cli.Option("max-per-client=N", cli.Positive(&o.perClient),
			"Answer N requests of one address at once; further ones get the status 429, which clients repeat. Behind a proxy it needs -trusted-proxy. Without it there is no such limit."),
		cli.Option("max-downloads=N", cli.Positive(&o.downloads), "Download N archives at once; further ones wait. The default is 32."),
		cli.Option("max-downloads-per-host=N", cli.Positive(&o.perHost), "Of these, download N at once from one host. The default is all of them."),
		cli.Option("max-connections=N", cli.Positive(&o.connections),
			"Accept N connections at once, and answer as many requests; further ones wait. The default is 4096."),
		cli.Option("memory=SIZE", cli.Parsed(&o.memory, memorySize),
			"Use at most this much memory to read what registries say and to answer with it: 512MiB, 2GB. A request that doesn't fit waits for half a minute at most, "+
				"and is then refused with the status 503. An answer of a registry for which it is not enough is always refused. The default is 1GiB."),
		cli.Option("max-arriving=SIZE", cli.Parsed(&o.disk, cli.ParseBytes),
			"Use at most this much of the disk for archives while they arrive, which is below what TMPDIR names: 20GB. What doesn't fit is refused with the status 503. Without it, there are as many as -max-downloads says."),
		cli.Option("host=HOST", cli.Strings(&o.hosts),
			"With a command: the registry of this host is found at the server, too. The option can be used several times. "+
				"Those of Terraform, of OpenTofu and of host blocks always are."),
		cli.Switch("https", &o.https,
			"With a command: speak https, with a certificate that an authority made for this run has issued. SSL_CERT_FILE of the command "+
				"has it beside the usual ones, which programs in Go use on Linux."),
	}, o.collectOptions.flags()...)
}

// memorySize reads the value of -memory.
func memorySize(text string) (int64, error) {
	n, err := cli.ParseBytes(text)
	if err == nil && n < leastMemory {
		err = fmt.Errorf("%s is too little: 64MiB is the least", text)
	}
	return n, err
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
answered, after half a minute at most. Before that, SIGTERM waits for -drain.`
