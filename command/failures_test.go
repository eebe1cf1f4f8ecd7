package command

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// files are the contents of files by their names, which have slashes.
type files = map[string]string

var update = flag.Bool("update", false, "write what the program says into testdata/failures.txtar")

// failure is a way to fail, by a command that runs in this process.
type failure struct {
	files files  // of the working directory; nil means a configuration that requires tf.example.com/acme/tiny
	cli   string // the CLI configuration; "" means one with the registry at tf.example.com
	env   string // variables, a line each
	setUp func(w *failing)
	err   error // an error of an installation that can't be provoked here; nil if a command runs
	unix  bool  // Windows has no such failure
}

// TestFailures_AreExplained provokes failures one by one, against servers on loopback, and
// compares the output with testdata/failures.txtar, which has all texts in
// one place for reviewers. The lines of a paragraph are joined there. The first line of a text is the command; a name
// without a failure here needs only that. -update writes the file.
func TestFailures_AreExplained(t *testing.T) {
	golden := "testdata/failures.txtar"
	archive := must.Get(txtar.ParseFile(golden))(t)
	all := map[string]failure{}
	for _, some := range []map[string]failure{networkFailures(), packageFailures(), moduleFailures(), directoryFailures(), bucketFailures(), argumentFailures(), placesFailures(), serveFailures()} {
		maps.Copy(all, some)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.ContainsFunc(archive.Files, func(file txtar.File) bool { return file.Name == name }) {
			archive.Files = append(archive.Files, txtar.File{Name: name})
		}
	}
	for i, file := range archive.Files {
		f, want := all[file.Name], string(file.Data)
		t.Run(file.Name, func(t *testing.T) {
			if file.Name == "timeout" && testing.Short() {
				t.Skip("four times a second, which is the shortest timeout")
			}
			if f.unix && runtime.GOOS == "windows" {
				t.Skip("Windows has no such failure")
			}
			got := ""
			if f.err != nil {
				got = shown(f.err)
			} else {
				command, _, _ := strings.Cut(strings.TrimPrefix(want, "$ tfdeps "), "\n")
				got = newFailing(t, f).run(f, strings.Fields(command))
			}
			if archive.Files[i].Data = []byte(got); !*update {
				must.Equal(t, ours(got), ours(want))
			}
		})
	}
	if *update {
		must.Write(t, golden, txtar.Format(archive))
	}
}

// ours returns the lines of a text without the system's own words, which differ between systems.
func ours(text string) (lines string) {
	if runtime.GOOS == "linux" {
		return text
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Error: ") || strings.HasPrefix(line, "(code: ") {
			lines += line
		}
	}
	return lines
}

// shown returns the output of an init that fails with an error.
func shown(err error) string {
	var out bytes.Buffer
	names := new(cli.Meta).Names(getproviders.Terraform("1.15.9"))
	view.Problems(view.Options{Names: names, Stderr: terminal.Stream{Writer: &out}}, names.InstallProblems(nil, err, nil))
	return unwrapped(out.String())
}

// failing is the environment in which a command fails.
type failing struct {
	*testing.T
	dir, home string
	registry  *providertest.Registry
	env       cli.Environment

	noCacheDir bool     // this user has no directory for caches
	names      []string // what is replaced in texts, and by what
}

func newFailing(t *testing.T, f failure) *failing {
	t.Helper()
	root := t.TempDir()
	registry := must.Get(providertest.NewRegistry(providertest.Options{CA: trustedCA}))(t)
	t.Cleanup(registry.Close)
	w := &failing{T: t, dir: filepath.Join(root, "work"), home: filepath.Join(root, "home"), registry: registry}
	if f.files == nil {
		f.files = requiring(tiny)
	}
	must.WriteAll(w, w.dir, f.files)
	must.Write(w, filepath.Join(w.home, "ca.pem"), string(w.registry.CAPEM()))
	w.env = cli.Environment{
		"HOME=" + w.home, "USERPROFILE=" + w.home, "PATH=" + w.home, "TFDEPS_TERRAFORM_VERSION=1.15.9", "TF_REGISTRY_DISCOVERY_RETRY=0",
		"SSL_CERT_FILE=" + filepath.Join(w.home, "ca.pem"), "TF_CLI_CONFIG_FILE=" + filepath.Join(w.home, "cli.tfrc"), "TFDEPS_PROGRESS=none",
	}
	w.replace(w.registry.Host(), "localhost:PORT")
	w.replace(w.registry.Signer().KeyID(), "KEYID")
	w.config(fmt.Sprintf("host \"tf.example.com\" {\n  services = {\n    \"providers.v1\" = %q\n    \"modules.v1\" = %q\n  }\n}\n",
		w.registry.ServiceURL(), w.registry.ModulesURL()))
	return w
}

// replace replaces, in texts, a name that differs each time.
func (w *failing) replace(name, by string) { w.names = append(w.names, name, by) }

// set adds variables to the environment.
func (w *failing) set(entries ...string) { w.env = w.env.With(entries...) }

// config writes the CLI configuration.
func (w *failing) config(content string) { must.Write(w, filepath.Join(w.home, "cli.tfrc"), content) }

// redirect sets the URL of tf.example.com's providers.
func (w *failing) redirect(url string) {
	w.config(fmt.Sprintf("host \"tf.example.com\" {\n  services = { \"providers.v1\" = %q }\n}\n", url))
}

// main runs a command, and returns what it prints and its exit code.
func (w *failing) main(args ...string) (out, err string, code int) {
	w.Helper()
	var stdout, stderr bytes.Buffer
	p := Process{
		Args: append([]string{"tfdeps"}, args...), Env: w.env, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Now: time.Now, Chdir: os.Chdir, UserCacheDir: filepath.Join(w.home, "cache"),
		retryWait: time.Nanosecond,
	}
	if w.noCacheDir {
		p.UserCacheDir = ""
	}
	code = Main(w.Context(), p)
	return stdout.String(), stderr.String(), code
}

// run makes the command fail, and returns its output, after the code of the error, if it has one. Without arguments it runs init.
func (w *failing) run(f failure, args []string) string {
	w.Helper()
	must.Succeed(w, os.MkdirAll(w.dir, 0o755))
	w.Chdir(w.dir)
	if f.cli != "" {
		w.config(f.cli)
	}
	w.set(strings.Split(f.env, "\n")...)
	if f.setUp != nil {
		f.setUp(w)
	}
	if len(args) == 0 {
		args = []string{"init"}
	}
	out, err, code := w.main(args...)
	if code != 1 && code != 2 {
		w.Errorf("the exit code is %d\n%s%s", code, out, err)
	}
	text := err
	if text == "" {
		text = out
	}
	if i := strings.Index(out, "╷"); i >= 0 && i < len(out) && err != "" { // warnings
		text = out[i:] + err
	}
	return fmt.Sprintf("$ tfdeps %s\n%s%s", strings.Join(args, " "), w.settled(text), w.codes(args))
}

// codes runs an init again for programs, and returns the codes of its errors, a line each.
func (w *failing) codes(args []string) (lines string) {
	w.Helper()
	if args[0] != "init" {
		return ""
	}
	out, _, _ := w.main(append(args, "-json")...)
	for line := range strings.Lines(out) {
		var said struct {
			Diagnostic struct{ Severity, Code string }
		}
		if err := json.Unmarshal([]byte(line), &said); err == nil && said.Diagnostic.Severity == "error" {
			lines += "(code: " + said.Diagnostic.Code + ")\n"
		}
	}
	return lines
}

// settled returns a text without names that differ each time, with each paragraph on one line.
func (w *failing) settled(text string) string {
	names := append([]string{w.dir, "/work", w.home, "/home", filepath.Dir(w.dir), "", getproviders.CurrentPlatform().String(), "linux_amd64"}, w.names...)
	text = waits.ReplaceAllString(text, "after TIME")
	return ports.ReplaceAllString(times.ReplaceAllString(strings.NewReplacer(names...).Replace(unwrapped(text)), "TIME"), "$1:PORT")
}

var times = regexp.MustCompile(`\b\d{4}-\d\d-\d\d(?: \d\d:\d\d|T\d\d:\d\d:\d\dZ)`)

// waits are how long git has waited.
var waits = regexp.MustCompile(`after \d+ ms`)

// ports matches the ports of servers on loopback.
var ports = regexp.MustCompile(`(localhost|127\.0\.0\.1|\[::1\]):\d{4,5}`)

// unwrapped joins wrapped lines, and removes the frames
// of boxes.
func unwrapped(text string) string {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i, line := range lines {
		body, boxed := strings.CutPrefix(line, "│ ")
		width := 78
		if boxed {
			width = 75
		}
		b.WriteString(strings.TrimRight(body, " "))
		if i+1 < len(lines) && lines[i+1] != "╵" && lines[i+1] != "╷" {
			next, _ := strings.CutPrefix(lines[i+1], "│ ")
			word, _, _ := strings.Cut(next, " ")
			broken := body != "" && word != "" && !strings.HasPrefix(body, " ") && !strings.HasPrefix(body, "Error: ") &&
				utf8.RuneCountInString(body)+1+utf8.RuneCountInString(word) > width
			b.WriteString(map[bool]string{true: " ", false: "\n"}[broken])
		} else if i+1 < len(lines) {
			b.WriteString("\n")
		}
	}
	return strings.NewReplacer("╷\n", "", "╵\n", "").Replace(b.String())
}

// argumentFailures are about arguments and variables, and about values that they don't have.
func argumentFailures() map[string]failure {
	return map[string]failure{
		"product_variable_invalid":         {env: "TFDEPS_PRODUCT=opentofu"},
		"progress_variable_invalid":        {env: "TFDEPS_PROGRESS=bars"},
		"workspace_invalid":                {env: "TF_WORKSPACE=a b"},
		"cache_add_a_missing_version":      {setUp: versions("1.0.0")},
		"cache_add_for_a_missing_platform": {setUp: versions("1.0.0")},
		"linking_invalid":                  {env: "TFDEPS_LINK=sym"},
		"version_of_the_product_invalid":   {env: "TFDEPS_TERRAFORM_VERSION=latest"},
		"cache_dir_unusable": {files: and(requiring(tiny+" ~> 2.0"), "cache", "a file"), env: "TFDEPS_CACHE_DIR=cache",
			setUp: versions("1.0.0")},
		"cli_args_unknown_option":            {env: "TF_CLI_ARGS_init=-parallelism=5"},
		"cli_args_unknown_option_of_another": {env: "TF_CLI_ARGS=-input=false"},
		"cli_args_unbalanced":                {env: "TF_CLI_ARGS_init=-backend-config='a"},
		"variable_invalid":                   {env: "TFDEPS_OFFLINE=maybe"},
		"variable_unknown":                   {env: "TFDEPS_OFLINE=1"},
		"plugin_cache_unwritable": {files: and(requiring(tiny+" ~> 2.0"), "cache", "a file"), setUp: func(w *failing) {
			w.set("TF_PLUGIN_CACHE_DIR=" + filepath.Join(w.dir, "cache"))
			versions("1.0.0")(w)
		}},
	}
}

// placesFailures are about files and directories that options, variables and operands name.
func placesFailures() map[string]failure {
	none := map[string]string{}
	link := func(name, to string) func(*failing) {
		return func(w *failing) {
			versions("1.0.0")(w)
			cachetest.LinkOrSkip(w.T, to, filepath.Join(w.dir, name))
		}
	}
	return map[string]failure{
		"working_directory_removed": {unix: true, setUp: func(w *failing) {
			gone := filepath.Join(w.dir, "gone")
			must.Succeed(w, os.Mkdir(gone, 0o755))
			w.Chdir(gone)
			must.Succeed(w, os.Remove(gone))
		}},
		"data_directory_is_a_file":        {files: with("data", "a file"), env: "TF_DATA_DIR=data", unix: true},
		"data_directory_is_a_broken_link": {setUp: link(".terraform", "/no/such/directory")},
		"configuration_is_a_broken_link":  {setUp: link("more.tf", "none.tf")},
		"configuration_is_not_utf8":       {files: files{"main.tf": "locals {\n  a = \"caf\xe9\"\n}\n"}},
		"report_is_a_directory":           {files: with("pages/x", "")},
		"json_into_a_directory":           {files: with("out/x", "")},
		"state_is_a_directory":            {files: with("states/x", "")},
		"plugin_dir_is_a_file":            {files: with("plugins", "a file")},
		"mirror_option_is_a_file":         {files: with("mirror", "a file")},
		"from_module_missing":             {files: none},
		"from_module_mistaken":            {files: none},
		"vendor_without_configuration":    {files: none},
		"from_module_refused":             {files: none, setUp: func(w *failing) { w.set("PATH=" + os.Getenv("PATH")) }},
		"policy_variable_missing":         {env: "TFDEPS_POLICY=none.hcl"},
		"policy_misspelt":                 {files: with("tfdeps.hcl", "minimum_trustt = \"partner\"\n")},
		"policy_with_an_unknown_value":    {files: with("tfdeps.hcl", "minimum_trust = \"high\"\n")},
		"trusted_key_missing":             {env: "TFDEPS_TRUSTED_KEYS=none.asc"},
		"trusted_key_is_none":             {files: with("notes.txt", "no key"), env: "TFDEPS_TRUSTED_KEYS=notes.txt"},
		"program_missing":                 {env: "TFDEPS_TERRAFORM_VERSION=\nTFDEPS_TERRAFORM_PATH=/no/such/terraform"},
		"passed_to_a_missing_program":     {env: "TFDEPS_TERRAFORM_PATH=/no/such/terraform"},
		"mirror_is_a_file":                {files: with("mirror", "a file")},
		"mirror_below_a_file":             {files: with("mirror", "a file")},
		"hash_of_what_is_no_archive":      {files: with("tiny.zip", "a file")},
		"vendor_archive_is_none":          {files: with("deps.tar", "a file")},
		"vendor_archive_in_no_directory":  {setUp: versions("1.0.0")},
		"cache_without_a_home":            {setUp: func(w *failing) { w.noCacheDir = true }},
	}
}

// TestServe_FailsInJSONLines checks that each line of serve -json on stderr is an object of its log.
func TestServe_FailsInJSONLines(t *testing.T) {
	w := newFailing(t, failure{files: map[string]string{"mirror": "a file"}})
	w.Chdir(w.dir)
	w.set("TFDEPS_OFLINE=1") // which is warned of
	out, text, code := w.main("serve", "-json", "-listen=127.0.0.1:0", "mirror")
	var codes []string
	for line := range strings.Lines(text) {
		var said struct{ Level, Msg, Detail, Code string }
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg == "" || said.Detail == "" {
			t.Errorf("%q: %v", line, err)
		}
		codes = append(codes, said.Level+" "+said.Code)
	}
	if want := []string{"WARN invalid_variable", "ERROR serve_failed"}; code != 1 || out != "" || !slices.Equal(codes, want) {
		t.Errorf("exit code %d, %q on stdout, codes %q, want %q", code, out, codes, want)
	}
}

// serveFailures are about the server, which has to report at its start problems that it would have later.
func serveFailures() map[string]failure {
	file := files{"mirror": "a file", "notes.txt": "no certificate", "tokens": "# none yet\n"}
	return map[string]failure{
		"serve_at_a_port_in_use": {setUp: func(w *failing) {
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(w)
			w.Cleanup(func() { _ = listener.Close() })
			w.set("TF_CLI_ARGS_serve=-listen=" + listener.Addr().String())
		}},
		"serve_with_a_certificate_that_is_none": {files: file},
		"serve_with_a_certificate_alone":        {files: file},
		"serve_with_no_token":                   {files: file},
		"serve_with_tokens_and_a_bucket_that_is_down": {files: map[string]string{"tokens": "a\n"}, setUp: func(w *failing) {
			w.set("AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b")
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			w.Setenv("AWS_MAX_ATTEMPTS", "1")
		}},
		"serve_from_a_file":       {files: file},
		"serve_from_below_a_file": {files: file},
		"serve_for_a_file_that_is_no_program": {files: file, setUp: func(w *failing) {
			must.Succeed(w, os.Chmod("notes.txt", 0o600))
		}},
	}
}
