package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// TestTerraformExecDrivesTheLink: the library that most tools drive terraform
// with gets the same answers from us, by a link with that name, as from the
// real program.
func TestTerraformExecDrivesTheLink(t *testing.T) {
	t.Parallel()
	peer := lookPeer(t)
	driver := buildNested(t, "testdata/terraformexec", "terraformexec")
	registry := started(t, providertest.NewRegistry, providertest.Options{})
	registry.Add(providertest.PackageSpec{
		Namespace: "tfdeps", Type: "tiny", Version: "1.0.0",
		Protocols: []string{"6.0"}, ArchivePath: packedProvider(t),
	})
	redirect := redirected(t, registry, "tf.example.com")
	link := linkTo(t, buildTfdeps(t), "terraform")
	env := peerEnv(t, append(redirect, "CHECKPOINT_DISABLE=1", "TMPDIR="+t.TempDir())...)
	env = append(env, "PATH="+filepath.Dir(link)+string(os.PathListSeparator)+os.Getenv("PATH"))
	said := map[string]string{}
	for _, program := range []string{peer, link} {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, "main.tf"), strings.Replace(applyConfig, "terraform {", "terraform {\n  backend \"local\" { path = \"kept\" }", 1)+`
output "greeting" {
  value = tiny_note.greeting.text
}
`)
		said[program] = runIn(t, dir, env, driver, program, dir)
	}
	if said[link] != said[peer] {
		t.Errorf("by the link:\n%s\nby the real program:\n%s", said[link], said[peer])
	}
	if want := "output: \"hello\"\n"; !strings.Contains(said[link], want) {
		t.Errorf("it says:\n%s\nwithout %q", said[link], want)
	}
}

// linkTo makes a link of a name to a program, in a directory of its own.
func linkTo(t *testing.T, program, name string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(program, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	return link
}
