package roots

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// clone is a git repository of a test.
type clone struct {
	tb   testing.TB
	dir  string
	home string
	env  []string
}

// newClone makes a repository with a branch base, a commit after it, and changes that aren't committed.
func newClone(tb testing.TB, options ...string) *clone {
	tb.Helper()
	peertest.LookProgram(tb, "git")
	home := tb.TempDir()
	c := &clone{tb: tb, dir: filepath.Join(home, "clone"), home: home, env: append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@example.com",
	)}
	must.Write(tb, filepath.Join(home, ".gitconfig"), "[protocol \"file\"]\n\tallow = always\n")
	must.Succeed(tb, os.Mkdir(c.dir, 0o755))
	c.git(slices.Concat([]string{"init", "--quiet", "--template="}, options)...)
	c.git("symbolic-ref", "HEAD", "refs/heads/main")

	c.write("main.tf", "# 1\n", "a/main.tf", "# 1\n", "b/main.tf", "# 1\n", "c/main.tf", "# 1\n", "c/c.txt", "1\n", ".gitignore", "*.ignored\n")
	c.commit()
	c.git("branch", "base")
	c.write("a/main.tf", "# 2\n", "b/link.tf", "# 2\n")
	c.commit()
	c.write("b/main.tf", "# 3\n", "c/new.tf", "# 3\n", "c/x.ignored", "", "d/new.tf", "# 3\n", "d/x.tf.ignored", "")
	return c
}

// write writes files, name after content.
func (c *clone) write(namesAndContents ...string) {
	c.tb.Helper()
	for pair := range slices.Chunk(namesAndContents, 2) {
		must.Write(c.tb, filepath.Join(c.dir, filepath.FromSlash(pair[0])), pair[1])
	}
}

// commit commits all files.
func (c *clone) commit() {
	c.tb.Helper()
	c.git("add", "--all")
	c.git("commit", "--quiet", "--message=m")
}

// try runs git and returns its output.
func (c *clone) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Env = c.env
	cmd.Stdin = strings.NewReader("protocol=https\nhost=example.com\n\n") // for "git credential"
	out, err := cmd.Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

func (c *clone) git(args ...string) string {
	c.tb.Helper()
	out, err := c.try(args...)
	must.Succeed(c.tb, err, args, out)
	return out
}

// in returns the clone as seen from another directory.
func (c *clone) in(dir string) *clone {
	other := *c
	other.dir = dir
	return &other
}

// open opens the repository as a command does that is called in the clone's directory.
func (c *clone) open() (*repository, error) {
	m := &cli.Meta{Context: c.tb.Context(), Env: c.env, HomeDir: c.home, Dir: c.dir}
	return openRepository(m, topOf(c.dir))
}

// look lists what has changed since a commit, and the files that git doesn't ignore.
func (c *clone) look(ref string) (changed, listed []string, err error) {
	repo, err := c.open()
	if err != nil {
		return nil, nil, err
	}
	defer repo.close()

	if changed, err = repo.changedSince(ref); err != nil {
		return nil, nil, err
	}
	listed, err = repo.paths(c.dir, "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.tf")
	return changed, listed, err
}

// gitLook is look by a git that runs in the clone.
func (c *clone) gitLook(ref string) (changed, listed []string) {
	c.tb.Helper()
	top := c.in(c.git("rev-parse", "--show-toplevel"))
	lines := func(out string) []string {
		return strings.FieldsFunc(filepath.FromSlash(out), func(r rune) bool { return r == '\n' })
	}
	base := top.git("merge-base", ref, "HEAD")
	changed = append(lines(top.git("diff", "--name-only", "--no-renames", "--ignore-submodules=dirty", base, "--")),
		lines(top.git("ls-files", "--others", "--exclude-standard"))...)
	return changed, lines(c.git("ls-files", "--cached", "--others", "--exclude-standard", "--", "*.tf"))
}

// TestRepository_SameAsGit compares what tfdeps sees of a clone with what git sees that runs in it.
func TestRepository_SameAsGit(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(c *clone) (at *clone, ref string){
		"plain":      func(c *clone) (*clone, string) { return c, "base" },
		"directory":  func(c *clone) (*clone, string) { return c.in(filepath.Join(c.dir, "c")), "base" },
		"expression": func(c *clone) (*clone, string) { return c, "main~1" },
		"detached": func(c *clone) (*clone, string) {
			c.git("checkout", "--quiet", "--detach")
			return c, "main"
		},
		"packed refs": func(c *clone) (*clone, string) {
			c.git("pack-refs", "--all")
			c.git("gc", "--quiet")
			return c, "base"
		},
		"log of a ref": func(c *clone) (*clone, string) { return c, "main@{1}" },
		"upstream": func(c *clone) (*clone, string) {
			c.git("config", "remote.a\"b\\.c=d.fetch", "+refs/heads/*:refs/remotes/other/*")
			c.git("config", "branch.main.remote", "a\"b\\.c=d")
			c.git("config", "branch.main.merge", "refs/heads/base")
			c.git("update-ref", "refs/remotes/other/base", "base")
			return c, "@{upstream}"
		},
		"fetched": func(c *clone) (*clone, string) {
			c.git("fetch", "--quiet", c.dir, "base")
			return c, "FETCH_HEAD"
		},
		"replaced object": func(c *clone) (*clone, string) {
			c.write("main.tf", "# 7\n")
			c.commit()
			c.git("replace", "--graft", "main", "main~2")
			return c, "main~1"
		},
		"worktree": func(c *clone) (*clone, string) {
			at := filepath.Join(c.home, "worktree")
			c.git("worktree", "add", "--quiet", "-b", "other", at, "main")
			other := c.in(at)
			other.write("b/main.tf", "# 4\n", "e/new.tf", "# 4\n")
			return other, "base"
		},
		"worktree with settings of its own": func(c *clone) (*clone, string) {
			at := filepath.Join(c.home, "worktree")
			c.git("worktree", "add", "--quiet", "-b", "other", at, "main")
			c.git("config", "extensions.worktreeConfig", "true")
			other := c.in(at)
			must.Write(c.tb, filepath.Join(c.home, "excludes"), "e\n")
			other.git("config", "--worktree", "core.excludesFile", filepath.Join(c.home, "excludes"))
			other.write("b/main.tf", "# 4\n", "e/new.tf", "# 4\n")
			return other, "base"
		},
		"submodule": func(c *clone) (*clone, string) {
			parent := c.parent()
			return parent.in(filepath.Join(parent.dir, "sub")), "origin/main~1"
		},
		"parent of a submodule": func(c *clone) (*clone, string) {
			parent := c.parent()
			parent.git("branch", "base")
			sub := parent.in(filepath.Join(parent.dir, "sub"))
			sub.git("checkout", "--quiet", "origin/base")
			return parent, "base"
		},
		"parent of a dirty submodule": func(c *clone) (*clone, string) {
			parent := c.parent()
			parent.write("sub/main.tf", "# changed\n", "sub/new.tf", "")
			return parent, "HEAD"
		},
		"shallow": func(c *clone) (*clone, string) {
			at := filepath.Join(c.home, "other")
			c.git("clone", "--quiet", "--depth=2", "file://"+filepath.ToSlash(c.dir), at)
			return c.in(at), "HEAD~1"
		},
		"alternates": func(c *clone) (*clone, string) {
			at := filepath.Join(c.home, "other")
			c.git("clone", "--quiet", "--shared", c.dir, at)
			return c.in(at), "origin/base"
		},
		"relative alternates": func(c *clone) (*clone, string) {
			at := filepath.Join(c.home, "other")
			c.git("clone", "--quiet", "--shared", c.dir, at)
			must.Write(c.tb, filepath.Join(at, ".git", "objects", "info", "alternates"), "../../../clone/.git/objects\n")
			return c.in(at), "origin/base"
		},
		"without blobs": func(c *clone) (*clone, string) {
			at := filepath.Join(c.home, "other")
			c.git("config", "uploadpack.allowFilter", "true")
			c.git("clone", "--quiet", "--filter=blob:none", "file://"+filepath.ToSlash(c.dir), at)
			other := c.in(at)
			other.write("c/c.txt", "2\n")
			return other, "origin/base"
		},
		"shared index": func(c *clone) (*clone, string) {
			c.git("update-index", "--split-index")
			return c, "base"
		},
		"sparse": func(c *clone) (*clone, string) {
			c.git("sparse-checkout", "init", "--cone")
			c.git("sparse-checkout", "set", "a")
			return c, "base"
		},
		"sparse index": func(c *clone) (*clone, string) {
			c.git("checkout", "--quiet", "--force")
			c.git("clean", "-fdqx")
			c.git("sparse-checkout", "init", "--cone", "--sparse-index")
			c.git("sparse-checkout", "set", "a")
			return c, "base"
		},
		"assumed unchanged": func(c *clone) (*clone, string) {
			c.git("update-index", "--assume-unchanged", "b/main.tf")
			return c, "base"
		},
		"changed within the index's time": func(c *clone) (*clone, string) {
			c.write("c/main.tf", "# 5\n")
			c.git("add", "c/main.tf")
			c.write("c/main.tf", "# 6\n")
			return c, "base"
		},
		"modes that don't count": func(c *clone) (*clone, string) {
			c.git("config", "core.fileMode", "false")
			must.Succeed(c.tb, os.Chmod(filepath.Join(c.dir, "main.tf"), 0o755))
			return c, "base"
		},
		"modes that count": func(c *clone) (*clone, string) {
			must.Succeed(c.tb, os.Chmod(filepath.Join(c.dir, "main.tf"), 0o755))
			return c, "base"
		},
		"symlinks as files": func(c *clone) (*clone, string) {
			must.Succeed(c.tb, os.Remove(filepath.Join(c.dir, "b", "link.tf")))
			must.Succeed(c.tb, os.Symlink("main.tf", filepath.Join(c.dir, "b", "link.tf")))
			c.commit()
			c.git("config", "core.symlinks", "false")
			must.Succeed(c.tb, os.Remove(filepath.Join(c.dir, "b", "link.tf")))
			c.write("b/link.tf", "main.tf")
			return c, "main"
		},
		"names without case": func(c *clone) (*clone, string) {
			c.git("config", "core.ignoreCase", "true")
			must.Succeed(c.tb, os.Rename(filepath.Join(c.dir, "c", "new.tf"), filepath.Join(c.dir, "c", "NEW.tf.IGNORED")))
			return c, "base"
		},
		"line ends of the user": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, ".gitconfig"), "[core]\n\tautocrlf = true\n")
			c.write("main.tf", "# 1\r\n")
			return c, "base"
		},
		"line ends of the repository": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, ".gitconfig"), "[core]\n\tautocrlf = false\n")
			c.git("config", "core.autocrlf", "input")
			c.write("main.tf", "# 1\r\n")
			return c, "base"
		},
		"line ends of attributes": func(c *clone) (*clone, string) {
			c.write(".git/info/attributes", "*.tf text eol=crlf\n", "main.tf", "# 1\r\n")
			return c, "base"
		},
		"a boolean without a value": func(c *clone) (*clone, string) {
			c.write(".git/config", string(must.Get(os.ReadFile(filepath.Join(c.dir, ".git", "config")))(c.tb))+"[core]\n\tautocrlf\n")
			c.write("main.tf", "# 1\r\n")
			return c, "base"
		},
		"attributes of the user": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, ".config", "git", "attributes"), "*.tf text eol=crlf\n")
			c.write("main.tf", "# 1\r\n")
			return c, "base"
		},
		"excludes of the repository": func(c *clone) (*clone, string) {
			c.write(".git/info/exclude", "d\n")
			return c, "base"
		},
		"excludes of the user": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, ".config", "git", "ignore"), "d\n")
			return c, "base"
		},
		"excludes that the user's settings name": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, ".gitconfig"), "[include]\n\tpath = more\n")
			must.Write(c.tb, filepath.Join(c.home, "more"), "[core]\n\texcludesFile = ~/my \\\"own\\\" excludes\n")
			must.Write(c.tb, filepath.Join(c.home, "my \"own\" excludes"), "d\n")
			return c, "base"
		},
		"settings of the environment": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, "excludes"), "d\n")
			c.env = append(c.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile", "GIT_CONFIG_VALUE_0="+filepath.Join(c.home, "excludes"))
			return c, "base"
		},
		"renamed file": func(c *clone) (*clone, string) {
			c.git("mv", "c/c.txt", "c/renamed.txt")
			return c, "base"
		},
		"relative paths": func(c *clone) (*clone, string) {
			must.Write(c.tb, filepath.Join(c.home, ".gitconfig"), "[diff]\n\trelative = true\n")
			return c, "base"
		},
		"staged without content": func(c *clone) (*clone, string) {
			c.git("add", "--intent-to-add", "c/new.tf")
			return c, "base"
		},
		"repository within": func(c *clone) (*clone, string) {
			c.in(filepath.Join(c.dir, "d")).git("init", "--quiet")
			return c, "base"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, ref := arrange(newClone(t))
			at.isSeenAsByGit(ref)
		})
	}
}

// TestRepository_SameAsGitInEveryFormat is TestRepository_SameAsGit for the ways in which git stores a repository.
func TestRepository_SameAsGitInEveryFormat(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]string{"SHA-256": "--object-format=sha256", "table of refs": "--ref-format=reftable"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peertest.LookProgram(t, "git")
			if said, err := exec.Command("git", "init", option, t.TempDir()).CombinedOutput(); err != nil {
				t.Skipf("this git doesn't know %s: %s", option, said)
			}

			c := newClone(t, option)
			c.isSeenAsByGit("base")

			at := filepath.Join(c.home, "worktree")
			c.git("worktree", "add", "--quiet", "-b", "other", at, "base")
			other := c.in(at)
			other.write("main.tf", "# 4\n")
			other.commit()
			other.isSeenAsByGit("main")
		})
	}
}

// isSeenAsByGit fails if tfdeps sees other files than git.
func (c *clone) isSeenAsByGit(ref string) {
	c.tb.Helper()
	wantChanged, wantListed := c.gitLook(ref)
	changed, listed, err := c.look(ref)
	must.Succeed(c.tb, err)
	must.Equal(c.tb, strings.Join(changed, "\n"), strings.Join(wantChanged, "\n"), "changed")
	must.Equal(c.tb, strings.Join(listed, "\n"), strings.Join(wantListed, "\n"), "listed")
}

// parent returns a repository that has this one as the submodule sub, with a change that isn't committed.
func (c *clone) parent() *clone {
	c.tb.Helper()
	dir := filepath.Join(c.home, "parent")
	must.Succeed(c.tb, os.Mkdir(dir, 0o755))
	parent := c.in(dir)
	parent.git("init", "--quiet", "--template=")
	parent.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", c.dir, "sub")
	parent.commit()
	parent.write("sub/main.tf", "# 5\n", "new.tf", "")
	return parent
}

// hostile is a setting of a repository that names a program.
type hostile struct {
	name string
	// arrange writes the setting; evil is the program. Settings of git that are commands of a shell take it as well.
	arrange func(c *clone, evil string)
	// starts is a command of git that starts the program when it runs in the clone; nil if no command can show that here.
	starts []string
}

// missing removes an object of the commit base, so that git would fetch it.
func (c *clone) missing(name string) {
	c.tb.Helper()
	id := c.git("rev-parse", name)
	must.Succeed(c.tb, os.Remove(filepath.Join(c.dir, ".git", "objects", id[:2], id[2:])))
}

// configure adds lines to the repository's configuration.
func (c *clone) configure(lines ...string) {
	c.tb.Helper()
	path := filepath.Join(c.git("rev-parse", "--absolute-git-dir"), "config")
	must.Write(c.tb, path, string(must.Get(os.ReadFile(path))(c.tb))+strings.Join(lines, "\n")+"\n")
}

// attributes gives all files an attribute.
func (c *clone) attributes(attribute string) { c.write(".git/info/attributes", "* "+attribute+"\n") }

// hooks makes the program every hook that git knows.
func (c *clone) hooks(dir, evil string) {
	c.tb.Helper()
	for _, name := range []string{"post-index-change", "pre-commit", "post-checkout", "reference-transaction", "post-merge", "pre-auto-gc", "fsmonitor-watchman", "query-watchman"} {
		must.Succeed(c.tb, os.MkdirAll(dir, 0o755))
		must.Succeed(c.tb, peertest.WriteProgram(filepath.Join(dir, name), must.Get(os.ReadFile(evil))(c.tb)))
	}
}

// hostileSettings are settings of a repository that name programs.
var hostileSettings = []hostile{
	{"monitor", func(c *clone, evil string) {
		c.configure("[core]", "fsmonitor = "+evil)
	}, []string{"status"}},
	{"monitor that the index knows", func(c *clone, evil string) {
		c.configure("[core]", "fsmonitor = "+evil)
		c.git("update-index", "--fsmonitor")
	}, []string{"status"}},
	{"filter", func(c *clone, evil string) {
		c.configure("[filter \"evil\"]", "clean = "+evil, "required = true")
		c.attributes("filter=evil")
	}, []string{"diff", "base"}},
	{"filter with an equals sign", func(c *clone, evil string) {
		c.configure("[filter \"e=vil\"]", "clean = "+evil)
		c.attributes("filter=e=vil")
	}, []string{"diff", "base"}},
	{"filter as a process", func(c *clone, evil string) {
		c.configure("[filter \"evil\"]", "process = "+evil)
		c.attributes("filter=evil")
	}, []string{"diff", "base"}},
	{"filter of files that are read", func(c *clone, evil string) {
		c.configure("[filter \"evil\"]", "smudge = "+evil, "required = true")
		c.attributes("filter=evil")
	}, []string{"cat-file", "--filters", "HEAD:main.tf"}},
	{"filter of committed attributes", func(c *clone, evil string) {
		c.configure("[filter \"evil\"]", "clean = "+evil)
		c.write(".gitattributes", "* filter=evil\n")
		c.git("add", ".gitattributes")
	}, []string{"diff", "base"}},
	{"attributes elsewhere", func(c *clone, evil string) {
		must.Write(c.tb, filepath.Join(c.home, "attributes"), "* filter=evil\n")
		c.configure("[core]", "attributesFile = "+filepath.ToSlash(filepath.Join(c.home, "attributes")), "[filter \"evil\"]", "clean = "+evil)
	}, []string{"diff", "base"}},
	{"external diff", func(c *clone, evil string) {
		c.configure("[diff]", "external = "+evil)
	}, []string{"diff", "base"}},
	{"diff driver", func(c *clone, evil string) {
		c.configure("[diff \"evil\"]", "command = "+evil)
		c.attributes("diff=evil")
	}, []string{"diff", "base"}},
	{"text of files for diff", func(c *clone, evil string) {
		c.configure("[diff \"evil\"]", "textconv = "+evil)
		c.attributes("diff=evil")
	}, []string{"diff", "base"}},
	{"hooks", func(c *clone, evil string) {
		c.hooks(filepath.Join(c.dir, ".git", "hooks"), evil)
	}, []string{"commit", "--allow-empty", "--message=m"}},
	{"hooks elsewhere", func(c *clone, evil string) {
		c.hooks(filepath.Join(c.home, "hooks"), evil)
		c.configure("[core]", "hooksPath = "+filepath.ToSlash(filepath.Join(c.home, "hooks")))
	}, []string{"commit", "--allow-empty", "--message=m"}},
	{"hooks of the configuration", func(c *clone, evil string) {
		c.configure("[hook \"evil\"]", "command = "+evil, "event = post-index-change", "event = pre-commit", "event = reference-transaction")
	}, nil}, // since git 2.54
	{"aliases", func(c *clone, evil string) {
		c.configure("[alias]", "evil = !"+evil, "diff = !"+evil, "ls-files = !"+evil, "config = !"+evil, "rev-parse = !"+evil, "merge-base = !"+evil)
	}, []string{"evil"}},
	{"pager", func(c *clone, evil string) {
		c.configure("[core]", "pager = "+evil, "[pager]", "diff = "+evil, "config = "+evil, "ls-files = "+evil, "rev-parse = "+evil)
	}, nil}, // needs a terminal
	{"editor", func(c *clone, evil string) {
		c.configure("[core]", "editor = "+evil, "[sequence]", "editor = "+evil)
	}, []string{"commit", "--amend", "--allow-empty"}},
	{"credential helper", func(c *clone, evil string) {
		c.configure("[credential]", "helper = "+evil)
	}, []string{"credential", "fill"}},
	{"program that asks for passwords", func(c *clone, evil string) {
		c.configure("[core]", "askPass = "+evil)
	}, []string{"credential", "fill"}},
	{"ssh", func(c *clone, evil string) {
		c.configure("[core]", "sshCommand = "+evil, "[remote \"origin\"]", "url = ssh://example.com/r")
	}, []string{"ls-remote", "origin"}},
	{"proxy", func(c *clone, evil string) {
		c.configure("[core]", "gitProxy = "+evil, "[remote \"origin\"]", "url = git://example.com/r")
	}, []string{"ls-remote", "origin"}},
	{"transport", func(c *clone, evil string) {
		c.configure("[protocol \"ext\"]", "allow = always", "[remote \"origin\"]", "url = ext::"+evil)
	}, []string{"ls-remote", "origin"}},
	{"transport by another name", func(c *clone, evil string) {
		c.configure("[protocol \"ext\"]", "allow = always", "[url \"ext::"+evil+" \"]", "insteadOf = https:", "[remote \"origin\"]", "url = https://example.com/r")
	}, []string{"ls-remote", "origin"}},
	{"program of the other side", func(c *clone, evil string) {
		c.configure("[remote \"origin\"]", "url = "+filepath.ToSlash(c.dir), "uploadpack = "+evil)
	}, []string{"ls-remote", "origin"}},
	{"missing objects that are fetched", func(c *clone, evil string) {
		c.configure("[protocol \"ext\"]", "allow = always", "[extensions]", "partialClone = origin",
			"[core]", "repositoryformatversion = 1", "[remote \"origin\"]", "promisor = true", "partialclonefilter = blob:none", "url = ext::"+evil)
		c.missing("base^{tree}")
	}, []string{"diff", "base"}},
	{"included settings", func(c *clone, evil string) {
		must.Write(c.tb, filepath.Join(c.dir, ".git", "more"), "[core]\n\tfsmonitor = "+evil+"\n")
		c.configure("[include]", "path = more")
	}, []string{"status"}},
	{"settings that are included on a condition", func(c *clone, evil string) {
		must.Write(c.tb, filepath.Join(c.dir, ".git", "more"), "[core]\n\tfsmonitor = "+evil+"\n")
		c.configure("[includeIf \"gitdir:**\"]", "path = more")
	}, []string{"status"}},
	{"settings of a worktree", func(c *clone, evil string) {
		must.Write(c.tb, filepath.Join(c.dir, ".git", "config.worktree"), "[core]\n\tfsmonitor = "+evil+"\n")
		c.configure("[extensions]", "worktreeConfig = true")
	}, []string{"status"}},
	{"settings of a submodule", func(c *clone, evil string) {
		sub := c.in(filepath.Join(c.dir, "sub"))
		must.Succeed(c.tb, os.Mkdir(sub.dir, 0o755))
		sub.git("init", "--quiet", "--template=")
		sub.write("x.tf", "")
		sub.commit()
		c.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
		c.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n", "sub/x.tf", "# changed\n")
		sub.configure("[core]", "fsmonitor = "+evil)
	}, []string{"diff", "base"}},
	{"update of a submodule", func(c *clone, evil string) {
		c.configure("[submodule \"sub\"]", "url = ./sub", "active = true", "update = !"+evil)
	}, nil},
	{"signatures", func(c *clone, evil string) {
		c.configure("[gpg]", "program = "+evil, "[log]", "showSignature = true", "[gpg \"ssh\"]", "program = "+evil)
	}, nil},
	{"refs of alternates", func(c *clone, evil string) {
		must.Succeed(c.tb, os.CopyFS(filepath.Join(c.home, "other"), os.DirFS(c.dir)))
		c.write(".git/objects/info/alternates", filepath.ToSlash(filepath.Join(c.home, "other", ".git", "objects"))+"\n")
		c.configure("[core]", "alternateRefsCommand = "+evil)
	}, nil},
	{"merge driver", func(c *clone, evil string) {
		c.configure("[merge \"evil\"]", "driver = "+evil)
		c.attributes("merge=evil")
	}, nil},
}

// TestRepository_StartsNoProgramOfTheRepository shows that a program which a repository's settings name isn't started, and
// that git starts it which runs in the repository. Old releases of git don't know some variables: these make no difference.
func TestRepository_StartsNoProgramOfTheRepository(t *testing.T) {
	t.Parallel()
	if !peertest.RunsScripts() {
		t.Skip("there is no shell for scripts")
	}
	for _, h := range hostileSettings {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			ran := filepath.Join(c.home, "ran")
			evil := filepath.Join(c.home, "evil")
			must.Succeed(t, peertest.WriteProgram(evil, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+peertest.ScriptPath(ran)+"'\nexit 1\n")))
			h.arrange(c, peertest.ScriptPath(evil))
			must.Succeed(t, os.RemoveAll(ran)) // git may have started it just now

			for _, git := range []string{"", c.oldGit()} {
				seen := c.in(c.dir)
				if git != "" {
					seen.env = append(slices.Clone(c.env), "PATH="+git+string(filepath.ListSeparator)+os.Getenv("PATH"))
				}
				_, _, err := seen.look("base")
				isFetch := h.name == "missing objects that are fetched"
				must.Equal(t, err != nil, isFetch, err)
				started, _ := os.ReadFile(ran) // none: nothing was started
				must.Equal(t, string(started), "")
			}

			if h.starts == nil {
				return
			}
			_, _ = c.try(h.starts...) // fails, because the program does
			_, err := os.Stat(ran)
			must.Succeed(t, err, "the case shows nothing: git", h.starts, "doesn't start the program")
		})
	}
}

// oldGit returns a directory with a git that doesn't know newer variables and options. It fails if a transport is allowed, or if it
// would read the settings of the clone.
func (c *clone) oldGit() (dir string) {
	c.tb.Helper()
	program := peertest.LookProgram(c.tb, "git")
	dir = filepath.Join(c.home, "old")
	script := `#!/bin/sh
unset GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_NO_LAZY_FETCH GIT_ATTR_SOURCE
case "$*" in *safe.bareRepository*) echo "unknown option" >&2; exit 129;; esac
case "$GIT_DIR" in *clone*) echo "the settings of the clone count" >&2; exit 1;; "") echo "no GIT_DIR" >&2; exit 1;; esac
[ "$GIT_ALLOW_PROTOCOL" = : ] || { echo "transports are allowed" >&2; exit 1; }
exec '` + peertest.ScriptPath(program) + `' "$@"
`
	must.Succeed(c.tb, os.MkdirAll(dir, 0o755))
	must.Succeed(c.tb, peertest.WriteProgram(filepath.Join(dir, "git"), []byte(script)))
	return dir
}

// TestRepository_SettingsThatCannotBeReadAreAnError shows that no failure counts as "there are no settings".
func TestRepository_SettingsThatCannotBeReadAreAnError(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(c *clone){
		"too many":  func(c *clone) { c.configure(strings.Repeat("[filter \"x\"]\n", maxConfig/10)) },
		"malformed": func(c *clone) { c.write(".git/config", "[core\n") },
		"unknown format": func(c *clone) {
			c.configure("[core]", "repositoryformatversion = 1", "[extensions]", "tomorrow = true")
		},
		"of the user": func(c *clone) { must.Write(c.tb, filepath.Join(c.home, ".gitconfig"), "[core\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			write(c)
			_, _, err := c.look("base")
			must.Refuse(err)(t)
		})
	}
}

// TestRepository_LeavesNothingBehind shows that the mirror goes, and that nothing of the clone goes with it.
func TestRepository_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	before := peertest.Tree(t, filepath.Join(c.dir, ".git"))
	repo := must.Get(c.open())(t)
	must.Get(repo.changedSince("base"))(t)
	repo.close()
	must.Refuse(os.Lstat(repo.own.Path))(t)
	must.DeepEqual(t, peertest.Tree(t, filepath.Join(c.dir, ".git")), before)
}
