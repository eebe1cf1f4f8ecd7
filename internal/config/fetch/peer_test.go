package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Packages have the same files on disk as Terraform's, and packages that Terraform can't fetch
// can't be fetched here either. Each address is in a configuration of its own, so that no module is
// copied from another one. Even without Terraform, a package must have the content of a directory
// of someTree.
func TestFetch_SamePackagesAsTerraform(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	servePeerArchives(t, s)
	dir, commit := newGit(t, someTree)
	local := t.TempDir()
	must.WriteAll(t, local, someTree)
	archive := zipped(t, someTree)
	must.Succeed(t, errors.Join(
		os.WriteFile(filepath.Join(local, "net.zip"), archive, 0o644),
		os.WriteFile(filepath.Join(local, "SUMS"), []byte(sumOf(archive)+"  net.zip"), 0o644),
		os.Mkdir(filepath.Join(local, "a b"), 0o755)))
	env := must.Get(s.Environ(t.TempDir(), ""))(t)
	ca := "GIT_SSL_CAINFO=" + caFile(t, s)
	env = append(append(testEnviron(), env...), ca)
	expand := strings.NewReplacer("$HTTPS", s.BaseURL(), "$FILE", fileURL(local), "$SUM", sumOf(archive), "$OTHER", someSHA256, "$GIT", fileURL(dir), "$COMMIT", commit)
	for _, line := range []string{ // "! ": it can't be fetched; "DIR <- ": the directory; "? <- ": what Terraform brings
		"$HTTPS/net.zip",
		"$HTTPS/net.tar.gz",
		"$HTTPS/net.tgz",
		"$HTTPS/net.tar.bz2",
		"$HTTPS/net.tbz2",
		"$HTTPS/net.tar.tbz2",
		"$HTTPS/net.tar.xz",
		"$HTTPS/net.txz",
		"! $HTTPS/net.tar",
		"! $HTTPS/net.gz",
		"? <- $HTTPS/odd.tar.gz",
		"$HTTPS/blob?archive=zip",
		"! $HTTPS/blob",
		"! $HTTPS/net.zip?archive=false",
		"! $HTTPS/net.zip?archive=rar",
		"! $HTTPS/net.tgz?archive=zip",
		"$HTTPS/net.zip?x=1&y=2",
		"http::$HTTPS/net.zip",
		"$HTTPS/net.zip?checksum=sha256:$SUM",
		"$HTTPS/net.zip?checksum=$SUM",
		"! $HTTPS/net.zip?checksum=md5:$SUM",
		"! $HTTPS/net.zip?checksum=$OTHER",
		"$HTTPS/net.zip?checksum=file:$HTTPS/SUMS",
		"$HTTPS/dl/net.zip?checksum=file:$HTTPS/SUMS",
		"! $HTTPS/net.tgz?checksum=file:$HTTPS/SUMS",
		"! $HTTPS/hop?checksum=$SUM",
		"$HTTPS/hop",
		"modules/a <- $HTTPS/hop-subdir",
		"modules/ab <- $HTTPS/hop-glob",
		"docs <- $HTTPS/hop-query",
		"docs/x <- $HTTPS/hop-hop",
		"$HTTPS/hop-tar",
		"modules <- $HTTPS/hop-git",
		"! $HTTPS/hop-missing",
		"! $HTTPS/hop-many",
		"! $HTTPS/loop",
		"docs <- $HTTPS/page",
		"! $HTTPS/page-body",
		"$HTTPS/moved.zip",
		"! $HTTPS/nothing.zip",
		"! $HTTPS/empty.zip",
		"! $HTTPS/outside.tgz",
		"? <- $FILE",
		"? <- $FILE/modules",
		"? <- $FILE/a%20b",
		"$FILE/net.zip",
		"$FILE/net.zip?checksum=$SUM",
		"$FILE/net.zip?checksum=file:$FILE/SUMS",
		"! $FILE?checksum=$SUM",
		"! $FILE/main.tf",
		"! $FILE/nothing",
		"! $FILE?archive=zip",
		"git::$GIT?ref=v1",
		"git::$GIT?ref=$COMMIT",
		"! git::ext::sh -c id",
		"! ftp://example.com/net.zip",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			pkg, fails := strings.CutPrefix(expand.Replace(line), "! ")
			dir, address, given := strings.Cut(pkg, " <- ")
			if given {
				pkg = address
			} else {
				dir = ""
			}
			f := s.fetcher(t, "")
			f.Environ = append(f.Environ, ca)
			var ours map[string]string
			if fails {
				refused(t, f, pkg)
			} else if ours = fetched(t, f, get(pkg)); dir != "?" {
				sameTree(t, ours, below(someTree, dir))
			}
			if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
				return // the real terraform doesn't read SSL_CERT_FILE there
			}
			peertest.PeerCase(t, t.Name())
			theirs, err := terraformGet(t, lookProgram(t, "terraform"), env, pkg)
			must.Equal(t, err != nil, fails, "terraform", err)
			maps.DeleteFunc(theirs, func(name, _ string) bool { return name == ".git" || strings.HasPrefix(name, ".git/") })
			sameTree(t, ours, theirs)
		})
	}
}

// servePeerArchives serves packages of all kinds.
func servePeerArchives(t testing.TB, s *site) {
	t.Helper()
	path, tgz := filepath.Join(t.TempDir(), "net.tar"), providertest.TarGz(someTree)
	must.Write(t, path, plain(t, tgz))
	bz2, xz := runRaw(t, "bzip2", "-c", path), runRaw(t, "xz", "-c", path)
	archive, base := zipped(t, someTree), s.BaseURL()
	for path, content := range map[string][]byte{
		"/net.zip": archive, "/dl/net.zip": archive, "/blob": archive, "/empty.zip": zipped(t, nil), "/net.tar": plain(t, tgz), "/net.gz": tgz, "/net.tar.gz": tgz, "/net.tgz": tgz,
		"/net.tar.bz2": bz2, "/net.tbz2": bz2, "/net.tar.tbz2": bz2, "/net.tar.xz": xz, "/net.txz": xz,
		"/odd.tar.gz": oddArchive(t), "/outside.tgz": outsideArchive(t), "/SUMS": []byte(someSHA256 + "  other.zip\n" + sumOf(archive) + "  net.zip\n" + sumOf(archive) + "  dl/net.zip\n"),
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

func runRaw(t testing.TB, program string, args ...string) []byte {
	t.Helper()
	return must.Get(exec.CommandContext(t.Context(), lookProgram(t, program), args...).Output())(t)
}

// terraformGet lets Terraform install a module, and returns the content of its directory, or
// Terraform's output.
func terraformGet(t testing.TB, program string, env []string, pkg string) (map[string]string, error) {
	t.Helper()
	dir := t.TempDir()
	config := must.Get(json.Marshal(map[string]any{"module": map[string]any{"m": map[string]any{"source": pkg}}}))(t)
	must.WriteAll(t, dir, files{"main.tf.json": string(config)})
	if out, err := peertest.Command(t.Context(), program, dir, env, "get", "-no-color").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return peertest.Tree(t, filepath.Join(dir, ".terraform/modules/m")), nil
}
