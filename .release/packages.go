package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // the formats of packages
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// systemPackages are the formats of Linux distributions' packages.
var systemPackages = []string{"deb", "rpm", "apk"}

// places returns the path in a package of a file in the archive.
func places(name string) string {
	switch base := path.Base(name); {
	case name == "tfdeps":
		return "/usr/bin/tfdeps"
	case strings.HasPrefix(name, "man/"):
		return "/usr/share/man/man1/" + base
	case base == "tfdeps.bash":
		return "/usr/share/bash-completion/completions/tfdeps"
	case base == "_tfdeps":
		return "/usr/share/zsh/site-functions/_tfdeps"
	case base == "tfdeps.fish":
		return "/usr/share/fish/vendor_completions.d/tfdeps.fish"
	case base == "LICENSE":
		return "/usr/share/doc/tfdeps/copyright"
	default:
		return "/usr/share/doc/tfdeps/" + base
	}
}

// writePackages writes the packages for Linux distributions, with the files of the archive.
func (s source) writePackages(p platform, stage, dist string, content []file) error {
	if p.os != "linux" {
		return nil
	}
	dir := filepath.Join(stage, "package_"+p.String())
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var contents files.Contents
	for _, f := range content {
		name := filepath.Join(dir, strings.ReplaceAll(f.name, "/", "_"))
		if err := os.WriteFile(name, f.content, 0o600); err != nil {
			return err
		}
		contents = append(contents, &files.Content{Source: name, Destination: places(f.name),
			FileInfo: &files.ContentFileInfo{Mode: os.FileMode(f.mode()), MTime: s.time, Owner: "root", Group: "root"}})
	}
	for _, format := range systemPackages {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "tfdeps", Arch: p.arch, Platform: "linux", Version: s.version, VersionSchema: "semver", Release: "1", MTime: s.time,
			Maintainer: "The tfdeps authors <security@tfdeps.invalid>", Homepage: "https://github.com/tfdeps/tfdeps", License: "Apache-2.0", Section: "devel", Priority: "optional",
			Description:  "Installs the providers and modules of Terraform and OpenTofu configurations",
			Overridables: nfpm.Overridables{Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost", Group: "Development/Tools"}},
		})
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		out, err := os.OpenFile(filepath.Join(dist, baseName(s.version, p)+"."+format), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		err = packager.Package(info, out)
		if closed := out.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}
