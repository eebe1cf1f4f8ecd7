package modules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestManifest_IsEncodedAsTerraformDoes(t *testing.T) {
	m := Manifest{
		"b":   {Key: "b", Source: "./b&<é>", Dir: "b"},
		"a.z": {Key: "a.z", Source: "registry.terraform.io/x/y/z", Version: "1.2.0", Dir: ".terraform/modules/a.z"},
		"a":   {Key: "a", Source: "./a", Dir: "../a"},
	}
	want := `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Dir":"../a"},` +
		`{"Key":"a.z","Source":"registry.terraform.io/x/y/z","Version":"1.2.0","Dir":".terraform/modules/a.z"},` +
		`{"Key":"b","Source":"./b\u0026\u003cé\u003e","Dir":"b"}]}`
	must.Equal(t, string(m.Encode()), want)
	must.Equal(t, string(Manifest(nil).Encode()), `{"Modules":[{"Key":"","Source":"","Dir":"."}]}`)
}

func TestDecodeManifest(t *testing.T) {
	got, err := DecodeManifest([]byte(` {"Modules":[
		{"Key":"a","Source":"x/y/z","Version":"v1.2","Dir":"d","More":1},
		{"Key":"b","Source":"no address","Dir":""}], "More": []}`), asTerraform)
	must.Succeed(t, err)
	must.DeepEqual(t, got, Manifest{
		"a": {Key: "a", Source: "registry.terraform.io/x/y/z", Version: "1.2.0", Dir: "d"},
		"b": {Key: "b", Source: "no address"},
	})
	must.Len(t, must.Get(DecodeManifest(nil, asTerraform))(t), 0)
}

func TestDecodeManifest_Refuses(t *testing.T) {
	for content, want := range map[string]string{
		`{"Modules":`:                           "not a record",
		`[]`:                                    "not a record",
		`{"Modules":[{"Key":"a"},{"Key":"a"}]}`: `two records for the module "a"`,
		`{"Modules":[{"Key":"a","Version":"new"}]}`:         `"a" has an invalid version`,
		`{"Modules":[{"Key":"a","Source":{"x":"y"}}]}`:      "not a record",
		strings.Repeat(`{"Modules":[`, 20_000) + `{}` + `]`: "not a record",
	} {
		must.Contain(t, must.ErrorOf(DecodeManifest([]byte(content), asTerraform)), want, content)
	}
}

func TestManifest_SaveTouchesNothingThatStaysTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x/modules")
	m := Manifest{"a": {Key: "a", Source: "./a", Dir: "a"}}
	must.Succeed(t, m.Save(dir))
	before := must.Get(os.Stat(filepath.Join(dir, ManifestName)))(t)
	must.Succeed(t, m.Save(dir))
	after := must.Get(os.Stat(filepath.Join(dir, ManifestName)))(t)
	must.Equal(t, os.SameFile(before, after), true, "the file was replaced by an equal one")
	m["b"] = Record{Key: "b", Source: "./b", Dir: "b"}
	must.Succeed(t, m.Save(dir))
	got := must.Get(ReadManifest(nil, dir, asTerraform))(t)
	must.Len(t, got, 3)
	must.Equal(t, got["b"], m["b"])
	must.Len(t, must.Get(os.ReadDir(dir))(t), 1)
}

func TestReadManifest_NamesTheFile(t *testing.T) {
	dir := t.TempDir()
	must.Len(t, must.Get(ReadManifest(nil, dir, asTerraform))(t), 0)
	path := filepath.Join(dir, ManifestName)
	must.Write(t, path, "x")
	must.Contain(t, must.ErrorOf(ReadManifest(nil, dir, asTerraform)), path)
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add([]byte(`{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Version":"1.0","Dir":"a"}]}`))
	f.Add([]byte(`{"Modules":[{"Key":"a"},{"Key":"a"}]}`))
	f.Add([]byte("{\"Modules\":[{\"Key\":\"a\",\"Source\":\"\xff\",\"Version\":\"1.0.0+é\"}]}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := DecodeManifest(content, asTerraform)
		if err != nil {
			return
		}
		again, err := DecodeManifest(m.Encode(), asTerraform)
		must.Succeed(t, err, "what we write is refused")
		m = again // with the root's record
		must.DeepEqual(t, m, must.Get(DecodeManifest(m.Encode(), asTerraform))(t))
	})
}
