//go:build unix

package providercache_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

const nobody = 65534

// asNobody runs a shell command as another user. Only root can do that.
func asNobody(t *testing.T, script string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// sharedMachine has a named cache that every user may write to.
func sharedMachine(t *testing.T) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user as well")
	}
	m := newMachine(t)
	m.Named = true
	m.Cache = filepath.Join(peertest.PublicDir(t), "cache")
	return m
}

// othersChange makes another user change a package that every user
// can write to: its program, and its directory.
var othersChange = map[string]func(t *testing.T, file, dir string){
	"written over": func(t *testing.T, file, _ string) { asNobody(t, `printf evil >"$1"`, file) },
	"another file, as old": func(t *testing.T, file, _ string) {
		asNobody(t, `printf evil >"$1.x" && chmod 777 "$1.x" && touch -r "$1" "$1.x" && mv "$1.x" "$1"`, file)
	},
	"the file and one beside": func(t *testing.T, _, dir string) { asNobody(t, `printf evil >"$1/more"`, dir) },
}

// othersReplace makes another user replace a file.
func othersReplace(t *testing.T, file string) {
	t.Helper()
	asNobody(t, `printf evil >"$1.x" && mv "$1.x" "$1"`, file)
}
