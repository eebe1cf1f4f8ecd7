package command

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// publishing has the registry have a package.
func publishing(spec providertest.PackageSpec) func(*failing) {
	return func(w *failing) {
		spec.Namespace, spec.Type = "acme", "tiny"
		w.registry.Add(spec)
	}
}

// versions has the registry have versions of a provider.
func versions(all ...string) func(*failing) {
	return func(w *failing) {
		for _, v := range all {
			publishing(providertest.PackageSpec{Version: v})(w)
		}
	}
}

func flipped(body []byte) []byte {
	body = append([]byte{}, body...)
	body[len(body)-1] ^= 1
	return body
}

func locked(version, hash string) string {
	return fmt.Sprintf("provider %q {\n  version = %q\n  hashes = [\n    %q,\n  ]\n}\n", tiny, version, hash)
}

// damaged installs a package, and changes it where it is and in the cache.
func damaged(w *failing) {
	versions("1.0.0")(w)
	w.set("TFDEPS_CACHE_DIR=" + w.home + "/cache")
	if _, err, code := w.main("init"); code != 0 {
		w.Fatal(err)
	}
	plat := getproviders.CurrentPlatform().String()
	for _, dir := range []string{w.dir + "/.terraform/providers", w.home + "/cache/providers/v1"} {
		must.Write(w, filepath.Join(dir, "tf.example.com/acme/tiny/1.0.0", plat, "terraform-provider-tiny_v1.0.0"), "damaged")
	}
}

var template = getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "template"}

// unowned is the system's error if another user owns a directory, which root doesn't get.
var unowned = &fs.PathError{Op: "mkdir", Path: ".terraform/providers", Err: syscall.EACCES}

var tinyOnly = []getproviders.Provider{{Hostname: "tf.example.com", Namespace: "acme", Type: "tiny"}}

func packageFailures() map[string]failure {
	other := getproviders.Platform{OS: "plan9", Arch: "arm"}
	return map[string]failure{
		"signature_wrong": {setUp: answering("signature", providertest.Fault{Body: flipped})},
		"signature_of_another_key": {setUp: func(w *failing) {
			signer := providertest.NewSigner(providertest.SignerOptions{})
			w.replace(signer.KeyID(), "LISTEDKEYID")
			publishing(providertest.PackageSpec{Version: "1.0.0", Keys: []providertest.Key{signer.Key()}})(w)
		}},
		"signature_missing":   {setUp: refusing("signature", 404)},
		"checksum_wrong":      {setUp: answering("archive", providertest.Fault{Body: flipped})},
		"checksum_list_wrong": {setUp: answering("sums", providertest.Fault{Body: func([]byte) []byte { return []byte("nothing\n") }})},
		"archive_is_a_page":   {setUp: answering("archive", providertest.Fault{Body: func([]byte) []byte { return []byte("\n<!doctype html>\n<title>Log in</title>\n") }})},
		"archives_are_pages": {files: requiring(tiny, widget), setUp: func(w *failing) {
			versions("1.0.0")(w)
			w.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
			w.registry.Break("archive", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>") }})
		}},
		"package_is_no_archive":   {setUp: publishing(providertest.PackageSpec{Version: "1.0.0", Archive: []byte("no zip")})},
		"package_without_program": {setUp: publishing(providertest.PackageSpec{Version: "1.0.0", Archive: providertest.Zip(files{"README.md": "a"})})},
		"platform_missing":        {setUp: publishing(providertest.PackageSpec{Version: "1.0.0", Platform: other})},
		"platform_in_another_version": {setUp: func(w *failing) {
			versions("1.0.0")(w)
			publishing(providertest.PackageSpec{Version: "1.1.0", Platform: other})(w)
		}},
		"platform_given_up": {err: getproviders.Selection{Provider: template, Version: getproviders.Version{Major: 2, Minor: 2}}.Failed(during.Metadata, getproviders.Subject{
			Provider: template, Version: getproviders.Version{Major: 2, Minor: 2}, Platform: getproviders.Platform{OS: "darwin", Arch: "arm64"}, Source: "registry registry.terraform.io",
			Platforms: []getproviders.Platform{{OS: "darwin", Arch: "amd64"}, {OS: "linux", Arch: "amd64"}}, Nowhere: true,
		}.Missing())},
		"protocol":                           {setUp: publishing(providertest.PackageSpec{Version: "1.0.0", Protocols: []string{"4.0"}})},
		"no_version_between":                 {files: requiring(tiny + " ~> 2.0"), setUp: versions("1.0.0", "1.9.3", "3.0.0", "3.1.0", "4.0.0-beta1")},
		"no_version_so_high":                 {files: requiring(tiny + " >= 5.0"), setUp: versions("1.0.0", "1.9.3")},
		"no_version_but_a_prerelease":        {files: requiring(tiny + " ~> 2.0"), setUp: versions("1.0.0", "2.0.0-beta1", "2.1.0-rc1")},
		"no_version_and_an_older_prerelease": {files: requiring(tiny + " ~> 2.0"), setUp: versions("1.0.0-beta1", "1.0.0")},
		"no_version_at_all":                  {setUp: versions("1.0.0-beta1")},
		"conflict": {files: files{
			"main.tf":   requiring(tiny + " ~> 1.0")["main.tf"] + "module \"m\" {\n  source = \"./m\"\n}\n",
			"m/main.tf": requiring(tiny + " ~> 2.0")["main.tf"],
		}, setUp: versions("1.0.0", "2.0.0")},
		"locked_version":   {files: and(requiring(tiny+" ~> 2.0"), ".terraform.lock.hcl", locked("1.0.0", "h1:"+zeros+"=")), setUp: versions("1.0.0", "2.0.0")},
		"locked_hashes":    {files: with(".terraform.lock.hcl", locked("1.0.0", "zh:"+zeros64)), setUp: versions("1.0.0")},
		"target_is_a_file": {files: with(".terraform", "a file"), setUp: versions("1.0.0"), unix: true},
		"no_space_for_all": {err: &getproviders.Fault{Kind: getproviders.ErrNoSpace, Subject: getproviders.Subject{Providers: tinyOnly}, Err: &disk.RoomError{Dirs: []string{"/home/cache", "/work/.terraform"}, Need: 2_345_678_901, Free: 120_000_000}, Code: "no_space", Hint: "make room there, or put the packages on another disk"}},
		"no_space_left": {err: getproviders.Selection{Provider: tinyOnly[0], Version: getproviders.Version{Major: 1}}.Failed(during.Unpack,
			&fs.PathError{Op: "write", Path: "/work/.terraform/providers/program", Err: syscall.ENOSPC})},
		"package_too_large":  {setUp: answering("archive", providertest.Fault{Header: http.Header{"Content-Length": {"9000000000000000"}}})},
		"frozen_and_damaged": {setUp: damaged},
		"frozen_and_damaged_and_missing": {files: requiring(tiny, widget), setUp: func(w *failing) {
			w.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
			damaged(w)
			for _, dir := range []string{w.dir + "/.terraform/providers", w.home + "/cache/providers/v1"} {
				must.Succeed(w, os.RemoveAll(filepath.Join(dir, "tf.example.com/acme/widget")))
			}
		}},
		"target_of_another_user": {err: cause.Unwritable(".terraform/providers", tinyOnly, unowned)},
		"readonly":               {setUp: versions("1.0.0")},
		"built_in":               {files: requiring("terraform.io/builtin/other")},
		"policy":                 {files: with("tfdeps.hcl", "sources = [\"registry.terraform.io\"]\n"), setUp: versions("1.0.0")},
		"lock_platform_missing":  {setUp: versions("1.0.0")},
		"mirror_refused":         {setUp: func(w *failing) { w.redirect("https://" + closedPort(w) + "/v1/providers/") }},
		"cache_is_a_file": {files: map[string]string{"cache": "a file"}, setUp: func(w *failing) {
			w.set("TFDEPS_CACHE_DIR=" + filepath.Join(w.dir, "cache"))
		}},
	}
}

const (
	zeros   = "0000000000000000000000000000000000000000000"
	zeros64 = zeros + "000000000000000000000"
)
