package modulelock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

const text = `# This file is maintained automatically by "tfdeps init -lock-modules".
# Manual edits may be lost in future updates.

module "net" {
  source  = "registry.example.com/acme/net/cloud//sub"
  version = "1.2.0"
  hash    = "h1:SsymTYPzwzdxRHUdcUnYiQe+FDH1nlMmHoOgbMVvoZQ="
}

module "net.dns" {
  source = "git::https://git.example.com/dns.git?ref=v1"
  commit = "0123456789abcdef0123456789abcdef01234567"
  hash   = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
}
`

func TestFile_TheTextOfTheFile(t *testing.T) {
	locks := locksOf(dns, network)
	must.Equal(t, string(locks.Encode()), text)
	read, diags := Decode([]byte(text), FileName)
	if diags.HasErrors() || !maps.Equal(read, locks) {
		t.Errorf("got %+v, %v", read.All(), diags)
	}
	must.Equal(t, string(Locks(nil).Encode()), header, "without locks")
}

// broken are files, and the lines and the words of their problems.
var broken = map[string]string{
	`module "a" {`:                        "1 Unclosed configuration block",
	`x = 1`:                               "1 Unsupported argument",
	`provider "a" {}`:                     "1 Unsupported block type",
	`module {}`:                           "1 Missing key for module",
	"module \"a\" {\n}":                   `1 The argument "source" is required`,
	block("", `source = "s"`, hashLine):   "1 names of the calls",
	block("a", `source = 1`, `hash = []`): "3 Unsuitable value type",
	block("a", `source = null`, hashLine): `2 The argument "source" can't be null`,
	block("a", `source = ""`, hashLine):   "2 the address of a module",
	block("a", `source = "https://me:pw@x.example/"`, hashLine):                 `2 "https://x.example/"`,
	block("a", `source = "s"`, `hash = "h2:x"`):                                 "3 newer version of this program",
	block("a", `source = "s"`, `version = "x"`, hashLine):                       "3 has to be a version",
	block("a", `source = "s"`, `version = "1.2"`, hashLine):                     `3 "1.2.0"`,
	block("a", `source = "s"`, `commit = "v1"`, hashLine):                       "3 full name of a commit",
	block("a", `source = "s"`, `more = 1`, hashLine):                            "3 Unsupported argument",
	block("a", `source = var.x`, hashLine):                                      "2 Variables not allowed",
	block("a", `source = "s"`, hashLine) + block("a", `source = "s"`, hashLine): "5 is a lock for the module \"a\" already, at lock.hcl:1",
	// A half of a surrogate pair, which the parser accepts.
	block("a", "source = \"s\xed\xa0\x80\"", hashLine):                   "2 has to be in UTF-8",
	block("a", `source = "s"`, "hash = \"h1:\xed\xa0\x80\""):             "3 has to be in UTF-8",
	"module \"a\xed\xa0\x80\" {\n source = \"s\"\n" + hashLine + "\n}\n": "1 names of the calls",
	"<<<<<<< HEAD\n" + block("a", `source = "s"`, hashLine):              "1 merge conflict",
	"x = " + strings.Repeat("[", 100_000):                                "1 nested too deeply",
}

const hashLine = `hash = "` + hashA + `"`

func block(key string, lines ...string) string {
	return fmt.Sprintf("module %q {\n%s\n}\n", key, strings.Join(lines, "\n"))
}

func TestFile_ProblemsHaveTheirPlace(t *testing.T) {
	for text, want := range broken {
		line, words, _ := strings.Cut(want, " ")
		locks, diags := Decode([]byte(text), "lock.hcl")
		if !diags.HasErrors() {
			t.Errorf("%.80q is accepted", text)
			continue
		}
		found := false
		for _, diag := range diags {
			said := diag.Summary + ": " + diag.Detail
			found = found || diag.Subject != nil && fmt.Sprint(diag.Subject.Start.Line) == line && strings.Contains(said, words)
		}
		if !found {
			t.Errorf("%.80q: got %v, want something with %q on line %s", text, diags, words, line)
		}
		if lock, ok := locks["a"]; ok && line != "5" {
			t.Errorf("%.80q: %+v is locked", text, lock)
		}
	}
}

// The parser doesn't normalize labels, but values.
func TestFile_KeysAreReadAsTheyWereWritten(t *testing.T) {
	locks := locksOf(Lock{Key: "e\u0301.\u212a", Source: "./m", Hash: hashA})
	if read, diags := Decode(locks.Encode(), FileName); diags.HasErrors() || !maps.Equal(read, locks) {
		t.Errorf("got %+q, %v", read.All(), diags)
	}
}

func TestFile_ABrokenBlockLeavesTheOthers(t *testing.T) {
	locks, diags := Decode([]byte(block("b", `source = 1`)+text), FileName)
	if !diags.HasErrors() || !maps.Equal(locks, locksOf(dns, network)) {
		t.Errorf("got %+v, %v", locks.All(), diags)
	}
}

func TestFile_SaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if locks, diags := Load(t.Context(), path); len(locks) > 0 || len(diags) > 0 {
		t.Errorf("without a file: %+v, %v", locks.All(), diags)
	}
	must.Succeed(t, locksOf(network).Save(path))
	before := must.Get(os.Stat(path))(t)
	if err := locksOf(network).Save(path); err != nil || !os.SameFile(before, must.Get(os.Stat(path))(t)) {
		t.Errorf("a file that needn't change is replaced: %v", err)
	}
	must.Succeed(t, locksOf(network, dns).Save(path))
	locks, diags := Load(t.Context(), path)
	if diags.HasErrors() || !maps.Equal(locks, locksOf(network, dns)) {
		t.Errorf("got %+v, %v", locks.All(), diags)
	}
	must.Len(t, must.Get(os.ReadDir(filepath.Dir(path)))(t), 1, "the directory")
}

func TestFile_WhatIsNoFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	if _, diags := Load(t.Context(), dir); !diags.HasErrors() {
		t.Error("a directory is read")
	}
	must.Refuse(locksOf(network).Save(filepath.Join(dir, "missing", FileName)))(t, "a file is saved in a directory that isn't there")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte(block("e\u0301\u212a", "source = \"e\u0301\u212a\"", hashLine)))
	for text := range broken {
		if len(text) < 10_000 {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte(block("a${b}\\\"%{x}\n\x00é", `source = "$${x}\"\u00e9"`, hashLine)))
	f.Fuzz(func(t *testing.T, src []byte) {
		locks, diags := Decode(src, "lock.hcl")
		if diags.HasErrors() {
			return
		}
		encoded := locks.Encode()
		again, diags := Decode(encoded, "lock.hcl")
		if diags.HasErrors() || !maps.Equal(again, locks) {
			t.Errorf("%q is written as %q, which is %+v, %v", src, encoded, again.All(), diags)
		}
	})
}

func TestLoad_EndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	must.Write(t, path, text)
	locks, diags := Load(t.Context(), path)
	must.Len(t, diags, 0, locks)
	must.Len(t, locks.All(), 2, locks, diags)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	// Anything but a regular file isn't read; reading it would give another error.
	if locks, diags := Load(ctx, t.TempDir()); len(diags) != 1 || !strings.Contains(diags.Error(), "enough") || locks == nil {
		t.Errorf("without time: %v, %v", locks, diags)
	}
}

func TestDecode_BoundsTheWorkOfParsing(t *testing.T) {
	_, diags := Decode([]byte(strings.Repeat("a{}\n", 2<<20)), "")
	must.Len(t, diags, 1, "problems")
	must.Contain(t, diags, "more than 800000 words and signs", "problems", len(diags))
}
