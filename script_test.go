package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// Sessions are the files of testdata/script: one behaviour each, the first
// comment the sentence that it proves. Beside the commands of testscript they
// have:
//
//	exec tfdeps ARGS...
//		The program, out of this test binary. It takes itself for Terraform
//		1.15.9, whatever is installed; HOME and the caches are in $WORK.
//	registry HOST...
//		Starts a registry and redirects the hosts to it, for tfdeps and for the
//		real terraform, by TF_CLI_CONFIG_FILE and SSL_CERT_FILE. $REGISTRY is a
//		host with which it needs no redirection.
//	publish [NAME=VALUE...] NAMESPACE/TYPE@VERSION...
//		Publishes packages in the registry. Names: platform=OS_ARCH (else the
//		current one), protocols=5.0,6.0, warning=TEXT, content=TEXT (of the
//		package's executable).
//	fault KIND [NAME=VALUE...]
//		Breaks the registry's answers to requests of a kind: discovery, versions,
//		package, sums, signature, archive. Names: status=503, times=N, cut=BYTES,
//		stall=true, retry-after=SECONDS. Without any, the fault is healed.
//	requests KIND N
//		There have been N requests of a kind so far; KIND "all" counts all.
//	await KIND N
//		Waits until there have been.
//	scrub FILE...
//		Replaces in files what differs from run to run: the time stamps of JSON
//		lines, the IDs of keys, the platform, the registry's port.
//	edit FILE PATTERN TEXT
//		Replaces in a file what matches, which has to be there.
//	copytree FROM TO
//		Copies a directory.
//	[terraform]
//		There is a real terraform on PATH. With TFDEPS_REQUIRE_PEERS=1 it is an
//		error that there isn't.
//
// TFDEPS_UPDATE=1 makes the expected output in sessions what the output is.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setUpSession,
		Condition:           sessionCondition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("TFDEPS_UPDATE") == "1",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"registry": startRegistry,
			"publish":  publish,
			"fault":    breakRegistry,
			"requests": countRequests,
			"await":    awaitRequests,
			"scrub":    scrub,
			"edit":     edit,
			"copytree": copyTree,
		},
	})
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tfdeps": main})
}

// registryKey is under which a session keeps its registry.
type registryKey struct{}

func setUpSession(env *testscript.Env) error {
	quickstart, err := filepath.Abs(filepath.Join("testdata", "quickstart"))
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, ".home")
	for _, entry := range []struct{ name, value string }{
		{"HOME", home},
		{"USERPROFILE", home},
		{"LocalAppData", filepath.Join(home, "cache")},
		{"XDG_CACHE_HOME", filepath.Join(home, "cache")},
		{"CHECKPOINT_DISABLE", "1"},
		{"TFDEPS_TERRAFORM_VERSION", "1.15.9"},
		{"QUICKSTART", quickstart},
		{"PLATFORM", getproviders.CurrentPlatform().String()},
	} {
		env.Setenv(entry.name, entry.value)
	}
	env.Values[registryKey{}] = new(*providertest.Registry)
	return os.MkdirAll(home, 0o755)
}

func sessionCondition(condition string) (bool, error) {
	if condition != "terraform" {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	_, err := exec.LookPath("terraform")
	if err != nil && os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
		return false, fmt.Errorf("TFDEPS_REQUIRE_PEERS is 1: %w", err)
	}
	return err == nil, nil
}

// registryOf returns the session's registry.
func registryOf(ts *testscript.TestScript) *providertest.Registry {
	registry := *ts.Value(registryKey{}).(**providertest.Registry)
	if registry == nil {
		ts.Fatalf("there is no registry in this session")
	}
	return registry
}

func startRegistry(ts *testscript.TestScript, _ bool, hosts []string) {
	registry, err := providertest.NewRegistry(providertest.Options{})
	ts.Check(err)
	ts.Defer(registry.Close)
	*ts.Value(registryKey{}).(**providertest.Registry) = registry
	dir := ts.MkAbs(".registry")
	ts.Check(os.MkdirAll(dir, 0o755))
	env, err := registry.Env(dir, hosts...)
	ts.Check(err)
	for _, entry := range append(env, "REGISTRY="+registry.Host()) {
		name, value, _ := strings.Cut(entry, "=")
		ts.Setenv(name, value)
	}
}

var packageName = regexp.MustCompile(`^([^/@=]+)/([^/@=]+)@([^/@=]+)$`)

func publish(ts *testscript.TestScript, _ bool, args []string) {
	var spec providertest.PackageSpec
	content := ""
	for _, arg := range args {
		if name := packageName.FindStringSubmatch(arg); name != nil {
			spec.Namespace, spec.Type, spec.Version = name[1], name[2], name[3]
			spec.Archive = nil
			if content != "" {
				executable := fmt.Sprintf("terraform-provider-%s_v%s", spec.Type, spec.Version)
				spec.Archive = providertest.Zip(map[string]string{executable: content})
			}
			registryOf(ts).Add(spec)
			continue
		}
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "platform":
			platform, err := getproviders.ParsePlatform(value)
			ts.Check(err)
			spec.Platform = platform
		case "protocols":
			spec.Protocols = strings.Split(value, ",")
		case "warning":
			spec.Warnings = append(spec.Warnings, value)
		case "content":
			content = value
		default:
			ts.Fatalf("publish: what is %q?", arg)
		}
	}
}

func breakRegistry(ts *testscript.TestScript, _ bool, args []string) {
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
		case "stall":
			fault.Stall = value == "true"
		case "retry-after":
			fault.RetryAfter = value
		default:
			ts.Fatalf("fault: what is %q?", arg)
		}
	}
	registryOf(ts).Break(args[0], fault)
}

func countRequests(ts *testscript.TestScript, neg bool, args []string) {
	kind, want := kindAndNumber(ts, args)
	if got := registryOf(ts).Requests(kind); (got == want) == neg {
		ts.Fatalf("there have been %d requests of kind %q", got, args[0])
	}
}

// awaitRequests gives up in time for a message, which is all that the limit is for.
func awaitRequests(ts *testscript.TestScript, _ bool, args []string) {
	kind, want := kindAndNumber(ts, args)
	for range 3000 {
		if registryOf(ts).Requests(kind) >= want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("there have been only %d requests of kind %q", registryOf(ts).Requests(kind), args[0])
}

func kindAndNumber(ts *testscript.TestScript, args []string) (string, int) {
	if len(args) != 2 {
		ts.Fatalf("give a kind of requests and a number")
	}
	if args[0] == "all" {
		return "", number(ts, args[1])
	}
	return args[0], number(ts, args[1])
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// scrubbed says what differs from run to run, and what to put in its place.
var scrubbed = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`"@timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?(Z|[+-]\d\d:\d\d)"`), `"@timestamp":"TIME"`},
	{regexp.MustCompile(`(key ID |key_id: )[0-9A-F]{16}\b`), `${1}KEY`},
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(regexp.QuoteMeta(getproviders.CurrentPlatform().String())), "PLATFORM"},
}

func scrub(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		text := ts.ReadFile(file)
		for _, s := range scrubbed {
			text = s.pattern.ReplaceAllString(text, s.instead)
		}
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

func edit(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: edit FILE PATTERN TEXT")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if !pattern.MatchString(text) {
		ts.Fatalf("nothing in %s matches %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(pattern.ReplaceAllString(text, args[2])), 0o644))
}

func copyTree(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: copytree FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}
