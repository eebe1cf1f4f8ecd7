package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"go.uber.org/goleak"
)

// childVariable makes the test program do one checkout: its arguments are the store, the program git,
// the URL, the ref and the destination.
const childVariable = "TFDEPS_TEST_CHECKOUT"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		dir, err := os.MkdirTemp("", "repositories-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		patterns.dir = dir
		peertest.MoreAtOnce()
		goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
			os.RemoveAll(dir)
			os.Exit(code)
		}))
		return
	}
	a := os.Args[1:]
	r := &Repositories{Dir: a[0], Program: a[1], Environ: os.Environ()}
	if _, err := r.Checkout(context.Background(), Request{URL: a[2], Ref: a[3]}, a[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a process that does one checkout.
func (b *bench) child(program, url, ref string) *exec.Cmd {
	b.tb.Helper()
	parent := must.Get(os.MkdirTemp(b.work, "child-"))(b.tb)
	cmd := exec.CommandContext(b.tb.Context(), os.Args[0], b.Dir, program, url, ref, filepath.Join(parent, "module"))
	cmd.Env = append(b.Environ[:len(b.Environ):len(b.Environ)], childVariable+"=1")
	return cmd
}

// A process that is killed while it holds all its locks doesn't block the next one. The script
// before git leaves the files that git would leave.
func TestStore_WhatKilledProcessesLeaveDoesNoHarm(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("takes a shell for a script in front of git, and two hundred processes")
	}
	program, _ := requireGit(t)
	const locks = `mkdir -p "$store/objects/pack" "$store/refs/fetched"
		for f in shallow.lock packed-refs.lock HEAD.lock config.lock objects/pack/tmp_pack_x refs/fetched/x.lock; do : >"$store/$f"; done; `
	const kill = `kill -9 $PPID; exit 1`
	for i, c := range []struct{ name, command, before, after string }{
		{"before init", "init", kill, ""},
		{"in init", "init", `mkdir -p "$last"; : >"$last/HEAD"; ` + kill, ""},
		{"after init", "init", "", kill},
		{"in fetch", "fetch", locks + kill, ""},
		{"after fetch", "fetch", "", locks + kill},
		{"before the ref", "update-ref", `mkdir -p "$store/refs/commits"; : >"$store/refs/commits/x.lock"; ` + kill, ""},
		{"in checkout", "read-tree", kill, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, ids := history(t)
			for j, ref := range []string{"v1.0.0", "v1.0.0~1", ids["dev1"]} {
				if j != i%3 && !peertest.All() {
					continue
				}
				b := newBench(t)
				killer := script(t, filepath.Join(b.work, "killer"), `
					store=; last=; command=
					for a; do
						case "$a" in --git-dir=*) store="${a#--git-dir=}";; `+c.command+`) command=1;; esac
						last="$a"
					done
					if [ -z "$command" ]; then exec '`+program+`' "$@"; fi
					`+c.before+`
					'`+program+`' "$@"
					`+c.after)
				must.Refuse(b.child(killer, o.url(), ref).Run())(t, ref)
				for _, again := range []string{ref, "", ids["dev1"] + "~1", "only/branch"} {
					b.again().files(o.at(again))
				}
				left, _ := filepath.Glob(filepath.Join(b.Dir, "*.git/*.lock"))
				must.Len(t, left, 0, "left")
			}
		})
	}
}

func TestStore_ManyProcessesShareAStore(t *testing.T) {
	o, ids, b := parallelBench(t)
	program, _ := requireGit(t)
	var started []*exec.Cmd
	var said []*strings.Builder
	for _, ref := range []string{"v1.0.0", "", ids["dev1"], "only/branch~1", "v1.0.0", "only/branch", ids["main1"][:8], "v1.0.0~1"} {
		cmd := b.child(program, o.url(), ref)
		stderr := &strings.Builder{}
		cmd.Stderr = stderr
		must.Succeed(t, cmd.Start())
		started, said = append(started, cmd), append(said, stderr)
	}
	for i, cmd := range started {
		must.Succeed(t, cmd.Wait(), said[i])
	}
}

// An incomplete store is made again, but not offline.
func TestStore_MakesADamagedStoreAgain(t *testing.T) {
	t.Parallel()
	const packs = "objects/pack/*.pack"
	for name, c := range map[string]struct {
		files  string // of the store
		damage func(path string) error
	}{
		"truncated packs": {packs, func(pack string) error { return errors.Join(os.Chmod(pack, 0o600), os.Truncate(pack, 40)) }},
		"no packs":        {packs, os.Remove},
		"no HEAD":         {"HEAD", os.Remove},
		"no contents":     {"objects", os.RemoveAll},
		"wrong bytes": {packs, func(pack string) error {
			content, err := os.ReadFile(pack)
			for i := 20; i < len(content)-20; i++ {
				content[i] ^= 0x55
			}
			return errors.Join(err, os.Chmod(pack, 0o600), os.WriteFile(pack, content, 0o600))
		}},
	} {
		if !peertest.All() && name != "wrong bytes" && (name != "no HEAD" || testing.Short()) {
			continue
		}
		damage := func(store string) {
			t.Helper()
			found, _ := filepath.Glob(filepath.Join(store, c.files))
			must.Equal(t, len(found) > 0, true, name)
			for _, path := range found {
				must.Succeed(t, c.damage(path), name)
			}
		}
		o, ids := history(t)
		b := newBench(t)
		b.files(o.at("v1.0.0"))
		store := b.store()
		damage(store)
		offline := b.again()
		offline.Offline = true
		if _, _, err := offline.checkout(t.Context(), o.at(ids["main2"])); err == nil {
			t.Errorf("%s: nothing is missing", name)
		}
		for _, b := range []*bench{b, b.again()} { // one remembers its fetches
			for _, ref := range []string{"v1.0.0", ids["dev1"], "v1.0.0~1"} {
				b.files(o.at(ref))
			}
		}
		damage(store)
		must.Succeed(t, os.Rename(o.dir, o.dir+".moved"))
		must.Fail(t, must.ErrorOf(b.again().Checkout(t.Context(), o.at(ids["main2"]), filepath.Join(t.TempDir(), "tree"))), ErrUnreachable, name)
	}
}

// An error in a tree isn't an error of the store: nothing is fetched again.
func TestStore_BadTreeIsNoDamage(t *testing.T) {
	o, b := emptyBench(t)
	blob := o.raw("blob", "x")
	o.commitTree("bad", o.raw("tree", entry("40000", ".git", o.raw("tree", entry("100644", "config", blob)))))
	b.count()
	must.Contain(t, b.refused(o.at("bad")), "invalid path")
	if runs := b.runs(); runs["fetch"] != 1 || runs["fsck"] != 1 {
		t.Errorf("%v", runs)
	}
}

// A ref moves between the list and the fetch: the listed commit is used.
func TestStore_RefThatMovesMeanwhile(t *testing.T) {
	needShell(t)
	o, ids, b := parallelBench(t)
	program, _ := requireGit(t)
	b.Program = script(t, filepath.Join(b.work, "mover"), `
		case " $* " in *" fetch "*) '`+program+`' -C '`+o.dir+`' tag -f v1.0.0 `+ids["dev1"]+` >&2;; esac
		exec '`+program+`' "$@"`)
	b.finds(o.at(""), ids, map[string]string{"v1.0.0": "main2", "only/branch": "branch2"})
}
