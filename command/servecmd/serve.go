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
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// run serves until the user interrupts the program.
func run(m *cli.Meta, args []string) (int, error) {
	o := options{listen: defaultListen, connections: maxConnections, drain: defaultDrain, memory: defaultMemory}
	if at := slices.Index(args, "--"); at >= 0 {
		args, o.command = args[:at], args[at+1:]
		if o.listen = "127.0.0.1:0"; len(o.command) == 0 {
			return 0, cli.Misusedf("there is no command behind --")
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
		return 0, cli.Misusedf("serve needs one directory, or one URL of a bucket")
	}
	o.place = given.Operands[0]
	if (o.cert == "") != (o.key == "") {
		return 0, cli.Usagef("-tls-cert and -tls-key belong together").About("-tls-cert", "-tls-key")
	}
	if o.command == nil && (len(o.hosts) > 0 || o.https) || o.command != nil && o.cert+o.tokens+o.metricsListen+o.metricsTokens != "" {
		return 0, cli.Usagef("-host and -https are for a command behind --, and -tls-cert, -tokens, -metrics-listen and -metrics-token for a server without one").
			About("-host", "-https", "-tls-cert", "-tokens", "-metrics-listen", "-metrics-token")
	}
	product := products.Unversioned(m)
	if !o.any() && len(o.keepLocked) > 0 {
		return 0, cli.Usagef("-keep-locked needs -max-size or -max-unused: without them nothing is removed").About("-keep-locked")
	}
	serverOptions := mirrorserver.Options{Requests: o.connections, MemoryBytes: o.memory, DiskBytes: o.disk, Log: slog.New(logHandler(m, o, slog.LevelInfo))}
	if serverOptions.Include, err = patterns(product, o.include); err == nil {
		serverOptions.Exclude, err = patterns(product, o.exclude)
	}
	if err != nil {
		return 0, cli.Usagef("%w", err)
	}
	if o.command != nil {
		serverOptions.Log = slog.New(logHandler(m, o, slog.LevelError)) // stderr belongs to the command
	}
	own := *m // serve removes the warnings that are shown before the command
	code, problems, err := serve(&own, o, product, serverOptions)
	if err != nil {
		code, problems = 1, append(problems, failure(m, err))
	}
	if o.logsJSON() && o.command == nil { // programs read stderr line by line
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
		log.Log(ctx, level, p.Summary, "detail", p.Detail, "code", explain.CodeOf(p))
	}
}

// logHandler returns the handler of the server's log, on stderr.
func logHandler(m *cli.Meta, o options, least slog.Level) slog.Handler {
	return terminal.LogHandler(m.Stderr, o.logsJSON(), &slog.HandlerOptions{Level: least})
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

// serve opens the sources, the bucket and the listener, and serves. code is the exit code of the command, if there is one.
func serve(m *cli.Meta, o options, product getproviders.Product, to mirrorserver.Options) (code int, problems problem.List, err error) {
	if m.Env.Get("GOMEMLIMIT") == "" { // the garbage collector then works harder before the process exceeds -memory
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(to.MemoryBytes))
	}
	front := newFront(to.Log, m.Now)
	front.version, front.begun, front.opts = m.Version, m.Begun, o
	dialer := &hosts.PublicDialer{Allowed: o.networks}
	config, online, problems := sources.Online(front.asking(m, dialer), product, "")
	if problems.HasErrors() {
		return 1, problems, nil
	}
	stores, _ := sources.Connect(m, product, config, "") // buckets may have private addresses; the problems were reported before
	from := *config
	if o.command != nil { // the command uses mirrors and other methods by itself
		from.Installation = []cliconfig.Method{{Kind: cliconfig.Direct}}
	}
	dialer.Hosts = o.named(m.Env, &from, to.Include) // no request was sent before this
	source := fresh{make: func() (getproviders.Source, error) {
		return from.Source(m.Context, online.Single(product, cliconfig.SourceOptions{}))
	}}
	if source.Source, err = source.make(); err != nil {
		return 1, problems, err
	}
	bucket, failed := openBucket(m, stores, o.place)
	if failed != nil {
		return 1, append(problems, failed), nil
	}
	defer bucket.Close()
	fetcher := &providercache.Fetcher{Source: source, Limits: providercache.Limits{Downloads: o.downloads, PerHost: cmp.Or(o.perHost, o.downloads, 32)}, Client: online.Archives, Product: product, StateDir: m.StateDir, Policy: online.Policy.Against(nil, nil), Choice: online.Policy.Versions(), Now: m.Now}
	to.MarkUses = o.any()
	to.Modules = registries{net: online, product: product}
	if err := front.withFiles(m.Context, o, &to, bucket); err != nil {
		return 1, problems, err
	}
	if front.mirror, err = mirrorserver.Handler(fetcher, bucket, to); err != nil {
		return 1, problems, err
	}
	defer front.mirror.Close()
	var listener net.Listener
	if o.command == nil {
		if listener, err = listen(m, o, to.Log, described(m, o, &from, to)...); err != nil {
			return 1, problems, err
		}
		defer listener.Close()
	}
	if o.any() {
		defer background(m.Context, func(ctx context.Context) { o.run(ctx, product, front.mirror, to.Log) })()
	}
	server := newServer(to.Log)
	if o.command != nil {
		m.Finish(nil, problems, cli.Output{Data: true}) // shows warnings before the output of the command
		m.Warnings = nil
		code, problems, err = serveCommand(m, o, &child{config: config, net: online, front: front, ending: endTimeout}, server)
	} else {
		defer background(m.Context, front.look)()
		server.Handler = front.handler()
		if o.metricsListen != "" {
			mux := http.NewServeMux()
			front.operate(mux, true)
			end, err := serveBeside(m.Context, "-metrics-listen", o.metricsListen, front.logged(mux), to.Log)
			if err != nil {
				return 1, problems, err
			}
			defer end()
		}
		err = serveOn(m, o, server, listener, front)
	}
	return code, problems, err
}

// described returns the attributes of the first log line.
func described(m *cli.Meta, o options, from *cliconfig.Config, to mirrorserver.Options) []any {
	var upstream []string
	for _, method := range from.Installation {
		upstream = append(upstream, strings.TrimSpace(method.Kind.String()+" "+method.Location))
	}
	policies, _ := sources.PolicyFiles(m, ".") // problems were reported before
	return []any{
		"include", cmp.Or(joined(to.Include), "everything"),
		"exclude", cmp.Or(joined(to.Exclude), "nothing"),
		"version", m.Version,
		"store", o.place,
		"upstream", cmp.Or(strings.Join(upstream, ", "), "direct"),
		"policy", cmp.Or(strings.Join(policies, ", "), "none"),
	}
}

// joined returns patterns with their hosts, which users may leave out.
func joined(patterns []getproviders.Pattern) string {
	var all []string
	for _, p := range patterns {
		all = append(all, p.String())
	}
	return strings.Join(all, ", ")
}

// begin writes the first log line: who may ask for what, with a warning if that is every host, or others could misuse the server.
func begin(o options, on net.Addr, log *slog.Logger, about ...any) {
	who := "those with a token"
	switch {
	case o.tokens == "" && isLocal(on):
		who = "this machine"
	case o.tokens == "":
		who = "everyone"
	}

	level, text := slog.LevelInfo, "the server begins"
	switch {
	case lends(o, on):
		level = slog.LevelWarn
		text = fmt.Sprintf("everyone who reaches this server at %s may use its network and the tokens of its CLI configuration: it asks every host on the internet that a request names, and serves what private registries have. "+
			"The option -tokens says who may ask, and -include for what", on)
	case len(o.include) == 0:
		level = slog.LevelWarn
		text = "the server begins, and asks every host on the internet that a request names: the option -include says which providers and modules it serves"
	}

	log.Log(context.Background(), level, text, append([]any{"address", on.String(), "who", who}, about...)...)
	if showsTokens(o, on) {
		log.Warn("this server speaks http: tokens can be read by all who see its traffic. Use -tls-cert and -tls-key, or listen on localhost behind a server that speaks https")
	}
}

// background runs a function in the background, and returns a function that ends it.
func background(ctx context.Context, f func(context.Context)) (end func()) {
	tasks := par.NewTasks()
	tasks.Begin(ctx, f)
	return func() { tasks.Close(context.Canceled) }
}

// lends reports whether other machines can make the server send requests to hosts of their choice, some of which may
// only be reachable from this server.
func lends(o options, on net.Addr) bool {
	return len(o.include) == 0 && o.tokens == "" && !isLocal(on)
}

// showsTokens reports whether other machines send tokens over http.
func showsTokens(o options, on net.Addr) bool {
	return o.tokens != "" && !o.speaksTLS() && !isLocal(on)
}

// speaksTLS reports whether the server itself speaks https.
func (o options) speaksTLS() bool { return o.cert != "" }

// isLocal reports whether only this machine can connect to a listener.
func isLocal(on net.Addr) bool {
	_, isSocket := on.(*net.UnixAddr)
	return isSocket || isLoopback(on)
}

// failure returns the problem for an error, with its hints.
func failure(m *cli.Meta, err error) *problem.Problem {
	text, names := problem.Sentence(err), m.Names(products.Unversioned(m))
	if names.Hint(err) != "" {
		text = names.Explained(err)
	}
	return problem.Error("serve_failed", "Failed to serve", text)
}

func openBucket(m *cli.Meta, net sources.Network, place string) (blob.Bucket, *problem.Problem) {
	if places.IsURL(place) {
		return net.OpenBucket(m.Context, place)
	}
	if info, err := os.Stat(place); err == nil && !info.IsDir() {
		return nil, failure(m, fmt.Errorf("the file %s is not a directory. Name the directory in which the server keeps its packages", place))
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return nil, failure(m, fmt.Errorf("the directory %s can't be made: %w. Name one that this user may write to", place, withoutOp(err)))
	}
	return blob.NewDirectory(place), nil
}

// withoutOp removes the name of the system call from an error about a file.
func withoutOp(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}

// registries asks registries of modules, without a cache: the server caches the answers, and knows how long they are valid.
type registries struct {
	net     sources.Network
	product getproviders.Product
}

// ModuleVersions implements mirrorserver.ModuleSource.
func (r registries) ModuleVersions(ctx context.Context, m mirrorserver.Module) ([]string, error) {
	all, err := r.net.Registries(r.product, "").Versions(ctx, addressOf(m))
	return all, missing(err)
}

// ModuleLocation implements mirrorserver.ModuleSource.
func (r registries) ModuleLocation(ctx context.Context, m mirrorserver.Module, version string) (string, error) {
	found, err := r.net.Registries(r.product, "").Locate(ctx, addressOf(m), version, false)
	return found.String(), missing(err)
}

func addressOf(m mirrorserver.Module) modules.Registry {
	return modules.Registry{Host: m.Host, Namespace: m.Namespace, Name: m.Name, System: m.System}
}

// missing wraps an error about a module that doesn't exist in the sentinel of mirrorserver.
func missing(err error) error {
	if errors.Is(err, modules.ErrModuleNotFound) || errors.Is(err, modules.ErrAddress) {
		return fmt.Errorf("%w: %w", getproviders.ErrNotFound, err)
	}
	return err
}
