package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Packages have the same files on disk as Terraform's, and what Terraform can't fetch can't be
// fetched here. Each address is in a configuration of its own, so that no module is copied from
// another one.
func TestFetch_SamePackagesAsTerraform(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the real terraform doesn't read SSL_CERT_FILE on this system")
	}
	program := lookProgram(t, "terraform")
	s := newSite(t)
	servePeerArchives(t, s)
	dir, commit := newGit(t, someTree)
	local := t.TempDir()
	writeTree(t, local, someTree)
	archive := zipped(t, someTree)
	must.Succeed(t, errors.Join(
		os.WriteFile(filepath.Join(local, "net.zip"), archive, 0o644),
		os.Mkdir(filepath.Join(local, "a b"), 0o755)))
	env := must.Get(s.Environ(t.TempDir(), ""))(t)
	ca := "GIT_SSL_CAINFO=" + caFile(t, s)
	env = append(append(testEnviron(), env...), ca, "CHECKPOINT_DISABLE=1", "TF_DATA_DIR=", "TF_CLI_ARGS=")
	https, file, sum := s.BaseURL(), "file://"+local, sumOf(archive)
	for _, c := range []struct {
		pkg   string
		fails bool
	}{
		{pkg: https + "/net.zip"},
		{pkg: https + "/net.tar.gz"},
		{pkg: https + "/net.tgz"},
		{pkg: https + "/net.tar.bz2"},
		{pkg: https + "/net.tbz2"},
		{pkg: https + "/net.tar.tbz2"},
		{pkg: https + "/net.tar.xz"},
		{pkg: https + "/net.txz"},
		{pkg: https + "/net.tar", fails: true},
		{pkg: https + "/net.gz", fails: true},
		{pkg: https + "/odd.tar.gz"},
		{pkg: https + "/blob?archive=zip"},
		{pkg: https + "/blob", fails: true},
		{pkg: https + "/net.zip?archive=false", fails: true},
		{pkg: https + "/net.zip?archive=rar", fails: true},
		{pkg: https + "/net.tgz?archive=zip", fails: true},
		{pkg: https + "/net.zip?x=1&y=2"},
		{pkg: "http::" + https + "/net.zip"},
		{pkg: https + "/net.zip?checksum=sha256:" + sum},
		{pkg: https + "/net.zip?checksum=" + sum},
		{pkg: https + "/net.zip?checksum=md5:" + sum, fails: true},
		{pkg: https + "/net.zip?checksum=" + someSHA256, fails: true},
		{pkg: https + "/net.zip?checksum=file:" + https + "/SUMS"},
		{pkg: https + "/net.tgz?checksum=file:" + https + "/SUMS", fails: true},
		{pkg: https + "/hop?checksum=" + sum, fails: true},
		{pkg: https + "/hop"},
		{pkg: https + "/hop-subdir"},
		{pkg: https + "/hop-glob"},
		{pkg: https + "/hop-query"},
		{pkg: https + "/hop-hop"},
		{pkg: https + "/hop-tar"},
		{pkg: https + "/hop-git"},
		{pkg: https + "/hop-missing", fails: true},
		{pkg: https + "/hop-many", fails: true},
		{pkg: https + "/loop", fails: true},
		{pkg: https + "/page"},
		{pkg: https + "/page-body", fails: true},
		{pkg: https + "/moved.zip"},
		{pkg: https + "/nothing.zip", fails: true},
		{pkg: https + "/empty.zip", fails: true},
		{pkg: https + "/outside.tgz", fails: true},
		{pkg: file},
		{pkg: file + "/modules"},
		{pkg: file + "/a%20b"},
		{pkg: file + "/net.zip"},
		{pkg: file + "/net.zip?checksum=" + sum},
		{pkg: file + "?checksum=" + sum, fails: true},
		{pkg: file + "/main.tf", fails: true},
		{pkg: file + "/nothing", fails: true},
		{pkg: file + "?archive=zip", fails: true},
		{pkg: "git::file://" + dir + "?ref=v1"},
		{pkg: "git::file://" + dir + "?ref=" + commit},
		{pkg: "git::ext::sh -c id", fails: true},
		{pkg: "ftp://example.com/net.zip", fails: true},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			t.Parallel()
			theirs, err := terraformGet(t, program, env, c.pkg)
			must.Equal(t, err != nil, c.fails, "terraform", err)
			f := s.fetcher(t, "")
			f.Environ = append(f.Environ, ca)
			if c.fails {
				refused(t, f, c.pkg)
				return
			}
			for name := range theirs {
				if name == ".git" || strings.HasPrefix(name, ".git/") {
					delete(theirs, name)
				}
			}
			sameTree(t, fetched(t, f, get(c.pkg)), theirs)
		})
	}
}

// servePeerArchives serves packages of all kinds.
func servePeerArchives(t testing.TB, s *site) {
	t.Helper()
	packed := filepath.Join(t.TempDir(), "net.tar.gz")
	must.Write(t, packed, providertest.TarGz(someTree))
	plain := []byte(runRaw(t, "gzip", "-dc", packed))
	must.Write(t, packed, plain)
	bz2, xz := []byte(runRaw(t, "bzip2", "-c", packed)), []byte(runRaw(t, "xz", "-c", packed))
	archive, base := zipped(t, someTree), s.BaseURL()
	for path, content := range map[string][]byte{
		"/net.zip": archive, "/blob": archive, "/empty.zip": zipped(t, nil), "/net.tar": plain, "/net.gz": providertest.TarGz(someTree),
		"/net.tar.gz": providertest.TarGz(someTree), "/net.tgz": providertest.TarGz(someTree),
		"/net.tar.bz2": bz2, "/net.tbz2": bz2, "/net.tar.tbz2": bz2, "/net.tar.xz": xz, "/net.txz": xz,
		"/odd.tar.gz": oddArchive(t), "/outside.tgz": outsideArchive(t), "/SUMS": []byte(sumOf(archive) + "  net.zip\n"),
		"/page":      fmt.Appendf(nil, `<html><head><title>a & b</title><link rel="x"><meta name="terraform-get" content="%s/net.zip//docs"></head>`, base),
		"/page-body": fmt.Appendf(nil, `<html><body><meta name="terraform-get" content="%s/net.zip"></body>`, base),
	} {
		s.file(path, content, "")
	}
	for path, told := range map[string]string{
		"/hop": "/net.zip", "/hop-subdir": "/net.zip//modules/a", "/hop-glob": "/net.zip//mod*/ab", "/hop-query": "/blob//docs?archive=zip",
		"/hop-hop": "/hop-docs//x", "/hop-docs": "/net.zip//docs", "/hop-tar": "/net.tar", "/hop-missing": "/net.zip//none", "/hop-many": "/net.zip//modules/*", "/loop": "/loop",
	} {
		s.hop(path, base+told)
	}
	dir, _ := newGit(t, someTree)
	serveGit(t, s, filepath.Dir(dir))
	s.hop("/hop-git", "git::"+base+"/net.git//modules?ref=v1")
	s.pages["/moved.zip"] = http.RedirectHandler("/net.zip", http.StatusFound).ServeHTTP
}

func runRaw(t testing.TB, program string, args ...string) string {
	t.Helper()
	out := must.Get(exec.CommandContext(t.Context(), lookProgram(t, program), args...).Output())(t)
	return string(out)
}

// terraformGet has Terraform install a module, and returns what is in its directory, or what
// Terraform prints.
func terraformGet(t testing.TB, program string, env []string, pkg string) (map[string]string, error) {
	t.Helper()
	dir := t.TempDir()
	config := must.Get(json.Marshal(map[string]any{"module": map[string]any{"m": map[string]any{"source": pkg}}}))(t)
	writeTree(t, dir, files{"main.tf.json": string(config)})
	cmd := exec.CommandContext(t.Context(), program, "get", "-no-color")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return tree(t, filepath.Join(dir, ".terraform/modules/m")), nil
}
