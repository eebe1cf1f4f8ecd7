package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// checkRecipes compares the recipe of the image and the formula with the files of a release that they are made from.
func checkRecipes(t *testing.T, dist string, inside map[string][]byte) {
	t.Helper()
	top := baseName("v0.1.0", here) + "/"
	expand := strings.NewReplacer("${VERSION}", "0.1.0", "${TARGETARCH}", runtime.GOARCH).Replace
	copied := 0
	if recipe := read(t, filepath.Join(dist, "image", "Dockerfile")); !strings.Contains(recipe, "\nUSER 65532:65532\n") || strings.Count(recipe, "\nFROM scratch") != 2 {
		t.Error("the image runs as root, or has a base")
	}
	for line := range strings.Lines(read(t, filepath.Join(dist, "image", "Dockerfile"))) {
		words := strings.Fields(expand(line))
		if len(words) < 3 || words[0] != "COPY" && words[0] != "ADD" {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			switch {
			case strings.HasPrefix(source, "--from="):
			case words[0] == "COPY":
				copied++
				if len(inside[strings.TrimPrefix(source, "/")]) == 0 {
					t.Errorf("the recipe of the image copies %s, and the archive has no such file", source)
				}
			default:
				if info, err := os.Stat(filepath.Join(dist, source)); err != nil || info.Size() == 0 {
					t.Errorf("the recipe of the image adds %s: %v", source, err)
				}
			}
		}
	}
	if copied != 3 {
		t.Errorf("the recipe of the image copies %d files", copied)
	}
	installed := 0
	for line := range strings.Lines(read(t, "tfdeps.rb.tmpl")) {
		for _, name := range regexp.MustCompile(`install.*"`).FindAllString(line, 1) {
			for _, quoted := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(strings.Split(name, "=>")[0], -1) {
				installed++
				found := false
				for file := range inside {
					ok := get(filepath.Match(quoted[1], strings.TrimPrefix(file, top)))(t)
					found = found || ok
				}
				if !found {
					t.Errorf("the formula installs %s, and the archive has no such file", quoted[1])
				}
			}
		}
	}
	if installed != 7 {
		t.Errorf("the formula installs %d names", installed)
	}
}

// buildImage builds the image of a release without a daemon, and returns what is in it; nil without
// the programs for it.
func buildImage(t *testing.T, dist string) (files []string) {
	t.Helper()
	buildah, err := exec.LookPath("buildah")
	if err != nil || os.Geteuid() != 0 || runtime.GOOS != "linux" {
		return nil
	}
	storage := t.TempDir()
	run := func(args ...string) (string, error) {
		all := append([]string{"--storage-driver=vfs", "--root=" + filepath.Join(storage, "root"), "--runroot=" + filepath.Join(storage, "run")}, args...)
		cmd := exec.CommandContext(t.Context(), buildah, all...)
		cmd.Dir = dist
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if out, err := run("build", "--isolation=chroot", "-f", "image/Dockerfile", "--build-arg", "VERSION=0.1.0", "--build-arg", "TARGETARCH="+runtime.GOARCH, "-t", "tfdeps", "."); err != nil {
		if strings.Contains(out, "not permitted") || strings.Contains(out, "mount") {
			return nil // what a container may not allow
		}
		t.Errorf("buildah: %v\n%s", err, out)
		return nil
	}
	container, err := run("from", "--pull=never", "tfdeps")
	if err != nil {
		t.Fatalf("%v: %s", err, container)
	}
	root, err := run("mount", container)
	if err != nil {
		t.Fatalf("%v: %s", err, root)
	}
	_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			name, _ := filepath.Rel(root, path)
			files = append(files, "/"+filepath.ToSlash(name))
		}
		return nil
	})
	_, _ = run("umount", container)
	_, _ = run("rm", container)
	return files
}
