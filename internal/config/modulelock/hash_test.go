package modulelock

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// tree makes a directory of files, by name and content.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	return must.WriteAll(t, t.TempDir(), files)
}

func hash(t *testing.T, dir string) getproviders.Hash {
	t.Helper()
	return must.Get(HashTree(t.Context(), dir))(t)
}

var netFiles = map[string]string{"main.tf": "# main\n", "sub/main.tf": "# sub\n", ".hidden": "x", "sub/.hg/x": "x", ".gitignore": "y"}

func TestHash_ATreeOfFilesHasTheHashThatGoGivesIt(t *testing.T) {
	dir := tree(t, netFiles)
	want := must.Get(dirhash.HashDir(dir, "", dirhash.Hash1))(t)
	must.Equal(t, string(hash(t, dir)), want)
}

// Lock files of other systems rely on this hash.
func TestHash_TheHashOfATreeIsFixed(t *testing.T) {
	for want, files := range map[getproviders.Hash]map[string]string{
		hashB: nil,
		"h1:YenF0SsR0pQ1d5xEolP3PndR6MHJrR35lMcGAsjh6dU=": netFiles,
	} {
		must.Equal(t, hash(t, tree(t, files)), want)
	}
}

func TestHash_WhatDoesNotCount(t *testing.T) {
	want := hash(t, tree(t, netFiles))
	dir := tree(t, netFiles)
	must.WriteAll(t, dir, map[string]string{".git/HEAD": "ref", ".git/sub/x": "", ".hg/x": "", "sub/.git": "gitdir: ../.git/modules/sub", "empty/": ""})
	must.Succeed(t, os.Chmod(filepath.Join(dir, "main.tf"), 0o755))
	must.Equal(t, hash(t, dir), want)
}

func TestHash_WhatCounts(t *testing.T) {
	seen := map[getproviders.Hash]string{}
	counts := func(t *testing.T, name, dir string) {
		t.Helper()
		h := hash(t, dir)
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
	counts(t, "the tree", tree(t, netFiles))
	for name, change := range map[string]map[string]string{
		"content":             {"main.tf": "# other\n"},
		"a file more":         {"other.tf": ""},
		"a hidden file":       {".terraform.lock.hcl": ""},
		"version control":     {"sub/.git/x": ""},
		"a file below .hg":    {"sub/.hg/y": ""},
		"a name in a name":    {"main.tf  x": ""},
		"another case":        {"sub/Main.tf.x": "# sub\n"},
		"line ends":           {"main.tf": "# main\r\n"},
		"a terraform's files": {".terraform/modules/modules.json": "{}"},
		"the text of a link":  {"link": "sub/main.tf"},
	} {
		files := maps.Clone(netFiles)
		maps.Copy(files, change)
		counts(t, name, tree(t, files))
	}
	t.Run("links", func(t *testing.T) {
		for _, target := range []string{"sub/main.tf", "sub", "nothing", "link"} {
			dir := tree(t, netFiles)
			cachetest.LinkOrSkip(t, filepath.FromSlash(target), filepath.Join(dir, "link"))
			counts(t, "link to "+target, dir)
		}
		must.Equal(t, seen["h1:AyJKODncO8NS68+RKYn5GGzToVEfzb/36w2TC2w6OEg="], "link to sub/main.tf", "the hash of a tree with a link isn't what it was", seen)
		whole := filepath.Join(t.TempDir(), "whole")
		must.Succeed(t, os.Symlink(tree(t, netFiles), whole))
		must.Equal(t, seen[hash(t, whole)], "the tree", "a link in place of the package has the hash")
	})
}

func TestHash_ATreeThatCanNotBeHashed(t *testing.T) {
	must.Fail(t, must.ErrorOf(HashTree(t.Context(), filepath.Join(t.TempDir(), "missing"))), os.ErrNotExist, "a directory that isn't there")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	must.Fail(t, must.ErrorOf(HashTree(ctx, tree(t, netFiles))), gone)
	if runtime.GOOS == "windows" {
		return // names have no newlines there
	}
	must.Refuse(HashTree(t.Context(), tree(t, map[string]string{"a\nb": ""})))(t, "a newline in a name is accepted")
}
