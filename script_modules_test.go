package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// publishModules puts modules into the session's registry.
func publishModules(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: module [NAME=VALUE...] NAMESPACE/NAME/SYSTEM@VERSION...")
	}
	registry := registryOf(ts)
	var location string
	for _, arg := range args {
		if name := packageName.FindStringSubmatch(arg); name != nil {
			registry.AddModule(providertest.ModuleSpec{
				Namespace: name[1], Name: name[2], System: name[3], Version: name[4], Location: location,
			})
			continue
		}
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "location":
			location = value
		case "dir":
			dir, archive, _ := strings.Cut(value, ",")
			location = serveArchive(ts, registry, dir, archive)
		default:
			ts.Fatalf("what is %q?", arg)
		}
	}
}

// serveArchive packs the files of a directory, and returns where the archive
// is.
func serveArchive(ts *testscript.TestScript, registry *providertest.Registry, dir, kind string) (path string) {
	root := ts.MkAbs(dir)
	files := map[string]string{}
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	name := strings.ReplaceAll(filepath.ToSlash(dir), "/", "-")
	switch kind {
	case "", "tar.gz":
		return registry.AddArchive(name+".tar.gz", providertest.TarGz(files))
	case "zip":
		return registry.AddArchive(name+".zip", providertest.Zip(files))
	}
	ts.Fatalf("archives of the kind %q can't be made", kind)
	return ""
}
