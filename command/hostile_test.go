package command

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/internal/hostiletest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// hostileCommands are run against each rule of testdata/hostile; a word stands where they read
// more than their arguments.
var hostileCommands = []struct {
	name, line string
}{
	{"lock", "providers lock -no-color"},
	{"mirror", "providers mirror -no-color out"},
	{"vendor", "vendor -no-color"},
	{"urls", "providers urls -no-color"},
	{"get", "get -no-color"},
	{"add", "cache add -no-color $HOST/acme/tiny@1.0.0"},
	{"init", "init -no-color"}, // the last, because the registry is honest after it
}

// allHostile is the variable that runs every command against every rule. Without it, init meets
// each rule, and the other commands meet the rules in turn.
const allHostile = "TFDEPS_TEST_HOSTILE"

// fewSessions is the variable by which CI runs only a fifth of the tests that are slow under the race detector.
const fewSessions = "TFDEPS_TEST_SESSIONS"

const hostileToken = "sEcReT-t0ken"

// TestMain_RefusesWhatHostileRegistriesSend runs every command, in this process, against a
// registry that lies in one way for each rule. The error says what is wrong and where, and the
// exit code is 1. Nothing is installed, left among the temporary files, or changed elsewhere. No
// terminal obeys what is printed, and no other host gets the token.
func TestMain_RefusesWhatHostileRegistriesSend(t *testing.T) {
	rules, err := hostiletest.ReadHostile("../testdata/hostile")
	if err != nil || len(rules) < 50 {
		t.Fatalf("%d rules: %v", len(rules), err)
	}
	o, honest := hostileWorld(t), honestRegistry(t)
	few := testing.Short() || os.Getenv(fewSessions) == "few" // a fifth
	for i, rule := range rules {
		large := rule.Name == "archive_many" || rule.Name == "archive_ratio" // 10,000 files for each command, and 512 MB of zeros
		if rule.Name == "archive_many" && !peertest.All() && os.Getenv(allHostile) == "" {
			continue // half of the time of all rules
		}
		if few && (i%5 != 0 || large) && rule.Name != "honest" || large && runtime.GOOS == "windows" { // Wine takes minutes for so many files
			continue
		}
		if hostOf(honest) != honest.Host() && slices.ContainsFunc(rule.Answers, func(a hostiletest.HostileAnswer) bool { return a.Kind == "discovery" }) {
			continue // nothing is asked where its services are
		}
		t.Run(rule.Name, func(t *testing.T) {
			registry := must.Get(hostiletest.NewHostile(rule, o))(t)
			defer registry.Close()
			for j, c := range hostileCommands {
				if c.name != "init" && j != i%6 && os.Getenv(allHostile) == "" && rule.Name != "honest" {
					continue
				}
				want, named := rule.Want[c.name]
				if !named {
					want = rule.Want[""]
				}
				runHostile(t, registry, rule, c.name, c.line, want)
			}
			if i%6 == 0 || os.Getenv(allHostile) != "" {
				examineHostile(t, registry, rule)
			}
			for _, request := range o.Other.Log() {
				must.NotContain(t, fmt.Sprint(request), hostileToken, request)
			}
		})
	}
}

// hostileWorld returns the options that all hostile registries share.
func hostileWorld(t *testing.T) (o hostiletest.HostileOptions) {
	t.Helper()
	o.CA, o.Signer = trustedCA, providertest.NewSigner(providertest.SignerOptions{})
	o.Other = must.Get(providertest.NewServer(providertest.ServerOptions{CA: o.CA}))(t)
	t.Cleanup(o.Other.Close)
	return o
}

// runHostile runs a command in new directories. want "-" means success. What init keeps of a lie
// must not outlast it.
func runHostile(t *testing.T, registry *providertest.Registry, rule hostiletest.HostileRule, name, line, want string) {
	t.Helper()
	root := t.TempDir()
	writeWorld(t, root, registry, rule.Module != nil)
	if name == "init" {
		must.Write(t, filepath.Join(root, "work/.terraform.lock.hcl"), "provider \"registry.terraform.io/acme/gone\" {\n  version = \"1.0.0\"\n}\n")
	}
	before := filesIn(t, root)
	code, stdout, stderr := runInProcess(t, root, hostOf(registry), line)
	said := strings.Join(strings.Fields(stderr), " ")              // as if it weren't wrapped
	if want == "connection refused" && runtime.GOOS == "windows" { // which has its own words for that
		want = "no server listens at"
	}
	switch {
	case want == "-" && code != 0:
		t.Errorf("%s: exit code %d\n%s", name, code, stderr)
	case want == "-":
		return
	case code != 1:
		t.Errorf("%s: exit code %d, not 1\n%s%s", name, code, stdout, stderr)
	case !strings.Contains(said, want):
		t.Errorf("%s: the error has no %q:\n%s", name, want, stderr)
	case !strings.Contains(said, hostOf(registry)) && !strings.Contains(said, registry.Host()) && !strings.Contains(said, "acme/"):
		t.Errorf("%s: the error names neither the provider, the module nor a URL:\n%s", name, stderr)
	}
	checkPrinted(t, name, stdout, stderr)
	for file, content := range filesIn(t, root) {
		if was, there := before[file]; there && was == content || !there && harmless(file) {
			continue
		}
		t.Errorf("%s: %s is left behind or changed: %.100q", name, file, content)
	}
	if name == "init" && rule.Archive == nil && rule.Key == "" && len(rule.Sums) == 0 && len(rule.Answers) > 0 {
		for _, answer := range rule.Answers {
			registry.Break(answer.Kind, providertest.Fault{})
		}
		if code, _, stderr := runInProcess(t, root, hostOf(registry), line); code != 0 {
			t.Errorf("%s: the registry is honest again, and the exit code is %d\n%s", name, code, stderr)
		}
	}
	for file := range before {
		must.Succeed(t, must.ErrorOf(os.Lstat(filepath.Join(root, file))), name, file)
	}
}

// checkPrinted wants texts that no terminal obeys, without the token, and not without end.
func checkPrinted(t *testing.T, name string, texts ...string) {
	t.Helper()
	for _, printed := range texts {
		must.NotContain(t, printed, hostileToken, name)
		if i := strings.IndexFunc(printed, obeyed); i >= 0 || !utf8.ValidString(printed) {
			t.Errorf("%s: a terminal would obey %q", name, printed[max(0, i-20):min(len(printed), max(i, 0)+20)])
		}
		if len(printed) > 64<<10 {
			t.Errorf("%s: %d bytes are printed", name, len(printed))
		}
	}
}

// examineHostile runs doctor, which sends fewer requests than other commands: whether or not it gets
// the lie, it prints nothing that a terminal obeys and no token, and changes nothing.
func examineHostile(t *testing.T, registry *providertest.Registry, rule hostiletest.HostileRule) {
	t.Helper()
	root := t.TempDir()
	writeWorld(t, root, registry, rule.Module != nil)
	before := filesIn(t, root)
	code, stdout, stderr := runInProcess(t, root, hostOf(registry), "doctor -no-color")
	if code != 0 && code != 1 || !strings.Contains(stdout, "Registries and mirrors\n") {
		t.Errorf("doctor: exit code %d\n%s%s", code, stdout, stderr)
	}
	checkPrinted(t, "doctor", stdout, stderr)
	if after := filesIn(t, root); !maps.Equal(before, after) {
		t.Errorf("doctor: files were changed: %v", after)
	}
}

// hostOf returns the host of a registry's providers. On Windows it is a host without a port, because directories can't have a colon there,
// and the configuration names its services.
func hostOf(registry *providertest.Registry) string {
	if runtime.GOOS == "windows" {
		return "providers.example.com"
	}
	return registry.Host()
}

// writeWorld makes the directories of a user below root, and a configuration in one of them.
func writeWorld(t *testing.T, root string, registry *providertest.Registry, modules bool) {
	t.Helper()
	config := fmt.Sprintf("terraform {\n  required_providers {\n    tiny = { source = %q }\n  }\n}\n", hostOf(registry)+"/acme/tiny")
	cliConfig := fmt.Sprintf("credentials %q {\n  token = %q\n}\n", hostOf(registry), hostileToken)
	if hostOf(registry) != registry.Host() {
		cliConfig += fmt.Sprintf("host %q {\n  services = { \"providers.v1\" = %q }\n}\n", hostOf(registry), registry.ServiceURL())
	}
	if modules { // their hosts have no ports
		config = fmt.Sprintf("module \"net\" {\n  source  = %q\n  version = \"1.0.0\"\n}\n", providertest.Host+"/acme/net/cloud")
		cliConfig += fmt.Sprintf("credentials %q {\n  token = %q\n}\nhost %[1]q {\n  services = { \"modules.v1\" = %[3]q }\n}\n", providertest.Host, hostileToken, registry.ModulesURL())
	}
	for file, content := range map[string]string{
		"work/main.tf": config, "work/keep": "kept", "temp/keep": "kept", "home/private/main.tf": "# private\n",
		"cli.tfrc": cliConfig,
	} {
		must.Write(t, filepath.Join(root, file), content)
	}
}

// obeyed are the characters that control a terminal, or change the order of what is read.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
}

// harmless reports whether a file can't harm: locks, partial downloads, and
// what servers sent of modules, under its checksum.
func harmless(file string) bool {
	return strings.HasPrefix(file, "cache/tfdeps/") && (strings.Contains(file, "/.locks/") || strings.Contains(file, "/partial/")) || strings.HasPrefix(file, "cache/tfdeps/modules/") ||
		strings.HasPrefix(file, "home/.local/state/tfdeps/") && !strings.Contains(file, "tiny")
}

// filesIn are the files and links of a directory.
func filesIn(t *testing.T, root string) map[string]string {
	t.Helper()
	found := peertest.Tree(t, root)
	maps.DeleteFunc(found, func(_, text string) bool { return text == "/" })
	return found
}

func runInProcess(t *testing.T, root, host, line string) (code int, stdout, stderr string) {
	t.Helper()
	return runInProcessAt(t, root, host, line, time.Now)
}

func runInProcessAt(t *testing.T, root, host, line string, now func() time.Time, env ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("TMPDIR", filepath.Join(root, "temp"))
	t.Chdir(filepath.Join(root, "work"))
	var out, err bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code = Main(ctx, Process{
		Args: strings.Fields("tfdeps " + strings.ReplaceAll(line, "$HOST", host)),
		Env: append([]string{"HOME=" + filepath.Join(root, "home"), "LocalAppData=" + filepath.Join(root, "home/.local/state"), "SSL_CERT_FILE=" + os.Getenv("SSL_CERT_FILE"), "TF_CLI_CONFIG_FILE=" + filepath.Join(root, "cli.tfrc"),
			"TF_REGISTRY_DISCOVERY_RETRY=0", "CHECKPOINT_DISABLE=1", "NO_COLOR=1"}, env...),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err,
		Now: now, Chdir: os.Chdir, UserCacheDir: filepath.Join(root, "cache"),
		retryWait: time.Nanosecond,
	})
	return code, out.String(), err.String()
}
