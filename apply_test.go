package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// applyConfig uses the real provider that is built from testdata/provider.
const applyConfig = `terraform {
  required_providers {
    tiny = {
      source  = "tf.example.com/tfdeps/tiny"
      version = "~> 1.0"
    }
  }
}

data "tiny_echo" "greeting" {
  text = "hello"
}

resource "tiny_note" "greeting" {
  text = data.tiny_echo.greeting.text
}
`

// TestTerraformGoesOn is what all the rest is for: a real provider is built
// and served signed, tfdeps init installs it, and the real terraform plans and
// applies with it. Nobody runs terraform init.
func TestTerraformGoesOn(t *testing.T) {
	t.Parallel()
	peer := lookPeer(t)
	registry := started(t, providertest.NewRegistry, providertest.Options{})
	registry.Add(providertest.PackageSpec{
		Namespace: "tfdeps", Type: "tiny", Version: "1.0.0",
		Protocols: []string{"6.0"}, ArchivePath: packedProvider(t),
	})
	redirect := redirected(t, registry, "tf.example.com")
	dir, env := t.TempDir(), peerEnv(t, redirect...)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(applyConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{
		{buildTfdeps(t), "init", "-input=false"},
		{peer, "plan", "-input=false", "-out=planned"},
		{peer, "apply", "-input=false", "-auto-approve"},
		{peer, "plan", "-input=false", "-detailed-exitcode"}, // 0: there is nothing left to do
	} {
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, out)
		}
	}
	if got := noteInState(t, filepath.Join(dir, "terraform.tfstate")); got != "2cf24dba5fb0 hello" {
		t.Errorf("the state holds the note %q", got)
	}
}

// noteInState returns id and text of the first tiny_note of a state file.
func noteInState(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Type      string
			Instances []struct{ Attributes struct{ ID, Text string } }
		}
	}
	if err := json.Unmarshal(content, &state); err != nil {
		t.Fatal(err)
	}
	for _, r := range state.Resources {
		if r.Type == "tiny_note" && len(r.Instances) > 0 {
			return r.Instances[0].Attributes.ID + " " + r.Instances[0].Attributes.Text
		}
	}
	return ""
}

// packedProvider builds the provider, and returns the path of its package.
func packedProvider(t *testing.T) string {
	t.Helper()
	const name = "terraform-provider-tiny_v1.0.0"
	program := buildNested(t, "testdata/provider", name)
	return makeOnce(name+".zip", func(path string) {
		content, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		archive := zip.NewWriter(&out)
		archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		header.SetMode(0o755)
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = w.Write(content)
		}
		if err = errors.Join(err, archive.Close()); err == nil {
			err = os.WriteFile(path, out.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// buildNested builds a program that is a module of its own, whose dependencies
// may not be there.
func buildNested(t *testing.T, module, name string) string {
	t.Helper()
	if out, err := goCommand("list", "-C", module, "-deps", ".").CombinedOutput(); err != nil {
		if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
			t.Fatalf("TFDEPS_REQUIRE_PEERS=1, and the modules of %s can't be had: %v\n%s", module, err, out)
		}
		t.Skipf("the modules of %s can't be had: %v\n%s", module, err, out)
	}
	return buildProgram(t, module, name)
}
