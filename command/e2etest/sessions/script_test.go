// Package sessions runs the program as people do, one behaviour a session: the
// files of testdata/script, and what a session can't say, such as terminals and
// signals.
package sessions

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestMain(m *testing.M) { os.Exit(harness.RunInPlace(m)) }

// Sessions are the files of testdata/script: one behaviour each, the first
// comment the sentence that it proves. Beside the commands of testscript they
// have:
//
//	exec tfdeps ARGS...
//	tfdeps ARGS...
//		The program. It has to run without exec where -json is given: what it prints is then
//		compared with the schemas of docs/json. It takes itself for Terraform
//		1.15.9, whatever is installed; HOME and the caches are in $WORK. No cache
//		is shared unless a session empties TFDEPS_NO_SHARED_CACHE, and there is
//		no summary unless it empties TFDEPS_PROGRESS.
//	both ARGS...
//		Lays the files of config/ into the directories ours and theirs, then runs
//		the real terraform in theirs, if there is one, and tfdeps in ours. Both
//		have to succeed, and to leave the same lock file and the same .terraform;
//		with "!" both have to fail, and the lock files are compared.
//	registry HOST...
//		Starts a registry and redirects the hosts to it, for tfdeps and for the
//		real terraform, by TF_CLI_CONFIG_FILE and SSL_CERT_FILE. $REGISTRY is a
//		host with which it needs no redirection.
//	mirror [hashes=none]
//		Starts a network mirror with the URL $MIRROR, on the host $MIRROR_HOST.
//	publish [NAME=VALUE...] [HOST/]NAMESPACE/TYPE@VERSION...
//		Publishes packages, with a host in the mirror, else in the registry. Names:
//		platform=OS_ARCH (else the current one), protocols=5.0,6.0, warning=TEXT,
//		content=TEXT (of the package's executable).
//	module [NAME=VALUE...] NAMESPACE/NAME/SYSTEM@VERSION...
//		Publishes modules in the registry. Names: dir=DIR[,zip] (of which an
//		archive is served), location=TEXT (of the package, in its place).
//	pack DIR [NAME=VALUE...] HOST/NAMESPACE/TYPE@VERSION...
//		Lays packages into a directory, as a filesystem mirror has them. Names:
//		unpacked=true, platform, content.
//	fault KIND [NAME=VALUE...]
//		Breaks the registry's answers to requests of a kind: discovery, versions,
//		package, sums, signature, archive, module/versions, module/download,
//		module/archive; or the mirror's: mirror/index,
//		mirror/version, mirror/archive. Names: status=503, times=N, cut=BYTES,
//		stall=true, retry-after=SECONDS. Without any, the fault is healed.
//	guard TOKEN KIND...
//		Has requests of these kinds refused that don't bear the token.
//	requests KIND N
//		There have been N requests of a kind so far; KIND "all" counts all of the
//		registry, "mirror/all" all of the mirror.
//	await KIND N
//		Waits until there have been.
//	authorization KIND VALUE
//		Requests of a kind have come, all with this Authorization header; "none"
//		is no such header.
//	configure FILE...
//		Adds files to the CLI configuration, with $NAME replaced.
//	scrub FILE...
//		Replaces in files what differs from run to run: the time stamps of JSON
//		lines, lengths of time and numbers of bytes in them, the IDs of keys, the platform, the ports of servers.
//	edit FILE PATTERN TEXT
//		Replaces in a file what matches, which has to be there.
//	exits CODE PROGRAM ARGS...
//		Runs a program, as exec does, and compares its exit code.
//	snapshot
//		Remembers what files and directories there are in $WORK.
//	untouched
//		Nothing of this has been written, made or removed since.
//	copytree FROM TO
//		Copies a directory.
//	[links]
//		Symbolic links can be made.
//	[terraform]
//		There is a real terraform on PATH that can be told of a CA. With
//		TFDEPS_REQUIRE_PEERS=1 it is an error if there is none.
//
// TFDEPS_UPDATE=1 makes the expected output in sessions what the output is.
func TestScript(t *testing.T) {
	t.Parallel()
	program, quickstart := harness.WatchedTfdeps(t), harness.Path(t, "testdata", "quickstart")
	testscript.Run(t, testscript.Params{
		Dir:                 harness.Path(t, "testdata", "script"),
		Setup:               func(env *testscript.Env) error { return setUpSession(env, program, quickstart) },
		Condition:           sessionCondition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("TFDEPS_UPDATE") == "1",
		Cmds:                sessionCommands(),
	})
}

// sessionCommands returns the commands of sessions in addition to those of testscript.
func sessionCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"tfdeps":        runTfdeps,
		"both":          runBoth,
		"registry":      startRegistry,
		"mirror":        startMirror,
		"serve":         serveMirror,
		"publish":       publish,
		"module":        publishModules,
		"pack":          pack,
		"fault":         breakServer,
		"guard":         guard,
		"requests":      countRequests,
		"await":         awaitRequests,
		"authorization": checkAuthorization,
		"configure":     configure,
		"scrub":         scrub,
		"edit":          edit,
		"copytree":      copyTree,
		"exits":         runForCode,
		"snapshot":      takeSnapshot,
		"untouched":     checkUntouched,
	}
}

func setUpSession(env *testscript.Env, program, quickstart string) error {
	if harness.LeftOut(filepath.Base(env.WorkDir)) {
		env.T().Skip("one session in five is enough")
	}
	home := filepath.Join(env.WorkDir, ".home")
	for _, entry := range []struct{ name, value string }{
		{"PATH", filepath.Dir(program) + string(os.PathListSeparator) + env.Getenv("PATH")},
		{"HOME", home},
		{"USERPROFILE", home},
		{"APPDATA", filepath.Join(home, "appdata")},
		{"LocalAppData", filepath.Join(home, "cache")},
		{"XDG_CACHE_HOME", filepath.Join(home, "cache")},
		{"XDG_DATA_DIRS", filepath.Join(home, "share")},
		{"SSL_CERT_DIR", home},
		{"CHECKPOINT_DISABLE", "1"},
		{"TFDEPS_TERRAFORM_VERSION", "1.15.9"},
		{"TFDEPS_NO_SHARED_CACHE", "1"},
		{"TFDEPS_PROGRESS", "none"},
		{"GOGC", "off"},          // a process of a test ends before it has much garbage
		{"GIT_TEMPLATE_DIR", ""}, // otherwise git copies fourteen samples of hooks
		{"QUICKSTART", quickstart},
		{"PROGRAM", program},
		{"PLATFORM", getproviders.CurrentPlatform().String()},
	} {
		env.Setenv(entry.name, entry.value)
	}
	env.Values[serversKey{}] = new(servers)
	peertest.AwaitStarts() // the session may run scripts that lie in its directory now
	env.Values[snapshotKey{}] = new(snapshot)
	env.Defer(func() { recordFiles(env) })
	return os.MkdirAll(home, 0o755)
}

func sessionCondition(condition string) (bool, error) {
	switch condition {
	case "terraform":
		return hasTerraform()
	case "root":
		return os.Geteuid() == 0, nil
	case "links":
		dir, err := os.MkdirTemp("", "links-")
		if err != nil {
			return false, err
		}
		can := must.Symlink("x", filepath.Join(dir, "link")) == nil
		return can, os.RemoveAll(dir)
	default:
		return false, fmt.Errorf("unknown condition %q", condition)
	}
}

// hasTerraform reports whether there is a real terraform to compare with, and time for it.
func hasTerraform() (bool, error) {
	if testing.Short() || runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return false, nil // it doesn't read SSL_CERT_FILE on these systems
	}
	_, err := exec.LookPath("terraform")
	if err != nil && os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
		return false, fmt.Errorf("TFDEPS_REQUIRE_PEERS is 1: %w", err)
	}
	return err == nil, nil
}

// runBoth runs a command with both programs, and compares their files. The output that a
// session checks afterwards is that of tfdeps.
func runBoth(ts *testscript.TestScript, neg bool, args []string) {
	peer, err := hasTerraform()
	ts.Check(err)
	programs := []struct{ name, dir string }{{"tfdeps", "ours"}}
	if peer {
		programs = append([]struct{ name, dir string }{{"terraform", "theirs"}}, programs...)
	}
	for _, p := range programs {
		layOver(ts, ts.MkAbs("config"), ts.MkAbs(p.dir))
		err := ts.Exec(p.name, append([]string{"-chdir=" + p.dir}, args...)...)
		if failed := err != nil; failed != neg {
			ts.Fatalf("%s in %s: %v", p.name, p.dir, err)
		}
	}
	if !peer {
		return
	}
	ours, theirs := leftIn(ts, "ours", neg), leftIn(ts, "theirs", neg)
	if ours != theirs {
		ts.Fatalf("what the two programs leave differs\n--- ours\n%s\n--- theirs\n%s", ours, theirs)
	}
}
