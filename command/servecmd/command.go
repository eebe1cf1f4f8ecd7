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
		Usage: "serve [options] <dir>\nserve [options] s3://BUCKET/PREFIX\nserve [options] gs://BUCKET/PREFIX\nserve [options] [DIR or URL] -- COMMAND [ARG...]", About: about, Flags: new(options).flags, More: more, Run: run, Lines: true,
		Examples: [][2]string{
			{"$TFDEPS serve -listen=:8443 -tls-cert=tls.crt -tls-key=tls.key /srv/mirror", "Serve a mirror to all machines, and keep its packages in a directory."},
			{"$TFDEPS serve -- terragrunt run --all init", "Run a command with many inits, and download each package once."},
			{"$TFDEPS serve -tokens=tokens.txt -include='acme/*' s3://company/mirror", "Serve some providers from a bucket, to clients with a token."},
		},
	},
		{Name: "serve gc", Synopsis: "Remove unused archives of a server", Run: runGC,
			Usage: "serve gc [options] <dir>\nserve gc [options] s3://BUCKET/PREFIX", About: "  Removes archives from the directory or bucket of servers, once, as they do\n  with -max-size and -max-unused. If asked for again, they are downloaded again.", Flags: new(collectOptions).gcFlags,
			Examples: [][2]string{
				{"$TFDEPS serve gc -max-unused=90d -dry-run s3://company/mirror", "List archives that no client has asked for in 90 days."},
			},
		},
	}
}

// options are the parsed arguments.
type options struct {
	listen           string
	cert, key        string // files; "" means http
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
			"Listen at HOST:PORT, or at :PORT on all of the machine's addresses", "Port 0 is any free one. A socket that systemd "+
				"passes takes precedence. The default is "+defaultListen+"."),
		cli.Text("tls-cert=FILE", &o.cert, "Speak https with this certificate, in PEM, followed by those that issued it", "Terraform and OpenTofu need https. The files are read again for each connection, and on SIGHUP."),
		cli.Text("tls-key=FILE", &o.key, "The certificate's private key, in PEM"),
		cli.Switch("json", &o.json, "Print a JSON object with the URL, and log lines as JSON"),
		cli.Text("tokens=FILE", &o.tokens,
			"Answer only requests with a bearer token of this file, which has one per line, followed by a name for the log", "It is read for each request; while it is empty or unreadable, none is answered. "+
				"Archives can also be downloaded by the URLs in documents, which are signed, and valid for half an hour at most."),
		cli.Text("metrics-listen=ADDRESS", &o.metricsListen, "Answer /metrics at this address, by http, and also /healthz and /readyz", "There, /metrics needs only the tokens of -metrics-token, if any."),
		cli.Text("metrics-token=FILE", &o.metricsTokens, "Answer /metrics only to requests with a bearer token of this file, not to those of -tokens", "It is read for each request."),
		cli.Option("include=PATTERN", cli.Strings(&o.include),
			"Serve only providers and modules that match, such as \"hashicorp/*\"", "May be given more than once."),
		cli.Option("exclude=PATTERN", cli.Strings(&o.exclude), "Serve no provider and no module that matches", "May be given more than once."),
		cli.Option("allow-network=CIDR", cli.Each(&o.networks, parseNetwork),
			"Also connect to hosts in this network, such as 10.20.0.0/16, that requests or registries name", "Other hosts have to be on the internet, or named "+
				"by -include, -host or the CLI configuration. May be given more than once."),
		cli.Option("browser-host=HOST", cli.Strings(&o.browserHosts),
			"Without -tokens, and with http on a loopback address: answer browsers that find the server by this name, such as that of a proxy without https", ""+
				"Other programs, and browsers that come by https, may use any name. May be given more than once."),
		cli.Option("drain=DURATION", cli.Duration(&o.drain),
			"On SIGTERM, still answer for this long, such as 10s, while /readyz says that the server isn't ready; then stop listening", "The default is 5s, for load balancers that ask every two seconds."),
		cli.Option("log-format=FORMAT", cli.Func(func(given string) error {
			if o.logFormat = given; given != "json" && given != "text" {
				return errors.New("it has to be json or text")
			}
			return nil
		}), "Write log lines as json or as text", "The default is text, or json with -json."),
		cli.Option("trusted-proxy=CIDR", cli.Each(&o.proxies, parseNetwork),
			"Trust proxies in this network to name their clients, in X-Forwarded-For, or without it in Forwarded", "They have to remove what clients send there. May be given more than once."),
		cli.Option("max-per-client=N", cli.Positive(&o.perClient),
			"Answer N requests of one address at once; further ones get the status 429, after which clients retry", "Behind a proxy it needs -trusted-proxy. The default is no limit."),
		cli.Option("max-downloads=N", cli.Positive(&o.downloads), "Download N archives at once; further ones wait", "The default is 32."),
		cli.Option("max-downloads-per-host=N", cli.Positive(&o.perHost), "Of these, download N at once from one host", "The default is all of them."),
		cli.Option("max-connections=N", cli.Positive(&o.connections),
			"Accept N connections at once, and answer as many requests; further ones wait", "The default is 4096."),
		cli.Option("memory=SIZE", cli.Parsed(&o.memory, memorySize),
			"Use at most this much memory for registries' responses and answers with them: 512MiB, 2GB", "A request that doesn't fit waits for half a minute at most, "+
				"and is then refused with the status 503. A registry's response that needs more is always refused. The default is 1GiB."),
		cli.Option("max-arriving=SIZE", cli.Parsed(&o.disk, cli.ParseBytes),
			"Use at most this much disk, below TMPDIR, for archives while they arrive: 20GB", "An archive that doesn't fit is refused with the status 503. Without it, only -max-downloads limits them."),
		cli.Option("host=HOST", cli.Strings(&o.hosts),
			"With a command: serve the registry of this host, too", "May be given more than once. "+
				"Those of Terraform, of OpenTofu and of host blocks always are served."),
		cli.Switch("https", &o.https,
			"With a command: speak https, with a certificate of an authority made for this run", "SSL_CERT_FILE of the command "+
				"has this authority beside the usual ones; Go programs on Linux use it."),
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
  modules. What the server lacks, it gets from where the CLI configuration says,
  and keeps it in the directory or bucket. An archive is downloaded once for all
  clients, and is kept only if it is authentic and the policy allows it.
  Providers that were installed once can be installed while the registries are
  down.`

const more = `With a command, the server runs as long as the command, on a free port of this
machine and under a secret path. TF_CLI_CONFIG_FILE of the command names a copy
of the CLI configuration in which this server has the registries. Archives are
kept below the user's cache directory, if no other place is given. The exit code
is the command's.

Several servers can share a bucket. /healthz answers when the server runs, and
/readyz when it can read its directory or bucket; both need no token. /metrics
is for Prometheus, and / a page that shows the server's state. The server logs a
line to stderr for each request, without tokens and signatures. An interrupt or
SIGTERM ends the server when the running requests have been answered, after half
a minute at most. Before that, SIGTERM waits for -drain.`
