package sessions

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestPages follows README and the pages of docs from top to bottom, as people do: a
// session in testdata/pages for each, with an empty home. Beside the commands of
// TestScript they have:
//
//	follow PAGE
//		Runs all shell commands of the page in one shell, which ends at the first
//		that fails. Those that notRun lists are left out.
//	steps PAGE HEADING
//		Likewise the steps of the CI configuration below a heading.
//	extract PAGE N FILE
//		Writes the page's Nth block of HCL into a file.
func TestPages(t *testing.T) {
	t.Parallel()
	program, quickstart := harness.Tfdeps(t), harness.Path(t, "testdata", "quickstart")
	commands := sessionCommands()
	commands["follow"], commands["steps"], commands["extract"] = followPage, followSteps, extractBlock
	testscript.Run(t, testscript.Params{
		Dir: harness.Path(t, "testdata", "pages"),
		Setup: func(env *testscript.Env) error {
			if err := setUpSession(env, program, quickstart); err != nil {
				return err
			}
			for _, name := range []string{"TFDEPS_NO_SHARED_CACHE", "TFDEPS_PROGRESS"} {
				env.Setenv(name, "")
			}
			env.Setenv("REPOSITORY", harness.Path(t))
			return nil
		},
		Condition:           sessionCondition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
	})
}

// block is a block of code of a page.
type block struct{ page, language, heading, text string }

// notRun are the blocks that can't run in a test, by page and first line, and why.
var notRun = map[string]string{
	"docs/benchmarks.md: TFDEPS_BENCH_SCALE=0.1 go test -run='^$' -bench=Table -benchtime=3x ./command/e2etest/bench": "is a benchmark, which takes minutes",
	"docs/install.md: curl -fsSLO https://github.com/tfdeps/tfdeps/releases/download/v0.1.0/install.sh":               "TestInstall_ByTheLinesOfThePage in .release runs it",
	"docs/install.md: minisign -Vm SHA256SUMS -P KEY":                                                                 "TestInstall_ByTheLinesOfThePage in .release runs it",
	"docs/install.md: steps:":                                                                                         "needs a runner; the tests in .release run the steps of the action",
	"docs/install.md: go run -C .release . -key key v0.1.0":                                                           "takes minutes; the tests in .release make a release of a small program",
	"README.md: go install github.com/tfdeps/tfdeps@main":                                                             "TestGoInstall_MakesTheProgram runs it",
	"README.md: go run . -chdir=testdata/quickstart init":                                                             ".ci/run runs it, in a new clone",
	"docs/cache-and-ci.md: # syntax=docker/dockerfile:1":                                                              "needs a network and a builder of images; cache_system.txtar runs the same commands",
	"docs/install.md: go install github.com/tfdeps/tfdeps@main":                                                       "TestGoInstall_MakesTheProgram runs it",
	"docs/install.md: docker build -f image/Dockerfile --build-arg VERSION=0.1.0 -t tfdeps .":                         "needs a builder of images",
	"docs/mirrors.md: tfdeps providers mirror -platform=linux_amd64 's3://company-providers/mirror?region=eu-west-1'": "needs a bucket of Amazon's; a test of the package sources fills one of versitygw",
	"docs/fleet.md: tfdeps serve -listen=:8443 -tls-cert=mirror.crt -tls-key=mirror.key -tokens=tokens.txt 's3://company-providers/serve?region=eu-west-1'": "needs a bucket of Amazon's; a test of the package sources serves a directory",
	"docs/fleet.md: tfdeps serve -- terragrunt run --all init":                                                                             "needs Terragrunt; a test of the package sources runs terraform so",
	"docs/fleet.md: tfdeps serve -listen=:8443 -tls-cert=mirror.crt -tls-key=mirror.key -include='registry.terraform.io/*/*' mirror-store": "needs a certificate; a test of the package sources serves a directory",
	"docs/fleet.md: credentials \"mirror.example.com:8443\" {":                                                                             "needs a server with a name of its own; a test of the package sources has one on loopback",
	"docs/fleet.md: host \"registry.terraform.io\" {":                                                                                      "needs a server with a name of its own; a test of the package sources has one on loopback",
	"docs/mirrors.md: tfdeps providers mirror -platform=linux_amd64 'oci://ghcr.io/company/providers/${namespace}/${type}'":                "needs a registry of images; a test of the package sources fills Docker's",
	"docs/fleet.md: go run ./testdata/fleet -runners=10,1000,100000 -replicas=2":                                                           "simulates for some time; the tests in testdata/fleet simulate less",
	"docs/cache-and-ci.md: export TFDEPS_MIRROR='s3://company-ci/mirror?region=eu-west-1' TFDEPS_MIRROR_FALLBACK=next":                     "needs a bucket of Amazon's; TestMirror_CIFillsIt runs the same with one of versitygw",
	"docs/cache-and-ci.md: env:":                                                                    "needs a runner",
	"docs/cache-and-ci.md: plan:":                                                                   "needs a runner",
	"docs/fleet.md: provider_installation {":                                                        "needs a server with a name of its own; a test of the package sources has nginx there",
	"docs/init.md: tfdeps init -with=terraform -migrate-state":                                      "moves state, which takes two backends; the tests of the package peers do it",
	"docs/integrations.md: RUN mkdir -p /opt/tfdeps && \\":                                          "needs a builder of images",
	"docs/integrations.md: export TG_TF_PATH=\"$HOME/.tfdeps/bin/terraform\"":                       "needs Terragrunt",
	"docs/integrations.md: tf, err := tfexec.NewTerraform(dir, \"/home/ci/.tfdeps/bin/terraform\")": "testdata/terraformexec has it in a program that a test runs",
	"docs/integrations.md: export PATH=\"$HOME/.tfdeps/bin:$HOME/.tfenv/bin:$PATH\"":                "needs tfenv",
	"docs/mirrors.md: # ~/.tofurc":                                                                  "needs a registry of images; a test of the package sources fills Docker's",
	"docs/mirrors.md: export TF_TOKEN_registry_example__corp_com=...":                               "has no token in it",
	"docs/trust.md: docker run -v \"$HOME/.cache/tfdeps:/cache:ro\" -e TFDEPS_CACHE_DIR=/cache ...": "needs Docker",
	"docs/mirrors.md: TFDEPS_MIRROR='s3://company-providers/mirror?region=eu-west-1' tfdeps init":   "needs a bucket of Amazon's; a test of the package sources installs from one of versitygw",
}

// TestPages_LeaveNoBlockOut: each block of code is run by the page's session, or notRun
// says why it can't be.
func TestPages_LeaveNoBlockOut(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, page := range pageNames(t) {
		session, _ := os.ReadFile(harness.Path(t, "testdata", "pages", strings.TrimSuffix(filepath.Base(page), ".md")+".txtar"))
		counts := map[string]int{}
		for _, b := range blocksOf(t, page) {
			counts[b.language]++
			if notRun[b.key()] != "" {
				listed[b.key()] = true
				continue
			}
			var want string
			switch b.language {
			case "sh":
				want = "\nfollow " + page + "\n"
			case "yaml":
				want = "\nsteps " + page + " '" + b.heading + "'\n"
			case "hcl":
				want = "\nextract " + page + " " + strconv.Itoa(counts["hcl"]) + " "
			case "go": // TestExamples_AreThoseOfThePage, of providercache/setup
				must.Equal(t, page, "docs/engine.md")
				continue
			case "json":
				if page == "docs/json.md" { // TestSchemas_HaveTheExamplesOfTheirPage
					continue
				}
				fallthrough
			default:
				t.Errorf("%s has a block of %q that begins with %q: run it, or say in notRun why it can't be", page, b.language, b.first())
				continue
			}
			must.Contain(t, string(session), want, page)
		}
	}
	for key := range notRun {
		if !listed[key] {
			t.Errorf("notRun has %q, and no page has it", key)
		}
	}
}

// pageNames are README and the pages of docs, as paths from the top of the repository.
func pageNames(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(harness.Path(t, "docs", "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("found no page: %v", err)
	}
	names := []string{"README.md"}
	for _, path := range found {
		names = append(names, "docs/"+filepath.Base(path))
	}
	return names
}

func (b block) first() string { return strings.SplitN(b.text, "\n", 2)[0] }
func (b block) key() string   { return b.page + ": " + b.first() }

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	content := harness.ReadText(t, harness.Path(t, filepath.FromSlash(page)))
	return findBlocks(page, content)
}

var fence = regexp.MustCompile("^( *)```(\\w*)$")

// findBlocks returns the blocks of code of a page, without the indentation that they
// have in a list.
func findBlocks(page, text string) (all []block) {
	var current *block
	heading, indent := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		mark := fence.FindStringSubmatch(line)
		switch {
		case mark != nil && current == nil:
			indent, current = mark[1], &block{page: page, language: mark[2], heading: heading}
		case mark != nil:
			all, current = append(all, *current), nil
		case current != nil:
			current.text += strings.TrimPrefix(line, indent) + "\n"
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	return all
}

func TestFindBlocks(t *testing.T) {
	t.Parallel()
	got := findBlocks("p", "# A\n```sh\na\n\n b\n```\n- x\n\n  ```yaml\n  c:\n    d\n  ```\n## B\n```\ne\n```\n")
	must.EqualSlices(t, got, []block{{"p", "sh", "A", "a\n\n b\n"}, {"p", "yaml", "A", "c:\n  d\n"}, {"p", "", "B", "e\n"}})
}

// followPage runs the shell commands of a page.
func followPage(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: follow PAGE")
	}
	var script strings.Builder
	for _, b := range readBlocks(ts, args[0]) {
		if b.language == "sh" && notRun[b.key()] == "" {
			script.WriteString(b.text)
		}
	}
	runShell(ts, script.String())
}

// followSteps runs the steps below a heading of a page.
func followSteps(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: steps PAGE HEADING")
	}
	script := ""
	for _, b := range readBlocks(ts, args[0]) {
		if b.language == "yaml" && b.heading == args[1] {
			script += stepsOf(b)
		}
	}
	runShell(ts, script)
}

var (
	step   = regexp.MustCompile(`^ *(?:- )?run: (.+)$`)
	script = regexp.MustCompile(`^( *)script:$`)
)

// stepsOf are the shell commands in a configuration of GitHub Actions or GitLab.
func stepsOf(b block) string {
	var commands strings.Builder
	inside, indent := false, 0
	for line := range strings.Lines(b.text) {
		line = strings.TrimRight(line, "\n")
		depth := len(line) - len(strings.TrimLeft(line, " -"))
		switch run, in := step.FindStringSubmatch(line), script.FindStringSubmatch(line); {
		case run != nil && run[1] == "|", in != nil:
			inside, indent = true, depth
		case run != nil:
			inside = false
			line = run[1]
			fallthrough
		case inside && depth > indent:
			if line = strings.TrimLeft(line, " -"); notRun[b.page+": "+line] == "" {
				commands.WriteString(line + "\n")
			}
		default:
			inside = false
		}
	}
	return commands.String()
}

func TestStepsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"steps:\n  - uses: x\n  - run: a b\n  - id: y\n    run: c >> \"$D\"\n": "a b\nc >> \"$D\"\n",
		"steps:\n  - run: |\n      e\n      f -g\n  - uses: z\n    with: -h\n": "e\nf -g\n",
		"plan:\n  image: i\n  script:\n    - j\n    - k -l\n  cache: [m]\n":    "j\nk -l\n",
	} {
		must.Equal(t, stepsOf(block{text: text}), want, text)
	}
}

// extractBlock writes a block of HCL into a file.
func extractBlock(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || neg {
		ts.Fatalf("usage: extract PAGE N FILE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for _, b := range readBlocks(ts, args[0]) {
		if b.language != "hcl" {
			continue
		}
		if n--; n == 0 {
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(b.text), 0o644))
			return
		}
	}
	ts.Fatalf("%s has no such block", args[0])
}

func readBlocks(ts *testscript.TestScript, page string) []block {
	content, err := os.ReadFile(filepath.Join(ts.Getenv("REPOSITORY"), filepath.FromSlash(page)))
	ts.Check(err)
	return findBlocks(page, string(content))
}

// runShell runs commands in one shell, which prints each before it runs it.
func runShell(ts *testscript.TestScript, commands string) {
	if commands == "" {
		ts.Fatalf("there are no commands")
	}
	if err := ts.Exec("sh", "-euxc", commands); err != nil {
		ts.Fatalf("%v", err)
	}
}
