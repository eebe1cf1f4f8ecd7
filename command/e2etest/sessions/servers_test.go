package sessions

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// publishModules puts modules into the session's registry.
func publishModules(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: module [NAME=VALUE...] NAMESPACE/NAME/SYSTEM@VERSION...")
	}
	registry := registryOf(ts)
	var location string
	for _, arg := range args {
		if name := packageName.FindStringSubmatch(arg); name != nil {
			registry.AddModule(providertest.ModuleSpec{
				Namespace: name[1], Name: name[2], System: name[3], Version: name[4], Location: location,
			})
			continue
		}
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "location":
			location = value
		case "dir":
			dir, archive, _ := strings.Cut(value, ",")
			location = serveArchive(ts, registry, dir, archive)
		default:
			ts.Fatalf("what is %q?", arg)
		}
	}
}

// serveArchive packs the files of a directory, and returns where the archive
// is.
func serveArchive(ts *testscript.TestScript, registry *providertest.Registry, dir, kind string) (path string) {
	root := ts.MkAbs(dir)
	files := map[string]string{}
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	name := strings.ReplaceAll(filepath.ToSlash(dir), "/", "-")
	switch kind {
	case "", "tar.gz":
		return registry.AddArchive(name+".tar.gz", providertest.TarGz(files))
	case "zip":
		return registry.AddArchive(name+".zip", providertest.Zip(files))
	}
	ts.Fatalf("archives of the kind %q can't be made", kind)
	return ""
}

// servers are the servers that a session has started.
type servers struct {
	ca       *providertest.CA // of all
	registry *providertest.Registry
	mirror   *providertest.Mirror
}

// serversKey is under which a session keeps them.
type serversKey struct{}

func serversOf(ts *testscript.TestScript) *servers {
	s := ts.Value(serversKey{}).(*servers)
	if s.ca == nil {
		s.ca = providertest.NewCA()
	}
	return s
}

func registryOf(ts *testscript.TestScript) *providertest.Registry {
	registry := serversOf(ts).registry
	if registry == nil {
		ts.Fatalf("there is no registry in this session")
	}
	return registry
}

func mirrorOf(ts *testscript.TestScript) *providertest.Mirror {
	mirror := serversOf(ts).mirror
	if mirror == nil {
		ts.Fatalf("there is no mirror in this session")
	}
	return mirror
}

// serverOf returns the server that a kind of requests is for, and what it calls
// the kind.
func serverOf(ts *testscript.TestScript, kind string) (*providertest.Server, string) {
	if kind, ok := strings.CutPrefix(kind, "mirror/"); ok {
		return mirrorOf(ts).Server, kind
	}
	return registryOf(ts).Server, kind
}

func startRegistry(ts *testscript.TestScript, _ bool, hosts []string) {
	const lists = "hashes=listed"
	registry, err := providertest.NewRegistry(providertest.Options{CA: serversOf(ts).ca, ListHashes: slices.Contains(hosts, lists)})
	ts.Check(err)
	ts.Defer(registry.Close)
	serversOf(ts).registry = registry
	writeSignerKey(ts, registry)
	hosts = slices.DeleteFunc(hosts, func(host string) bool { return host == lists })
	env, err := registry.Env(serversDir(ts), hosts...)
	ts.Check(err)
	for _, entry := range append(env, "REGISTRY="+registry.Host()) {
		name, value, _ := strings.Cut(entry, "=")
		ts.Setenv(name, value)
	}
}

func startMirror(ts *testscript.TestScript, _ bool, args []string) {
	mirror, err := providertest.NewMirror(providertest.MirrorOptions{
		CA: serversOf(ts).ca, NoHashes: slices.Contains(args, "hashes=none"),
	})
	ts.Check(err)
	ts.Defer(mirror.Close)
	serversOf(ts).mirror = mirror
	ca := filepath.Join(serversDir(ts), "ca.pem")
	ts.Check(os.WriteFile(ca, mirror.CAPEM(), 0o600))
	ts.Setenv("SSL_CERT_FILE", ca)
	ts.Setenv("MIRROR", mirror.URL())
	ts.Setenv("MIRROR_HOST", mirror.Host())
}

func serversDir(ts *testscript.TestScript) string {
	dir := filepath.Join(ts.Getenv("WORK"), ".servers")
	ts.Check(os.MkdirAll(dir, 0o755))
	return dir
}

func configure(ts *testscript.TestScript, _ bool, files []string) {
	path := ts.Getenv("TF_CLI_CONFIG_FILE")
	if path == "" {
		path = filepath.Join(serversDir(ts), "cli.tfrc")
		ts.Setenv("TF_CLI_CONFIG_FILE", path)
	}
	text := ""
	if old, err := os.ReadFile(path); err == nil {
		text = string(old)
	}
	for _, file := range files {
		text += os.Expand(ts.ReadFile(file), func(name string) string { return filepath.ToSlash(ts.Getenv(name)) })
	}
	ts.Check(os.WriteFile(path, []byte(text), 0o600))
}

// offer is a package that a session speaks of.
type offer struct {
	providertest.PackageSpec
	host     string
	content  string // of the executable; "" means providertest's default
	unpacked bool
}

var packageName = regexp.MustCompile(`^(?:([^/@=]+)/)?([^/@=]+)/([^/@=]+)@([^/@=]+)$`)

// offers parses packages, and attributes of the packages that follow.
func offers(ts *testscript.TestScript, args []string) (all []offer) {
	var next offer
	for _, arg := range args {
		if name := packageName.FindStringSubmatch(arg); name != nil {
			next.host, next.Namespace, next.Type, next.Version = name[1], name[2], name[3], name[4]
			if next.Archive = nil; next.content != "" {
				next.Archive = providertest.Zip(next.files())
			}
			all = append(all, next)
			continue
		}
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "platform":
			platform, err := getproviders.ParsePlatform(value)
			ts.Check(err)
			next.Platform = platform
		case "protocols":
			next.Protocols = strings.Split(value, ",")
		case "warning":
			next.Warnings = append(next.Warnings, value)
		case "content":
			next.content = value
		case "unpacked":
			next.unpacked = value == "true"
		default:
			ts.Fatalf("what is %q?", arg)
		}
	}
	return all
}

func (o offer) files() map[string]string {
	return map[string]string{fmt.Sprintf("terraform-provider-%s_v%s", o.Type, o.Version): o.content}
}

func publish(ts *testscript.TestScript, _ bool, args []string) {
	for _, o := range offers(ts, args) {
		if o.host == "" {
			registryOf(ts).Add(o.PackageSpec)
		} else {
			mirrorOf(ts).Add(o.host, o.PackageSpec)
		}
	}
}

func pack(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: pack DIR [NAME=VALUE...] HOST/NAMESPACE/TYPE@VERSION...")
	}
	for _, o := range offers(ts, args[1:]) {
		if o.content == "" {
			o.content = "not a real provider\n"
		}
		if o.Platform == (getproviders.Platform{}) {
			o.Platform = getproviders.CurrentPlatform()
		}
		dir := filepath.Join(ts.MkAbs(args[0]), o.host, o.Namespace, o.Type)
		files := map[string]string{
			fmt.Sprintf("terraform-provider-%s_%s_%s.zip", o.Type, o.Version, o.Platform): string(providertest.Zip(o.files())),
		}
		if o.unpacked {
			dir, files = filepath.Join(dir, o.Version, o.Platform.String()), o.files()
		}
		ts.Check(os.MkdirAll(dir, 0o755))
		for _, name := range slices.Sorted(maps.Keys(files)) {
			ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o755))
		}
	}
}

func breakServer(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: fault KIND [NAME=VALUE...]")
	}
	var fault providertest.Fault
	for _, arg := range args[1:] {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "status":
			fault.Status = number(ts, value)
		case "times":
			fault.Times = number(ts, value)
		case "cut":
			fault.CutAfter = int64(number(ts, value))
		case "rate":
			fault.Rate = int64(number(ts, value))
		case "stall":
			fault.Stall = value == "true"
		case "retry-after":
			fault.RetryAfter = value
		case "path":
			fault.Path = value
		case "modified": // how long ago
			ago, err := time.ParseDuration(value)
			ts.Check(err)
			fault.Header = http.Header{"Last-Modified": {time.Now().Add(-ago).UTC().Format(http.TimeFormat)}}
		default:
			ts.Fatalf("fault: what is %q?", arg)
		}
	}
	server, kind := serverOf(ts, args[0])
	server.Break(kind, fault)
}

func guard(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: guard TOKEN KIND...")
	}
	for _, arg := range args[1:] {
		server, kind := serverOf(ts, arg)
		server.RequireToken(args[0], kind)
	}
}

func countRequests(ts *testscript.TestScript, neg bool, args []string) {
	count, want := kindAndNumber(ts, args)
	if got := count(); (got == want) == neg {
		ts.Fatalf("there have been %d requests of kind %q", got, args[0])
	}
}

// awaitRequests gives up in time for a message, which is all that the limit is for.
func awaitRequests(ts *testscript.TestScript, _ bool, args []string) {
	count, want := kindAndNumber(ts, args)
	for range 3000 {
		if count() >= want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("there have been only %d requests of kind %q", count(), args[0])
}

func kindAndNumber(ts *testscript.TestScript, args []string) (count func() int, n int) {
	if len(args) != 2 {
		ts.Fatalf("give a kind of requests and a number")
	}
	server, kind := serverOf(ts, args[0])
	if kind == "all" {
		kind = ""
	}
	return func() int { return server.Requests(kind) }, number(ts, args[1])
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func checkAuthorization(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: authorization KIND VALUE")
	}
	server, kind := serverOf(ts, args[0])
	found := false
	for _, req := range server.Log() {
		if req.Kind != kind {
			continue
		}
		found = true
		got := strings.Join(req.Header.Values("Authorization"), ", ")
		if got == "" {
			got = "none"
		}
		if got != args[1] {
			ts.Fatalf("%s has the Authorization header %q", req.Path, got)
		}
	}
	if !found {
		ts.Fatalf("there has been no request of kind %q", args[0])
	}
}

// serveMirror serves a directory's files as they are, as any web server may, with
// requests of the kind "other", and has $MIRROR be its URL.
func serveMirror(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve DIR")
	}
	server, err := providertest.NewServer(providertest.ServerOptions{
		CA: serversOf(ts).ca, Handler: http.FileServer(http.Dir(ts.MkAbs(args[0]))),
	})
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("MIRROR", server.BaseURL()+"/")
}

// writeSignerKey has $SIGNER_KEY be a file with the key that the registry signs
// with, and $SIGNER its ID.
func writeSignerKey(ts *testscript.TestScript, registry *providertest.Registry) {
	path := filepath.Join(serversDir(ts), "signer.asc")
	ts.Check(os.WriteFile(path, []byte(registry.Signer().Armored()), 0o600))
	ts.Setenv("SIGNER_KEY", path)
	ts.Setenv("SIGNER", registry.Signer().KeyID())
}
